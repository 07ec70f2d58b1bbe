"""What no manifest covers is recorded by hash, with who and why; the record only grows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deepfact.errors import BenchmarkError, IntegrityError, RecordError
from deepfact.store import seal
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import write_text
from deepfact.store.integrity import verify


@pytest.fixture
def folder(make: Any, tmp_path: Path) -> Path:
    return Path(make.store(tmp_path / "mill", 2).folder)


def whats(folder: Path) -> list[tuple[str, str]]:
    return [(Path(problem.where).name, problem.what) for problem in verify(BenchmarkStore(folder))]


def test_a_new_benchmark_vouches_for_its_card(folder: Path) -> None:
    (entry,) = seal.read_entries(folder)
    assert (entry.path, entry.who, entry.when) == ("README.md", "deepfact", None)
    assert verify(BenchmarkStore(folder)) == []


def test_an_edited_card_is_told_and_can_be_answered_for(make: Any, folder: Path) -> None:
    write_text(folder / "README.md", "# Mill\n\nLicence: CC0.\n")
    ((name, what),) = whats(folder)
    assert name == "README.md" and "deepfact bench seal" in what
    found = seal.record(folder, who="zoë", when=make.WHEN, why="the licence was missing")
    assert [(one.path, one.kind) for one in found] == [("README.md", "changed")]
    assert whats(folder) == []
    first, second = seal.read_entries(folder)
    assert first.hash != second.hash and (second.who, second.why) == (
        "zoë", "the licence was missing",
    )  # fmt: skip
    assert seal.record(folder, who="zoë", why="again") == []  # nothing new: nothing is written
    assert len(seal.read_entries(folder)) == 2


def test_files_come_and_go(folder: Path) -> None:
    write_text(folder / "keys" / "a.jsonl", "")
    write_text(folder / "LICENSE", "MIT")
    assert [one.kind for one in seal.record(folder, who="a", why="w", only=["LICENSE"])] == ["new"]
    assert [name for name, _ in whats(folder)] == ["a.jsonl"]
    (folder / "LICENSE").unlink()
    assert ("LICENSE", "missing") in [(o.path, o.kind) for o in seal.differences(folder)]
    seal.record(folder, who="a", why="moved to the card")
    assert whats(folder) == []
    assert [e.hash is None for e in seal.read_entries(folder)] == [False, False, True, False]
    write_text(folder / "LICENSE", "MIT")
    assert [(o.path, o.kind) for o in seal.differences(folder)] == [("LICENSE", "new")]


def test_only_what_is_recorded_here_can_be_named(folder: Path) -> None:
    for name in ("READYOU.md", "versions/1/manifest.json", "../other"):
        with pytest.raises(BenchmarkError, match="is no file that is recorded here"):
            seal.record(folder, who="a", why="w", only=[name])


def test_a_benchmark_from_before_there_were_checksums(folder: Path) -> None:
    (folder / seal.NAME).unlink()
    assert BenchmarkStore(folder).load().manifest.version == 2
    ((name, what),) = whats(folder)
    assert name == seal.NAME and what.startswith("missing; nothing tells")
    copy = BenchmarkStore(folder).fork(folder.parent / "copy")
    assert not (copy.folder / seal.NAME).exists()
    seal.record(folder, who="ada", why="taken over as it was")
    assert whats(folder) == []


def test_a_record_that_was_tampered_with_is_not_built_upon(folder: Path) -> None:
    path = folder / seal.NAME
    data = json.loads(path.read_text("utf-8"))
    for entries in (
        [{**data["entries"][0], "why": "no reason"}],
        [],
    ):
        write_text(path, json.dumps({**data, "entries": entries}, indent=1) + "\n")
        with pytest.raises(IntegrityError, match="not as deepfact wrote it"):
            seal.record(folder, who="a", why="w")
        assert whats(folder)[0] == (seal.NAME, "not as deepfact wrote it")
    write_text(path, json.dumps(data))  # the same, written otherwise
    with pytest.raises(IntegrityError):
        seal.read_entries(folder)
    write_text(path, "{")
    with pytest.raises(RecordError, match="not JSON"):
        seal.read_entries(folder)


def test_a_copy_is_vouched_for_as_far_as_the_original_was(folder: Path) -> None:
    write_text(folder / "keys" / "a.jsonl", "")
    seal.record(folder, who="a", why="w")
    copy = BenchmarkStore(folder).fork(folder.parent / "copy")
    assert verify(copy) == [] and not (copy.folder / "keys").exists()
    write_text(folder / "README.md", "changed unseen")
    other = BenchmarkStore(folder).fork(folder.parent / "other")
    assert [name for name, _ in whats(other.folder)] == ["README.md"]


def test_version_control_and_locks_are_no_part_of_a_benchmark(folder: Path) -> None:
    write_text(folder / ".git" / "config", "x")
    write_text(folder / ".lock", "")
    assert whats(folder) == []


def test_what_a_killed_recording_left_is_cleared(folder: Path) -> None:
    part = folder / f".{seal.NAME}.abc.part"
    write_text(part, "half")
    assert whats(folder) == []
    seal.record(folder, who="a", why="w")
    assert not part.exists()
