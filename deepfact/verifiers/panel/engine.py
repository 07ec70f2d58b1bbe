"""The engine of a panel's own, for when nobody gives it one. Opened at the first question."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping

from deepfact.errors import ConfigError
from deepfact.executors.budget import Budget
from deepfact.executors.limits import Limits
from deepfact.executors.pricing import Price

if TYPE_CHECKING:
    from deepfact.executors.engine import Engine
    from deepfact.store.responses import ResponseStore


@dataclass
class OwnEngine:
    """What an engine is made of, and the engine once it is open."""

    provider: Mapping[str, Any]
    """``kind`` and ``options``."""
    responses: str
    """File of the response store."""
    limits: Limits | None = None
    budget: Budget | None = None
    prices: Mapping[str, Price] | None = None
    replay: bool = False
    _engine: Engine | None = field(default=None, init=False)
    _store: ResponseStore | None = field(default=None, init=False)

    def open(self) -> Engine:
        """The engine; made on the first call, in whose event loop it is used.

        Raises:
            ConfigError: no provider or no response store is named, or the provider's options
                do not fit.
        """
        if self._engine is None:
            from deepfact.executors.engine import Engine
            from deepfact.providers.registry import ProviderSpec, build_provider
            from deepfact.store.responses import ResponseStore

            if not self.provider.get("kind"):
                raise ConfigError(
                    "a panel needs a provider", fix="such as provider: {kind: anthropic}"
                )
            if not self.responses:
                raise ConfigError(
                    "a panel needs a response store", fix="responses: results/responses.sqlite"
                )
            unknown = set(self.provider) - {"kind", "options"}
            if unknown:
                raise ConfigError(
                    f"provider: unknown key {sorted(unknown)[0]!r}", fix="known: kind, options"
                )
            provider = build_provider(ProviderSpec.model_validate(dict(self.provider)))
            self._store = ResponseStore(Path(self.responses))
            self._engine = Engine(
                provider,
                self._store,
                self.limits,
                self.budget,
                replay=self.replay,
                prices=self.prices,
            )
        return self._engine

    async def aclose(self) -> None:
        """Close what was opened; may be called twice."""
        if self._engine is not None:
            await self._engine.aclose()
        if self._store is not None:
            self._store.close()
        self._engine = self._store = None
