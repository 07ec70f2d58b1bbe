"""``deepfact microgold`` as a user runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from deepfact.store.benchmark import BenchmarkStore

Run = Callable[..., CompletedProcess[str]]


def tree() -> dict[Path, bytes]:
    """Every file of the benchmark but its lock, which says nothing."""
    paths = Path("benchmarks/small").rglob("*")
    return {path: path.read_bytes() for path in paths if path.is_file() and path.name != ".lock"}


def test_drafts_are_reviewed_added_and_checked(desk: Path, deepfact: Run) -> None:
    shown = deepfact("microgold", "add", "small", "--unsupported", 3, "--supported", 1, "--dry-run")
    assert shown.returncode == 0 and "dry run, nothing written" in shown.stdout
    assert shown.stdout.count(" -> ") == 3
    made = deepfact("microgold", "add", "small", "--unsupported", 3, "--review", "r.jsonl")
    assert made.returncode == 0 and "3 drafts in r.jsonl" in made.stdout
    assert BenchmarkStore(desk / "benchmarks/small").versions() == [1]
    added = deepfact("microgold", "add", "small", "--reviewed", "r.jsonl", "--author", "ada")
    assert added.returncode == 0 and "made small@2: 3 claims added" in added.stdout
    assert "can tell" in added.stderr
    again = deepfact("microgold", "add", "small", "--reviewed", "r.jsonl")
    assert again.returncode == 2 and "micro-gold already" in again.stderr
    checked = deepfact("microgold", "check", "small")
    assert checked.returncode == 0 and "0 problems" in checked.stdout
    counts = json.loads(deepfact("microgold", "list", "small", "--counts", "--json").stdout)
    assert sum(n for sort, n in counts["sorts"].items() if ", " in sort) == 3
    listed = json.loads(deepfact("microgold", "list", "small", "--json").stdout)
    assert sum(entry["edit"] is not None for entry in listed) == 3
    assert counts["claims"] == len(listed)


def test_files_of_claims_and_cover(desk: Path, deepfact: Run) -> None:
    Path("docs.csv").write_text("id,title,text\nd,Mill,The mill was built in 1898.\n", "utf-8")
    Path("known.csv").write_text(
        "id,text,label,cites\nk1,The mill was built in 1899.,contradictory,d\n", "utf-8"
    )
    Path("more.jsonl").write_text(
        '{"id": "m1", "text": "The mill is old.", "label": "supported", "cites": ["d"]}\n', "utf-8"
    )
    done = deepfact(
        "microgold", "add", "small", "--file", "known.csv", "--cover", "more.jsonl",
        "--sources", "docs.csv", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["version"] == 2 and said["claims_added"] == 2 and said["notes"] == []
    assert said["micro_gold"] == {"contradictory": 1}
    edits = deepfact(
        "microgold", "add", "small", "--originals", "more.jsonl", "--sources", "docs.csv",
        "--unsupported", 1, "--kind", "negation", "--dry-run",
    )  # fmt: skip
    assert edits.returncode == 0 and "The mill is not old." in edits.stdout
    assert deepfact("bench", "verify", "small").stdout.count("keys/microgold") == 0


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["add", "small"], "no micro-gold to add"),
        (["add", "small@7", "--supported", "1"], "leave @7 out"),
        (["add", "nowhere", "--supported", "1"], "no benchmark is called"),
        (["add", "small", "--supported-id", "x"], "cannot be taken"),
        (["add", "small", "--file", "claims.txt"], "cannot tell the format"),
        (["add", "small", "--file", "broken.jsonl"], "broken.jsonl"),
        (["add", "small", "--reviewed", "broken.jsonl"], "broken.jsonl"),
        (["add", "small", "--reviewed", "broken.jsonl", "--supported", "1"], "the one or the"),
        (["add", "small", "--supported", "1", "--date", "soon"], "is no date"),
        (["score", "bare"], "has no micro-gold"),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(
    desk: Path, deepfact: Run, words: list[str], what: str
) -> None:
    Path("broken.jsonl").write_text('{"id": "k1", "text": \n', "utf-8")
    if words[1] == "bare":
        deepfact("bench", "init", "bare")
    before = tree()
    done = deepfact("microgold", *words)
    assert done.returncode == 2 and what in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    assert tree() == before


def test_scores_are_shown_with_intervals_and_simulations_marked(desk: Path, deepfact: Run) -> None:
    Path("run.yaml").write_text(
        "name: run\nbenchmark: small@1\nauditors: [simulated-expert]\ncommit_to: run\n"
        "challenger: {kind: quoting}\n", "utf-8",
    )  # fmt: skip
    assert deepfact("round", "run", "run.yaml").returncode == 0
    done = deepfact("microgold", "score", "small")
    assert done.returncode == 0, done.stderr
    assert "simulated-expert *" in done.stdout and "* simulated" in done.stdout
    assert "annotator-1" in done.stdout and "%]" in done.stdout
    report = json.loads(deepfact("microgold", "score", "small", "--json").stdout)
    assert [one["version"] for one in report["versions"]] == [1, 2]
