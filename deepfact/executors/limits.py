"""What a run may ask of a provider per unit of time, and the waiting that keeps to it.

Only waiting: nothing here sends a request, counts money or knows why a call failed.
"""

from __future__ import annotations

import asyncio
import random
from typing import Awaitable, Callable

from pydantic import Field

from deepfact.records import Record

Clock = Callable[[], float]
"""Seconds from any fixed point, never going back."""

Sleep = Callable[[float], Awaitable[None]]


class Limits(Record):
    """Bounds on the calls of a run, as written in the config."""

    concurrency: int = Field(default=16, gt=0)
    """Calls in flight at most. Lowered on its own while the provider is overloaded."""
    requests_per_minute: float | None = Field(default=None, gt=0)
    input_tokens_per_minute: float | None = Field(default=None, gt=0)
    """Estimated before a call at four characters a token, set right by what was used."""
    output_tokens_per_minute: float | None = Field(default=None, gt=0)
    attempts: int = Field(default=8, gt=0)
    """Times that a request is sent at most before it is given up."""
    timeout: float = Field(default=300.0, gt=0)
    """Seconds that one attempt may take."""
    backoff: float = Field(default=0.5, ge=0)
    """Seconds before the first retry; doubled each time, with jitter."""
    max_backoff: float = Field(default=60.0, ge=0)
    """Longest such wait, in seconds. A provider's own ``retry-after`` is obeyed beyond it."""
    max_retry_after: float = Field(default=600.0, ge=0)
    """A provider that asks for a longer wait than this, in seconds, is given up on."""
    grace: float = Field(default=10.0, ge=0)
    """Seconds that calls in flight are given to finish when a run is interrupted."""


def backoff(limits: Limits, attempt: int, retry_after: float | None, draw: random.Random) -> float:
    """Seconds to wait after attempt number ``attempt`` (from 1) failed.

    Exponential with "equal jitter": half of the wait is fixed, half is drawn, so that calls
    that failed together do not come back together. Never shorter than ``retry_after``.
    """
    span = min(limits.max_backoff, limits.backoff * float(2 ** (attempt - 1)))
    wait = span / 2 + draw.uniform(0, span / 2)
    if retry_after is not None:
        return max(wait, retry_after + draw.uniform(0, min(span, 1.0)))
    return wait


class Pace:
    """A steady rate: units are handed out no faster than ``per_minute``, small bursts allowed.

    The generic cell rate algorithm: one number, the time at which everything handed out so
    far is paid for. Callers wait in the order in which they came.
    """

    def __init__(
        self,
        per_minute: float,
        *,
        burst_seconds: float = 1.0,
        clock: Clock,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._per_unit = 60.0 / per_minute
        self._burst = burst_seconds
        self._clock, self._sleep = clock, sleep
        self._paid_at = float("-inf")

    async def take(self, units: float) -> None:
        """Wait until ``units`` more may be used."""
        now = self._clock()
        starts = max(self._paid_at, now - self._burst)
        self._paid_at = starts + units * self._per_unit
        if (wait := starts - now) > 0:
            await self._sleep(wait)

    def settle(self, units: float) -> None:
        """Correct an estimate by ``units`` (negative when less was used than taken)."""
        self._paid_at += units * self._per_unit
