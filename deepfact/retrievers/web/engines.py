"""Search engines: what one is, the table of those that ship, and the HTTP that they share.

An engine is asked one query and gives addresses. Its key comes from the environment, goes into one
header, and into nothing that is kept or shown.
"""

from __future__ import annotations

import os
from typing import Any, Mapping, Protocol
from urllib.parse import urlsplit

from deepfact import plugins
from deepfact.errors import ConfigError
from deepfact.providers.base import CallFailed, ProviderRefused
from deepfact.providers.connections import check_base_url, is_loopback
from deepfact.providers.replies import json_object, message_in, status_error
from deepfact.records import FailureReason
from deepfact.retrievers.web.pages import one_line
from deepfact.retrievers.web.records import EngineSpec, Found, Hit
from deepfact.retrievers.web.urls import clean_url
from deepfact.store.secrets import MASK, scrub

GROUP = "deepfact.search_engines"

SHORTEST_KEY = 8

BUILT_IN = {
    "anthropic": "deepfact.retrievers.web.anthropic_search:AnthropicSearch",
    "brave": "deepfact.retrievers.web.brave:BraveSearch",
    "tavily": "deepfact.retrievers.web.tavily:TavilySearch",
}


class SearchEngine(Protocol):
    """Finds addresses."""

    name: str
    most_uses: int
    """Searches that one query may be billed as, at most."""
    usd_per_search: float | None
    """US dollars; None where it is unknown."""

    def settings(self) -> dict[str, Any]:
        """What decides the answer besides the query; part of the key that it is stored under."""
        ...

    def find(self, query: str, limit: int) -> Found:
        """The best results, best first.

        Raises:
            CallFailed: no answer now; ``retryable`` when another try may help.
            ProviderRefused: no query can succeed.
        """
        ...


def build_engine(spec: EngineSpec) -> SearchEngine:
    """The engine that a spec describes. Nothing is asked yet, and no key is looked for.

    Raises:
        ConfigError: unknown kind or option.
    """
    engine: SearchEngine = plugins.build(GROUP, BUILT_IN, spec.kind, spec.options)
    return engine


def engine_kinds() -> list[str]:
    """All kinds of engine that a spec can name."""
    return plugins.kinds(GROUP, BUILT_IN)


def check_server(base_url: str) -> str:
    """An engine's address without a slash at its end.

    Raises:
        ConfigError: it is none, holds a password, or would send the key in the clear.
    """
    check_base_url(base_url)
    if urlsplit(base_url).scheme != "https" and not is_loopback(base_url):
        raise ConfigError(f"base_url {base_url!r} would send the key unencrypted", fix="use https")
    return base_url.rstrip("/")


def key_of(variable: str, base_url: str) -> str:
    """The key in the environment; a stand-in for a server on this machine.

    Raises:
        ProviderRefused: there is none.
    """
    if key := os.environ.get(variable, "").strip():
        return key
    if is_loopback(base_url):
        return "none"
    raise ProviderRefused("there is no key for the search engine", fix=f"set {variable}")


def ask(
    method: str,
    url: str,
    *,
    engine: str,
    headers: Mapping[str, str],
    timeout: float,
    params: Mapping[str, str] | None = None,
    body: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The JSON object that an engine answers with: one attempt.

    Raises:
        CallFailed: no answer, or one that cannot be read.
        ProviderRefused: no query can succeed (a wrong key, no credit).
    """
    import httpx2

    try:
        # Not trust_env: a proxy or a .netrc of the environment is nobody's choice here.
        with httpx2.Client(timeout=timeout, follow_redirects=False, trust_env=False) as client:
            reply = client.request(method, url, headers=dict(headers), params=params, json=body)
    except httpx2.TimeoutException:
        raise CallFailed(
            FailureReason.TIMEOUT, "the engine did not answer", retryable=True
        ) from None
    except httpx2.HTTPError as error:
        words = scrub(f"no connection: {type(error).__name__}: {error}")
        raise CallFailed(FailureReason.ERROR, words, retryable=True) from None
    if reply.status_code != 200:
        try:
            said = message_in(reply.json(), reply.text)
        except ValueError:
            said = reply.text
        for value in headers.values():  # a key from a variable whose name nobody knows is one, too
            word = value.rpartition(" ")[2]
            said = said.replace(word, MASK) if len(word) >= SHORTEST_KEY else said
        raise status_error(reply.status_code, reply.headers, said, model=engine, where=url)
    return json_object(reply.content)


def hit(url: Any, title: Any, snippets: Any = (), published: Any = "") -> Hit | None:
    """A result as it may be stored; None when it names no web page."""
    if not isinstance(url, str) or urlsplit(url).scheme not in ("http", "https"):
        return None
    try:
        address = clean_url(url)
    except ValueError:
        return None
    words = [one_line(one) for one in snippets if isinstance(one, str)]
    return Hit(
        url=address,
        title=one_line(title) if isinstance(title, str) else "",
        snippets=tuple(one for one in words if one),
        published=published if isinstance(published, str) else "",
    )


def distinct(hits: list[Hit | None], limit: int) -> tuple[Hit, ...]:
    """The results that name a page, each page once, at most so many."""
    by_url: dict[str, Hit] = {}
    for one in hits:
        if one is not None:
            by_url.setdefault(one.url, one)
    return tuple(by_url.values())[:limit]


def listed(reply: Mapping[str, Any], *path: str) -> list[Mapping[str, Any]]:
    """A list of objects somewhere in a reply; empty when the engine left it out.

    Raises:
        CallFailed: something else is there.
    """
    value: Any = reply
    for name in path:
        value = value.get(name, {} if name != path[-1] else []) if isinstance(value, dict) else None
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        what = f"the reply has no list {'.'.join(path)}"
        raise CallFailed(FailureReason.UNREADABLE, what, retryable=True)
    return value


def shortened(query: str, characters: int, words: int = 10_000) -> str:
    """A query within an engine's limits, cut between words."""
    kept = query.split()[:words]
    while kept and len(" ".join(kept)) > characters:
        kept.pop()
    return " ".join(kept) or query[:characters].strip()
