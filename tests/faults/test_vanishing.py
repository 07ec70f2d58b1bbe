"""Files and folders that are deleted, or taken by another process, while they are in use."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deepfact.errors import InputError, IntegrityError
from deepfact.model_records import Completion, Message, Request
from deepfact.run_records import VersionCommitted
from deepfact.store import files
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.journal import Journal, now
from deepfact.store.responses import ResponseStore

RunCommand = Callable[..., subprocess.CompletedProcess[str]]
SPEC = """
name: trial
benchmark: small@1
challenger: {{kind: quoting, options: {{pause: {pause}}}}}
auditors: [simulated-expert]
commit_to: run
date: 2026-01-05T00:00:00Z
"""


def test_a_source_that_is_deleted_under_a_version_is_named(tmp_path: Path, make: Any) -> None:
    version = make.store(tmp_path / "small").load()
    (source,) = version.sources
    version.sources.path(source).unlink()
    with pytest.raises(IntegrityError, match="the file of this source is missing"):
        version.sources[source]


@pytest.mark.parametrize("name", ["manifest.json", "revisions.jsonl", "sources.txt"])
def test_a_file_of_a_version_that_is_deleted_is_named(tmp_path: Path, make: Any, name: str) -> None:
    store = make.store(tmp_path / "small")
    (store.version_folder(1) / name).unlink()
    with pytest.raises(InputError, match=r"no such file|no version|is missing"):
        BenchmarkStore(store.folder).load(1)


def test_a_file_that_goes_between_looking_and_reading_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("{}\n")
    real = Path.open

    def vanish(self: Path, *words: Any, **more: Any) -> Any:
        self.unlink(missing_ok=True)
        return real(self, *words, **more)

    monkeypatch.setattr(Path, "open", vanish)
    with pytest.raises(InputError, match="no such file"):
        list(files.read_lines(path))


def test_a_journal_whose_file_is_deleted_says_so_before_anything_is_lost_silently(
    tmp_path: Path,
) -> None:
    """Lines would go on into a file that has no name any more, and be gone when it is closed."""
    event = VersionCommitted(at=now(), round=1, version=1, state_hash=f"sha256:{0:064x}")
    with Journal(tmp_path / "run") as journal:
        journal.append(event)
        journal.path.unlink()
        with pytest.raises(InputError, match="was deleted or replaced"):
            journal.append(event)
        assert journal.events == [event]


def test_a_response_store_whose_file_is_replaced_does_not_crash(tmp_path: Path) -> None:
    asked = Request(model="m", messages=(Message(role="user", content="claim"),))
    with ResponseStore(tmp_path / "r.sqlite") as store:
        store.put(asked, 0, Completion(text="kept", model="m"))
        for path in tmp_path.glob("r.sqlite*"):
            path.unlink()
        try:
            store.put(asked, 1, Completion(text="later", model="m"))
        except InputError as error:
            assert "r.sqlite" in str(error)
    with ResponseStore(tmp_path / "r.sqlite") as store:
        store.check()


def test_a_results_folder_that_is_removed_ends_the_run_with_a_message(
    desk: Path, deepfact_command: str
) -> None:
    Path("round.yaml").write_text(SPEC.format(pause=0.05), "utf-8")
    process = subprocess.Popen(
        [deepfact_command, "round", "run", "round.yaml", "--out", "results/trial"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip
    journal = Path("results/trial/journal.jsonl")
    deadline = time.monotonic() + 60
    while not journal.is_file() or journal.stat().st_size < 3_000:
        assert process.poll() is None and time.monotonic() < deadline, "it ended before its middle"
        time.sleep(0.01)
    shutil.rmtree("results/trial")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2, said
    assert "Traceback" not in said and "results/trial" in said


def test_of_two_runs_on_one_folder_one_is_refused_and_the_other_is_as_if_alone(
    desk: Path, deepfact_command: str
) -> None:
    Path("round.yaml").write_text(SPEC.format(pause=0.02), "utf-8")

    def start(out: str) -> subprocess.Popen[bytes]:
        with Path(f"{out}.log").open("ab") as log:
            return subprocess.Popen(
                [deepfact_command, "round", "run", "round.yaml", "--out", out],
                stdout=subprocess.DEVNULL, stderr=log,
            )  # fmt: skip

    both = [start("shared"), start("shared")]
    codes = [process.wait(timeout=120) for process in both]
    said = Path("shared.log").read_text("utf-8")
    assert sorted(codes) == [0, 2], said
    assert "in use by another process" in said and "Traceback" not in said
    assert start("alone").wait(timeout=120) == 0
    shared, alone = (Path(name) for name in ("shared", "alone"))
    assert (shared / "record.json").read_bytes() == (alone / "record.json").read_bytes()
