"""The engine: asks a provider, within limits and budget, and keeps every answer.

    engine = Engine(provider, store, limits, budget)
    async with engine:
        completion = await engine.ask(request, vote=1)

An answer is durable in the response store before `ask` returns it, so whatever has been paid
for is never paid for again: a rerun, a resume after a kill and a replay take it from there.
Callers may start as many `ask` at once as they like; the engine bounds what is in flight.

What `ask` raises, and what the caller is to do about it:

    CallFailed        this vote is an abstention, with ``reason``; go on
    ReplayMissing     (replay only) the answer is not stored; go on, then `raise_if_incomplete`
    AnswerPending     (batches) the answer comes later; go on, then `raise_if_incomplete`
    BudgetSpent       no further call is allowed; stop, exit 3, resumable
    ProviderRefused   no call can succeed (key, model, request); stop, exit 2

The last two, once raised, are raised by every later `ask` that is not answered from the
store. Nothing here knows of claims, prompts or panels, and nothing is ever turned into an
answer that the provider did not give.
"""

from __future__ import annotations

import asyncio
import time
from typing import Collection, Mapping, Self, cast

from deepfact.errors import ConfigError, DeepFactError, InputError, RunIncomplete
from deepfact.executors.budget import Account, Budget, BudgetSpent
from deepfact.executors.calls import LiveCalls, unforeseen
from deepfact.executors.durable import Answers, DurableWriter
from deepfact.executors.limits import Limits
from deepfact.executors.pace import estimated_tokens
from deepfact.executors.permits import OwnPermits, Permits
from deepfact.executors.pricing import MILLION, Price, PriceList
from deepfact.executors.progress import EngineUsage, Progress, ShowProgress
from deepfact.executors.told import ToldCall, tell_unusable
from deepfact.model_records import Completion, Request
from deepfact.providers.base import (
    AnswerPending,
    CallFailed,
    DeferredProvider,
    Provider,
    ProviderRefused,
)
from deepfact.records import FailureReason
from deepfact.store.responses import ResponseStore, StoredResponse
from deepfact.store.secrets import MASK, known_secrets

__all__ = [
    "Budget", "BudgetSpent", "Engine", "Limits", "Price", "Progress", "ReplayMissing",
    "check_usable",
]  # fmt: skip

_UNUSABLE = {
    "refusal": FailureReason.REFUSED,
    "content_filter": FailureReason.REFUSED,
    "max_tokens": FailureReason.TRUNCATED,
    "length": FailureReason.TRUNCATED,
    "model_context_window_exceeded": FailureReason.TRUNCATED,
}
"""Stop reasons, in the providers' words, that leave no whole answer."""


class ReplayMissing(RunIncomplete):
    """A replay needs an answer that is not in the response store."""

    def __init__(self, request: Request, vote: int) -> None:
        self.request, self.vote, self.key = request, vote, request.key(vote)
        super().__init__(
            f"no stored answer for request {self.key} (model {request.model!r}, vote {vote})",
            fix="run once without --replay to ask for it",
        )


def check_usable(completion: Completion) -> Completion:
    """The completion itself, when it is a whole answer.

    Raises:
        CallFailed: a refusal, an answer cut off, or no text; ``.completion`` holds it.
    """
    reason = _UNUSABLE.get(completion.stop_reason)
    if reason is None and not completion.text.strip():
        reason = FailureReason.NO_ANSWER
    if reason is None:
        return completion
    why = completion.stop_reason or "no text"
    raise CallFailed(reason, f"no whole answer (stop reason: {why})", completion=completion)


def raise_if_incomplete(missing: Collection[str], pending: Collection[str]) -> None:
    """Say how many answers a run lacks, by their keys.

    Raises:
        RunIncomplete: some are missing or pending.
    """
    for noun, keys, fix in (
        ("missing from the response store", missing, "run without --replay"),
        ("pending", pending, "run again when the answers are there"),
    ):
        if keys:
            some = ", ".join(sorted(keys)[:3]) + (", ..." if len(keys) > 3 else "")
            count = f"{len(keys)} answer{'s are' if len(keys) > 1 else ' is'}"
            raise RunIncomplete(f"{count} {noun}: {some}", fix=fix)


