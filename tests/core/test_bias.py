"""Bias: which side an auditor's errors are for, counted by hand."""

from __future__ import annotations

from typing import Any

from deepfact.core.bias import biases
from deepfact.records import Adjudication, Case, CaseKey, CaseKind, Decision, Label, Position


class Docket:
    """Cases with their keys and ann's decisions, one line each."""

    def __init__(self, make: Any) -> None:
        self.make = make
        self.cases: list[Case] = []
        self.keys: list[CaseKey] = []
        self.made: dict[str, list[Adjudication]] = {}
        self.gold: dict[str, Label] = {}

    def add(self, ours: str, theirs: str, decision: str, truth: str = "", side: Any = "a") -> None:
        number = len(self.cases) + 1
        case_id, claim_id = f"r1-{number}", f"c{number}"
        sides = [Position(label=Label(ours)), Position(label=Label(theirs))]
        a, b = sides if side == "a" else sides[::-1]
        kind = CaseKind.CONTROL if ours == theirs else CaseKind.CHALLENGE
        self.cases.append(Case(id=case_id, claim=self.make.claim(claim_id), a=a, b=b))
        self.keys.append(CaseKey(case_id=case_id, claim_id=claim_id, kind=kind, incumbent=side,
                                 challenger="v"))  # fmt: skip
        own = Label(decision) if decision in set(Label) else None
        self.made[case_id] = [
            Adjudication(
                case_id=case_id, auditor="ann", label=own, rationale="so",
                decision=Decision.NEITHER if own else Decision(decision),
            )
        ]  # fmt: skip
        if truth:
            self.gold[claim_id] = Label(truth)

    def bias(self) -> Any:
        (found,) = biases(self.cases, self.keys, self.made, self.gold, ["ann", "ben"])
        assert found.auditor == "ann"
        return found


def counts(rate: Any) -> tuple[int, int, int]:
    return rate.k, rate.n, rate.unverified


S, C, I = map(str, Label)  # noqa: E741


def test_errors_are_counted_by_the_side_they_are_for(make: Any) -> None:
    docket = Docket(make)
    docket.add(S, C, "a", truth=C)  # the benchmark is wrong and was kept
    docket.add(S, C, "b", truth=C)  # right
    docket.add(S, C, "a", truth=C, side="b")  # right: side b is the benchmark's
    docket.add(S, C, "b", truth=S)  # the challenger is wrong and was believed
    docket.add(S, C, I, truth=S)  # an error that is for nobody
    docket.add(S, C, "a", truth=I)  # both are wrong; the benchmark's was kept
    docket.add(S, C, "cannot_tell", truth=C)  # no error
    docket.add(S, C, "a")  # nobody knows
    docket.add(S, S, C, truth=S)  # a control: neither side's
    found = docket.bias()
    assert counts(found.for_incumbent) == (2, 4, 0)
    assert counts(found.for_challenger) == (1, 4, 0)
    assert counts(found.kept_wrong) == (2, 5, 1)
    assert counts(found.accepted_wrong) == (1, 3, 0)


def test_choices_of_a_side_are_counted_apart(make: Any) -> None:
    docket = Docket(make)
    docket.add(S, S, "a", side="a")
    docket.add(S, S, "a", side="b")
    docket.add(S, S, "b", side="b")
    docket.add(S, S, "cannot_tell")
    docket.add(S, C, "b", side="a")
    found = docket.bias()
    assert counts(found.control_incumbent) == (2, 3, 0)
    assert counts(found.first_side) == (2, 4, 0)


def test_without_errors_there_is_no_share(make: Any) -> None:
    docket = Docket(make)
    docket.add(S, C, "b", truth=C)
    found = docket.bias()
    assert found.for_incumbent.value is None and found.for_challenger.n == 0
    assert counts(found.kept_wrong) == (0, 1, 0)


def test_who_is_not_in_the_list_and_decided_is_measured_too(make: Any) -> None:
    docket = Docket(make)
    docket.add(S, C, "b", truth=C)
    assert [b.auditor for b in biases(docket.cases, docket.keys, docket.made, {}, [])] == ["ann"]
