"""Which network addresses may be read, checked where it counts: on the connection itself.

A name is resolved once, every address that it has is checked, and the connection is made to one of
the addresses that were checked; a name that resolves otherwise a moment later (DNS rebinding)
changes nothing. Proxies of the environment are not used, since behind one nobody knows what was
connected to.
"""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import httpcore2

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_REFUSED = tuple(
    map(
        ipaddress.ip_network,
        (
            "168.63.129.16/32",
            "192.0.0.0/24",
            "100.64.0.0/10",
            "fd00:ec2::254/128",
            "64:ff9b:1::/48",
        ),
    )
)
"""What some versions of Python call global: addresses at which clouds serve credentials (the usual
169.254.169.254 is link-local), protocol assignments, shared and translated address space."""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class AddressRefused(Exception):
    """A host has an address that may not be read."""


class OutOfTime(Exception):
    """The time for a page is over."""


def is_public(address: Address) -> bool:
    """Whether an address is one of the public internet: not private, loopback, link-local, shared,
    reserved, multicast, or a cloud's metadata service; nor an IPv6 form of such a one."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
        if address.teredo is not None:
            return False
    if any(address in network for network in _REFUSED):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def networks(names: Iterable[str]) -> tuple[Network, ...]:
    """The networks that a config allows in writing."""
    return tuple(ipaddress.ip_network(name, strict=False) for name in names)


def check_address(address: str, allowed: Sequence[Network]) -> None:
    """Refuse an address that is neither public nor allowed.

    Raises:
        AddressRefused: it is not.
    """
    parsed = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(parsed, "ipv4_mapped", None)
    forms = [parsed, *([mapped] if mapped else [])]
    if any(form in network for form in forms for network in allowed):
        return
    if not is_public(parsed):
        raise AddressRefused(f"{address} is not an address of the public internet")


def resolve(host: str, port: int, allowed: Sequence[Network]) -> list[str]:
    """The addresses of a host, every one of which may be read.

    Raises:
        AddressRefused: one of them may not.
        OSError: the name cannot be resolved.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    for address in addresses:
        check_address(address, allowed)
    return addresses


class CheckedBackend(httpcore2.NetworkBackend):
    """Connects to checked addresses only, and to nobody once the time is over.

    Args:
        allowed: networks that may be read although they are not public.
        deadline: a `time.monotonic` time.
        resolver: as `resolve`.
    """

    def __init__(
        self,
        allowed: Sequence[Network],
        deadline: float,
        resolver: Callable[[str, int, Sequence[Network]], list[str]] = resolve,
    ) -> None:
        self._inner = httpcore2.SyncBackend()
        self._allowed, self._deadline, self._resolve = allowed, deadline, resolver

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> Any:
        """Connect to the first address of a host that answers."""
        try:
            addresses = self._resolve(host, port, self._allowed)
        except OSError as error:
            raise httpcore2.ConnectError(f"{host}: {error.strerror or error}") from None
        problem: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in addresses:
            left = left_of(self._deadline, timeout)
            try:
                stream = self._inner.connect_tcp(address, port, left, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                problem = error
                continue
            peer = str(stream.get_extra_info("server_addr")[0])
            try:
                check_address(peer, self._allowed)  # what was connected to, whatever was asked for
            except AddressRefused:
                stream.close()
                raise
            return _Timed(stream, self._deadline)
        raise problem

    def connect_unix_socket(self, *_: Any, **__: Any) -> Any:
        """Never."""
        raise AddressRefused("a socket of this machine")


class _Timed:
    """A connection on which every wait ends with the time for the page, however slowly a server
    feeds its bytes."""

    def __init__(self, inner: Any, deadline: float) -> None:
        self._inner, self._deadline = inner, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return bytes(self._inner.read(max_bytes, left_of(self._deadline, timeout)))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, left_of(self._deadline, timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> _Timed:
        left = left_of(self._deadline, timeout)
        return _Timed(self._inner.start_tls(ssl_context, server_hostname, left), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def left_of(deadline: float, timeout: float | None) -> float:
    """Seconds until a deadline, at most ``timeout``.

    Raises:
        OutOfTime: it is past.
    """
    left = deadline - time.monotonic()
    if left <= 0:
        raise OutOfTime
    return left if timeout is None else min(left, timeout)
