"""Rulings and revisions: what policy makes of adjudications, with reasons word for word.

Public reports: claude-code #83325 and vibrantlabsai/ragas #2566 (a reason that the judge gave
never arrived, and another was made up), wafflebase #785 (split panels).
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepfact.core.revise import decided_label, revise, rule, sides
from deepfact.core.state import EMPTY, apply
from deepfact.records import (
    Adjudication,
    Case,
    CaseKey,
    CaseKind,
    Decision,
    Evidence,
    Label,
    Position,
    Qualification,
    RevisionKind,
    RulingKind,
    Stance,
)
from deepfact.run_records import PolicyRule, PolicySpec

WORDS = "Die Quelle sagt: „1898“ – not 1899.\n  Second line, kept  as it is."


def case_of(make: Any, a: str = "supported", b: str = "contradictory") -> Case:
    return Case(
        id="r1-0001",
        claim=make.claim(),
        a=Position(label=Label(a), rationale="side a says so"),
        b=Position(label=Label(b), rationale="side b says so"),
    )


def key_of(kind: CaseKind = CaseKind.CHALLENGE, incumbent: Any = "a") -> CaseKey:
    return CaseKey(case_id="r1-0001", claim_id="c1", kind=kind, incumbent=incumbent, challenger="v")


def decide(decision: str, auditor: str = "ann", rationale: str = WORDS) -> Adjudication:
    """A decision: ``a``, ``b``, ``cannot_tell``, or a label of the auditor's own."""
    own = Label(decision) if decision in set(Label) else None
    return Adjudication(
        case_id="r1-0001",
        auditor=auditor,
        decision=Decision.NEITHER if own else Decision(decision),
        label=own,
        rationale=rationale,
    )


def ruled(make: Any, how: str, *decisions: str, **key: Any) -> Any:
    adjudications = [decide(d, f"auditor-{n}", f"{d} by {n}") for n, d in enumerate(decisions)]
    return rule(case_of(make), key_of(**key), adjudications, PolicySpec(rule=PolicyRule(how)))


UPHOLD, REVISE, UNRESOLVED = RulingKind.UPHOLD, RulingKind.REVISE, RulingKind.UNRESOLVED


@pytest.mark.parametrize(
    ("how", "decisions", "kind", "label"),
    [
        ("single", ["a"], UPHOLD, "supported"),
        ("single", ["b"], REVISE, "contradictory"),
        ("single", ["inconclusive"], REVISE, "inconclusive"),
        ("single", ["cannot_tell"], UNRESOLVED, None),
        ("single", ["b", "a", "a"], REVISE, "contradictory"),
        ("single", ["supported"], UPHOLD, "supported"),
        ("majority", ["b", "b", "a"], REVISE, "contradictory"),
        ("majority", ["a", "b", "a"], UPHOLD, "supported"),
        ("majority", ["a", "b"], UNRESOLVED, None),
        ("majority", ["a", "b", "inconclusive"], UNRESOLVED, None),
        ("majority", ["b", "b", "a", "a"], UNRESOLVED, None),
        ("majority", ["b", "contradictory", "a"], REVISE, "contradictory"),
        ("majority", ["b", "cannot_tell", "b"], REVISE, "contradictory"),
        ("majority", ["b", "cannot_tell"], UNRESOLVED, None),
        ("majority", ["cannot_tell", "cannot_tell", "b"], UNRESOLVED, None),
        ("unanimous", ["b", "b", "b"], REVISE, "contradictory"),
        ("unanimous", ["a", "a"], UPHOLD, "supported"),
        ("unanimous", ["b", "b", "a"], UNRESOLVED, None),
        ("unanimous", ["b", "b", "cannot_tell"], UNRESOLVED, None),
        ("unanimous", ["inconclusive", "inconclusive"], REVISE, "inconclusive"),
        ("single", [], UNRESOLVED, None),
        ("majority", [], UNRESOLVED, None),
        ("unanimous", [], UNRESOLVED, None),
    ],
)
def test_policy(make: Any, how: str, decisions: list[str], kind: Any, label: str | None) -> None:
    ruling = ruled(make, how, *decisions)
    assert (ruling.kind, ruling.label) == (kind, label)
    assert ruling.accepts_challenge == (label == "contradictory")
    assert (ruling.case_id, ruling.claim_id) == ("r1-0001", "c1")


@pytest.mark.parametrize(
    ("how", "decisions", "reason"),
    [
        ("single", ["cannot_tell", "a"], "cannot_tell by 0"),
        ("majority", ["cannot_tell", "cannot_tell"], "cannot_tell by 0"),
        ("majority", ["a", "b"], "the auditors disagree"),
        ("unanimous", [], "no reason recorded"),
        ("majority", ["a", "b", "b"], "b by 1"),
    ],
)
def test_the_reason_is_the_deciding_auditors(
    make: Any, how: str, decisions: list[str], reason: str
) -> None:
    assert ruled(make, how, *decisions).reason == reason


