"""How many calls may be in flight: a bound that gives way when the provider is overloaded.

Additive increase, multiplicative decrease (Chiu and Jain 1989), as in TCP: each overload
answer cuts the bound by a quarter, at most once per round trip; each full round of answers
raises it by four again, never above the configured bound. So a lasting overload brings it
down to one call at a time within seconds, while a sprinkling of random 429s or 529s costs
some concurrency and no throughput collapse. Only counting and waiting: no requests here.
"""

from __future__ import annotations

import asyncio
from collections import deque

from deepfact.executors.pace import Clock, Sleep

_CUT = 0.75
_RAISE = 4.0  # a round


class Gate:
    """Lets at most so many calls through at once, in the order in which they came."""

    def __init__(self, concurrency: int, *, clock: Clock, sleep: Sleep = asyncio.sleep) -> None:
        self._most = float(concurrency)
        self.bound = float(concurrency)
        """Calls that may be in flight now; only its whole part counts."""
        self.in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._clock, self._sleep = clock, sleep
        self._not_before = float("-inf")
        self._epoch = 0
        self._refusals_in_a_row = 0

    async def enter(self) -> int:
        """Wait for a place and take it. Returns a ticket to hand to `overloaded`."""
        if self.in_flight >= int(self.bound) or self._waiting:
            place = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
            try:
                await place  # whoever let us in has counted us
            except asyncio.CancelledError:
                if place.done() and not place.cancelled():
                    self.leave()
                raise
        else:
            self.in_flight += 1
        try:
            while (wait := self._not_before - self._clock()) > 0:
                await self._sleep(wait)
        except BaseException:
            self.leave()
            raise
        return self._epoch

    def leave(self) -> None:
        """Give the place back."""
        self.in_flight -= 1
        self._admit()

    def succeeded(self) -> None:
        """A call was answered: the bound may grow."""
        self._refusals_in_a_row = 0
        if self.bound < self._most:
            self.bound = min(self._most, self.bound + _RAISE / max(self.bound, 1.0))
            self._admit()

    def overloaded(self, ticket: int, retry_after: float | None) -> None:
        """A call came back with 429 or 529.

        Args:
            ticket: what `enter` returned for it: calls that left before the last cut say
                nothing about the bound that holds now.
            retry_after: seconds that the provider asked to wait. One such answer among
                successes holds its own call back only; two in a row hold back all.
        """
        self._refusals_in_a_row += 1
        if retry_after is not None and self._refusals_in_a_row > 1:
            self.hold(retry_after)
        if ticket == self._epoch:
            self._epoch += 1
            self.bound = max(1.0, self.bound * _CUT)

    def hold(self, seconds: float) -> None:
        """Let no further call start for so long."""
        self._not_before = max(self._not_before, self._clock() + seconds)

    def _admit(self) -> None:
        while self._waiting and self.in_flight < int(self.bound):
            place = self._waiting.popleft()
            if not place.done():
                self.in_flight += 1
                place.set_result(None)
