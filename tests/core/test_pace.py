"""Time per case, robust to breaks; and which cases are worth a second look, with reasons."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from deepfact.core.pace import paces, second_look, times_of
from deepfact.records import (
    Adjudication,
    Case,
    CaseKey,
    CaseKind,
    Decision,
    Label,
    Position,
)
from deepfact.run_records import Adjudicated, AuditClosed, RoundRecord, VersionRef, Withdrawn

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def decided(case: str, at: float, auditor: str = "ann", **more: Any) -> Adjudicated:
    """A decision so many seconds after the start."""
    made = Adjudication(
        case_id=case, auditor=auditor, decision=more.pop("decision", Decision.A), rationale="so",
        **more,
    )  # fmt: skip
    return Adjudicated(at=START + timedelta(seconds=at), round=1, adjudication=made)


def times(*events: Any) -> dict[str, float | None]:
    return {case: seconds for (_, case, _), seconds in times_of(events).items()}


def test_a_time_is_what_was_counted_or_else_the_gap() -> None:
    assert times(
        decided("c1", 0), decided("c2", 60), decided("c3", 90, seconds=12.5), decided("c4", 100)
    ) == {"c1": None, "c2": 60, "c3": 12.5, "c4": 10}


def test_breaks_and_whole_files_are_no_times() -> None:
    assert times(
        decided("c1", 0), decided("c2", 1800), decided("c3", 3601), decided("c4", 3601.2)
    ) == {"c1": None, "c2": 1800, "c3": None, "c4": None}


def test_auditors_have_clocks_of_their_own_and_withdrawn_decisions_no_time() -> None:
    taken_back = Withdrawn(
        at=START + timedelta(seconds=50), round=1, case_id="c2", auditor="ann"
    )  # fmt: skip
    found = times_of(
        [
            decided("c1", 0), decided("c1", 5, "ben"), decided("c2", 40), taken_back,
            decided("c2", 70), AuditClosed(at=START, round=1), decided("c2", 25, "ben"),
        ]
    )  # fmt: skip
    assert found == {(1, "c1", "ann"): None, (1, "c1", "ben"): None,
                     (1, "c2", "ann"): 20, (1, "c2", "ben"): 20}  # fmt: skip


def test_quartiles_are_of_the_known_times() -> None:
    found = paces(
        {(1, "c1", "ann"): None, (1, "c2", "ann"): 10, (1, "c3", "ann"): 20, (1, "c4", "ann"): 60,
         (1, "c1", "ben"): None, (2, "c9", "ben"): 7}
    )  # fmt: skip
    ann, silent, ben = found
    assert (ann.n, ann.untimed, ann.q1, ann.median, ann.q3) == (3, 1, 15, 20, 40)
    assert (silent.n, silent.untimed, silent.median) == (0, 1, None)
    assert (ben.round, ben.q1, ben.median, ben.q3) == (2, 7, 7, 7)


@pytest.fixture
def done(make: Any) -> Any:
    """A round of given cases: ``(kind, ours, theirs, {auditor: decision})``."""

    def build(*given: tuple[str, str, str, dict[str, str]]) -> RoundRecord:
        ref = VersionRef(benchmark="b", version=1, state_hash=f"sha256:{'0' * 64}")
        cases, keys, made = [], [], []
        for number, (kind, ours, theirs, decisions) in enumerate(given, 1):
            case_id, claim = f"r1-{number}", make.claim(f"c{number}")
            a, b = Position(label=Label(ours)), Position(label=Label(theirs))
            cases.append(Case(id=case_id, claim=claim, a=a, b=b))
            keys.append(CaseKey(case_id=case_id, claim_id=claim.id, kind=CaseKind(kind),
                                incumbent="a", challenger="v"))  # fmt: skip
            for auditor, decision in decisions.items():
                own = Label(decision) if decision in set(Label) else None
                made.append(
                    Adjudication(
                        case_id=case_id, auditor=auditor, label=own, rationale="so",
                        decision=Decision.NEITHER if own else Decision(decision),
                    )
                )  # fmt: skip
        return RoundRecord(
            round=1, base=ref, result=ref, challenger="v", outcomes=(), cases=tuple(cases),
            keys=tuple(keys), adjudications=tuple(made), rulings=(), revisions=(), scores=(),
            auditors=(),
        )  # fmt: skip

    return build


def test_each_case_to_look_at_again_has_its_reasons(done: Any) -> None:
    round_ = done(
        ("challenge", "supported", "contradictory", {"ann": "a", "ben": "a"}),  # nothing
        ("challenge", "supported", "contradictory", {"ann": "a", "ben": "b"}),
        ("control", "supported", "supported", {"ann": "a", "ben": "contradictory"}),
        ("challenge", "supported", "contradictory", {"ann": "a"}),
        ("control", "supported", "supported", {"ann": "contradictory"}),
        ("challenge", "supported", "contradictory", {"ann": "cannot_tell", "ben": "a"}),
        ("control", "supported", "supported", {"ann": "cannot_tell"}),
        ("control", "supported", "supported", {"ann": "b"}),
    )
    gold = {"c4": Label.CONTRADICTORY, "c5": Label.CONTRADICTORY}
    found = second_look([round_], {}, gold)
    assert {case.case_id: case.reasons for case in found} == {
        "r1-2": ("split (ann: supported, ben: contradictory)",),
        "r1-3": (
            "split (ann: supported, ben: contradictory)",
            "ben decided contradictory against the label that verifier and benchmark share, "
            "supported",
        ),
        "r1-4": ("ann decided supported against the known answer (micro-gold), contradictory",),
        # r1-5: the known answer is right, the shared label is not: nothing to look at again.
        "r1-6": ("split (ann: cannot tell, ben: supported)",),
    }
    assert found[0].case_id == "r1-3"  # most reasons first


def test_fast_is_measured_on_the_auditors_own_pace(done: Any) -> None:
    agreed = [("challenge", "supported", "contradictory", {"ann": "a"})] * 9
    round_ = done(*agreed)
    steady = {(1, f"r1-{n}", "ann"): 40.0 for n in range(1, 9)}
    quick = {**steady, (1, "r1-9", "ann"): 9.9, (1, "r1-0", "ann"): None}
    (case,) = second_look([round_], quick, {})
    assert case.reasons == ("fast: 9.9 s by ann, who takes 40 s as a rule",)
    assert second_look([round_], {**steady, (1, "r1-9", "ann"): 10.0}, {}) == ()
    # Too few times to call anything fast, and somebody else's pace says nothing.
    few = dict(list(quick.items())[3:])
    assert second_look([round_], few, {}) == ()
    assert second_look([round_], {**steady, (1, "r1-9", "ben"): 1.0}, {}) == ()
