"""Putting a snapshot into a folder: whole or not at all, and over nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from deepfact.errors import RecordError, ResultsExistError
from deepfact.publish.build import Options, Snapshot, build
from deepfact.publish.folder import check_target, write_snapshot
from deepfact.store.benchmark import BenchmarkStore


@pytest.fixture
def folder(tmp_path: Path, snapshot: Snapshot) -> Path:
    """A folder with a snapshot of `mills`."""
    write_snapshot(tmp_path / "snapshots" / "mills", snapshot.files)
    return tmp_path / "snapshots" / "mills"


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_new_folder_holds_exactly_the_snapshot(folder: Path, snapshot: Snapshot) -> None:
    assert contents(folder) == dict(snapshot.files)
    assert [path.name for path in folder.parent.iterdir()] == ["mills"]  # nothing is left lying
    assert folder.stat().st_mode & 0o777 == 0o755


def test_an_empty_folder_may_be_filled(tmp_path: Path, snapshot: Snapshot) -> None:
    (tmp_path / "empty").mkdir()
    check_target(tmp_path / "empty", "mills", overwrite=False)
    write_snapshot(tmp_path / "empty", snapshot.files)
    assert contents(tmp_path / "empty") == dict(snapshot.files)


def test_a_snapshot_is_replaced_only_when_asked_for(folder: Path, mills: BenchmarkStore) -> None:
    with pytest.raises(ResultsExistError, match="a snapshot of mills@2") as caught:
        check_target(folder, "mills", overwrite=False)
    assert "--overwrite" in caught.value.fix
    check_target(folder, "mills", overwrite=True)
    older = build(mills.load(1), Options())
    write_snapshot(folder, older.files)
    assert contents(folder) == dict(older.files)


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (lambda f: (f / "README.md").write_text("mine"), "README.md is not what it was"),
        (lambda f: (f / "notes.txt").write_text("mine"), "notes.txt was added"),
        (lambda f: (f / "data" / "more").symlink_to(f), "data/more"),
        (lambda f: (f / "LICENSE").unlink(), "LICENSE is missing"),
        (lambda f: (f / "snapshot.json").unlink(), "no publish made it"),
    ],
)
def test_a_folder_that_somebody_changed_is_never_replaced(
    folder: Path, spoil: object, what: str
) -> None:
    spoil(folder)  # type: ignore[operator]
    with pytest.raises(ResultsExistError, match=what):
        check_target(folder, "mills", overwrite=True)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"schema_version": 1}', '{"schema_version": 99}', '{"files": {"..": 1}}']
)
def test_a_broken_record_is_an_error(folder: Path, text: str) -> None:
    (folder / "snapshot.json").write_text(text)
    with pytest.raises(RecordError, match=r"snapshot\.json"):
        check_target(folder, "mills", overwrite=True)


def test_a_snapshot_of_another_benchmark_is_not_replaced(folder: Path) -> None:
    with pytest.raises(ResultsExistError, match="a snapshot of mills"):
        check_target(folder, "wells", overwrite=True)


def test_a_file_or_a_link_is_no_folder(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(folder)
    for name in ("file", "link"):
        with pytest.raises(ResultsExistError, match="a link or a file"):
            check_target(tmp_path / name, "mills", overwrite=True)


def test_what_was_there_stays_when_writing_fails(
    folder: Path, snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.replace

    def refuse(self: Path, target: Path) -> Path:
        if self.name == "new":
            raise OSError("no room")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="no room"):
        write_snapshot(folder, {"README.md": b"another"})
    assert contents(folder) == dict(snapshot.files)
    assert [path.name for path in folder.parent.iterdir()] == ["mills"]
