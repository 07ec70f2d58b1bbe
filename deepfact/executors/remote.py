"""A worker's side of the ledger: answers and permits that are kept in another process.

Messages that can wait for each other go together: while one is on its way, those that come
meanwhile gather for the next. How a message travels is the executor's business (`Call`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from deepfact.executors.permits import Attempt, Ending, Permit
from deepfact.executors.wire import error_of
from deepfact.model_records import Completion
from deepfact.store.responses import StoredResponse

Item = TypeVar("Item")
Back = TypeVar("Back")

WAITING = 64
"""Permits that one worker waits for at once: when one comes, the next is asked for."""


class Call(Protocol):
    """Calls a method of the ledger."""

    def __call__(self, method: str, *arguments: Any) -> Awaitable[Any]:
        """What the method returns.

        Raises:
            RunIncomplete: the ledger is gone.
        """
        ...


class Gathered(Generic[Item, Back]):
    """Sends items in as few messages as their order of coming allows.

    Args:
        send: sends some items; returns something for each, in order.
    """

    def __init__(self, send: Callable[[Sequence[Item]], Awaitable[Sequence[Back]]]) -> None:
        self._send = send
        self._items: list[tuple[Item, asyncio.Future[Back]]] = []
        self._sending: asyncio.Task[None] | None = None

    def put(self, item: Item) -> asyncio.Future[Back]:
        """Send an item; the future holds what comes back."""
        done: asyncio.Future[Back] = asyncio.get_running_loop().create_future()
        self._items.append((item, done))
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._go())
        return done

    async def aclose(self) -> None:
        """Send what is left."""
        if self._sending is not None:
            await self._sending

    async def _go(self) -> None:
        while self._items:
            batch, self._items = self._items, []
            try:
                answers = await self._send([item for item, _ in batch])
            except Exception as error:
                for _, done in batch:
                    if not done.done():
                        done.set_exception(error)
                        done.exception()  # whoever sent it may not wait for it
                continue
            for (_, done), answer in zip(batch, answers, strict=True):
                if not done.done():
                    done.set_result(answer)


class RemoteAnswers:
    """The answers of the ledger; as `deepfact.executors.durable.Answers`."""

    def __init__(self, call: Call) -> None:
        async def get(keys: Sequence[str]) -> Sequence[str]:
            found: list[str] = await call("get", list(keys))
            return found

        async def put(rows: Sequence[tuple[str, int, str, str]]) -> Sequence[str]:
            stored: list[str] = await call("put", list(rows))
            return stored

        self._gets, self._puts = Gathered(get), Gathered(put)

    async def get(self, key: str) -> Completion | None:
        """As `Answers.get`."""
        return _completion(await self._gets.put(key))

    async def put(self, response: StoredResponse) -> Completion:
        """As `Answers.put`."""
        request, completion = response.request.canonical(), response.completion.canonical()
        stored = _completion(
            await self._puts.put((response.key, response.vote, request, completion))
        )
        assert stored is not None, "what was put is there"  # noqa: S101
        return stored

    async def aclose(self) -> None:
        """As `Answers.aclose`."""
        await self._puts.aclose()


def _completion(text: str) -> Completion | None:
    if text.startswith("!"):
        raise error_of(text[1:])
    return Completion.model_validate_json(text) if text else None


class RemotePermits:
    """The ledger's permits for one engine; as `deepfact.executors.permits.Permits`.

    Args:
        call: reaches the ledger.
        worker: the name of this worker there.
        engine: the name of the engine there.
    """

    def __init__(self, call: Call, worker: str, engine: str) -> None:
        async def done(endings: Sequence[tuple[str, str]]) -> Sequence[None]:
            await call("done", worker, list(endings))
            return [None] * len(endings)

        self._call, self._worker, self._engine = call, worker, engine
        self._done = Gathered(done)
        self._waiting = asyncio.Semaphore(WAITING)
        self._count = 0
        self._errands: set[asyncio.Future[Any]] = set()

    async def take(self, attempt: Attempt) -> Permit:
        """As `Permits.take`."""
        self._count += 1
        name = f"{self._worker}/{self._engine}/{self._count}"
        async with self._waiting:
            asked = asyncio.ensure_future(
                self._call("permit", self._worker, name, self._engine, attempt.canonical())
            )
            try:
                error = await asyncio.shield(asked)
            except asyncio.CancelledError:
                self._later(asked)
                self._later(asyncio.ensure_future(self._call("unwanted", self._worker, name)))
                raise
        if error:
            raise error_of(error)
        return Permit(attempt, name=name)

    def ended(self, permit: Permit, ending: Ending) -> None:
        """As `Permits.ended`; it is told when the permit comes back."""
        permit.ending = ending

    def leave(self, permit: Permit) -> None:
        """As `Permits.leave`."""
        self._done.put((permit.name, permit.ending.canonical()))

    async def aclose(self) -> None:
        """As `Permits.aclose`."""
        await self._done.aclose()
        if self._errands:
            await asyncio.wait(self._errands, timeout=1.0)

    def _later(self, errand: asyncio.Future[Any]) -> None:
        """Let it finish by itself; what it says does not matter any more."""
        self._errands.add(errand)
        errand.add_done_callback(self._over)

    def _over(self, errand: asyncio.Future[Any]) -> None:
        self._errands.discard(errand)
        if not errand.cancelled():
            errand.exception()
