"""The local executor: whatever a verifier does, each claim ends in exactly one outcome.

Public reports: kkkevinkkkkk/DeepFact ``evaluate_claims`` (one omitted answer in a group shifts
every later verdict to the wrong claim), promptfoo #9978 (a truncated judge answered 1 of 5
statements), coder/xum #3491 (an answer about a slightly different claim; names of object
prototypes collide).
"""

from __future__ import annotations

import asyncio
import functools
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepfact.errors import ConfigError, RunIncomplete
from deepfact.executors.local import run_verifier
from deepfact.records import Claim, FailureReason, Label, Outcome, Verdict


class Plain:
    def __init__(self, answer: Callable[[Any], Any]) -> None:
        self.answer = answer

    def verify(self, claim: Any, context: Any) -> Any:
        return self.answer(claim)


class Coroutine:
    def __init__(self, answer: Callable[[Any], Any]) -> None:
        self.answer = answer

    async def verify(self, claim: Any, context: Any) -> Any:
        await asyncio.sleep(0)
        return self.answer(claim)


class HandsBackACoroutine:
    """A plain function whose result has to be awaited, which the protocol allows."""

    def __init__(self, answer: Callable[[Any], Any]) -> None:
        self.inner = Coroutine(answer)

    def verify(self, claim: Any, context: Any) -> Any:
        return self.inner.verify(claim, context)


class Batch:
    def __init__(self, answer_all: Callable[[Any], Any]) -> None:
        self.answer_all = answer_all

    def verify_all(self, claims: Any, context: Any) -> Any:
        return self.answer_all(claims)


ONE_BY_ONE = [Plain, Coroutine, HandsBackACoroutine]


def outcomes(verifier: Any, claims: list[Any], **options: Any) -> dict[str, Outcome]:
    """By claim id; fails when a claim has not exactly one."""
    found = list(run_verifier(verifier, claims, None, name="v", **options))
    assert sorted(o.claim_id for o in found) == sorted(c.id for c in claims)
    return {outcome.claim_id: outcome for outcome in found}


def failure(outcome: Outcome) -> tuple[FailureReason, str]:
    assert outcome.kind == "failure"
    return outcome.reason, outcome.detail


@pytest.fixture
def claims(make: Any) -> list[Any]:
    return [make.claim(name) for name in ("c1", "c2", "__proto__", "constructor", "c5")]


# --- one claim at a time -----------------------------------------------------------------


@pytest.mark.parametrize("shape", ONE_BY_ONE)
def test_verdicts_come_through_and_are_signed(shape: Any, claims: list[Any], make: Any) -> None:
    found = outcomes(shape(lambda claim: make.verdict(claim.id, rationale=claim.id)), claims)
    assert all(o.kind == "verdict" and o.rationale == o.claim_id for o in found.values())
    assert {outcome.verifier for outcome in found.values()} == {"v"}
    named = outcomes(shape(lambda claim: make.verdict(claim.id, verifier="own name")), claims)
    assert {outcome.verifier for outcome in named.values()} == {"own name"}


@pytest.mark.parametrize("shape", ONE_BY_ONE)
def test_an_exception_costs_its_own_claim_only(shape: Any, claims: list[Any], make: Any) -> None:
    def answer(claim: Any) -> Any:
        if claim.id == "c2":
            raise ZeroDivisionError("no sources to divide by")
        return make.verdict(claim.id)

    found = outcomes(shape(answer), claims)
    assert failure(found["c2"]) == (
        FailureReason.ERROR,
        "ZeroDivisionError: no sources to divide by",
    )
    assert sum(outcome.kind == "verdict" for outcome in found.values()) == 4


@pytest.mark.parametrize("shape", ONE_BY_ONE)
def test_an_answer_about_another_claim_is_no_answer(
    shape: Any, claims: list[Any], make: Any
) -> None:
    found = outcomes(shape(lambda claim: make.verdict("c1")), claims)
    assert found["c1"].kind == "verdict"
    assert failure(found["c2"]) == (FailureReason.WRONG_CLAIM, "the verifier answered about 'c1'")


