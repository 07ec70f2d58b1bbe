"""The local executor: one process; asks a verifier about claims and yields an outcome for each.

Whatever a verifier does (raises, answers about another claim, answers twice, forgets one),
every claim ends in exactly one outcome, matched by claim id. This module writes nothing.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Sequence,
)
from typing import Any, Protocol, TypeVar, runtime_checkable

from deepfact.errors import DeepFactError, RunIncomplete
from deepfact.executors.told import tell_outcome, told_as_claim
from deepfact.records import Claim, FailureReason, Outcome, Verdict, VerificationFailure
from deepfact.telemetry import scope

T = TypeVar("T")
Verify = Callable[[Claim, Any], Any]
VerifyAll = Callable[[Sequence[Claim], Any], Iterable[Any]]


@runtime_checkable
class VerifiesGroups(Protocol):
    """A verifier that is asked about several related claims at once."""

    def groups(self, claims: Sequence[Claim]) -> Sequence[Sequence[Claim]]:
        """Which claims go together: every claim in exactly one group, the same every time."""
        ...

    def verify_group(self, claims: Sequence[Claim], context: Any) -> Awaitable[Iterable[Any]]:
        """An outcome for each claim of a group, in any order."""
        ...


def run_verifier(
    verifier: Any,
    claims: Sequence[Claim],
    context: Any,
    *,
    name: str,
    concurrency: int = 8,
    among: Sequence[Claim] | None = None,
    tell: bool = True,
) -> Iterator[Outcome]:
    """An outcome for each claim, as they come.

    A claim whose answer is still owed (a batch that is not back, a replay that lacks it) holds
    up no other: all are asked about before that is raised.

    Args:
        verifier: has ``verify(claim, context)``, plain or a coroutine; or ``verify_all(claims,
            context)``, which yields outcomes in any order; or `VerifiesGroups`. One with
            ``aclose()`` is closed.
        claims: what to ask about; ids are unique.
        context: handed to the verifier as it is.
        name: put on outcomes that do not name their verifier.
        concurrency: how many coroutines run at once; plain functions run one after another.
        among: the claims that groups are made of, ``claims`` among them, so that a run that goes
            on asks about the same groups as before; ``claims`` itself when left out.
        tell: tell of each outcome (`deepfact.telemetry`); not when whoever takes them does.

    Raises:
        RunIncomplete: answers are missing; asking again later goes on.
        DeepFactError: the verifier says that it can answer nothing at all.
    """
    if hasattr(verifier, "verify_all"):
        outcomes: Iterator[Outcome | RunIncomplete] = _matched(verifier.verify_all, claims, context)
    elif isinstance(verifier, VerifiesGroups):
        groups = open_groups(verifier, claims, among)
        outcomes = _concurrent(
            verifier,
            groups,
            lambda group: told_as_claim(group[1], ask_group(verifier, *group, context)),
            concurrency,
        )
    elif inspect.iscoroutinefunction(verifier.verify):
        outcomes = _concurrent(
            verifier,
            claims,
            lambda one: told_as_claim([one], _one_async(verifier.verify, one, context)),
            concurrency,
        )
    else:
        outcomes = (_one(verifier.verify, claim, context) for claim in claims)
    owed: list[RunIncomplete] = []
    for outcome in outcomes:
        if isinstance(outcome, RunIncomplete):
            owed.append(outcome)
        else:
            if tell:
                tell_outcome(outcome)
            yield outcome if outcome.verifier else outcome.model_copy(update={"verifier": name})
    raise_owed(owed, len(claims), name)


def raise_owed(owed: Sequence[RunIncomplete], claims: int, name: str) -> None:
    """Say how many of so many claims a verifier still owes an outcome.

    Raises:
        RunIncomplete: it owes some.
    """
    if owed:
        raise RunIncomplete(
            f"{len(owed)} of {claims} claims have no answer yet: {owed[0].what}",
            where=owed[0].where or name,
            fix=owed[0].fix,
        )


async def ask_verifier(
    verifier: Any, group: Sequence[Claim], asked: Sequence[Claim], context: Any
) -> list[Outcome | RunIncomplete]:
    """The outcomes of one unit, in an event loop that is there already: what `run_verifier`
    comes to for these claims, with verifiers that are asked claim by claim or in groups."""
    if isinstance(verifier, VerifiesGroups):
        return await ask_group(verifier, group, asked, context)
    if inspect.iscoroutinefunction(verifier.verify):
        return await _one_async(verifier.verify, asked[0], context)

    async def plain(claim: Claim, context: Any) -> Any:
        answer = verifier.verify(claim, context)
        return await answer if inspect.isawaitable(answer) else answer

    return await _one_async(plain, asked[0], context)


def failed(claim: Claim, reason: FailureReason, detail: str) -> VerificationFailure:
    """The failure of one claim."""
    return VerificationFailure(claim_id=claim.id, reason=reason, detail=detail)


def _reason(error: Exception) -> tuple[FailureReason, str]:
    """Why an exception left a claim without an answer."""
    timeout = isinstance(error, TimeoutError)
    reason = FailureReason.TIMEOUT if timeout else FailureReason.ERROR
    return reason, f"{type(error).__name__}: {error}"


def _one(verify: Verify, claim: Claim, context: Any) -> Outcome | RunIncomplete:
    try:
        with scope("claim", claim.id):
            answer = verify(claim, context)
            if inspect.isawaitable(answer):  # a plain function may hand back a coroutine
                answer = asyncio.run(_awaited(answer))
        return _checked(answer, claim)
    except RunIncomplete as error:
        return error
    except DeepFactError:
        raise
    except Exception as error:
        return failed(claim, *_reason(error))


async def _awaited(answer: Awaitable[Any]) -> Any:
    return await answer


def _checked(answer: Any, claim: Claim) -> Outcome:
    """The answer, if it is one and about this claim."""
    if not isinstance(answer, Verdict | VerificationFailure):
        detail = f"the verifier returned {type(answer).__name__}, not a verdict"
        return failed(claim, FailureReason.UNREADABLE, detail)
    if answer.claim_id != claim.id:
        detail = f"the verifier answered about {answer.claim_id!r}"
        return failed(claim, FailureReason.WRONG_CLAIM, detail)
    return answer


def _matched(verify_all: VerifyAll, claims: Sequence[Claim], context: Any) -> Iterator[Outcome]:
    """Answers of a batch, matched by id: the first one for a claim counts; a claim without
    one fails; an answer about nothing we asked is dropped with no harm to the others. A batch
    that breaks off costs only the claims that it has not answered."""
    open_claims = {claim.id: claim for claim in claims}
    answers: Iterator[Any] = iter(())
    reason, detail = FailureReason.NO_ANSWER, "the verifier did not answer this claim"
    started = False
    while True:
        try:
            if not started:
                answers, started = iter(verify_all(claims, context)), True
            answer = next(answers)
        except StopIteration:
            break
        except DeepFactError:
            raise
        except Exception as error:
            reason, detail = _reason(error)
            break
        claim = open_claims.pop(str(getattr(answer, "claim_id", "")), None)
        if claim is not None:
            yield _checked(answer, claim)
    for claim in open_claims.values():
        yield failed(claim, reason, detail)


def open_groups(
    verifier: VerifiesGroups, claims: Sequence[Claim], among: Sequence[Claim] | None = None
) -> list[tuple[Sequence[Claim], Sequence[Claim]]]:
    """The groups in which there is something to ask, each with those of its claims that are open.

    A group is asked about whole, since its requests are those of all its claims: what was asked
    before is answered from the store. A claim that the verifier left out is a group of its own.
    """
    wanted = {claim.id for claim in claims}
    groups: list[tuple[Sequence[Claim], Sequence[Claim]]] = [
        (group, [one for one in group if one.id in wanted])
        for group in verifier.groups(claims if among is None else among)
    ]
    grouped = {one.id for _, some in groups for one in some}
    found = [pair for pair in groups if pair[1]]
    return found + [([claim], [claim]) for claim in claims if claim.id not in grouped]


async def ask_group(
    verifier: VerifiesGroups, group: Sequence[Claim], asked: Sequence[Claim], context: Any
) -> list[Outcome | RunIncomplete]:
    """An outcome for each claim that is asked about, matched by id, or why it must wait. Answers
    about others are dropped; of several about one claim the first counts."""
    reason, detail = FailureReason.NO_ANSWER, "the verifier did not answer this claim"
    answers: list[Any] = []
    try:
        answers = list(await verifier.verify_group(group, context))
    except RunIncomplete as error:
        return [error for _ in asked]
    except DeepFactError:
        raise
    except Exception as error:
        reason, detail = _reason(error)
    by_id: dict[str, Any] = {}
    for answer in answers:
        by_id.setdefault(str(getattr(answer, "claim_id", "")), answer)
    return [
        _checked(by_id[one.id], one) if one.id in by_id else failed(one, reason, detail)
        for one in asked
    ]


def _concurrent(
    verifier: Any,
    work: Sequence[T],
    ask: Callable[[T], Coroutine[Any, Any, list[Outcome | RunIncomplete]]],
    concurrency: int,
) -> Iterator[Outcome | RunIncomplete]:
    """Coroutines, at most ``concurrency`` at once, driven from plain code one outcome at a time."""

    async def outcomes() -> AsyncIterator[Outcome | RunIncomplete]:
        waiting = iter(work)
        running: set[asyncio.Task[list[Outcome | RunIncomplete]]] = set()
        try:
            while True:
                while len(running) < max(concurrency, 1) and (one := next(waiting, None)):
                    running.add(asyncio.create_task(ask(one)))
                if not running:
                    return
                done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                # Read all errors: the first one stops the run, and nobody would see the others.
                await asyncio.gather(*done, return_exceptions=True)
                for task in done:
                    for outcome in task.result():
                        yield outcome
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            if hasattr(verifier, "aclose"):
                await verifier.aclose()

    with asyncio.Runner() as runner:
        stream = outcomes()
        while True:
            try:
                outcome = runner.run(_next(stream))
            except StopAsyncIteration:
                return
            yield outcome  # closed here, the runner cancels what is still in flight


async def _next(stream: AsyncIterator[Outcome | RunIncomplete]) -> Outcome | RunIncomplete:
    return await anext(stream)


async def _one_async(verify: Verify, claim: Claim, context: Any) -> list[Outcome | RunIncomplete]:
    try:
        return [_checked(await verify(claim, context), claim)]
    except RunIncomplete as error:
        return [error]
    except DeepFactError:
        raise
    except Exception as error:
        return [failed(claim, *_reason(error))]