class Engine:
    """Asks a provider and keeps every answer. One per run; use it in one event loop.

    Args:
        provider: answers requests; closed with the engine.
        store: where answers are kept: a response store, which is not closed with the engine, or
            what stands for one in another process.
        limits: concurrency, rates, retries, timeouts.
        budget: the most that may be spent, in US dollars or in calls.
        replay: never call out; raise `ReplayMissing` for what is not stored.
        prices: prices by model id from the config, before those of the public list.
        progress: called with a `Progress` after each request.
        expected: requests expected in all, for the ETA; may be set later.
        seed: draws the jitter between retries, nothing else.
        permits: who gives leave to send, in place of ``limits`` and ``budget``.
    """

    def __init__(
        self,
        provider: Provider | DeferredProvider,
        store: ResponseStore | Answers,
        limits: Limits | None = None,
        budget: Budget | None = None,
        *,
        replay: bool = False,
        prices: Mapping[str, Price] | None = None,
        progress: ShowProgress | None = None,
        expected: int | None = None,
        seed: int = 0,
        permits: Permits | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.expected = expected
        self.missing: dict[str, ReplayMissing] = {}
        """What a replay lacked, by key."""
        self.pending: dict[str, AnswerPending] = {}
        """What will be answered later, by key."""
        self._provider, self._replay = provider, replay
        self._deferred = provider if isinstance(provider, DeferredProvider) else None
        self._prices = PriceList(
            prices,
            provider=getattr(provider, "price_provider", ""),
            batch=self._deferred is not None,
        )
        self._secrets = known_secrets()
        self._progress = progress
        self._usage = EngineUsage()
        self._account = Account(budget or Budget())
        self._permits = permits or OwnPermits(self.limits, self._account)
        self._live = LiveCalls(
            cast(Provider, provider), self.limits, self._permits, self._prices, seed
        )
        self._answers = DurableWriter(store) if isinstance(store, ResponseStore) else store
        # Flights cost memory; callers may ask everything at once. Those that wait for a retry
        # have room beside those in flight.
        self._door = asyncio.Semaphore(4 * self.limits.concurrency)
        self._flights: dict[str, asyncio.Task[Completion]] = {}
        self._flown: set[str] = set()
        self._stopped: DeepFactError | None = None
        self._closed = False
        self._started: float | None = None
        self._finished_calls = 0
        if self._deferred is not None:
            if not isinstance(store, ResponseStore):
                raise ConfigError(
                    "a provider that gathers requests needs the response store itself",
                    fix="run it with --executor local",
                )
            self._deferred.attach(store)

    # --- what callers use ----------------------------------------------------------------

    async def ask(self, request: Request, vote: int = 0) -> Completion:
        """The answer to a request: the stored one, or a new one that is stored first.

        Args:
            request: everything that determines the answer.
            vote: number of the vote; another number is another answer to the same request.
                To ask again after an answer that cannot be read, use a number that no
                other vote uses.

        Raises:
            CallFailed: no usable answer; an abstention with a typed ``reason``. A refusal or
                a truncated answer is stored too, so that it is not paid for twice.
            ReplayMissing, AnswerPending, BudgetSpent, ProviderRefused: see this module.
            ConfigError: a budget in dollars without a known price.
        """
        key = request.key(vote)
        if (stored := await self._answers.get(key)) is not None:
            self._usage.reused += 1
            return self._finish(stored)
        if self._replay:
            error = self.missing.setdefault(key, ReplayMissing(request, vote))
            self._usage.missing = len(self.missing)
            raise error
        if self._closed:
            raise RuntimeError("the engine is closed")
        if self._deferred is not None:
            return await self._fly(key, request, vote)
        async with self._door:
            if self._closed:
                raise asyncio.CancelledError
            # Whoever asked the same may have been answered while this waited at the door.
            if key in self._flown and (stored := await self._answers.get(key)) is not None:
                self._usage.reused += 1
                return self._finish(stored)
            return await self._fly(key, request, vote)

    @property
    def usage(self) -> EngineUsage:
        """Totals so far."""
        self._usage.calls, self._usage.retries = self._account.calls, self._live.retries
        self._usage.usd = self._account.total
        return self._usage

    def cost(self, request: Request, completion: Completion) -> float | None:
        """US dollars that an answer cost when it was given; None where the price is unknown."""
        return self._prices.cost(request.model, completion)

    def now(self) -> Progress:
        """Where the run stands."""
        usage, seconds = self.usage, 0.0
        if self._started is not None:
            seconds = max(time.monotonic() - self._started, 1e-9)
        rate = self._finished_calls / seconds if seconds else 0.0
        done = usage.reused + self._finished_calls
        left = None if self.expected is None else max(self.expected - done, 0)
        eta = 0.0 if left == 0 else (left / rate if left is not None and rate else None)
        return Progress(
            done=done,
            failed=usage.failed,
            reused=usage.reused,
            total=self.expected,
            in_flight=len(self._live.sent),
            rate=rate,
            usd=usage.usd,
            eta=eta,
        )

    def raise_if_incomplete(self) -> None:
        """Say how many answers are missing or pending, and which.

        Raises:
            RunIncomplete: some are.
        """
        raise_if_incomplete(self.missing, self.pending)

    async def aclose(self) -> None:
        """Finish what is on the wire (at most ``limits.grace`` seconds), drop the rest, close
        the provider. The run can be resumed."""
        if self._closed:
            return
        self._closed = self._live.closing = True
        for key, flight in list(self._flights.items()):
            if key not in self._live.sent:
                flight.cancel()
        if flights := list(self._flights.values()):
            _, late = await asyncio.wait(flights, timeout=self.limits.grace)
            for flight in late:
                flight.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self._permits.aclose()
        await self._answers.aclose()
        await self._provider.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    # --- one answer ----------------------------------------------------------------------

    async def _fly(self, key: str, request: Request, vote: int) -> Completion:
        """Wait for the flight that fetches this answer: one under way already, or a new one."""
        if self._stopped is not None:
            raise self._stopped
        flight = self._flights.get(key)
        if flight is None:
            flight = asyncio.create_task(self._answer(key, request, vote))
            self._flights[key] = flight
            self._flown.add(key)
            flight.add_done_callback(lambda done: self._landed(key, done))
        try:
            # Shielded: when the caller is interrupted, an answer on its way is still kept.
            return check_usable(await asyncio.shield(flight))
        except asyncio.CancelledError:
            if flight.cancelled() and self._stopped is not None:  # it had not even started
                raise self._stopped from None
            raise

    async def _answer(self, key: str, request: Request, vote: int) -> Completion:
        if self._started is None:
            self._started = time.monotonic()

        async def keep(completion: Completion) -> Completion:
            if (clean := self._secrets.sub(MASK, completion.text)) != completion.text:
                completion = completion.model_copy(update={"text": clean})
            self._usage.add(completion)
            self._live.sent.add(key)
            return await self._answers.put(StoredResponse(key, vote, request, completion))

        try:
            if self._deferred is not None:
                return await keep(await self._later(self._deferred, request, vote))
            return await self._live.answer(key, request, keep)
        except (ProviderRefused, BudgetSpent, InputError) as error:
            # What a batch has gathered within the budget is still to be submitted.
            if self._deferred is None or not isinstance(error, BudgetSpent):
                self._stop(error)
            raise
        except asyncio.CancelledError:
            if self._stopped is not None:
                raise self._stopped from None
            raise

    async def _later(self, provider: DeferredProvider, request: Request, vote: int) -> Completion:
        """The answer of a provider that gathers requests: no place, no pace, no retries."""
        price, at_most = self._prices.of(request.model), 0.0
        if price is not None:
            tokens = estimated_tokens(request) * price.input + request.max_tokens * price.output
            at_most = tokens / MILLION
        self._account.start(request.model, price=price, at_most=at_most)
        completion: Completion | None = None
        with ToldCall(provider, request, deferred=True) as told:
            told.sent()
            try:
                completion = await provider.answer(request, vote)
                return completion
            except CallFailed as failure:
                told.failed(failure)
                raise
            except DeepFactError:
                raise
            except Exception as error:
                raise unforeseen(error) from None
            finally:
                cost = None if completion is None else self.cost(request, completion)
                self._account.finish(cost, answered=completion is not None, at_most=at_most)
                told.came(completion, cost)

    def _landed(self, key: str, flight: asyncio.Task[Completion]) -> None:
        """A flight is over: count it. Its error is read here, since its caller may be gone."""
        self._flights.pop(key, None)
        self._live.sent.discard(key)
        if flight.cancelled():
            return
        error = flight.exception()
        if isinstance(error, AnswerPending):
            self.pending[key] = error
            self._usage.pending = len(self.pending)
        elif isinstance(error, CallFailed):
            self._usage.failures[error.reason] += 1
        elif error is None:
            try:
                check_usable(flight.result())
            except CallFailed as failure:
                self._usage.failures[failure.reason] += 1
                tell_unusable(failure)
        else:
            return
        self._finished_calls += 1
        if self._progress is not None:
            self._progress(self.now())

    def _finish(self, stored: Completion) -> Completion:
        """A stored answer, with the same check as a new one."""
        try:
            return check_usable(stored)
        except CallFailed as failure:
            self._usage.failures[failure.reason] += 1
            raise
        finally:
            if self._progress is not None:
                self._progress(self.now())

    def _stop(self, error: DeepFactError) -> None:
        """Let nothing more start. What is on the wire may finish."""
        if self._stopped is not None:
            return
        self._stopped = self._live.stopped = error
        current = asyncio.current_task()
        for key, flight in list(self._flights.items()):
            if key not in self._live.sent and flight is not current:
                flight.cancel()
