"""Commits killed at every step, and two at once: the old version or the new one, never a mess."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).with_name("kill_commits.py")

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


def run(folder: Path, what: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder), what],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_a_killed_commit_leaves_the_old_version_or_the_new_one(tmp_path: Path) -> None:
    result = run(tmp_path, "next")
    assert result["steps"] > 40
    assert result["versions_seen"] == [1, 2]
    assert result["expected"].startswith("2 sha256:")


def test_a_killed_import_can_simply_be_repeated(tmp_path: Path) -> None:
    result = run(tmp_path, "new")
    assert result["steps"] > 40
    assert result["versions_seen"] == [0, 1]


def test_two_commits_at_once_give_two_versions(tmp_path: Path) -> None:
    assert run(tmp_path, "race")["versions"] == [[1, 2, 3]] * 8
