"""Whether two model ids name the same model, however a gateway, a cloud or an alias writes it.

Pure, and on the safe side: a date, a routing suffix or a prefix does not make another model, so
that nobody gets past the rule on judging one's own challenges by another way of writing. What
cannot be seen in a name (a deployment or an alias that somebody chose) is not seen here.
"""

from __future__ import annotations

import re

_CLOUD = re.compile(
    r"^(?:[a-z]{2,6}\.)?"
    r"(?:ai21|amazon|anthropic|cohere|deepseek|google|meta|microsoft|mistral|mistralai|openai|qwen"
    r"|xai)\."
)
"""Prefixes of a cloud's catalogue, such as ``us.anthropic.``."""

_ROUTE = re.compile(r":(?:beta|exacto|extended|floor|free|nitro|online|thinking)$")
"""What a gateway hangs on a model to say how it is to be served."""

_REVISION = re.compile(r"-v\d+:\d+$")
"""A catalogue's own revision, such as ``-v1:0``."""

_DATE = re.compile(r"-(?:(?:19|20)\d{2}-?\d{2}-?\d{2}|latest)$")
"""A snapshot of a model, or its newest one."""


def model_identity(name: str) -> str:
    """What is left of a model id once the ways of writing it are taken off.

    ``anthropic/claude-sonnet-4.5``, ``us.anthropic.claude-sonnet-4-5-20250929-v1:0`` and
    ``claude-sonnet-4-5@20250929`` are one.
    """
    text = name.strip().casefold().replace("\\", "/").rstrip("/").rpartition("/")[2]
    text = _CLOUD.sub("", text)
    text = _ROUTE.sub("", text)
    text = _REVISION.sub("", text).removesuffix(".gguf")
    text = re.sub(r"[._@\s]+", "-", text)
    return _DATE.sub("", text)


def same_model(one: str, other: str) -> bool:
    """Whether two ids name one model. An empty id names none."""
    identity = model_identity(one)
    return bool(identity) and identity == model_identity(other)
