"""Fetching one page within limits of size, time, redirects, type and address.

http and https only. No cookies, no credentials, no proxies of the environment, no scripts. The
bytes come back unpacked; what they say is the business of `deepfact.retrievers.web.pages`.
"""

from __future__ import annotations

import re
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpcore2

from deepfact.errors import MissingExtraError
from deepfact.retrievers.web.addresses import (
    AddressRefused,
    CheckedBackend,
    OutOfTime,
    networks,
    resolve,
)
from deepfact.retrievers.web.records import FetchLimits
from deepfact.retrievers.web.urls import clean_url, plain_url
from deepfact.store.secrets import scrub
from deepfact.version import VERSION

AGENT = f"deepfact/{VERSION} (reads pages that a claim is checked against)"
ROBOTS_NAME = "deepfact"
_ROBOTS_BYTES = 512 * 1024
_PASSING = frozenset((408, 425, 429, 500, 502, 503, 504))
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_HOST = re.compile(r"[a-z0-9_.:-]+")


class FetchFailed(Exception):
    """A page was not read.

    Args:
        reason: one word.
        detail: what was seen; never a secret.
        passing: it may be otherwise later.
    """

    def __init__(self, reason: str, detail: str, *, passing: bool = False) -> None:
        self.reason, self.detail, self.passing = reason, scrub(detail), passing
        super().__init__(f"{reason}: {self.detail}")


@dataclass(frozen=True)
class Fetched:
    """A page as it was sent, unpacked."""

    url: str
    """The address that answered, as it may be stored."""
    redirects: tuple[str, ...]
    """The addresses before it."""
    content_type: str
    charset: str
    """As the server says it; empty when it says nothing."""
    body: bytes


@dataclass(frozen=True)
class _Reply:
    status: int
    headers: dict[str, str]
    body: bytes


class Fetcher:
    """Fetches pages. May be used from several threads.

    Args:
        limits: what it may do.
        resolver: finds the addresses of a host and checks them.
    """

    def __init__(
        self, limits: FetchLimits, *, resolver: Callable[..., list[str]] = resolve
    ) -> None:
        self.limits, self._resolver = limits, resolver
        self._allowed = networks(limits.allow_addresses)
        self._robots: dict[str, Any] = {}
        self._lock = Lock()

    def fetch(self, url: str) -> Fetched:
        """The page at an address.

        Raises:
            FetchFailed: it cannot or may not be read.
        """
        deadline = time.monotonic() + self.limits.seconds
        seen: list[str] = []
        with self._pool(deadline) as pool:
            while True:
                address = _checked(url)
                if self.limits.robots:
                    self._ask_robots(pool, address)
                reply = self._get(pool, address, self.limits.max_bytes, self.limits.types)
                if reply.status not in _REDIRECTS:
                    break
                seen.append(clean_url(address))
                if len(seen) > self.limits.redirects:
                    raise FetchFailed("redirects", f"more than {self.limits.redirects}")
                if not reply.headers.get("location"):
                    raise FetchFailed("redirects", "one without an address to go to")
                url = _joined(address, reply.headers["location"])
        if reply.status != 200:
            passing = reply.status in _PASSING
            raise FetchFailed("status", f"HTTP {reply.status}", passing=passing)
        kind, charset = content_type(reply.headers)
        return Fetched(clean_url(address), tuple(seen), kind, charset, reply.body)

    @contextmanager
    def _pool(self, deadline: float) -> Iterator[Any]:
        """Connections for one page; errors as `FetchFailed`."""
        backend = CheckedBackend(self._allowed, deadline, self._resolver)
        try:
            with httpcore2.ConnectionPool(ssl_context=_tls(), network_backend=backend) as pool:
                yield pool
        except AddressRefused as error:
            raise FetchFailed("address", str(error)) from None
        except (OutOfTime, httpcore2.TimeoutException):
            what = f"more than {self.limits.seconds:g} seconds"
            raise FetchFailed("time", what, passing=True) from None
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            words = f"{type(error).__name__}: {error}".rstrip(": ")
            raise FetchFailed("connection", words, passing=True) from None

    def _get(self, pool: Any, url: str, limit: int, types: Iterable[str]) -> _Reply:
        """One request; the body of a reply with status 200 only, and only of these types."""
        headers = {
            "Host": urlsplit(url).netloc,
            "User-Agent": self.limits.user_agent or AGENT,
            "Accept": ", ".join(types) or "*/*",
            "Accept-Encoding": "gzip, deflate",
            "Connection": "close",
        }
        pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
        timeouts = dict.fromkeys(("connect", "read", "write", "pool"), self.limits.seconds)
        with pool.stream("GET", url, headers=pairs, extensions={"timeout": timeouts}) as reply:
            got = {
                name.decode("latin-1").lower(): value.decode("latin-1")
                for name, value in reply.headers
            }
            if reply.status != 200:
                return _Reply(reply.status, got, b"")
            kind = content_type(got)[0]
            if types and kind not in types:
                raise FetchFailed("type", f"{kind or 'no content type'!r} is not read")
            if got.get("content-length", "").isdigit() and int(got["content-length"]) > limit:
                raise FetchFailed("size", f"{got['content-length']} bytes; {limit} are read")
            body = unpacked(reply.iter_stream(), got.get("content-encoding", ""), limit)
            return _Reply(200, got, body)

    def _ask_robots(self, pool: Any, url: str) -> None:
        """Keep to robots.txt (RFC 9309): a site without one allows everything, one that cannot
        say allows nothing for now."""
        try:
            from protego import Protego
        except ImportError:
            raise MissingExtraError("reading robots.txt needs protego", extra="search") from None

        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        with self._lock:
            rules = self._robots.get(origin)
        if rules is None:
            rules = Protego.parse(self._robots_text(pool, f"{origin}/robots.txt"))
            with self._lock:
                self._robots[origin] = rules
        if not rules.can_fetch(url, ROBOTS_NAME):
            raise FetchFailed("robots", f"{origin}/robots.txt does not allow it")

    def _robots_text(self, pool: Any, url: str) -> str:
        for _ in range(self.limits.redirects + 1):
            reply = self._get(pool, _checked(url), _ROBOTS_BYTES, ())
            if reply.status not in _REDIRECTS:
                break
            url = _joined(url, reply.headers.get("location", ""))
        if reply.status >= 500 or reply.status == 429:
            raise FetchFailed("robots", f"robots.txt: HTTP {reply.status}", passing=True)
        return reply.body.decode("utf-8", errors="replace")