@pytest.mark.parametrize("shape", ONE_BY_ONE)
@pytest.mark.parametrize("answer", [None, "supported", True, 0.9, {"label": "supported"}])
def test_what_is_no_verdict_is_never_read_as_one(
    shape: Any, answer: Any, claims: list[Any]
) -> None:
    found = outcomes(shape(lambda claim: answer), claims)
    reason, detail = failure(found["c1"])
    assert reason is FailureReason.UNREADABLE
    assert type(answer).__name__ in detail


@pytest.mark.parametrize("shape", ONE_BY_ONE)
def test_a_failure_is_passed_on_with_its_reason(shape: Any, claims: list[Any], make: Any) -> None:
    found = outcomes(shape(lambda claim: make.failure(claim.id, "rate_limited")), claims)
    assert {failure(o)[0] for o in found.values()} == {FailureReason.RATE_LIMITED}


@pytest.mark.parametrize("shape", [*ONE_BY_ONE, Batch])
def test_an_error_that_concerns_every_claim_ends_the_run(shape: Any, claims: list[Any]) -> None:
    def answer(_: Any) -> Any:
        raise ConfigError("no such model")

    with pytest.raises(ConfigError, match="no such model"):
        list(run_verifier(shape(answer), claims, None, name="v"))


@pytest.mark.parametrize("shape", [*ONE_BY_ONE, Batch])
@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interruption_passes_through(shape: Any, interruption: Any, claims: list[Any]) -> None:
    def answer(_: Any) -> Any:
        raise interruption

    with pytest.raises(interruption):
        list(run_verifier(shape(answer), claims, None, name="v"))


def test_no_claims_no_outcomes(make: Any) -> None:
    for shape in (*ONE_BY_ONE, Batch):
        assert outcomes(shape(lambda claims: ()), []) == {}


def test_the_context_is_handed_on_as_it_is(claims: list[Any], make: Any) -> None:
    seen = []

    class Looks:
        def verify(self, claim: Any, context: Any) -> Any:
            seen.append(context)
            return make.verdict(claim.id)

    context = object()
    list(run_verifier(Looks(), claims[:1], context, name="v"))
    assert seen == [context]


def test_a_plain_verifier_is_asked_only_when_its_answer_is_wanted(
    claims: list[Any], make: Any
) -> None:
    asked = []
    stream = run_verifier(
        Plain(lambda claim: asked.append(claim.id) or make.verdict(claim.id)),
        claims,
        None,
        name="v",
    )
    assert asked == []
    next(stream)
    assert asked == ["c1"]
    stream.close()
    assert asked == ["c1"]


# --- coroutines --------------------------------------------------------------------------


class Counting:
    """Coroutines that note how many of them run at once, and what becomes of each."""

    def __init__(self, make: Any, seconds: float = 0.005) -> None:
        self.make, self.seconds = make, seconds
        self.running, self.most = 0, 0
        self.started: list[str] = []
        self.cancelled: list[str] = []

    async def verify(self, claim: Any, context: Any) -> Any:
        self.started.append(claim.id)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(self.seconds)
            return self.make.verdict(claim.id)
        except asyncio.CancelledError:
            self.cancelled.append(claim.id)
            raise
        finally:
            self.running -= 1


@pytest.mark.parametrize(("concurrency", "most"), [(1, 1), (3, 3), (50, 12), (0, 1), (-2, 1)])
def test_as_many_run_at_once_as_asked_for(make: Any, concurrency: int, most: int) -> None:
    verifier = Counting(make)
    claims = [make.claim(f"c{n}") for n in range(12)]
    found = outcomes(verifier, claims, concurrency=concurrency)
    assert {outcome.kind for outcome in found.values()} == {"verdict"}
    assert verifier.most == most


