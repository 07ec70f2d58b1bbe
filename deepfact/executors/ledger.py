"""The ledger of a run on several workers: the one place where answers, limits and budget are kept.

It is the only writer of the response store. It gives leave for every call of every worker, so
that rates and budget hold for all of them together, and takes back what a lost worker held. All
it is told and tells is plain text and numbers. It calls no provider and knows no claim.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from deepfact.errors import ConfigError, DeepFactError
from deepfact.executors.base import Bounds
from deepfact.executors.budget import Account
from deepfact.executors.durable import DurableWriter
from deepfact.executors.permits import Attempt, Ending, OwnPermits, Permit
from deepfact.executors.wire import error_text
from deepfact.model_records import Completion, Request
from deepfact.store.responses import ResponseStore, StoredResponse

USED_AT_ONCE = 10_000
"""Keys handed over in one answer of `Ledger.used`."""


@dataclass(slots=True)
class _Held:
    """A permit that somebody has."""

    permit: Permit
    engine: str
    permits: OwnPermits
    account: Account


class Ledger:
    """Keeps answers and gives permits. Used from one event loop.

    Args:
        responses: file of the response store; empty when no engine asks.
        engines: `Bounds` as JSON, by name of the engine.
        remember: keep in mind which answers were used.

    Raises:
        InputError: the store cannot be opened.
    """

    def __init__(
        self, responses: str, engines: Mapping[str, str], *, remember: bool = False
    ) -> None:
        self._store = ResponseStore(Path(responses)) if responses else None
        self._writer = None if self._store is None else DurableWriter(self._store)
        self._accounts: dict[str, Account] = {}
        self._permits: dict[str, OwnPermits] = {}
        for name, text in engines.items():
            bounds = Bounds.model_validate_json(text)
            self._accounts[name] = account = Account(bounds.budget)
            self._permits[name] = OwnPermits(bounds.limits, account)
        self._held: dict[str, dict[str, _Held]] = {}
        """By worker, then by name."""
        self._gone: set[str] = set()
        """Workers that were lost, and permits that are not wanted any more."""
        self._refused: dict[str, str] = {}
        """Errors of providers that will answer nobody, by engine."""
        self._used: dict[str, None] | None = {} if remember else None

    @property
    def _answers(self) -> DurableWriter:
        if self._writer is None:
            raise ConfigError("a verifier that asks a model needs a response store")
        return self._writer

    # --- answers -------------------------------------------------------------------------

    async def get(self, keys: Sequence[str]) -> list[str]:
        """The answers under keys, as JSON; empty where there is none, or ``!`` and an error."""
        found = []
        for key in keys:
            try:
                completion = await self._answers.get(key)
            except DeepFactError as error:
                found.append(f"!{error_text(error)}")
                continue
            found.append("" if completion is None else completion.canonical())
            if completion is not None:
                self._note(key)
        return found

    async def put(self, rows: Sequence[tuple[str, int, str, str]]) -> list[str]:
        """Store answers: key, vote, request and completion. They are durable on return.

        Returns:
            For each the answer that is stored under its key; or ``!`` and an error.
        """
        responses = [
            StoredResponse(
                key, vote, Request.model_validate_json(asked), Completion.model_validate_json(got)
            )
            for key, vote, asked, got in rows
        ]
        puts = (self._answers.put(one) for one in responses)
        stored = await asyncio.gather(*puts, return_exceptions=True)
        for one in responses:
            self._note(one.key)
        return [
            f"!{error_text(one)}" if isinstance(one, BaseException) else one.canonical()
            for one in stored
        ]

    async def used(self, begin: int) -> list[str]:
        """Keys of answers that were used, from the ``begin``-th on; none when all were told."""
        return list(self._used or ())[begin : begin + USED_AT_ONCE]

    def _note(self, key: str) -> None:
        if self._used is not None:
            self._used[key] = None

    # --- permits -------------------------------------------------------------------------

    async def permit(self, worker: str, name: str, engine: str, attempt: str) -> str:
        """Wait until an attempt may be sent. Empty when it may, else an error as JSON."""
        permits, account = self._permits[engine], self._accounts[engine]
        try:
            permit = await permits.take(Attempt.model_validate_json(attempt))
        except DeepFactError as error:
            return error_text(error)
        held = _Held(permit, engine, permits, account)
        if refused := self._refused.get(engine):
            _give_back(held)
            return refused
        if worker in self._gone or name in self._gone:  # nobody is there to use it
            self._gone.discard(name)
            _give_back(held)
        else:
            self._held.setdefault(worker, {})[name] = held
        return ""

    async def done(self, worker: str, endings: Sequence[tuple[str, str]]) -> None:
        """Permits come back: name, and how the attempt ended."""
        for name, text in endings:
            held = self._held.get(worker, {}).pop(name, None)
            if held is not None:
                ending = Ending.model_validate_json(text)
                if ending.refused:  # before its place is free: nobody else need find out
                    self._refused[held.engine] = ending.refused
                held.permits.ended(held.permit, ending)
                held.permits.leave(held.permit)

    async def unwanted(self, worker: str, name: str) -> None:
        """A permit that was asked for is not wanted any more, given or not."""
        held = self._held.get(worker, {}).pop(name, None)
        if held is None:
            self._gone.add(name)
        else:
            _give_back(held)

    async def lost(self, worker: str) -> int:
        """A worker is gone. What it had on the wire may have been paid for and cannot be known:
        it is booked at the most that it can have cost, and its places are free again. What it
        told is stored when this returns.

        Returns:
            How many calls it had in flight.
        """
        self._gone.add(worker)
        held = self._held.pop(worker, {})
        for one in held.values():
            one.permits.ended(one.permit, Ending())
            if (most := one.permit.attempt.at_most) is not None:
                one.account.usd += most
            one.permits.leave(one.permit)
        if self._writer is not None:
            await self._writer.written()
        return len(held)

    async def spent(self) -> dict[str, tuple[int, float]]:
        """Calls and US dollars by engine."""
        return {name: (one.calls, one.usd) for name, one in self._accounts.items()}

    async def close(self) -> None:
        """Write what is left and close the store."""
        if self._writer is not None and self._store is not None:
            await self._writer.aclose()
            self._store.close()


def _give_back(held: _Held) -> None:
    """A permit that was not used: the call was never sent, so it does not count."""
    held.account.calls -= 1
    held.permits.ended(held.permit, Ending())
    held.permits.leave(held.permit)
