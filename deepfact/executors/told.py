"""What is told of claims and calls: when a call is sent, how each attempt ends, what the answer
cost, and what came of a claim.

Only what `deepfact.telemetry` may know: the model, counts, seconds and reason classes, never a
word of what is asked or answered.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Sequence
from types import TracebackType
from typing import Any, Self

from deepfact.errors import RunIncomplete
from deepfact.model_records import Completion, Request
from deepfact.providers.base import CallFailed
from deepfact.records import Claim, Outcome
from deepfact.telemetry import NOTHING, Level, event, scope
from deepfact.telemetry.seam import Told


class ToldCall:
    """One request with all its attempts, told of as one call. Use as a context manager.

    It begins when the first attempt is sent: waiting for a place or for the pace before that is
    no part of it, waiting between attempts is.

    Args:
        provider: whose answer it is.
        request: what is asked.
        attempts: how often it may be tried; 0 when nobody has said.
        deferred: it is answered later, with many others.
    """

    __slots__ = (
        "_attempt",
        "_attempts",
        "_came",
        "_deferred",
        "_model",
        "_provider",
        "_scope",
        "_sent",
    )

    def __init__(
        self, provider: Any, request: Request, *, attempts: int = 0, deferred: bool = False
    ) -> None:
        self._scope = scope("call", request.model)
        if self._scope is NOTHING:
            return
        self._model, self._attempts, self._attempt = request.model, attempts, 0
        self._provider = str(getattr(provider, "telemetry_name", "") or "other")
        self._sent = self._came = 0.0
        self._deferred = deferred
        self._scope.note(
            provider=self._provider,
            model=request.model,
            max_tokens=request.max_tokens,
            temperature=request.temperature,
            output_type="text" if request.output_schema is None else "json",
            deferred=True if deferred else None,
        )

    def sent(self) -> None:
        """An attempt goes out."""
        if self._scope is NOTHING:
            return
        self._scope.begin()
        self._attempt += 1
        self._sent, self._came = time.monotonic(), 0.0

    def came(self, completion: Completion | None, usd: float | None) -> None:
        """The attempt is over, with an answer or without."""
        if self._scope is NOTHING:
            return
        self._came = time.monotonic()
        self._scope.note(attempts=self._attempt)
        if completion is None:
            return
        cached = completion.cache_read_tokens + completion.cache_write_tokens
        self._scope.note(
            answered=True,
            response_model=completion.model or None,
            stop_reason=completion.stop_reason or None,
            input_tokens=completion.input_tokens + cached,
            output_tokens=completion.output_tokens,
            cache_read=completion.cache_read_tokens or None,
            cache_write=completion.cache_write_tokens or None,
            usd=usd,
        )
        self._tell("call_answered", Level.DEBUG, usd=usd)

    def failed(self, failure: CallFailed, wait: float | None = None) -> None:
        """The attempt failed.

        Args:
            failure: why.
            wait: seconds until the next attempt; None when there is none.
        """
        if self._scope is NOTHING:
            return
        self._tell(
            "call_failed",
            Level.WARNING,
            reason=str(failure.reason),
            status=failure.status,
            wait=None if wait is None else round(wait, 3),
            detail=failure.detail,
        )

    def _tell(self, name: str, level: Level, **fields: Any) -> None:
        # Hours in a batch are no latency.
        timed = self._came and not self._deferred
        seconds = round(self._came - self._sent, 4) if timed else None
        event(
            name,
            level,
            within=self._scope,
            provider=self._provider,
            model=self._model,
            attempt=self._attempt,
            of=self._attempts or None,
            seconds=seconds,
            **fields,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._scope.end(error)


def tell_unusable(failure: CallFailed) -> None:
    """An answer came and was paid for, and is no whole answer."""
    event(
        "call_failed",
        Level.WARNING,
        reason=str(failure.reason),
        model=None if failure.completion is None else failure.completion.model or None,
        answered=True,
        detail=failure.detail,
    )


async def told_as_claim(
    claims: Sequence[Claim],
    asking: Awaitable[list[Outcome | RunIncomplete]],
    within: Told = NOTHING,
) -> list[Outcome | RunIncomplete]:
    """What is awaited, told of as one claim: that of a group which comes first.

    Args:
        claims: who is asked about.
        asking: comes to their outcomes.
        within: the scope around it; the current one when left out.
    """
    with scope("claim", claims[0].id, within=within) as told:
        outcomes = await asking
        if told is not NOTHING:
            told.note(group=len(claims) if len(claims) > 1 else None, **_came_to(outcomes[0]))
        return outcomes


def tell_outcome(outcome: Outcome, within: Told = NOTHING) -> None:
    """A claim has an outcome, which counts from now on."""
    level = Level.INFO if outcome.kind == "failure" else Level.DEBUG
    event(
        "claim_done",
        level,
        within=within,
        claim=outcome.claim_id,
        abstentions=len(outcome.abstentions) or None,
        detail=getattr(outcome, "detail", None),
        **_came_to(outcome),
    )


def _came_to(outcome: Outcome | RunIncomplete) -> dict[str, Any]:
    if isinstance(outcome, RunIncomplete):
        return {"outcome": "owed"}
    if outcome.kind == "failure":
        return {"outcome": "failure", "reason": str(outcome.reason)}
    return {"outcome": "verdict", "label": str(outcome.label)}