def test_the_quick_ones_do_not_wait_for_the_slow(make: Any) -> None:
    async def verify(claim: Any, context: Any) -> Any:
        await asyncio.sleep(0.2 if claim.id == "slow" else 0)
        return make.verdict(claim.id)

    class Uneven:
        pass

    verifier = Uneven()
    verifier.verify = verify  # type: ignore[attr-defined]
    claims = [make.claim(name) for name in ("slow", "a", "b", "c")]
    found = list(run_verifier(verifier, claims, None, name="v", concurrency=2))
    assert [outcome.claim_id for outcome in found] == ["a", "b", "c", "slow"]


def test_closing_early_cancels_what_is_in_flight(make: Any) -> None:
    verifier = Counting(make)
    claims = [make.claim(f"c{n}") for n in range(20)]
    stream = run_verifier(verifier, claims, None, name="v", concurrency=4)
    next(stream)
    stream.close()
    assert verifier.running == 0
    assert len(verifier.started) < 10
    assert len(verifier.cancelled) + 4 >= len(verifier.started)


def test_an_error_of_one_coroutine_cancels_the_others(make: Any) -> None:
    verifier = Counting(make, seconds=5)

    async def verify(claim: Any, context: Any) -> Any:
        if claim.id == "bad":
            raise ConfigError("no such model")
        return await Counting.verify(verifier, claim, context)

    verifier.verify = verify  # type: ignore[method-assign]
    claims = [make.claim(name) for name in ("c1", "bad", "c2")]
    with pytest.raises(ConfigError):
        list(run_verifier(verifier, claims, None, name="v"))
    assert sorted(verifier.cancelled) == ["c1", "c2"]
    assert verifier.running == 0


def test_an_interruption_of_one_coroutine_cancels_the_others(make: Any) -> None:
    verifier = Counting(make, seconds=5)

    async def verify(claim: Any, context: Any) -> Any:
        if claim.id == "stop":
            await asyncio.sleep(0.001)
            raise KeyboardInterrupt
        return await Counting.verify(verifier, claim, context)

    verifier.verify = verify  # type: ignore[method-assign]
    claims = [make.claim(name) for name in ("c1", "stop", "c2")]
    with pytest.raises(KeyboardInterrupt):
        list(run_verifier(verifier, claims, None, name="v"))
    assert sorted(verifier.cancelled) == ["c1", "c2"]


def test_a_coroutine_in_a_partial_is_awaited(make: Any, claims: list[Any]) -> None:
    async def verify(style: str, claim: Any, context: Any) -> Any:
        return make.verdict(claim.id, rationale=style)

    class Wrapped:
        pass

    verifier = Wrapped()
    verifier.verify = functools.partial(verify, "brief")  # type: ignore[attr-defined]
    found = outcomes(verifier, claims)
    assert {outcome.rationale for outcome in found.values()} == {"brief"}


# --- batches -----------------------------------------------------------------------------


@given(
    order=st.permutations(range(8)),
    omitted=st.sets(st.integers(0, 7)),
    renamed=st.sets(st.integers(0, 7)),
    repeated=st.sets(st.integers(0, 7)),
    draw=st.randoms(use_true_random=False),
)
def test_a_garbled_batch_costs_only_the_claims_it_garbles(
    make: Any,
    order: list[int],
    omitted: set[int],
    renamed: set[int],
    repeated: set[int],
    draw: random.Random,
) -> None:
    """Answers left out, out of order, twice, or under another name: no verdict ever moves."""
    labels = {n: draw.choice(list(Label)) for n in range(8)}

    def answer_all(claims: Any) -> Iterator[Any]:
        for n in order:
            if n in omitted:
                continue
            name = f"not-{n}" if n in renamed else f"c{n}"
            yield make.verdict(name, labels[n], rationale="first")
            if n in repeated:
                yield make.verdict(name, "supported", rationale="second thoughts")

    found = outcomes(Batch(answer_all), [make.claim(f"c{n}") for n in range(8)])
    for n in range(8):
        outcome = found[f"c{n}"]
        if n in omitted | renamed:
            assert failure(outcome) == (
                FailureReason.NO_ANSWER,
                "the verifier did not answer this claim",
            )
        else:
            assert (outcome.label, outcome.rationale) == (labels[n], "first")


