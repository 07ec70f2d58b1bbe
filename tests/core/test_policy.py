"""Policies: who is still to decide, how weights and tie-breakers rule, what cannot work."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepfact.core.policy import by_case, due, rule_all, why_unworkable
from deepfact.core.revise import rule
from deepfact.records import Adjudication, Case, CaseKey, CaseKind, Claim, Decision, Label, Position
from deepfact.run_records import PolicySpec, RoundRecord, VersionRef, WeightSpec

CASE = Case(
    id="r1-1", claim=Claim(id="c1", text="x"), a=Position(label=Label.SUPPORTED),
    b=Position(label=Label.CONTRADICTORY),
)  # fmt: skip
KEY = CaseKey(case_id="r1-1", claim_id="c1", kind=CaseKind.CHALLENGE, incumbent="a", challenger="v")


def decide(auditor: str, decision: str, case_id: str = "r1-1") -> Adjudication:
    own = Label(decision) if decision in set(Label) else None
    return Adjudication(
        case_id=case_id, auditor=auditor, label=own, rationale=f"{decision} by {auditor}",
        decision=Decision.NEITHER if own else Decision(decision),
    )  # fmt: skip


def made(decisions: str) -> dict[str, Adjudication]:
    """``ann: a, ben: b`` as decisions by auditor."""
    pairs = [pair.split(": ") for pair in decisions.split(", ")] if decisions else []
    return {auditor: decide(auditor, decision) for auditor, decision in pairs}


TIES = {"rule": "majority", "tie_breaker": "zoe"}
NAMES = ["ann", "ben", "zoe"]


@pytest.mark.parametrize(
    ("policy", "names", "decisions", "waits_for"),
    [
        ({"rule": "single"}, ["ann"], "", ["ann"]),
        ({"rule": "single"}, ["ann", "ben"], "", ["ann", "ben"]),
        ({"rule": "single"}, ["ann", "ben"], "ben: a", []),
        ({"rule": "single"}, [], "", []),
        ({"rule": "majority"}, ["ann", "ben"], "ann: a", ["ben"]),
        ({"rule": "weighted"}, ["ann", "ben"], "", ["ann", "ben"]),
        ({"rule": "unanimous"}, ["ann", "ben"], "ann: a, ben: b", []),
        (TIES, NAMES, "", ["ann", "ben"]),
        (TIES, NAMES, "ann: a", ["ben"]),
        (TIES, NAMES, "ann: a, ben: a", []),
        (TIES, NAMES, "ann: a, ben: b", ["zoe"]),
        (TIES, NAMES, "ann: a, ben: cannot_tell", ["zoe"]),
        (TIES, NAMES, "ann: cannot_tell, ben: cannot_tell", []),
        (TIES, NAMES, "ann: a, ben: b, zoe: b", []),
        (TIES, ["ann", "ben"], "ann: a, ben: b", []),  # she wrote the label
        (TIES, [*NAMES, "cleo"], "ann: a, ben: b, cleo: b", []),
        ({**TIES, "rule": "unanimous"}, [*NAMES, "cleo"], "ann: a, ben: b, cleo: b", ["zoe"]),
    ],
)
def test_who_is_still_to_decide(
    policy: dict[str, Any], names: list[str], decisions: str, waits_for: list[str]
) -> None:
    assert list(due(CASE, made(decisions), names, PolicySpec(**policy))) == waits_for


@pytest.mark.parametrize(
    ("policy", "decisions", "label", "auditors", "reason"),
    [
        (TIES, "ann: a, ben: b, zoe: b", "contradictory", ["zoe"], "b by zoe"),
        (TIES, "ann: a, ben: b, zoe: inconclusive", "inconclusive", ["zoe"], "inconclusive by zoe"),
        (TIES, "ann: a, ben: b, zoe: cannot_tell", None, ["zoe"], "cannot_tell by zoe"),
        # Nobody split: what she said beyond her turn counts for nothing.
        (TIES, "ann: a, ben: a, zoe: b", "supported", ["ann", "ben"], "a by ann"),
        (TIES, "ann: a, ben: b", None, ["ann", "ben"], "the auditors disagree"),
        ({**TIES, "rule": "unanimous"}, "ann: a, ben: a, cleo: b, zoe: a", "supported", ["zoe"],
         "a by zoe"),
    ],
)  # fmt: skip
def test_a_tie_breaker_decides_ties_alone(
    policy: Any, decisions: str, label: str | None, auditors: list[str], reason: str
) -> None:
    ruling = rule(CASE, KEY, list(made(decisions).values()), PolicySpec(**policy))
    assert (ruling.label, list(ruling.auditors), ruling.reason) == (label, auditors, reason)


WEIGHTED = PolicySpec(rule="weighted")


@pytest.mark.parametrize(
    ("weights", "decisions", "label"),
    [
        ({"ann": 2.1, "ben": 1, "cleo": 1}, "ann: b, ben: a, cleo: a", "contradictory"),
        ({"ann": 1.9, "ben": 1, "cleo": 1}, "ann: b, ben: a, cleo: a", "supported"),
        ({"ann": 2, "ben": 1, "cleo": 1}, "ann: b, ben: a, cleo: a", None),  # a tie
        ({"ann": 0.3, "ben": 0.1, "cleo": 0.2}, "ann: b, ben: a, cleo: a", None),  # on paper
        ({"ann": 2, "ben": 1.5, "cleo": 1}, "ann: b, ben: a, cleo: inconclusive", None),
        ({"ann": 2, "ben": 3}, "ann: b, ben: cannot_tell", None),
        ({"ann": 0, "ben": 0}, "ann: b, ben: b", None),
        ({}, "ann: b", None),
        ({"ann": 0, "ben": 0.1}, "ann: b, ben: a", "supported"),
    ],
)
def test_a_label_wins_with_more_than_half_of_the_weight(
    weights: dict[str, float], decisions: str, label: str | None
) -> None:
    ruling = rule(CASE, KEY, list(made(decisions).values()), WEIGHTED, weights)
    assert ruling.label == label


@given(
    st.lists(st.sampled_from(["a", "b", "inconclusive", "cannot_tell"]), max_size=7),
    st.floats(0.01, 5),
)
def test_equal_weights_are_a_majority(decisions: list[str], weight: float) -> None:
    votes = [decide(f"auditor-{n}", decision) for n, decision in enumerate(decisions)]
    weights = {vote.auditor: weight for vote in votes}
    majority = rule(CASE, KEY, votes, PolicySpec(rule="majority"))
    assert rule(CASE, KEY, votes, WEIGHTED, weights) == majority


# --- a whole docket -----------------------------------------------------------------------


def docket(count: int) -> tuple[list[Case], list[CaseKey]]:
    cases = [
        CASE.model_copy(update={"id": f"r1-{n}", "claim": Claim(id=f"c{n}", text="x")})
        for n in range(count)
    ]
    keys = [
        KEY.model_copy(update={"case_id": case.id, "claim_id": case.claim.id}) for case in cases
    ]
    return cases, keys


def test_weights_are_measured_where_the_answer_is_known() -> None:
    cases, keys = docket(13)
    decisions = {
        case.id: [decide("ann", "b", case.id), decide("ben", "a", case.id)] for case in cases
    }
    gold = {f"c{n}": Label.CONTRADICTORY for n in range(12)}  # ann is right, ben is not
    rulings, weights = rule_all(1, cases, keys, decisions, WEIGHTED, ["ann", "ben"], microgold=gold)
    assert {ruling.label for ruling in rulings} == {Label.CONTRADICTORY}
    ann, ben = weights
    assert (ann.right, ann.of, ben.right, ben.of) == (12, 12, 0, 12)
    assert ann.weight > 1 and ben.weight == 0
    # Without micro-gold nobody is known to be better, and the two are even.
    rulings, weights = rule_all(1, cases, keys, decisions, WEIGHTED, ["ann", "ben"], microgold={})
    assert {ruling.label for ruling in rulings} == {None}
    assert [weight.basis for weight in weights] == ["assumed", "assumed"]


def test_a_known_case_is_ruled_on_as_if_its_answer_were_unknown() -> None:
    """One case decides whether ann is measured at all: the case itself must not."""
    cases, keys = docket(5)
    decisions = {
        case.id: [decide("ann", "b", case.id), decide("ben", "a", case.id)] for case in cases
    }
    gold = {case.claim.id: Label.CONTRADICTORY for case in cases}
    spec = WeightSpec(min_cases=5)
    policy = PolicySpec(rule="weighted", weights=spec)
    rulings, weights = rule_all(1, cases, keys, decisions, policy, ["ann", "ben"], microgold=gold)
    assert [weight.basis for weight in weights] == ["measured", "measured"]
    assert {ruling.label for ruling in rulings} == {None}  # four others are too few


def test_earlier_rounds_measure_too_and_may_be_all_that_does() -> None:
    cases, keys = docket(6)
    decisions = {
        case.id: [decide("ann", "b", case.id), decide("ben", "a", case.id)] for case in cases
    }
    gold = {case.claim.id: Label.CONTRADICTORY for case in cases}
    ref = VersionRef(benchmark="b", version=1, state_hash=f"sha256:{'0' * 64}")
    first = RoundRecord(
        round=1, base=ref, result=ref, challenger="v", outcomes=(), cases=tuple(cases),
        keys=tuple(keys), adjudications=tuple(one for all_ in decisions.values() for one in all_),
        rulings=(), revisions=(), scores=(), auditors=(),
    )  # fmt: skip
    earlier = PolicySpec(rule="weighted", weights=WeightSpec(measured_in="earlier rounds"))
    names = ["ann", "ben"]
    _, none = rule_all(1, cases, keys, decisions, earlier, names, microgold=gold)
    assert [weight.of for weight in none] == [0, 0]
    _, once = rule_all(
        2, cases, keys, decisions, earlier, names, microgold=gold, earlier=[first]
    )  # fmt: skip
    assert [weight.of for weight in once] == [6, 6]
    _, twice = rule_all(
        2, cases, keys, decisions, WEIGHTED, names, microgold=gold, earlier=[first]
    )  # fmt: skip
    assert [weight.of for weight in twice] == [12, 12]


def test_other_rules_weigh_nothing() -> None:
    cases, keys = docket(1)
    rulings, weights = rule_all(
        1, cases, keys, {"r1-0": [decide("ann", "b", "r1-0")]}, PolicySpec(), ["ann"], microgold={}
    )
    assert [ruling.label for ruling in rulings] == [Label.CONTRADICTORY] and weights == ()


def test_decisions_are_sorted_by_case_and_keep_their_order() -> None:
    cases, _ = docket(2)
    one, two, three = (
        decide("ann", "a", "r1-1"), decide("ben", "a", "r1-0"), decide("cleo", "b", "r1-1"),
    )  # fmt: skip
    assert by_case(cases, [one, two, three]) == {"r1-0": [two], "r1-1": [one, three]}


# --- what cannot work ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "problem", "fix"),
    [
        ({"rule": "single", "tie_breaker": "zoe"}, "under the rule single", "rule: majority"),
        ({"rule": "weighted", "tie_breaker": "zoe"}, "under the rule weighted", "rule: majority"),
        ({**TIES, "tie_breaker": "zoo"}, "'zoo' is no auditor", "did you mean 'zoe'?"),
        ({"rule": "majority", "weights": {"min_cases": 9}}, "weighs no votes", "rule: weighted"),
        ({"rule": "weighted", "weights": {"accuracy": {"bean": 0.9}}}, "'bean', who is no auditor",
         "did you mean 'ben'?"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_said_before_anything_runs(policy: Any, problem: str, fix: str) -> None:
    found = why_unworkable(PolicySpec.model_validate(policy), NAMES)
    assert found is not None
    assert problem in found[0] and fix in found[1]


def test_two_auditors_leave_nobody_to_split() -> None:
    found = why_unworkable(PolicySpec(**TIES), ["ann", "zoe"])
    assert found is not None and "two auditors or more" in found[0]


@pytest.mark.parametrize(
    "policy", [{}, TIES, {"rule": "weighted", "weights": {"accuracy": {"ann": 0.8}}}]
)
def test_what_can_work_is_let_through(policy: Any) -> None:
    assert why_unworkable(PolicySpec.model_validate(policy), NAMES) is None
