"""``deepfact verify`` and ``deepfact score``: from a version to verdicts, from verdicts to a
table."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from deepfact.store.benchmark import BenchmarkStore

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_a_verifier_answers_every_claim_and_is_scored(desk: Path, deepfact: Run) -> None:
    done = deepfact("verify", "small@1", "--verifier", "overlap", "--out", "out/v.jsonl")
    assert done.returncode == 0, done.stderr
    assert "60 claims of small@1, 0 without a verdict" in done.stdout
    assert "deepfact score out/v.jsonl --benchmark small@1" in done.stdout
    claims = [claim.id for claim in BenchmarkStore(Path("benchmarks/small")).load(1).claims]
    rows = [json.loads(line) for line in Path("out/v.jsonl").read_text("utf-8").splitlines()]
    assert [row["claim_id"] for row in rows] == claims

    shown = deepfact("score", "out/v.jsonl", "--benchmark", "small@1")
    assert shown.returncode == 0 and shown.stderr == ""
    assert "n=60, 0 unverified" in shown.stdout
    for words in ("accuracy, 3 labels", "supported against the rest", "macro-F1", "stratum: ",
                  "domain: ", "unverified"):  # fmt: skip
        assert words in shown.stdout
    sheet = json.loads(deepfact("score", "out/v.jsonl", "--benchmark", "small@1", "--json").stdout)[
        "score"
    ]
    hits = sum(sheet["confusion"][row][row] for row in range(3))
    assert sheet["accuracy"]["k"] == hits and sum(map(sum, sheet["confusion"])) == 60
    assert f"({hits}/60)" in shown.stdout

    again = deepfact("verify", "small", "--verifier", "majority", "--out", "out/v.jsonl", "--force",
                     "--json", "--limit", "7")  # fmt: skip
    assert json.loads(again.stdout) == {"claims": 7, "failed": 0, "out": "out/v.jsonl"}


def test_verdicts_of_another_system_with_gaps_are_counted_and_shown(
    desk: Path, deepfact: Run
) -> None:
    labels = {e.claim.id: e.label for e in BenchmarkStore(Path("benchmarks/small")).load(1).state}
    ids = list(labels)
    rows = [(i, labels[i]) for i in ids[:50]]  # right, all of them
    rows += [(ids[0], labels[ids[0]]), (ids[1], "supported"), (ids[1], "inconclusive")]
    rows += [("of-another-set", "supported")]
    Path("theirs.csv").write_text("id,label\n" + "".join(f"{i},{label}\n" for i, label in rows))

    shown = deepfact("score", "theirs.csv", "--benchmark", "small")
    assert shown.returncode == 0
    assert "missing: 10 (" in shown.stderr and ", ...)" in shown.stderr
    assert "extra: 1 (of-another-set)" in shown.stderr
    assert f"duplicate: 2 ({ids[0]}, {ids[1]})" in shown.stderr
    assert f"conflicting: 1 ({ids[1]})" in shown.stderr
    assert "theirs on small@1: n=60, 11 unverified" in shown.stdout

    said = json.loads(deepfact("score", "theirs.csv", "--benchmark", "small", "--json").stdout)
    sheet = said["score"]
    assert said["missing"] == ids[50:] and said["conflicting"] == [ids[1]]
    assert said["extra"] == ["of-another-set"] and said["duplicate"] == ids[:2]
    assert (sheet["n"], sheet["unverified"], sheet["missing"]) == (60, 11, 10)
    assert sheet["binary"]["k"] == sheet["accuracy"]["k"] == 49
    assert sheet["binary"]["n"] == 60 and sheet["binary"]["unverified"] == 11


@pytest.mark.parametrize("key", ["author", "microgold"])
def test_scored_on_a_key(desk: Path, deepfact: Run, key: str) -> None:
    known = BenchmarkStore(Path("benchmarks/small")).key(key)
    Path("v.jsonl").write_text(
        "".join(json.dumps({"id": i, "label": e.label}) + "\n" for i, e in known.items())
    )
    said = deepfact("score", "v.jsonl", "--benchmark", "small", "--key", key, "--json")
    sheet = json.loads(said.stdout)["score"]
    assert sheet["on"] == f"small@1, key {key}"
    assert sheet["n"] == len(known) and sheet["accuracy"]["k"] == len(known)
    assert len(known) == 60 if key == "author" else 10 < len(known) < 60


def test_a_verifier_that_fails_says_how_often(desk: Path, deepfact: Run) -> None:
    done = deepfact("verify", "small", "--verifier", "failing", "--out", "v.jsonl")
    assert done.returncode == 0
    assert "60 without a verdict" in done.stdout and "60/60, 60 failed" in done.stderr
    sheet = deepfact("score", "v.jsonl", "--benchmark", "small")
    assert "n=60, 60 unverified" in sheet.stdout and "0.0% (0/60, 60 unverified)" in sheet.stdout
