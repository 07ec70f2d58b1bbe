"""Live calls: a place, a pace, a budget, one attempt after another.

A call keeps its place until its answer is stored, so that no more answers than the bound on
concurrency can ever be paid for and lost. Which requests are asked, and what becomes of the
answers, is the engine's business.
"""

from __future__ import annotations

import asyncio
import random
from typing import Awaitable, Callable

from deepfact.errors import ConfigError, DeepFactError
from deepfact.executors.limits import Limits, backoff
from deepfact.executors.permits import Attempt, Ending, Permit, Permits
from deepfact.executors.pricing import PriceList
from deepfact.executors.told import ToldCall
from deepfact.executors.wire import error_text
from deepfact.model_records import Completion, Request
from deepfact.providers.base import CallFailed, Provider, ProviderRefused, Quota
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
        permits: asked before each attempt and told after it.
        prices: what answers cost.
        seed: draws the jitter between retries.
    """

    def __init__(
        self, provider: Provider, limits: Limits, permits: Permits, prices: PriceList, seed: int
    ) -> None:
        self._provider, self._limits = provider, limits
        self._permits, self._prices = permits, prices
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
        with ToldCall(self._provider, request, attempts=self._limits.attempts) as told:
            for attempt in range(1, self._limits.attempts + 1):
                try:
                    return await self._attempt(key, request, keep, told)
                except CallFailed as failure:
                    self.sent.discard(key)
                    too_long = (failure.retry_after or 0) > self._limits.max_retry_after
                    last = attempt == self._limits.attempts or self.closing
                    if last or too_long or not failure.retryable:
                        told.failed(failure)
                        raise
                    wait = backoff(self._limits, attempt, failure.retry_after, self._draw)
                    told.failed(failure, wait)
                await asyncio.sleep(wait)
                if self.stopped is not None:
                    raise self.stopped
                self.retries += 1
        raise AssertionError("unreachable: attempts is at least 1")

    async def _attempt(self, key: str, request: Request, keep: Keep, told: ToldCall) -> Completion:
        """One call, in its place. An overload makes the bound smaller, an answer larger."""
        permit = await self._permits.take(Attempt.of(request, self._prices.of(request.model)))
        try:
            return await keep(await self._call(key, request, permit, told))
        finally:
            self._permits.leave(permit)

    async def _call(self, key: str, request: Request, permit: Permit, told: ToldCall) -> Completion:
        """Send it. Whatever goes wrong comes out as an error of ours."""
        self.sent.add(key)
        told.sent()
        completion: Completion | None = None
        ending = Ending()
        try:
            async with asyncio.timeout(self._limits.timeout):
                completion = await self._provider.complete(request)
            ending = self._answered(request, completion)
            return completion
        except CallFailed as failure:
            ending = Ending(overloaded=failure.status in _OVERLOAD, retry_after=failure.retry_after)
            raise
        except ProviderRefused as refusal:
            ending = Ending(refused=error_text(refusal))
            raise
        except DeepFactError:
            raise
        except TimeoutError:
            detail = f"no answer within {self._limits.timeout:g} seconds"
            raise CallFailed(FailureReason.TIMEOUT, detail, retryable=True) from None
        except Exception as error:
            raise unforeseen(error) from None
        finally:
            self._permits.ended(permit, ending)
            told.came(completion, ending.usd)

    def _answered(self, request: Request, completion: Completion) -> Ending:
        """What an answer used up."""
        return Ending(
            answered=True,
            usd=self._prices.cost(request.model, completion),
            input=completion.input_tokens + completion.cache_write_tokens,
            output=completion.output_tokens,
            hold=self._pause(getattr(self._provider, "quota", None)),
        )

    def _pause(self, quota: Quota | None) -> float | None:
        """Seconds until the provider's limit is refilled, rather than run into it."""
        if quota is None or quota.resets_in is None:
            return None
        if quota.requests_left == 0 or quota.tokens_left == 0:
            return min(quota.resets_in, self._limits.max_retry_after)
        return None


def unforeseen(error: Exception) -> DeepFactError:
    """Any other exception of a provider, as a failure of this one call."""
    if isinstance(error, ConfigError):
        return error
    return CallFailed(FailureReason.ERROR, scrub(f"{type(error).__name__}: {error}"))
