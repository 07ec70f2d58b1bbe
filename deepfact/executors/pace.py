"""Steady rates: waiting so that requests and tokens keep to what the config allows a minute.

Only waiting: nothing here sends a request, counts money or knows why a call failed.
"""

from __future__ import annotations

import asyncio
import time
from typing import Awaitable, Callable

from deepfact.executors.limits import Limits
from deepfact.model_records import Request

Clock = Callable[[], float]
"""Seconds from any fixed point, never going back."""

Sleep = Callable[[float], Awaitable[None]]


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
        self._turn = asyncio.Lock()

    async def take(self, units: float) -> None:
        """Wait until ``units`` more may be used."""
        # One at a time: were all to sleep at once, an event loop that stands still for a second
        # would let go a second's worth and the burst together.
        async with self._turn:
            while (wait := self._paid_at - self._clock()) > 0:
                await self._sleep(wait)
            starts = max(self._paid_at, self._clock() - self._burst)
            self._paid_at = starts + units * self._per_unit

    def settle(self, units: float) -> None:
        """Correct an estimate by ``units`` (negative when less was used than taken)."""
        self._paid_at += units * self._per_unit


class Paces:
    """The rates of a run: requests, input tokens, output tokens, as far as they are limited."""

    def __init__(self, limits: Limits) -> None:
        rates = {
            "requests": limits.requests_per_minute,
            "input": limits.input_tokens_per_minute,
            "output": limits.output_tokens_per_minute,
        }
        clock = time.monotonic
        self._paces = {name: Pace(rate, clock=clock) for name, rate in rates.items() if rate}

    async def take(self, sent: float, back: float) -> None:
        """Wait until a request may be sent, going by an estimate of its tokens, in and out."""
        units = {"requests": 1.0, "input": sent, "output": back}
        for name, pace in self._paces.items():
            await pace.take(units[name])

    def settle(self, sent: float, back: float) -> None:
        """Correct the estimate by what was used beyond it (negative when less), in and out."""
        for name, units in (("input", sent), ("output", back)):
            if name in self._paces:
                self._paces[name].settle(units)


def estimated_tokens(request: Request) -> float:
    """Input tokens of a request, at four characters a token. An estimate, for pacing."""
    characters = len(request.system) + sum(len(turn.content) for turn in request.messages)
    return characters / 4 + 1
