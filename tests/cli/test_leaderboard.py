"""``deepfact leaderboard`` at the command line."""

from __future__ import annotations

import csv
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def scored(desk: Path, deepfact: Run) -> Path:
    """A round, with its version in the benchmark."""
    Path("r.yaml").write_text(
        "name: trial\nbenchmark: small@1\nchallenger: {kind: quoting}\n"
        "scored: [{kind: overlap}]\n"
        "auditors: [simulated-expert]\ndate: 2026-01-05T00:00:00Z\n", "utf-8"
    )  # fmt: skip
    done = deepfact("round", "run", "r.yaml")
    assert done.returncode == 0, done.stderr
    return desk


def test_what_it_prints_and_writes(scored: Path, deepfact: Run) -> None:
    done = deepfact("leaderboard", "small", "--csv", "s.csv", "--markdown", "s.md")
    assert done.returncode == 0, done.stderr
    for words in ("small, ranked by accuracy", "quoting", "overlap", "small@2:",
                  "without its own challenges"):  # fmt: skip
        assert words in done.stdout
    rows = list(csv.DictReader(Path("s.csv").read_text("utf-8").splitlines()))
    assert {(row["version"], row["verifier"]) for row in rows} == {
        ("1", "quoting"), ("1", "overlap"), ("2", "quoting"), ("2", "overlap"),
    }  # fmt: skip
    assert Path("s.md").read_text("utf-8").startswith("# Stored verifiers on small")
    again = deepfact("leaderboard", "small", "--csv", "s.csv")
    assert again.returncode == 2 and "overwrite it with --force" in again.stderr
    assert deepfact("leaderboard", "small", "--csv", "s.csv", "--force").returncode == 0


def test_as_json_with_a_file_of_verdicts(scored: Path, deepfact: Run) -> None:
    deepfact("verify", "small@1", "--verifier", "majority", "--out", "most.jsonl")
    done = deepfact("leaderboard", "small", "--verdicts", "most.jsonl", "--by", "binary", "--json")
    board = json.loads(done.stdout)
    assert [row["verifier"] for row in board["rows"]] == ["quoting", "overlap", "most"]
    assert board["by"] == "binary" and len(board["standings"]) == 6
    assert [one["round"] for one in board["challengers"]] == [1]
    alone = json.loads(
        deepfact("leaderboard", "deepfact-mini", "--results", "results", "--json").stdout or "{}"
    )
    assert alone == {}  # nothing is stored on it: an error


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("small", "--by", "f1"), "no score is called 'f1'"),
        (("smal",), "did you mean 'small'"),
        (("small",), "there is no results folder"),
        (("small", "--verdicts", "none.jsonl"), "no such file"),
        (("small", "--csv", "auditors"), "this is a folder"),
    ],
)
def test_what_is_wrong_is_said(
    desk: Path, deepfact: Run, words: tuple[str, ...], problem: str
) -> None:
    done = deepfact("leaderboard", *words)
    assert done.returncode == 2 and problem in done.stderr and "Traceback" not in done.stderr
