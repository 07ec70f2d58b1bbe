"""Live calls: a place, a pace, a budget, one attempt after another.

A call keeps its place until its answer is stored, so that no more answers than the bound on
concurrency can ever be paid for and lost. Which requests are asked, and what becomes of the
answers, is the engine's business.
"""

from __future__ import annotations

import asyncio
import random
import time
from typing import Awaitable, Callable

from deepfact.errors import ConfigError, DeepFactError
from deepfact.executors.budget import Account
from deepfact.executors.gate import Gate
from deepfact.executors.limits import Limits, backoff
from deepfact.executors.pace import Paces
from deepfact.executors.pricing import PriceList
from deepfact.model_records import Completion, Request
from deepfact.providers.base import CallFailed, Provider, Quota
from deepfact.records import FailureReason
from deepfact.store.secrets import scrub

Keep = Callable[[Completion], Awaitable[Completion]]
"""Stores an answer durably; returns the one that is stored."""

_OVERLOAD = (429, 529)


class LiveCalls:
    """Sends requests to a provider within limits and budget.

    Args:
        provider: sends one attempt at a time.
        limits: concurrency, rates, retries, timeouts.
        account: asked before each attempt and told after it.
        prices: what answers cost.
        seed: draws the jitter between retries.
    """

    def __init__(
        self, provider: Provider, limits: Limits, account: Account, prices: PriceList, seed: int
    ) -> None:
        self._provider, self._limits = provider, limits
        self._account, self._prices = account, prices
        self._gate = Gate(limits.concurrency, clock=time.monotonic)
        self._paces = Paces(limits)
        self._draw = random.Random(seed)  # noqa: S311 - jitter
        self.retries = 0
        self.sent: set[str] = set()
        """Keys sent and not yet stored or given up: paid for, so never dropped lightly."""
        self.stopped: DeepFactError | None = None
        """Once set, nothing is tried again and this is raised instead."""
        self.closing = False
        """Once set, nothing is tried again."""

    async def answer(self, key: str, request: Request, keep: Keep) -> Completion:
        """The provider's answer, asked for up to ``limits.attempts`` times, and stored.

        Raises:
            CallFailed: no attempt gave an answer; the last failure.
            ProviderRefused, BudgetSpent, ConfigError: the run is to stop.
        """
        for attempt in range(1, self._limits.attempts + 1):
            try:
                return await self._attempt(key, request, keep)
            except CallFailed as failure:
                self.sent.discard(key)
                too_long = (failure.retry_after or 0) > self._limits.max_retry_after
                last = attempt == self._limits.attempts or self.closing
                if last or too_long or not failure.retryable:
                    raise
                wait = backoff(self._limits, attempt, failure.retry_after, self._draw)
            await asyncio.sleep(wait)
            if self.stopped is not None:
                raise self.stopped
            self.retries += 1
        raise AssertionError("unreachable: attempts is at least 1")

    async def _attempt(self, key: str, request: Request, keep: Keep) -> Completion:
        """One call, in its place. An overload makes the bound smaller, an answer larger."""
        ticket = await self._gate.enter()
        try:
            await self._paces.take(request)
            completion = await self._call(key, request)
            self._gate.succeeded()
            self._heed(getattr(self._provider, "quota", None))
            self._paces.settle(request, completion)
            return await keep(completion)
        except CallFailed as failure:
            if failure.status in _OVERLOAD:
                self._gate.overloaded(ticket, failure.retry_after)
            raise
        finally:
            self._gate.leave()

    async def _call(self, key: str, request: Request) -> Completion:
        """Send it. Whatever goes wrong comes out as an error of ours."""
        self._account.start(request.model, price=self._prices.of(request.model))
        self.sent.add(key)
        completion: Completion | None = None
        try:
            async with asyncio.timeout(self._limits.timeout):
                completion = await self._provider.complete(request)
            return completion
        except DeepFactError:
            raise
        except TimeoutError:
            detail = f"no answer within {self._limits.timeout:g} seconds"
            raise CallFailed(FailureReason.TIMEOUT, detail, retryable=True) from None
        except Exception as error:
            raise unforeseen(error) from None
        finally:
            cost = None if completion is None else self._prices.cost(request.model, completion)
            self._account.finish(cost, answered=completion is not None)

    def _heed(self, quota: Quota | None) -> None:
        """Wait for the provider's limit to be refilled rather than run into it."""
        if quota is None or quota.resets_in is None:
            return
        if quota.requests_left == 0 or quota.tokens_left == 0:
            self._gate.hold(min(quota.resets_in, self._limits.max_retry_after))


def unforeseen(error: Exception) -> DeepFactError:
    """Any other exception of a provider, as a failure of this one call."""
    if isinstance(error, ConfigError):
        return error
    return CallFailed(FailureReason.ERROR, scrub(f"{type(error).__name__}: {error}"))
