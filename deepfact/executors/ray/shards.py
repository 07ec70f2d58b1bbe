"""Which units are waiting, which are under way: the driver's list. Pure waiting and counting."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from deepfact.errors import RunIncomplete

MOST_LOSSES = 3
"""Workers that one unit may take with it before the run stops."""


@dataclass(slots=True)
class Waiting:
    """A unit, as text, and how many workers were lost while it was under way."""

    text: str
    losses: int = 0


class Shards:
    """Gives out units in shards of at most ``size``, and takes back those of lost workers.

    Units are read only when somebody is free to do them, so that no more of them are in memory
    than are under way.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._units: Iterator[str] = iter(())
        self._seen: list[Waiting] = []
        """Read to see whether there are any, and not given out yet."""
        self._back: deque[Waiting] = deque()
        self._under_way = 0
        self._closed = False
        self._changed = asyncio.Condition()

    async def stage(self, units: Iterator[str]) -> None:
        """Give out these units; returns when all of them are done."""
        async with self._changed:
            self._units = units
            self._changed.notify_all()
            await self._changed.wait_for(self._is_over)

    async def take(self, wanted: Callable[[], bool]) -> list[Waiting]:
        """A shard, once there is one; empty when there will be none, or it is not wanted."""
        async with self._changed:
            while wanted() and not self._closed:
                # One that took a worker with it goes alone: its neighbours were not to blame.
                shard = [self._back.popleft()] if self._back else self._next()
                if shard:
                    self._under_way += 1
                    return shard
                await self._changed.wait()
            return []

    async def over(self, left: Sequence[Waiting]) -> None:
        """A shard is over, except for the units that are left: they were lost with a worker.

        Raises:
            RunIncomplete: one of them has cost too many workers.
        """
        async with self._changed:
            self._under_way -= 1
            for unit in left:
                unit.losses += 1
                if unit.losses > MOST_LOSSES:
                    raise RunIncomplete(
                        f"{unit.losses} workers were lost while they did the same piece of work: "
                        f"{unit.text[:200]}",
                        fix="see Ray's logs for why; run the same command to go on",
                    )
                self._back.append(unit)
            self._changed.notify_all()

    async def close(self) -> None:
        """Whoever waits for a shard gets none."""
        async with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _next(self) -> list[Waiting]:
        shard, self._seen = self._seen or self._read(), []
        return shard

    def _read(self) -> list[Waiting]:
        return [Waiting(text) for text in islice(self._units, self._size)]

    def _is_over(self) -> bool:
        if self._under_way or self._back:
            return False
        self._seen = self._seen or self._read()
        return not self._seen
