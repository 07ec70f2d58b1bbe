"""Asking a model for one readable answer: through an engine, with repeats, and what it cost.

What the panel verifier and agent auditors share. An answer that is refused, cut off or cannot be
read is a failed call with its reason; nothing here knows what is asked or what an answer means.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Protocol, TypeVar, runtime_checkable

from deepfact.errors import RunIncomplete
from deepfact.model_records import Completion, Request
from deepfact.providers.base import CallFailed
from deepfact.records import Abstention, FailureReason, Usage
from deepfact.verifiers.panel.answers import UnreadableError
from deepfact.verifiers.panel.ballot import Seat
from deepfact.verifiers.panel.engine import OwnEngine
from deepfact.verifiers.panel.tally import total_usage

T = TypeVar("T")

REASK = 1000
"""Vote number of the first repeat of vote 0: no panel has that many votes."""

_STOPPED = {
    "refusal": FailureReason.REFUSED,
    "content_filter": FailureReason.REFUSED,
    "max_tokens": FailureReason.TRUNCATED,
    "length": FailureReason.TRUNCATED,
    "model_context_window_exceeded": FailureReason.TRUNCATED,
}
"""Stop reasons that leave no whole answer, whatever the text looks like."""


@runtime_checkable
class Asks(Protocol):
    """What answers requests: the engine."""

    async def ask(self, request: Request, vote: int = 0) -> Completion:
        """The answer to a request under a vote number."""
        ...


class Asker:
    """Asks through the engine that it was given, or through one of its own.

    Args:
        own: opened at the first question when nobody gives an engine.
        engine: whoever gives it closes it.
        reask: how often an unreadable answer is asked for again.
    """

    def __init__(self, own: OwnEngine, engine: Asks | None, *, reask: int) -> None:
        self._own, self._engine, self._reask = own, engine, reask

    def use(self, engine: Asks) -> None:
        """Ask through this engine from now on."""
        self._engine = engine

    async def aclose(self) -> None:
        """Close the engine of its own, when it made one."""
        await self._own.aclose()

    async def readable(
        self, request: Request, vote: int, read: Callable[[str], T], used: list[Usage]
    ) -> T:
        """What ``read`` makes of the answer, asked for again while it cannot be read.

        Args:
            vote: number of the vote.
            read: raises `UnreadableError` for a text that it cannot read.
            used: gets what each call cost, also when it is of no use.

        Raises:
            CallFailed: no answer, a refusal, or none that can be read.
            RunIncomplete, InputError: of the engine; the run cannot go on.
        """
        problem = ""
        for attempt in range(self._reask + 1):
            completion = await self._ask(request, vote + REASK * attempt, used)
            try:
                return read(completion.text)
            except UnreadableError as error:
                problem = str(error)
        raise CallFailed(FailureReason.UNREADABLE, problem)

    async def _ask(self, request: Request, number: int, used: list[Usage]) -> Completion:
        engine = self._engine or self._own.open()
        try:
            completion = await engine.ask(request, number)
        except CallFailed as failure:
            lost = getattr(failure, "completion", None)
            used.append(self._usage(request, lost) if lost is not None else Usage(calls=1))
            raise
        used.append(self._usage(request, completion))
        if reason := _STOPPED.get(completion.stop_reason):
            raise CallFailed(reason, f"no whole answer (stop reason: {completion.stop_reason})")
        return completion

    def _usage(self, request: Request, completion: Completion) -> Usage:
        cost = getattr(self._engine or self._own.open(), "cost", None)
        return Usage(
            calls=1,
            input_tokens=completion.input_tokens
            + completion.cache_read_tokens
            + completion.cache_write_tokens,
            output_tokens=completion.output_tokens,
            usd=cost(request, completion) if cost is not None else None,
        )


def lost(seat: Seat, failure: CallFailed, used: Iterable[Usage]) -> Abstention:
    """The abstention that a failed call is."""
    return Abstention(
        index=seat.index,
        reason=failure.reason,
        detail=failure.detail,
        usage=total_usage(used),
        prompt=seat.prompt,
        model=seat.model,
        persona=seat.persona,
    )


async def all_of(coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """All results, or the error of the run when there is one, once all have been asked for.

    What stops a run is raised before what only leaves it incomplete.
    """
    results = await asyncio.gather(*coroutines, return_exceptions=True)
    errors = [result for result in results if isinstance(result, BaseException)]
    errors.sort(key=lambda error: isinstance(error, RunIncomplete))
    if errors:
        raise errors[0]
    return [result for result in results if not isinstance(result, BaseException)]
