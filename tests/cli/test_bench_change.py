"""``deepfact bench revert`` and ``merge``, ``seal``, ``diff --verdicts``: as a user types them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import jsonl, write_text

Run = Callable[..., subprocess.CompletedProcess[str]]
SIGNED = ("--author", "ada", "--why", "a mistake", "--date", "2026-02-01")


@pytest.fixture
def mill(make: Any, desk: Path) -> BenchmarkStore:
    """Three versions in a line, and a fourth from the first that disagrees on c1."""
    store = make.store(desk / "benchmarks" / "mill", 3)
    revisions = [make.relabel("c1", "inconclusive"), make.add("c5")]
    store.commit(revisions, parent=1, author="bob", date=make.WHEN, note="Apart")
    return store


def good(done: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    assert done.returncode == 0, done.stderr
    return done


# --- revert ------------------------------------------------------------------------------------


def test_revert_makes_a_version_that_is_as_an_old_one(mill: BenchmarkStore, deepfact: Run) -> None:
    dry = good(deepfact("bench", "revert", "mill@3", "--to", "1", "--dry-run", *SIGNED))
    assert "4 revisions would undo what came after mill@1" in dry.stdout
    assert mill.versions() == [1, 2, 3, 4]
    done = good(deepfact("bench", "revert", "mill@3", "--to", "1", *SIGNED))
    assert "made mill@5 from mill@3: 4 revisions" in done.stdout
    assert "deepfact bench merge" in done.stderr  # there are two ends now
    first, now = mill.load(1), mill.load(5)
    for claim_id, entry in first.state.entries.items():
        assert now.state.entries[claim_id] == entry
    assert now.state.entries["c4"].retired
    assert "  why: back to mill@1: a mistake" in deepfact("bench", "blame", "mill@5", "c1").stdout
    assert "Revert: what came after mill@1: a mistake" in deepfact("bench", "log", "mill").stdout
    again = deepfact("bench", "revert", "mill@5", "--to", "1", *SIGNED)
    assert again.returncode == 2 and "there is nothing to undo" in again.stderr
    assert deepfact("bench", "verify", "mill").returncode == 0


def test_revert_one_version_or_one_claim(mill: BenchmarkStore, deepfact: Run) -> None:
    done = good(deepfact("bench", "revert", "mill@3", "--version", "2", "--json", *SIGNED))
    assert json.loads(done.stdout) == {
        "version": 5,
        "revisions": [{"claim_id": "c1", "kind": "relabel"}, {"claim_id": "c4", "kind": "retire"}],
    }
    one = good(deepfact("bench", "revert", "mill@3", "--claim", "c3", "--json", *SIGNED))
    assert json.loads(one.stdout)["revisions"] == [{"claim_id": "c3", "kind": "relabel"}]
    only = good(
        deepfact("bench", "revert", "mill@3", "--to", "1", "--claim", "c1", "--claim", "c2",
                 "--dry-run", "--json", *SIGNED)
    )  # fmt: skip
    data = json.loads(only.stdout)
    assert data["version"] is None and [r["claim_id"] for r in data["revisions"]] == ["c1", "c2"]


def test_revert_refuses_and_names_what_cannot_be_undone(
    make: Any, mill: BenchmarkStore, deepfact: Run
) -> None:
    mill.commit([make.relabel("c1", "inconclusive")], parent=3, author="x", date=make.WHEN,
                note="Again")  # fmt: skip
    done = deepfact("bench", "revert", "mill", "--version", "2", *SIGNED)
    assert done.returncode == 2 and mill.versions() == [1, 2, 3, 4, 5]
    assert "c1: it has changed again since" in done.stderr and "--leave ID" in done.stderr
    left = good(deepfact("bench", "revert", "mill", "--version", "2", "--leave", "c1", *SIGNED))
    assert "c4  retire" in left.stdout and "c1" not in left.stdout


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--to", "1"), "say who undoes it and why"),
        (("--to", "1", "--author", "ada", "--why", " "), "say who undoes it and why"),
        (SIGNED, "say what to undo"),
        (("--to", "1", "--version", "2", *SIGNED), "say what to undo"),
        (("--to", "9", *SIGNED), "mill has no version 9"),
        (("--to", "4", *SIGNED), "mill@3 does not come from version 4"),
        (("--claim", "c9", *SIGNED), "mill@3 has no claim 'c9'"),
        (("--to", "1", "--author", "a", "--why", "b", "--date", "soon"), "'soon' is no date"),
    ],
)
def test_revert_says_what_is_wrong(
    mill: BenchmarkStore, deepfact: Run, words: tuple[str, ...], problem: str
) -> None:
    done = deepfact("bench", "revert", "mill@3", *words)
    assert done.returncode == 2 and problem in done.stderr and "Traceback" not in done.stderr
    assert mill.versions() == [1, 2, 3, 4]


# --- merge -------------------------------------------------------------------------------------


def test_merge_with_a_conflict_waits_for_people(mill: BenchmarkStore, deepfact: Run) -> None:
    dry = json.loads(good(deepfact("bench", "merge", "mill@3", "4", "--author", "ada",
                                   "--dry-run", "--json")).stdout)  # fmt: skip
    assert dry == {"version": None, "taken": ["c5"], "alike": [], "left": [], "conflicts": ["c1"]}
    assert not Path("results").exists()
    words = ("bench", "merge", "mill@3", "4", "--author", "ada", "--auditor", "zoë")
    begun = deepfact(*words)
    assert begun.returncode == 3 and "1 of 1 conflicts wait for people" in begun.stderr
    folder = "results/merge-mill-3-4"
    assert deepfact(*words).returncode == 3  # again: it goes on
    assert mill.versions() == [1, 2, 3, 4]
    reviewed = good(deepfact("audit", "review", folder, said="n\ns\nneither is\n"))
    assert "1 decided, 0 left" in reviewed.stdout
    assert deepfact("round", "status", folder).returncode == 3
    done = good(deepfact("round", "resume", folder))
    assert "complete" in good(deepfact("round", "status", folder)).stdout
    assert "made mill@5: 1 conflicts decided, 0 for ours, 1 otherwise" in done.stdout
    again = json.loads(good(deepfact("bench", "merge", "--go-on", folder, "--json")).stdout)
    assert again["version"] == 5 and [r["label"] for r in again["rulings"]] == ["supported"]
    assert mill.versions() == [1, 2, 3, 4, 5]
    blame = deepfact("bench", "blame", "mill", "c1").stdout
    assert [line.split()[1] for line in blame.splitlines() if line.startswith("version")] == [
        "1", "2", "4", "5",
    ]  # fmt: skip
    assert "zoë: relabel -> supported  (run merge-mill-3-4, case m-0001)" in blame
    assert "mill@5 from 3 and 4" in deepfact("bench", "log", "mill").stdout
    assert deepfact("bench", "verify", "mill").returncode == 0
    assert "ends" not in deepfact("bench", "log", "mill").stderr


@pytest.mark.parametrize(
    ("text", "problem"),
    [("{", "not JSON"), ("{}", "Field required"), ('{"schema_version": 9}', "newer than this")],
)
def test_a_broken_merge_file_is_said_to_be(
    desk: Path, deepfact: Run, text: str, problem: str
) -> None:
    write_text(Path("results/m/merge.json"), text)
    done = deepfact("bench", "merge", "--go-on", "results/m")
    assert done.returncode == 2 and problem in done.stderr and "merge.json" in done.stderr


def test_merge_at_once(mill: BenchmarkStore, deepfact: Run) -> None:
    done = good(deepfact("bench", "merge", "mill@3", "4", "--leave", "c1", "--author", "ada"))
    assert "made mill@5: 1 claims taken over, 0 alike on both sides, 1 left out" in done.stdout
    shown = deepfact("bench", "merge", "mill@3", "4", "--author", "ada", "--dry-run")
    assert "conflicts: c1" in shown.stdout and "1 conflicts would be put" in shown.stderr


def test_merge_of_a_runs_copy_and_of_what_is_only_ahead(desk: Path, deepfact: Run) -> None:
    Path("r.yaml").write_text(
        "name: trial\nbenchmark: small@1\nchallenger: {kind: quoting}\n"
        "auditors: [simulated-expert]\ndate: 2026-01-05T00:00:00Z\ncommit_to: run\n", "utf-8"
    )  # fmt: skip
    good(deepfact("round", "run", "r.yaml"))
    words = ("bench", "merge", "small@1", "results/trial/benchmarks/small@2", "--author", "ada")
    done = json.loads(good(deepfact(*words, "--json")).stdout)
    assert done["version"] == 2 and done["taken"]
    assert BenchmarkStore(desk / "benchmarks/small").manifest(2).author == "round trial"
    assert deepfact("bench", "verify", "small").returncode == 0


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((), "two versions are needed"),
        (("mill@3",), "two versions are needed"),
        (("mill@3", "4"), "say who merges"),
        (("mill@3", "2", "--author", "ada"), "nothing to merge: mill@3 comes from mill@2 already"),
        (("mill@2", "3", "--author", "ada"), "nothing to merge: mill@3 was made from mill@2"),
        (("mill@3", "small@1", "--author", "ada"), "come from no common version"),
        (("mill@3", "4", "--author", "ada", "--policy", "weighted"), "unknown policy 'weighted'"),
        (("mill@3", "4", "--author", "ada", "--auditor", "two words"), "auditors"),
        (("--go-on", "benchmarks"), "there is no merge in this folder"),
    ],
)
def test_merge_says_what_is_wrong(
    mill: BenchmarkStore, deepfact: Run, words: tuple[str, ...], problem: str
) -> None:
    done = deepfact("bench", "merge", *words)
    assert done.returncode == 2 and problem in done.stderr and "Traceback" not in done.stderr
    assert mill.versions() == [1, 2, 3, 4] and not Path("results").exists()


# --- branches are never silent ------------------------------------------------------------------


def test_a_second_run_from_one_version_says_so(desk: Path, deepfact: Run) -> None:
    for name, turn in (("one", "a"), ("two", "b")):
        Path(f"{name}.yaml").write_text(
            f"name: {name}\nbenchmark: small@1\n"
            f"challenger: {{kind: quoting, options: {{turn: {turn}}}}}\n"
            "auditors: [simulated-expert]\ndate: 2026-01-05T00:00:00Z\n", "utf-8"
        )  # fmt: skip
    first = good(deepfact("round", "run", "one.yaml"))
    assert "bench merge" not in first.stderr
    planned = good(deepfact("round", "run", "two.yaml", "--dry-run"))
    assert "small@2 was made from small@1 already" in planned.stderr
    second = good(deepfact("round", "run", "two.yaml"))
    assert "small@3 and small@2 were both made from small@1" in second.stderr
    assert "deepfact bench merge small@2 3 --author NAME" in second.stderr
    log = good(deepfact("bench", "log", "small"))
    assert log.stdout.count("(an end)") == 2 and "the history has 2 ends" in log.stderr


# --- seal ---------------------------------------------------------------------------------------


def test_an_edited_card_is_answered_for(mill: BenchmarkStore, deepfact: Run) -> None:
    card = mill.folder / "README.md"
    card.write_text("# Mill, revised\n", "utf-8")
    bad = deepfact("bench", "verify", "mill")
    assert bad.returncode == 1
    assert "README.md: changed since it was recorded" in bad.stdout
    assert "deepfact bench seal" in bad.stdout
    unsigned = deepfact("bench", "seal", "mill")
    assert unsigned.returncode == 2 and "README.md (changed)" in unsigned.stderr
    done = good(deepfact("bench", "seal", "mill", "--author", "ada", "--why", "a licence"))
    assert "recorded: README.md (changed)" in done.stdout
    assert deepfact("bench", "verify", "mill").returncode == 0
    same = good(deepfact("bench", "seal", "mill"))
    assert "nothing has changed since it was recorded" in same.stdout
    wrong = deepfact("bench", "seal", "mill", "READM.md", "--author", "a", "--why", "b")
    assert wrong.returncode == 2 and "did you mean 'README.md'" in wrong.stderr
    write_text(mill.folder / "keys" / "k.jsonl", "")
    one = good(deepfact("bench", "seal", "mill", "--author", "a", "--why", "b", "--json"))
    assert [row["path"] for row in json.loads(one.stdout)] == ["keys/k.jsonl"]


# --- diff with verdicts --------------------------------------------------------------------------


def test_diff_scores_stored_verdicts_on_both(
    make: Any, mill: BenchmarkStore, deepfact: Run
) -> None:
    labels = {"c1": "contradictory", "c2": "supported", "c3": "supported", "c9": "supported"}
    write_text(Path("v.jsonl"), jsonl(make.verdict(i, x).canonical() for i, x in labels.items()))
    data = json.loads(
        good(deepfact("bench", "diff", "mill@1", "2", "--verdicts", "v.jsonl", "--json")).stdout
    )
    assert data["counts"] == {"relabelled": 1, "added": 1}
    (score,) = data["scores"]
    assert [score[side]["accuracy"]["k"] for side in ("before", "after")] == [2, 3]
    assert [score[side]["n"] for side in ("before", "after")] == [3, 4]
    assert (score["n"], score["gained"], score["accuracy"]["value"]) == (3, ["c1"], 1 / 3)
    assert score["after"]["missing"] == 1
    assert any("c9" in text for text in data["notes"])
    shown = good(deepfact("bench", "diff", "mill@1", "2", "--verdicts", "v.jsonl"))
    assert "change on the 3 claims both label" in shown.stdout and "+33.3 points" in shown.stdout
    assert "now right: 1 (c1)" in shown.stdout and "1 of them never asked" in shown.stdout
    assert "c9" in shown.stderr
    missing = deepfact("bench", "diff", "mill@1", "2", "--verdicts", "none.jsonl")
    assert missing.returncode == 2 and "no such file" in missing.stderr


def test_diff_leaves_out_verdicts_on_other_words(desk: Path, make: Any, deepfact: Run) -> None:
    Path("r.yaml").write_text(
        "name: trial\nbenchmark: small@1\nchallenger: {kind: quoting}\n"
        "auditors: [simulated-expert]\ndate: 2026-01-05T00:00:00Z\ncommit_to: run\n", "utf-8"
    )  # fmt: skip
    good(deepfact("round", "run", "r.yaml"))
    other = make.store(desk / "elsewhere" / "small", 1)
    first = BenchmarkStore(desk / "benchmarks/small").load().claims[0].id
    other.commit([make.add(first)], parent=1, author="x", date=make.WHEN, note="n")
    done = good(deepfact("bench", "diff", "elsewhere/small@1", "2", "--verdicts", "results/trial"))
    assert f"are on other words than small@2: {first}" in done.stderr
    assert "no interval: one report" not in done.stdout