def test_the_auditors_named_are_those_who_decided(make: Any) -> None:
    assert ruled(make, "majority", "a", "b", "b").auditors == ("auditor-1", "auditor-2")
    assert ruled(make, "majority", "a", "b").auditors == ("auditor-0", "auditor-1")
    assert ruled(make, "single", "b", "a").auditors == ("auditor-0",)


def test_a_control_never_accepts_a_challenge(make: Any) -> None:
    assert not ruled(make, "single", "b", kind=CaseKind.CONTROL).accepts_challenge


def test_the_side_of_the_benchmark_decides_what_is_upheld(make: Any) -> None:
    assert ruled(make, "single", "b", incumbent="b").kind is UPHOLD
    ruling = ruled(make, "single", "a", incumbent="b")
    assert (ruling.kind, ruling.accepts_challenge) == (REVISE, True)
    case = case_of(make)
    assert sides(case, key_of(incumbent="b")) == (case.b, case.a)


@given(
    decisions=st.lists(
        st.sampled_from(["a", "b", "cannot_tell", *map(str, Label)]), min_size=1, max_size=7
    )
)
def test_majority_is_more_than_half_and_unanimity_is_all(make: Any, decisions: list[str]) -> None:
    labels = [decided_label(case_of(make), decide(d)) for d in decisions]
    for how, needed in (("majority", len(labels) / 2), ("unanimous", len(labels) - 1)):
        winners = {x for x in labels if x is not None and labels.count(x) > needed}
        assert ruled(make, how, *decisions).label == (winners.pop() if winners else None)


def revised(make: Any, case: Case, key: CaseKey, adjudications: list[Adjudication]) -> Any:
    ruling = rule(case, key, adjudications, PolicySpec(rule=PolicyRule.MAJORITY))
    state = apply(EMPTY, [make.add("c1", str(sides(case, key)[0].label))])
    given = {case.id: adjudications}
    return revise([case], [key], [ruling], given, state.entries, run="run-1", when=make.WHEN)


def test_an_accepted_challenge_becomes_a_relabel_with_its_argument(make: Any) -> None:
    source = make.source()
    argued = Position(
        label=Label.CONTRADICTORY,
        rationale=WORDS,
        evidence=(make.evidence(source, "built in 1898", "contradicts"),),
        qualifications=(Qualification(kind="scope", text="the old mill"),),
    )
    case = case_of(make).model_copy(update={"b": argued})
    adjudications = [decide("b", "ann", WORDS), decide("b", "bob", "I agree")]
    (revision,) = revised(make, case, key_of(), adjudications)
    assert revision.kind is RevisionKind.RELABEL
    assert revision.why == f"supported -> contradictory: {WORDS}"
    assert (revision.who, revision.run, revision.case) == ("ann + bob", "run-1", "r1-0001")
    annotation = revision.annotation
    assert annotation.label is Label.CONTRADICTORY
    assert annotation.rationale == WORDS
    assert annotation.evidence == argued.evidence
    assert annotation.qualifications == argued.qualifications
    assert annotation.provenance.case == "r1-0001"
    after = apply(apply(EMPTY, [make.add()]), [revision])
    assert after.entries["c1"].label is Label.CONTRADICTORY


def test_a_third_label_carries_the_auditors_own_argument(make: Any) -> None:
    source = make.source()
    evidence = (Evidence(source=source.id, quote="1898", stance=Stance.CONTEXT),)
    own = decide("inconclusive", "bob").model_copy(update={"evidence": evidence})
    adjudications = [decide("a", "ann", "kept"), own, decide("inconclusive", "cem", "so say I")]
    (revision,) = revised(make, case_of(make), key_of(), adjudications)
    assert revision.annotation.label is Label.INCONCLUSIVE
    assert revision.annotation.rationale == WORDS
    assert revision.annotation.evidence == evidence
    assert revision.who == "bob + cem"


def test_an_error_that_both_share_is_revised_through_a_control(make: Any) -> None:
    case = case_of(make, a="supported", b="supported")
    key = key_of(kind=CaseKind.CONTROL)
    (revision,) = revised(make, case, key, [decide("contradictory")])
    assert revision.annotation.label is Label.CONTRADICTORY
    assert revision.annotation.rationale == WORDS


@pytest.mark.parametrize("decisions", [["a"], ["a", "b"], ["cannot_tell"]])
def test_upheld_and_unresolved_cases_change_nothing(make: Any, decisions: list[str]) -> None:
    assert revised(make, case_of(make), key_of(), [decide(d) for d in decisions]) == []


def test_cases_keys_and_rulings_must_be_of_one_length(make: Any) -> None:
    with pytest.raises(ValueError, match="zip"):
        revise([case_of(make)], [], [], {}, {}, run="r", when=make.WHEN)
