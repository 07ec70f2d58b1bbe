"""Weights of votes: the formula, shrinkage, and that no case is weighed by its own answer."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepfact.core.weights import Known, Scales, known_decisions, log_odds, shrunken
from deepfact.records import Adjudication, Case, CaseKey, CaseKind, Decision, Label, Position
from deepfact.run_records import WeightSpec


def known(auditor: str, right: int, wrong: int, round_: int = 1) -> list[Known]:
    return [Known(round_, f"r{round_}-{n}", auditor, n < right) for n in range(right + wrong)]


def test_a_weight_is_the_log_odds_of_the_shrunken_accuracy() -> None:
    spec = WeightSpec(assumed=0.7, strength=10, min_cases=5)
    scales = Scales(known("ann", 18, 2) + known("ben", 3, 1), ["ann", "ben", "cleo"], spec)
    ann, ben, cleo = scales.weights()
    assert ann.accuracy == pytest.approx((18 + 7) / 30)
    assert ann.weight == pytest.approx(math.log(25 / 5))
    assert (ann.basis, ann.right, ann.of) == ("measured", 18, 20)
    # Four cases are fewer than five: assumed, as for somebody nobody has measured.
    assert (ben.basis, ben.accuracy, ben.right, ben.of) == ("assumed", 0.7, 3, 4)
    assert (cleo.basis, cleo.weight) == ("assumed", ben.weight)


def test_a_given_accuracy_is_taken_as_it_is() -> None:
    spec = WeightSpec(accuracy={"ann": 0.9})
    (ann,) = Scales(known("ann", 0, 50), ["ann"], spec).weights()
    assert (ann.basis, ann.weight) == ("given", pytest.approx(math.log(9)))


@given(st.integers(0, 60), st.integers(0, 60), st.floats(0, 50), st.floats(0.51, 0.99))
def test_weights_are_finite_and_grow_with_what_is_right(
    right: int, wrong: int, strength: float, assumed: float
) -> None:
    spec = WeightSpec(strength=strength, assumed=assumed)
    of = right + wrong + 1
    worse, better = shrunken(right, of, spec), shrunken(right + 1, of, spec)
    assert 0 < worse <= better < 1
    assert 0 <= log_odds(worse) <= log_odds(better) < math.inf


def test_nobody_weighs_less_than_nothing() -> None:
    assert log_odds(0.5) == log_odds(0.2) == 0
    assert log_odds(0.75) == pytest.approx(math.log(3))


def test_a_case_is_not_weighed_by_its_own_answer() -> None:
    spec = WeightSpec(strength=0, min_cases=1)
    scales = Scales(known("ann", 3, 1), ["ann"], spec)
    # Without its first case, which was right: 2 of 3; without its last, which was wrong: 3 of 3.
    assert scales.on(1, "r1-0")["ann"] == pytest.approx(math.log(2))
    assert scales.on(1, "r1-3")["ann"] == pytest.approx(math.log(5))
    assert scales.on(1, "r1-99")["ann"] == pytest.approx(math.log(3))
    assert scales.on(2, "r1-0")["ann"] == pytest.approx(math.log(3))


def test_somebody_measured_and_not_named_votes_with_what_is_known() -> None:
    scales = Scales(known("guest", 9, 0), ["ann"], WeightSpec())
    assert [weight.auditor for weight in scales.weights()] == ["ann", "guest"]


@pytest.mark.parametrize(
    ("measured_on", "expected"),
    [
        ("microgold", {("r1-1", "ann"): False, ("r1-3", "ann"): True}),
        (
            "microgold and controls",
            {("r1-1", "ann"): False, ("r1-2", "ann"): True, ("r1-2", "ben"): False,
             ("r1-3", "ann"): True},
        ),
    ],
)  # fmt: skip
def test_what_is_known_of_decisions(make: Any, measured_on: Any, expected: Any) -> None:
    def case(number: int, kind: str, theirs: str) -> tuple[Case, CaseKey]:
        claim = make.claim(f"c{number}")
        a, b = Position(label=Label.SUPPORTED), Position(label=Label(theirs))
        key = CaseKey(case_id=f"r1-{number}", claim_id=claim.id, kind=CaseKind(kind),
                      incumbent="a", challenger="v")  # fmt: skip
        return Case(id=key.case_id, claim=claim, a=a, b=b), key

    def made(number: int, auditor: str, decision: str, label: Any = None) -> Adjudication:
        return Adjudication(case_id=f"r1-{number}", auditor=auditor, decision=Decision(decision),
                            label=label, rationale="so")  # fmt: skip

    pairs = [
        case(1, "challenge", "contradictory"),  # micro-gold: contradictory
        case(2, "control", "supported"),
        case(3, "control", "supported"),  # micro-gold, against the label both share
        case(4, "challenge", "contradictory"),
    ]
    found = known_decisions(
        1,
        [case for case, _ in pairs],
        [key for _, key in pairs],
        {
            "r1-1": [made(1, "ann", "a"), made(1, "ben", "cannot_tell")],
            "r1-2": [made(2, "ann", "b"), made(2, "ben", "neither", "inconclusive")],
            "r1-3": [made(3, "ann", "neither", "contradictory")],
            "r1-4": [made(4, "ann", "a")],
        },
        {"c1": Label.CONTRADICTORY, "c3": Label.CONTRADICTORY},
        WeightSpec(measured_on=measured_on),
    )
    assert {(one.case_id, one.auditor): one.right for one in found} == expected
