"""Which code ran: the version, the commit of the working folder, and whether it was changed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from deepfact.run_records import CodeState, RunResumed
from deepfact.running.code_state import code_state, note_resumed
from deepfact.store.journal import Journal
from deepfact.version import VERSION


def git(folder: Path, *words: str) -> str:
    who = {
        f"GIT_{role}_{what}": "a@b.c"
        for role in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    done = subprocess.run(
        ["git", *words],
        cwd=folder,
        env={**os.environ, **who},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "spec.yaml").write_text("name: a\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def test_a_clean_working_folder(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    revision = git(repository, "rev-parse", "HEAD")
    expected = CodeState(deepfact=VERSION, revision=revision, dirty=False)
    assert code_state(repository) == expected
    monkeypatch.chdir(repository)
    assert code_state() == expected


def test_a_changed_file_makes_it_dirty_and_a_new_one_does_not(repository: Path) -> None:
    (repository / "results").mkdir()
    (repository / "results" / "journal.jsonl").write_text("{}\n")
    assert code_state(repository).dirty is False
    (repository / "spec.yaml").write_text("name: b\n")
    assert code_state(repository).dirty is True


@pytest.mark.parametrize("made", ["nothing", "no commit", "broken"])
def test_outside_a_repository_the_version_is_all_there_is(made: str, tmp_path: Path) -> None:
    if made == "no commit":
        git(tmp_path, "init", "-q")
    if made == "broken":
        (tmp_path / ".git").write_text("gitdir: /nowhere\n")
    assert code_state(tmp_path) == CodeState(deepfact=VERSION)


def test_without_git(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert code_state(repository) == CodeState(deepfact=VERSION)


def test_no_program_that_the_folder_names_is_started(repository: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    git(repository, "config", "core.fsmonitor", str(trap))
    index = (repository / ".git" / "index").read_bytes()
    assert code_state(repository).revision
    assert not (tmp_path / "sprung").exists()
    assert (repository / ".git" / "index").read_bytes() == index


def test_a_run_that_adds_nothing_leaves_no_trace_of_having_been_resumed(
    make: Any, tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from deepfact.records import sha256_of
    from deepfact.run_records import AuditClosed, RunStarted

    state = sha256_of("s")
    begun = RunStarted(
        at=make.WHEN, spec_hash=state, date=make.WHEN, base_version=1, base_state=state
    )
    with Journal(tmp_path / "run") as journal:
        journal.append(begun)
    before = (tmp_path / "run" / "journal.jsonl").read_bytes()
    monkeypatch.chdir(repository)
    with Journal(tmp_path / "run") as journal:
        note_resumed(journal)
    assert (tmp_path / "run" / "journal.jsonl").read_bytes() == before
    with Journal(tmp_path / "run") as journal:
        note_resumed(journal)
        for number in (1, 2):
            journal.append(AuditClosed(at=make.WHEN, round=number))
        assert [event.event for event in journal.events] == [
            "run_started", "run_resumed", "audit_closed", "audit_closed",
        ]  # fmt: skip
        (resumed,) = journal.find(RunResumed)
    assert resumed.code.revision == git(repository, "rev-parse", "HEAD")
