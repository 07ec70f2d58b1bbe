"""Folders that may be read and not written: reading works, writing says what and where."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from deepfact.errors import InputError
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.responses import ResponseStore

RunCommand = Callable[..., subprocess.CompletedProcess[str]]
ReadOnly = Callable[[Path], None]
SPEC = """
name: trial
benchmark: small@1
challenger: {kind: quoting}
auditors: [simulated-expert]
commit_to: run
date: 2026-01-05T00:00:00Z
"""


@pytest.fixture
def finished(desk: Path, deepfact: RunCommand) -> Path:
    Path("round.yaml").write_text(SPEC, "utf-8")
    done = deepfact("round", "run", "round.yaml", "--out", "results/trial")
    assert done.returncode == 0, done.stderr
    return desk


READS = (
    "bench show small@1", "bench log small", "bench verify small", "bench blame small fin-1-01",
    "bench export small@1 --to {out}/claims.jsonl", "round status results/trial",
    "audit stats results/trial", "leaderboard small --results results",
    "verify small@1 --verifier overlap --out {out}/v.jsonl",
)  # fmt: skip
WRITES = (
    "round run round.yaml --out results/other", "round resume results/trial",
    "bench export small@1 --to claims.jsonl",
    "bench import jsonl {out}/new.jsonl --name small",
)  # fmt: skip


def test_reading_needs_no_writing_and_writing_says_where(
    finished: Path, deepfact: RunCommand, read_only: ReadOnly, tmp_path: Path
) -> None:
    out = tmp_path / "elsewhere"
    out.mkdir()
    (out / "new.jsonl").write_text('{"id": "n1", "text": "So it is.", "label": "supported"}\n')
    read_only(finished)
    for words in READS:
        done = deepfact(*words.format(out=out).split())
        assert done.returncode == 0, f"{words}: {done.stderr}"
    for words in WRITES:
        done = deepfact(*words.format(out=out).split())
        assert done.returncode == 2, f"{words}: {done.returncode} {done.stdout} {done.stderr}"
        assert "Traceback" not in done.stderr
        assert "Read-only file system" in done.stderr, f"{words}: {done.stderr}"


def test_a_benchmark_with_an_interrupted_commit_can_be_read_where_nothing_can_be_cleared(
    tmp_path: Path, make: object, read_only: ReadOnly
) -> None:
    store = make.store(tmp_path / "small", versions=2)  # type: ignore[attr-defined]
    staging = store.folder / "versions" / ".staging-3"
    shutil.copytree(store.version_folder(2), staging)
    read_only(store.folder)
    found = BenchmarkStore(store.folder)
    assert found.versions() == [1, 2]
    assert found.load().state.state_hash == store.manifest(2).state_hash


def test_a_response_store_that_cannot_be_written_is_told(
    tmp_path: Path, read_only: ReadOnly
) -> None:
    folder = tmp_path / "answers"
    folder.mkdir()
    read_only(folder)
    with pytest.raises(InputError, match="cannot be used"):
        ResponseStore(folder / "r.sqlite")
