"""The engines that arms ask through: one where provider, limits, budget and prices are the same.

Each engine counts its own budget, so a budget holds for all arms that share a provider. Live
calls are timed on their way to the provider; nothing here knows what is asked.
"""

from __future__ import annotations

import time
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, AsyncIterator, Mapping

from pydantic import ValidationError

from deepfact.errors import ConfigError
from deepfact.executors.budget import Budget
from deepfact.executors.engine import Engine
from deepfact.executors.limits import Limits
from deepfact.executors.pricing import Price
from deepfact.model_records import Completion, Request
from deepfact.providers.base import DeferredProvider, Provider
from deepfact.providers.registry import ProviderSpec, build_provider
from deepfact.records import canonical_json
from deepfact.run_records import VerifierSpec
from deepfact.store.files import explain
from deepfact.store.responses import ResponseStore

REPEAT = 100_000
"""Between the vote numbers of one repeat and the next: no panel uses that many in one."""

ALL_AT_ONCE = 10_000
"""Claims in flight with a provider that gathers requests instead of answering them."""


@dataclass(frozen=True)
class EngineSpec:
    """What an engine is made of, as a panel's options say it."""

    provider_spec: ProviderSpec
    limits: Limits
    budget: Budget
    prices: Mapping[str, Price]
    replay: bool

    @classmethod
    def of(cls, spec: VerifierSpec) -> EngineSpec:
        """The engine that a verifier's options ask for.

        Raises:
            ConfigError: no provider, or options that do not fit.
        """
        options, where = spec.options, f"verifier {spec.label!r}"
        if not options.get("provider"):
            raise ConfigError(
                "a prompted verifier needs a provider",
                where=where,
                fix="such as provider: {kind: anthropic}",
            )
        try:
            return cls(
                ProviderSpec.model_validate(options["provider"]),
                Limits.model_validate(options.get("limits") or {}),
                Budget.model_validate(options.get("budget") or {}),
                {
                    model: Price.model_validate(price)
                    for model, price in (options.get("prices") or {}).items()
                },
                bool(options.get("replay", False)),
            )
        except ValidationError as error:
            raise ConfigError(explain(error), where=where) from None

    def provider(self) -> Provider | DeferredProvider:
        """A provider of its own."""
        return build_provider(self.provider_spec)

    @property
    def identity(self) -> str:
        """Arms with the same one share an engine."""
        prices = {model: price.canonical() for model, price in self.prices.items()}
        parts = [self.provider_spec, self.limits, self.budget]
        return canonical_json([[part.canonical() for part in parts], prices, self.replay])


CALLS: ContextVar[list[float]] = ContextVar("calls")
"""Seconds of the live calls made for the claim that this task asks about."""


class TimedProvider:
    """A provider whose calls are timed, for whoever asked."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    def __getattr__(self, name: str) -> Any:
        return getattr(self._provider, name)

    async def complete(self, request: Request) -> Completion:
        """As `deepfact.providers.base.Provider`."""
        start = time.monotonic()
        completion = await self._provider.complete(request)
        with suppress(LookupError):
            CALLS.get().append(time.monotonic() - start)
        return completion

    async def aclose(self) -> None:
        """Close connections."""
        await self._provider.aclose()


@dataclass
class RepeatedEngine:
    """An engine under the vote numbers of one repeat."""

    engine: Engine
    repeat: int

    async def ask(self, request: Request, vote: int = 0) -> Completion:
        """As `Engine.ask`."""
        return await self.engine.ask(request, vote + REPEAT * self.repeat)

    def cost(self, request: Request, completion: Completion) -> float | None:
        """As `Engine.cost`."""
        return self.engine.cost(request, completion)


@asynccontextmanager
async def open_engines(
    verifiers: Mapping[str, VerifierSpec], store: ResponseStore, *, replay: bool, seed: int
) -> AsyncIterator[tuple[dict[str, Engine], int]]:
    """The engine of each prompted arm, and how many claims may be asked about at once."""
    made: dict[str, Engine] = {}
    by_arm: dict[str, Engine] = {}
    width = 1
    async with AsyncExitStack() as stack:
        for name, verifier in verifiers.items():
            spec = EngineSpec.of(verifier)
            if spec.identity not in made:
                provider = spec.provider()
                deferred = isinstance(provider, DeferredProvider)
                engine = Engine(
                    timed(provider),
                    store,
                    spec.limits,
                    spec.budget,
                    replay=replay or spec.replay,
                    prices=spec.prices,
                    seed=seed,
                )
                made[spec.identity] = await stack.enter_async_context(engine)
                width = max(width, ALL_AT_ONCE if deferred else spec.limits.concurrency)
            by_arm[name] = made[spec.identity]
        yield by_arm, width


def timed(provider: Provider | DeferredProvider) -> Provider | DeferredProvider:
    """The provider, with its live calls timed; one that gathers requests makes none."""
    if isinstance(provider, DeferredProvider):
        return provider
    watched: Provider = TimedProvider(provider)
    return watched