def test_what_is_no_verdict_in_a_batch(make: Any, claims: list[Any]) -> None:
    class Odd:
        claim_id = "c2"

    class Odder:
        claim_id = ["c1"]

    answers = [None, {"claim_id": "c1"}, Odd(), Odder(), "c5", make.verdict("c5")]
    found = outcomes(Batch(lambda _: answers), claims)
    assert found["c5"].kind == "verdict"
    assert failure(found["c2"])[0] is FailureReason.UNREADABLE
    assert failure(found["c1"])[0] is FailureReason.NO_ANSWER


def test_a_batch_that_breaks_off_keeps_what_it_had_answered(make: Any, claims: list[Any]) -> None:
    def answer_all(asked: Any) -> Iterator[Any]:
        yield make.verdict("c2")
        yield make.verdict("c1")
        raise ConnectionError("reset by peer")

    found = outcomes(Batch(answer_all), claims)
    assert [found[name].kind for name in ("c1", "c2")] == ["verdict", "verdict"]
    for name in ("__proto__", "constructor", "c5"):
        assert failure(found[name]) == (FailureReason.ERROR, "ConnectionError: reset by peer")


@pytest.mark.parametrize("answers", [None, 7])
def test_a_batch_that_is_none(claims: list[Any], answers: Any) -> None:
    found = outcomes(Batch(lambda _: answers), claims)
    assert {failure(o)[0] for o in found.values()} == {FailureReason.ERROR}


def test_a_batch_that_cannot_start(claims: list[Any]) -> None:
    def answer_all(_: Any) -> Any:
        raise OSError("no such program")

    found = outcomes(Batch(answer_all), claims)
    assert {failure(o) for o in found.values()} == {
        (FailureReason.ERROR, "OSError: no such program")
    }


def test_closing_a_batch_early_closes_its_generator(make: Any, claims: list[Any]) -> None:
    closed = []

    def answer_all(asked: Any) -> Iterator[Any]:
        try:
            for claim in asked:
                yield make.verdict(claim.id)
        finally:
            closed.append(True)

    stream = run_verifier(Batch(answer_all), claims, None, name="v")
    next(stream)
    stream.close()
    assert closed == [True]


def test_an_owed_answer_holds_up_no_other_claim_and_the_verifier_is_closed(make: Any) -> None:
    claims = [make.claim(f"c{number}") for number in range(4)]

    class Owing:
        closed = False

        async def verify(self, claim: Claim, context: Any) -> Verdict:
            if claim.id in ("c0", "c2"):
                raise RunIncomplete("its batch is not back", fix="run it again later")
            return Verdict(claim_id=claim.id, label=Label.SUPPORTED)

        async def aclose(self) -> None:
            self.closed = True

    verifier, answered = Owing(), []
    with pytest.raises(RunIncomplete, match="2 of 4 claims have no answer yet: its batch") as error:
        for outcome in run_verifier(verifier, claims, None, name="owing"):
            answered.append(outcome.claim_id)
    assert sorted(answered) == ["c1", "c3"]
    assert error.value.exit_code == 3 and error.value.fix == "run it again later"
    assert verifier.closed


def test_a_plain_verifier_may_owe_an_answer_too(make: Any) -> None:
    class Owing:
        def verify(self, claim: Claim, context: Any) -> Verdict:
            if claim.id == "c0":
                raise RunIncomplete("not yet")
            return Verdict(claim_id=claim.id, label=Label.SUPPORTED)

    stream = run_verifier(Owing(), [make.claim("c0"), make.claim("c1")], None, name="owing")
    assert next(stream).claim_id == "c1"
    with pytest.raises(RunIncomplete, match="1 of 2"):
        next(stream)
