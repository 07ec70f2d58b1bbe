"""What disagreements come to: parts that add up, whatever auditors say."""

from __future__ import annotations

from typing import Any

import pytest

from deepfact.core.metrics import score
from deepfact.core.revise import rule
from deepfact.core.state import Entry
from deepfact.core.transfer import (
    ANSWERS,
    LONGEST_ID,
    PARTS,
    Settled,
    bar,
    combined_id,
    kind_of,
    names_itself,
    open_disagreements,
    sampled,
    settle,
)
from deepfact.records import Adjudication, Decision, DivergenceKind, Label
from deepfact.run_records import PolicySpec
from deepfact.transfer_records import Finding

IDS = [f"c{number}" for number in range(20)]


@pytest.fixture
def docket(make: Any) -> Any:
    entries = [Entry(make.claim("c1"), make.annotation("supported"))]
    outcomes = {"one": {"c1": make.verdict("c1", "contradictory", rationale="it differs")}}
    return open_disagreements(entries, outcomes, seed=3)


def said(docket: Any, label: Label | None, kind: DivergenceKind | None = None, who: str = "ada",
         **more: Any) -> Adjudication:  # fmt: skip
    """A decision for a label, whichever side it stands on."""
    case = docket.cases[0]
    sides = {case.a.label: Decision.A, case.b.label: Decision.B}
    decision = sides.get(label, Decision.NEITHER) if label else Decision.CANNOT_TELL
    own = label if decision is Decision.NEITHER else None
    return Adjudication(case_id=case.id, auditor=who, decision=decision, label=own,
                        rationale="because", divergence=kind, **more)  # fmt: skip


def settled(docket: Any, *made: Adjudication, rule_name: str = "majority") -> Settled:
    case, key = docket.cases[0], docket.keys[0]
    return settle(case, key, rule(case, key, made, PolicySpec(rule=rule_name)), made)


def test_a_sample_is_seeded_in_order_and_differs_between_data_sets() -> None:
    drawn = sampled(IDS, 8, seed=1, name="scifact")
    assert len(drawn) == 8 and drawn == [one for one in IDS if one in drawn]
    assert drawn == sampled(IDS, 8, seed=1, name="scifact")
    assert drawn != sampled(IDS, 8, seed=2, name="scifact")
    assert drawn != sampled(IDS, 8, seed=1, name="expertqa")
    assert sampled(IDS, None, seed=1, name="x") == sampled(IDS, 99, seed=1, name="x") == IDS
    assert drawn == [i for i in IDS if i in sampled(IDS[::-1], 8, seed=1, name="scifact")]


def test_ids_of_two_data_sets_never_meet() -> None:
    assert combined_id("scifact", "12") == "scifact:12"
    long, other = "x" * 199 + "1", "x" * 199 + "2"
    assert combined_id("s", long) != combined_id("s", other)
    assert len(combined_id("s", long)) <= LONGEST_ID


@pytest.mark.parametrize(
    ("rationale", "told"),
    [
        ("ExpertQA's expert said so.", True),
        ("In expert-qa this holds.", True),
        ("An expert said so.", False),
        ("It is wic by name.", False),  # too short to be a name
    ],
)
def test_a_reason_that_names_its_data_set_is_known(rationale: str, told: bool) -> None:
    assert names_itself(rationale, ["expertqa", "wic"]) is told


def test_disagreements_become_blind_cases_once_however_many_say_the_same(make: Any) -> None:
    entries = [Entry(make.claim(i), make.annotation("supported")) for i in ("c1", "c2", "c3")]
    same = make.verdict("c1", "inconclusive", rationale="nothing there")
    outcomes = {
        "one": {"c1": same, "c2": make.verdict("c2"), "c3": make.failure("c3")},
        "two": {"c1": same, "c2": make.verdict("c2", "contradictory")},
    }
    docket = open_disagreements(entries, outcomes, seed=0)
    found = {case.claim.id: by for case, by in zip(docket.cases, docket.verifiers, strict=True)}
    assert found == {"c1": ("one", "two"), "c2": ("two",)}  # agreement and failure make none
    assert sorted(case.id for case in docket.cases) == ["t-0001", "t-0002"]
    assert {key.challenger for key in docket.keys} == {"one + two", "two"}
    for case, key in zip(docket.cases, docket.keys, strict=True):
        assert getattr(case, key.incumbent).label == "supported"
    many = [Entry(make.claim(i), make.annotation()) for i in IDS]
    against = {"one": {i: make.verdict(i, "inconclusive") for i in IDS}}
    drawn = open_disagreements(many, against, seed=5)
    assert {key.incumbent for key in drawn.keys} == {"a", "b"}
    assert [case.claim.id for case in drawn.cases] != IDS  # the order is drawn by lot, too