def _joined(url: str, location: str) -> str:
    """Where a redirect leads."""
    try:
        return urljoin(url, location)
    except ValueError:
        raise FetchFailed("address", "a redirect to what is no address") from None


def _checked(url: str) -> str:
    """An address that may be asked: http(s), with a host, without user name and password."""
    try:
        parts = urlsplit(url)
        asked = plain_url(url)
    except ValueError:  # also of a host name or a port that cannot be
        raise FetchFailed("address", "it is no address") from None
    if parts.scheme not in ("http", "https"):
        raise FetchFailed("address", f"{parts.scheme or 'no scheme'!r}: only http and https")
    if not _HOST.fullmatch(urlsplit(asked).hostname or ""):
        raise FetchFailed("address", "it names no host")
    if parts.username or parts.password:
        raise FetchFailed("address", "it holds a user name or a password")
    return asked


def unpacked(chunks: Iterable[bytes], encoding: str, limit: int) -> bytes:
    """A body as it was before it was compressed.

    Args:
        chunks: as they come.
        encoding: the header ``Content-Encoding``.
        limit: most bytes, of what comes and of what it unpacks to.

    Raises:
        FetchFailed: too large, cut off, or packed in a way that is not known.
    """
    unpack = _unpacker(encoding.strip().lower())
    out, came = bytearray(), 0
    for chunk in chunks:
        came += len(chunk)
        if came > limit:
            raise FetchFailed("size", f"more than {limit} bytes")
        out += chunk if unpack is None else unpack.some(chunk, limit + 1 - len(out))
        if len(out) > limit:
            raise FetchFailed("size", f"more than {limit} bytes once it is unpacked")
    if unpack is not None and came and not unpack.ended:
        raise FetchFailed("connection", "the page was cut off", passing=True)
    return bytes(out)


def _unpacker(encoding: str) -> _Unpacker | None:
    if encoding in ("", "identity"):
        return None
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise FetchFailed("type", f"packed as {encoding!r}, which was not asked for")
    return _Unpacker(raw_possible=encoding == "deflate")


class _Unpacker:
    """Unpacks gzip, zlib and, for ``deflate``, the raw form that some servers send; never more
    than it is asked for, however much a bomb would give."""

    def __init__(self, raw_possible: bool) -> None:
        self._inner, self._raw_possible = zlib.decompressobj(zlib.MAX_WBITS | 32), raw_possible

    @property
    def ended(self) -> bool:
        """Whether the packed stream came to its end."""
        return self._inner.eof

    def some(self, chunk: bytes, room: int) -> bytes:
        """What a chunk unpacks to, at most ``room`` bytes."""
        try:
            made = self._inner.decompress(chunk, max(1, room))
        except zlib.error as error:
            if not self._raw_possible:
                raise FetchFailed("type", f"cannot be unpacked: {error}") from None
            self._raw_possible, self._inner = False, zlib.decompressobj(-zlib.MAX_WBITS)
            return self.some(chunk, room)
        self._raw_possible = False
        return made


def content_type(headers: dict[str, str]) -> tuple[str, str]:
    """The content type and the charset that a server states, in lower case."""
    kind, _, rest = headers.get("content-type", "").partition(";")
    for part in rest.split(";"):
        name, _, value = part.partition("=")
        if name.strip().lower() == "charset":
            return kind.strip().lower(), value.strip().strip("\"'").lower()
    return kind.strip().lower(), ""


@lru_cache(maxsize=1)
def _tls() -> Any:
    """TLS that checks certificates, with the authorities of this machine."""
    import httpx2

    return httpx2.create_ssl_context()
