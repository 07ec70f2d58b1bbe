"""Accuracy on micro-gold, after the fact: versions, annotators, auditors, over several runs; open
runs are left out."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deepfact.core.state import State
from deepfact.microgold.scoring import score
from deepfact.records import KeyEntry, Label
from deepfact.round import run_rounds
from deepfact.run_records import AuditorSpec, RoundSpec, RunRecord, VerifierSpec
from deepfact.running.annotators import ASSUMED, annotator_scores
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import read_record, write_text

DAY = datetime(2026, 1, 5, tzinfo=UTC)
EXPERT = AuditorSpec(name="expert", kind="policy", options={"accuracy": 1.0})
PERSON = AuditorSpec(name="ada", kind="human")


def run(name: str, auditor: AuditorSpec = EXPERT, **more: Any) -> RunRecord:
    spec = RoundSpec(
        name=name, benchmark="small@1", challenger=VerifierSpec(kind="quoting"),
        auditors=(auditor.name,), commit_to="run", date=DAY, controls={"microgold": 1}, **more,
    )  # fmt: skip
    return run_rounds(spec, Path("results") / name, auditors=(auditor,))


@pytest.fixture
def store(desk: Path) -> BenchmarkStore:
    return BenchmarkStore(desk / "benchmarks/small")


def test_versions_annotators_and_auditors_are_measured(store: BenchmarkStore) -> None:
    first, second = run("one"), run("two", seed=3)
    report = score(store, Path("results"))
    gold = store.key("microgold")
    assert report.claims == len(gold)
    base, *made = report.versions
    labels = {entry.claim.id: entry.label for entry in store.load(1).state}
    right = sum(labels[name] == entry.label for name, entry in gold.items())
    assert (base.version, base.run, base.simulated) == (1, "", False)
    assert (base.accuracy.k, base.accuracy.n) == (right, len(gold))
    assert 0 < base.accuracy.low < base.accuracy.value < base.accuracy.high < 1
    assert base.binary.k >= base.accuracy.k
    assert [(one.run, one.version, one.simulated) for one in made] == [
        ("one", 2, True), ("two", 2, True),
    ]  # fmt: skip
    assert all(one.accuracy.k > base.accuracy.k for one in made)
    (annotator,) = report.annotators
    assert annotator.annotator == "annotator-1" and annotator.accuracy == base.accuracy
    assert [one.accuracy for one in report.auditors] == [
        done.rounds[0].auditors[0].microgold for done in (first, second)
    ]
    (pooled,) = report.pooled
    assert pooled.rounds == 2 and pooled.simulated
    assert pooled.accuracy.n == sum(one.accuracy.n for one in report.auditors)
    assert pooled.accuracy.value == 1.0


def test_open_other_and_broken_runs_are_left_out(store: BenchmarkStore, desk: Path) -> None:
    assert run("waits", PERSON).waiting
    broken = Path("results/broken")
    write_text(broken / "spec.json", '{"auditors": []}')
    write_text(broken / "record.json", "{")
    write_text(Path("results/ab/spec.json"), "{}")
    write_text(Path("results/ab/record.json"), "{}")
    done = run("other")
    record = read_record(Path("results/other/record.json"), RunRecord)
    other = record.spec.model_copy(update={"benchmark": "another@1"})
    moved = record.model_copy(update={"spec": other})
    write_text(Path("results/other/record.json"), moved.model_dump_json())
    report = score(store, Path("results"))
    assert done.rounds and report.auditors == () and report.pooled == ()
    assert report.open_runs == ("waits",)
    assert len(report.unreadable) == 1 and report.unreadable[0].startswith("broken: ")
    assert score(store, Path("nowhere")).open_runs == ()


def test_a_round_says_whose_labels_are_right_once_it_is_closed(store: BenchmarkStore) -> None:
    record = run("one")
    (done,) = record.rounds
    by_who = {one.of: one.accuracy for one in done.annotators}
    assert set(by_who) == {"annotator-1", "expert"}
    assert by_who["expert"].value == 1.0 and by_who["annotator-1"].value > 0.5
    assert sum(one.n for one in by_who.values()) == record.microgold[1].accuracy.n
    assert sum(one.k for one in by_who.values()) == record.microgold[1].accuracy.k
    for page in ("report.md", "report.html"):
        told = Path("results/one", page).read_text(encoding="utf-8")
        assert "labels by expert after round 1" in told, page


def test_an_open_run_says_nothing_of_annotators(store: BenchmarkStore) -> None:
    spec = RoundSpec(
        name="both", benchmark="small@1", challenger=VerifierSpec(kind="quoting"),
        auditors=("expert",), commit_to="run", date=DAY,
        rounds=({}, {"auditors": ("ada",), "challenger": {"kind": "overlap"}}),
    )  # fmt: skip
    record = run_rounds(spec, Path("results/both"), auditors=(EXPERT, PERSON))
    assert record.waiting and len(record.rounds) == 1
    assert record.rounds[0].annotators == ()
    assert "labels by" not in Path("results/both/report.md").read_text(encoding="utf-8")


def test_assumed_labels_are_nobodys_until_a_round_gives_one(make: Any) -> None:
    known = KeyEntry(claim_id="c1", label=Label.CONTRADICTORY, assumed=True)
    revision = make.relabel("c1")
    ruled = revision.annotation.provenance.model_copy(update={"run": "one", "who": "ada"})
    from deepfact.core.state import apply

    state = apply(State({}), [make.add("c1"), make.add("c2", None)])
    gold = {"c1": known, "c2": KeyEntry(claim_id="c2", label=Label.SUPPORTED)}
    (assumed,) = annotator_scores(state, gold)
    assert (assumed.of, assumed.accuracy.k, assumed.accuracy.n) == (ASSUMED, 0, 1)
    relabelled = revision.model_copy(
        update={"annotation": revision.annotation.model_copy(update={"provenance": ruled})}
    )
    (after,) = annotator_scores(apply(state, [relabelled]), gold)
    assert (after.of, after.accuracy.k) == ("ada", 1)
