"""Which code a run runs: the version of deepfact, and what git says of the working folder.

For the journal, never for a record: it says nothing of what came out. Git is asked not to write
anything and to start no program that the folder names; without git, or outside a repository, the
version is all there is.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from deepfact.run_records import CodeState, RunResumed
from deepfact.store.journal import Journal, now
from deepfact.version import VERSION

SECONDS = 5.0
"""Longest time that git is waited for, for each question."""


def code_state(folder: Path | None = None) -> CodeState:
    """The code as it is now.

    Args:
        folder: the working folder; the current one when left out.
    """
    folder = folder or Path.cwd()
    revision = (_git(folder, "rev-parse", "--verify", "HEAD") or "").strip()
    if not revision:
        return CodeState(deepfact=VERSION)
    # What is not tracked, such as this run's own results, makes nothing dirty.
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    dirty = None if changed is None else bool(changed.strip())
    return CodeState(deepfact=VERSION, revision=revision, dirty=dirty)


def note_resumed(journal: Journal) -> None:
    """Have the journal say that this process goes on with the run, once it adds anything."""
    began = now()
    journal.before = lambda: RunResumed(at=began, code=code_state())


def _git(folder: Path, *words: str) -> str | None:
    """What git answers; None when it does not."""
    command = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", *words]
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and words of our own
            command,
            cwd=folder,
            env={**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout if done.returncode == 0 else None
