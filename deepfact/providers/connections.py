"""What the providers that use an official SDK share: its client, its errors, its transport.

The SDKs are imported when the first call is made: importing one takes a second or more. One
client serves a whole run. The SDK's own retries are off, since the engine retries within its
limits and budget. No retry, pricing or storing here.
"""

from __future__ import annotations

import ipaddress
import os
from typing import Any
from urllib.parse import urlsplit

from deepfact.errors import ConfigError, DeepFactError
from deepfact.providers.base import CallFailed, ProviderRefused
from deepfact.providers.replies import message_in, status_error
from deepfact.records import FailureReason
from deepfact.store.secrets import scrub


def http_client(sdk: Any, max_connections: int, timeout: float) -> Any:
    """An HTTP client for an SDK: over aiohttp, which costs least per call, when installed.

    Args:
        sdk: the SDK's module.
        max_connections: most connections at once.
        timeout: seconds for one call.
    """
    import httpx2

    limits = httpx2.Limits(
        max_connections=max_connections, max_keepalive_connections=max_connections
    )
    wait = httpx2.Timeout(timeout, connect=min(timeout, 30.0))
    try:
        return sdk.DefaultAioHttpClient(limits=limits, timeout=wait)
    except RuntimeError:  # aiohttp is not installed
        return sdk.DefaultAsyncHttpxClient(limits=limits, timeout=wait)


def api_key(variable: str, base_url: str) -> str | None:
    """The key to send: that in the environment, or a stand-in for a server on this machine.

    None leaves it to the SDK, which has further sources (profiles, tokens).
    """
    if key := os.environ.get(variable):
        return key
    return "none" if is_loopback(base_url) else None


def is_loopback(url: str) -> bool:
    """Whether a URL points to this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_base_url(base_url: str) -> None:
    """Refuse an address that cannot work, or that has a secret in it.

    Raises:
        ConfigError: it is no http(s) URL, or it holds a user name or password.
    """
    parts = urlsplit(base_url)
    if base_url and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise ConfigError(
            f"base_url {scrub(base_url)!r} is not an address",
            fix="write it in full, such as http://127.0.0.1:8080",
        )
    if parts.username or parts.password:
        raise ConfigError(
            "base_url holds a user name or password",
            fix="keep secrets in the environment, not in a config",
        )


def translated(
    sdk: Any, error: Exception, *, model: str, where: str, key_variable: str
) -> DeepFactError:
    """An SDK's exception as ours, without any key in it."""
    if isinstance(error, sdk.APIStatusError):
        words = message_in(error.body, error.message)
        return status_error(
            error.status_code, error.response.headers, words, model=model, where=where
        )
    if isinstance(error, sdk.APIConnectionError):
        # Over aiohttp an SDK may call a dropped connection a timeout; what lies at the bottom of
        # the exception's causes knows better.
        chain = _causes(error)
        root = chain[-1]
        over_aiohttp = type(root).__module__.startswith("aiohttp")
        if any(isinstance(one, TimeoutError) for one in chain) or (
            isinstance(error, sdk.APITimeoutError) and not over_aiohttp
        ):
            return CallFailed(FailureReason.TIMEOUT, "the provider did not answer", retryable=True)
        detail = scrub(f"no connection: {type(root).__name__}: {root}")
        return CallFailed(FailureReason.ERROR, detail, retryable=True)
    words = f"{type(error).__name__} {error}".lower()
    if any(word in words for word in ("auth", "credential", "api_key")):
        return ProviderRefused(
            "no API key for the provider", fix=f"set {key_variable} in the environment"
        )
    return CallFailed(FailureReason.ERROR, scrub(f"{type(error).__name__}: {error}"))


def _causes(error: BaseException) -> list[BaseException]:
    """An exception and what caused it, down to the first cause."""
    chain = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None:
        chain.append(cause)
    return chain
