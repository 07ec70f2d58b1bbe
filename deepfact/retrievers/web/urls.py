"""Addresses as they may be stored and shown: without fragments, and without secrets."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from deepfact.store.secrets import scrub

_SECRET = re.compile(
    r"(^|[^a-z])(api[-_]?key|key|token|secret|pass(word|wd)?|pwd|sig(nature)?|auth(orization)?|"
    r"credential|session(id)?|sid|jwt|access[-_]?key(id)?|policy|x-(amz|goog|ms)-.*|code)($|[^a-z])",
    re.IGNORECASE,
)
"""Names of query parameters that carry what should be nobody's business but the sender's."""


def clean_url(url: str) -> str:
    """An address without fragment, user name, password, and parameters that look like secrets.

    It may lead elsewhere than the one given, or nowhere: a page behind a secret is not one that a
    verdict can be checked against later.
    """
    parts = urlsplit(url.strip())
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    kept = [(name, value) for name, value in pairs if not _SECRET.search(name)]
    query = parts.query if len(kept) == len(pairs) else urlencode(kept)
    return scrub(plain_url(parts._replace(query=query).geturl()))


def plain_url(url: str) -> str:
    """An address in ASCII, as a request needs it, without fragment, user name and password.

    Raises:
        ValueError: it is no address.
    """
    parts = urlsplit(url.strip())
    host = (parts.hostname or "").encode("idna").decode("ascii")
    host = f"[{host}]" if ":" in host else host
    place = f"{host}:{parts.port}" if parts.port else host
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = quote(parts.query, safe="=&%:@!$'()*+,;/?~-._[]")
    return urlunsplit((parts.scheme.lower(), place, path, query, ""))


def domain_of(url: str) -> str:
    """The host name of an address, in lower case."""
    return (urlsplit(url).hostname or "").lower()
