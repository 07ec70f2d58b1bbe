"""Verifiers that are asked about several claims at once: one outcome a claim, matched by id."""

from __future__ import annotations

from typing import Any

import pytest

from deepfact.errors import ConfigError, RunIncomplete
from deepfact.executors.local import open_groups, run_verifier
from deepfact.records import FailureReason, Label, Outcome, Verdict


class Pairs:
    """Answers pairs of claims with whatever it is told to."""

    def __init__(self, answer: Any = None) -> None:
        self.answer, self.asked = answer, list[list[str]]()

    def groups(self, claims: Any) -> list[list[Any]]:
        return [list(claims[at : at + 2]) for at in range(0, len(claims), 2)]

    async def verify(self, claim: Any, context: Any) -> Verdict:
        raise AssertionError("groups are asked, not claims")

    async def verify_group(self, claims: Any, context: Any) -> Any:
        self.asked.append([one.id for one in claims])
        return [verdict(one.id) for one in claims] if self.answer is None else self.answer(claims)


def verdict(name: str) -> Verdict:
    return Verdict(claim_id=name, label=Label.SUPPORTED)


@pytest.fixture
def claims(make: Any) -> list[Any]:
    return [make.claim(f"c{n}") for n in range(5)]


def outcomes(verifier: Any, claims: list[Any], **options: Any) -> dict[str, Outcome]:
    found = list(run_verifier(verifier, claims, None, name="v", **options))
    assert sorted(o.claim_id for o in found) == sorted(c.id for c in claims)
    return {one.claim_id: one for one in found}


def test_every_claim_gets_its_outcome_signed(claims: list[Any]) -> None:
    pairs = Pairs()
    found = outcomes(pairs, claims)
    assert {one.verifier for one in found.values()} == {"v"}
    assert sorted(pairs.asked) == [["c0", "c1"], ["c2", "c3"], ["c4"]]


def test_an_omitted_repeated_or_foreign_answer_costs_only_its_claim(claims: list[Any]) -> None:
    foreign = verdict("nobody")
    found = outcomes(Pairs(lambda some: [verdict(some[0].id), foreign, foreign]), claims)
    assert [found[name].kind for name in ("c0", "c1", "c2", "c3", "c4")] == [
        "verdict", "failure", "verdict", "failure", "verdict",
    ]  # fmt: skip
    assert found["c1"].reason is FailureReason.NO_ANSWER


@pytest.mark.parametrize("answer", [lambda some: 3, lambda some: ["x", None], lambda some: 1 / 0])
def test_what_is_no_answer_fails_each_claim(answer: Any, claims: list[Any]) -> None:
    assert {one.kind for one in outcomes(Pairs(answer), claims).values()} == {"failure"}


def test_a_run_that_goes_on_asks_about_the_same_groups(claims: list[Any]) -> None:
    pairs = Pairs()
    found = list(run_verifier(pairs, claims[1:4], None, name="v", among=claims))
    assert sorted(one.claim_id for one in found) == ["c1", "c2", "c3"]
    assert sorted(pairs.asked) == [["c0", "c1"], ["c2", "c3"]]


def test_a_claim_that_no_group_holds_is_asked_alone(claims: list[Any]) -> None:
    class Forgetful(Pairs):
        def groups(self, claims: Any) -> list[list[Any]]:
            return [list(claims[:2])]

    assert len(open_groups(Forgetful(), claims)) == 4
    assert len(outcomes(Forgetful(), claims)) == 5


def test_a_group_that_is_owed_holds_up_no_other(claims: list[Any]) -> None:
    def owing(some: Any) -> Any:
        if some[0].id == "c0":
            raise RunIncomplete("later", fix="run again")
        return [verdict(one.id) for one in some]

    found = []
    with pytest.raises(RunIncomplete, match="2 of 5 claims have no answer yet: later"):
        for one in run_verifier(Pairs(owing), claims, None, name="v"):
            found.append(one.claim_id)
    assert sorted(found) == ["c2", "c3", "c4"]


def test_an_error_of_the_run_stops_it(claims: list[Any]) -> None:
    def refuse(_: Any) -> Any:
        raise ConfigError("no")

    with pytest.raises(ConfigError):
        list(run_verifier(Pairs(refuse), claims, None, name="v"))