def test_the_data_sets_label_upheld_is_the_models_error_whatever_kind_was_named(
    docket: Any,
) -> None:
    made = said(docket, Label.SUPPORTED, DivergenceKind.SUBJECTIVE)
    assert settled(docket, made) == Settled(Finding.MODEL_ERROR)


def test_another_label_is_a_divergence_with_the_kind_that_most_of_its_holders_name(
    docket: Any,
) -> None:
    kind = DivergenceKind.EVIDENCE_MISMATCH
    ada = said(docket, Label.CONTRADICTORY, kind)
    bob = said(docket, Label.CONTRADICTORY, kind, "bob")
    cy = said(docket, Label.SUPPORTED, DivergenceKind.SUBJECTIVE, "cy")
    assert settled(docket, ada, bob, cy) == Settled(Finding.DIVERGENCE, kind)
    other = said(docket, Label.CONTRADICTORY, DivergenceKind.NO_RATIONALE, "bob")
    assert settled(docket, ada, other, cy) == Settled(Finding.DIVERGENCE)  # they differ: no kind
    silent = said(docket, Label.CONTRADICTORY)
    assert settled(docket, silent) == Settled(Finding.DIVERGENCE)


def test_a_third_label_says_that_both_are_wrong(docket: Any) -> None:
    third = said(docket, Label.INCONCLUSIVE, DivergenceKind.EVIDENCE_MISMATCH)
    found = Settled(Finding.DIVERGENCE, DivergenceKind.EVIDENCE_MISMATCH, both_wrong=True)
    assert settled(docket, third) == found


@pytest.mark.parametrize("kind", list(DivergenceKind))
def test_cannot_tell_is_a_divergence_only_with_a_kind_that_settles_nothing(
    docket: Any, kind: DivergenceKind
) -> None:
    found = settled(docket, said(docket, None, kind))
    if kind is DivergenceKind.EVIDENCE_MISMATCH:
        assert found == Settled(Finding.UNDECIDED)
    else:
        assert found == Settled(Finding.DIVERGENCE, kind)
    assert settled(docket, said(docket, None)) == Settled(Finding.UNDECIDED)


def test_without_a_ruling_a_case_waits(docket: Any) -> None:
    assert settle(docket.cases[0], docket.keys[0], None, []) == Settled(Finding.WAITING)


def test_a_bar_adds_up_and_a_failure_has_a_part_of_its_own(make: Any) -> None:
    outcomes = {"c1": make.verdict("c1"), "c2": make.verdict("c2"), "c3": make.verdict("c3"),
                "c4": make.failure("c4"), "c5": make.verdict("c5")}  # fmt: skip
    key = dict.fromkeys(outcomes, Label.SUPPORTED)
    sheet = score(key, outcomes, verifier="v", on="d", reports={i: i for i in outcomes})
    kind = DivergenceKind.SUBJECTIVE
    made = bar("d", "v", outcomes, {
        "c1": Settled(Finding.DIVERGENCE, kind, both_wrong=True),
        "c2": Settled(Finding.MODEL_ERROR),
        "c3": Settled(Finding.WAITING),
    }, sheet)  # fmt: skip
    counts = {(share.finding, share.kind): share.rate.k for share in made.shares}
    assert tuple(counts) == PARTS and sum(counts.values()) == made.n == 5
    assert {part: count for part, count in counts.items() if count} == {
        (Finding.AGREEMENT, None): 1, (Finding.DIVERGENCE, kind): 1,
        (Finding.MODEL_ERROR, None): 1, (Finding.WAITING, None): 1,
        (Finding.UNVERIFIED, None): 1,
    }  # fmt: skip
    assert {share.rate.unverified for share in made.shares} == {1}
    assert (made.of_disagreements.k, made.of_disagreements.n) == (1, 2)  # the waiting one is out
    assert made.both_wrong == 1


def test_every_kind_can_be_answered_and_none_of_them() -> None:
    assert [kind_of(answer) for answer in ANSWERS] == [*DivergenceKind, None]
    with pytest.raises(ValueError, match="taste"):
        kind_of("taste")
