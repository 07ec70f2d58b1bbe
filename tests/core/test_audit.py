"""Dockets: which cases, blind, and the same ones every time.

Public reports: HumanSignal/label-studio #1289, #764, #1052 (annotators who saw each other's
answers).
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepfact.core.audit import Docket, argument, open_docket, position_of
from deepfact.core.state import Entry
from deepfact.records import Case, CaseKind, Label, Qualification
from deepfact.run_records import ControlSpec

CHALLENGER = "verifier-under-test"
ALL = ControlSpec(agreed=1.0, microgold=1.0)
NONE = ControlSpec(agreed=0.0, microgold=0.0)


def entries_of(make: Any, count: int) -> list[Entry]:
    return [
        Entry(
            make.claim(f"c{n}", text="The mill was built in 1899."),
            make.annotation("supported", rationale=f"reason of the benchmark {n}"),
        )
        for n in range(count)
    ]


def docket_of(make: Any, entries: list[Entry], outcomes: Any, **options: Any) -> Docket:
    source = make.source()
    given = {"challenger": CHALLENGER, "round_number": 1, "controls": NONE, **options}
    return open_docket(entries, outcomes, {source.id: source}, **given)


def refutations(make: Any, count: int) -> dict[str, Any]:
    source = make.source()
    return {f"c{n}": make.refutation(source, claim_id=f"c{n}") for n in range(count)}


def test_every_admissible_challenge_is_a_case(make: Any) -> None:
    entries = entries_of(make, 4)
    outcomes = refutations(make, 2) | {
        "c2": make.verdict("c2", "supported"),
        "c3": make.verdict("c3", "contradictory"),  # names nothing
    }
    docket = docket_of(make, entries, outcomes)
    assert {key.claim_id for key in docket.keys} == {"c0", "c1"}
    assert {key.kind for key in docket.keys} == {CaseKind.CHALLENGE}
    assert [challenge.claim_id for challenge in docket.inadmissible] == ["c3"]
    assert docket.inadmissible[0].label is Label.CONTRADICTORY
    assert "must name the part" in docket.inadmissible[0].why


def test_failures_missing_answers_and_unlabelled_claims_give_no_case(make: Any) -> None:
    entries = [*entries_of(make, 2), Entry(make.claim("bare"), None)]
    outcomes = {"c0": make.failure("c0"), "bare": make.verdict("bare", "inconclusive")}
    docket = docket_of(make, entries, outcomes, controls=ALL)
    assert docket == Docket((), (), (), 0)


def test_controls_come_from_agreements_at_the_share_asked_for(make: Any) -> None:
    entries = entries_of(make, 400)
    outcomes = {f"c{n}": make.verdict(f"c{n}", "supported") for n in range(400)}
    gold = {f"c{n}" for n in range(200)}
    docket = docket_of(
        make, entries, outcomes, microgold=gold, controls=ControlSpec(agreed=0.1, microgold=0.5)
    )
    assert {key.kind for key in docket.keys} == {CaseKind.CONTROL}
    drawn = [key.claim_id in gold for key in docket.keys]
    assert 75 <= sum(drawn) <= 125
    assert 8 <= len(drawn) - sum(drawn) <= 35
    assert len(docket_of(make, entries, outcomes, controls=ALL).cases) == 400
    assert len(docket_of(make, entries, outcomes, controls=NONE).cases) == 0


@given(seed=st.integers(), draw=st.randoms(use_true_random=False))
def test_the_same_seed_gives_the_same_docket(make: Any, seed: int, draw: random.Random) -> None:
    entries = entries_of(make, 12)
    outcomes = refutations(make, 6) | {f"c{n}": make.verdict(f"c{n}") for n in range(6, 12)}
    docket = docket_of(make, entries, outcomes, seed=seed, controls=ControlSpec(agreed=0.5))
    draw.shuffle(entries)
    again = docket_of(make, entries, outcomes, seed=seed, controls=ControlSpec(agreed=0.5))
    assert again == docket


def test_another_seed_or_round_gives_another_docket(make: Any) -> None:
    entries, outcomes = entries_of(make, 30), refutations(make, 30)
    dockets = [
        docket_of(make, entries, outcomes, seed=seed, round_number=number)
        for seed, number in ((0, 1), (1, 1), (0, 2))
    ]
    orders = {tuple(key.claim_id for key in docket.keys) for docket in dockets}
    assert len(orders) == 3
    assert dockets[2].cases[0].id == "r2-0001"


def test_case_numbers_tell_nothing_of_the_order_of_claims_or_of_the_kind(make: Any) -> None:
    entries = entries_of(make, 60)
    outcomes = refutations(make, 30) | {f"c{n}": make.verdict(f"c{n}") for n in range(30, 60)}
    docket = docket_of(make, entries, outcomes, controls=ALL)
    kinds = [key.kind for key in docket.keys]
    assert 8 <= kinds[:30].count(CaseKind.CHALLENGE) <= 22
    assert [case.id for case in docket.cases] == [f"r1-{n:04d}" for n in range(1, 61)]


def test_cases_are_blind(make: Any) -> None:
    """Nothing that an auditor reads says whose a side is, or why the case was put."""
    entries = entries_of(make, 40)
    outcomes = refutations(make, 20) | {f"c{n}": make.verdict(f"c{n}") for n in range(20, 40)}
    named = {
        claim_id: outcome.model_copy(update={"verifier": CHALLENGER, "flags": ("a-flag",)})
        for claim_id, outcome in outcomes.items()
    }
    docket = docket_of(make, entries, named, controls=ALL)
    assert set(Case.model_fields) == {"schema_version", "id", "claim", "a", "b"}
    for case, key in zip(docket.cases, docket.keys, strict=True):
        text = case.canonical()
        for word in (CHALLENGER, "incumbent", "challenge", "control", "a-flag", "annotator"):
            assert word not in text
        assert (case.id, case.claim.id) == (key.case_id, key.claim_id)
        assert key.challenger == CHALLENGER


def test_the_benchmark_is_on_either_side_about_half_the_time(make: Any) -> None:
    entries, outcomes = entries_of(make, 200), refutations(make, 200)
    docket = docket_of(make, entries, outcomes)
    sides = [key.incumbent for key in docket.keys]
    assert 75 <= sides.count("a") <= 125
    for case, key in zip(docket.cases, docket.keys, strict=True):
        incumbent = case.a if key.incumbent == "a" else case.b
        challenger = case.b if key.incumbent == "a" else case.a
        assert incumbent.rationale.startswith("reason of the benchmark")
        assert challenger == position_of(outcomes[key.claim_id])


def test_a_challenge_that_repeats_a_settled_argument_is_not_put_again(make: Any) -> None:
    entries, outcomes = entries_of(make, 2), refutations(make, 2)
    settled = {("c0", argument(outcomes["c0"])), ("c1", "something else")}
    docket = docket_of(make, entries, outcomes, settled=settled)
    assert [key.claim_id for key in docket.keys] == ["c1"]
    assert docket.repeated == 1


def test_an_argument_is_the_same_as_verdict_and_as_position(make: Any) -> None:
    verdict = make.refutation(make.source())
    assert argument(verdict) == argument(position_of(verdict))
    assert argument(verdict) != argument(verdict.model_copy(update={"rationale": "other"}))


@pytest.mark.parametrize("side", ["annotation", "verdict"])
def test_qualifications_stay_with_their_side(make: Any, side: str) -> None:
    qualification = Qualification(kind="scope", text="the old mill only")
    made = getattr(make, side)(qualifications=(qualification,))
    assert position_of(made).qualifications == (qualification,)
