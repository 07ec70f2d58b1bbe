"""The table of providers that ship, and how a spec becomes one. No provider is loaded here."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from deepfact import plugins
from deepfact.providers.base import DeferredProvider, Provider
from deepfact.records import Record

GROUP = "deepfact.providers"

BUILT_IN = {
    "anthropic": "deepfact.providers.anthropic:AnthropicProvider",
    "batch-files": "deepfact.providers.batch_files:BatchFilesProvider",
    "batches": "deepfact.providers.batches:BatchesProvider",
    "openai": "deepfact.providers.openai:OpenAIProvider",
    "scripted": "deepfact.providers.scripted:ScriptedProvider",
}


class ProviderSpec(Record):
    """Which provider, with which options: ``{kind: anthropic, options: {base_url: ...}}``."""

    kind: str = Field(min_length=1)
    options: dict[str, Any] = {}


def build_provider(spec: ProviderSpec) -> Provider | DeferredProvider:
    """The provider that a spec describes. Nothing is connected or imported beyond its module.

    Raises:
        ConfigError: unknown kind or option.
    """
    provider: Provider | DeferredProvider = plugins.build(GROUP, BUILT_IN, spec.kind, spec.options)
    return provider


def provider_kinds() -> list[str]:
    """All kinds of provider that a spec can name."""
    return plugins.kinds(GROUP, BUILT_IN)
