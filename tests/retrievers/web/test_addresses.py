"""Addresses: only the public internet, in whatever form, checked on the connection itself."""

from __future__ import annotations

import ipaddress
import socket
import time

import httpcore2
import pytest

from deepfact.retrievers.web.addresses import (
    AddressRefused,
    CheckedBackend,
    OutOfTime,
    check_address,
    is_public,
    left_of,
    networks,
    resolve,
)
from deepfact.retrievers.web.fetch import FetchFailed

REFUSED = [
    "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1",
    "169.254.169.254", "100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192",
    "198.18.0.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
    "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
    "2002:7f00:1::", "2002:a00:1::1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:db8::1",
]  # fmt: skip


@pytest.mark.parametrize("address", REFUSED)
def test_what_is_not_public_is_refused(address: str) -> None:
    with pytest.raises(AddressRefused):
        check_address(address, ())


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_what_is_public_is_not(address: str) -> None:
    check_address(address, ())
    assert is_public(ipaddress.ip_address(address))


def test_an_address_can_be_allowed_in_writing_alone() -> None:
    allowed = networks(["10.1.0.0/16", "::1"])
    check_address("10.1.2.3", allowed)
    check_address("::1", allowed)
    check_address("::ffff:10.1.2.3", allowed)
    for address in ("10.2.0.1", "127.0.0.1", "169.254.169.254"):
        with pytest.raises(AddressRefused):
            check_address(address, allowed)


def answers(*addresses: str):
    """A resolver of the system that gives these."""

    def getaddrinfo(host: str, port: int, **_: object) -> list:
        family = socket.AF_INET
        return [(family, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    return getaddrinfo


def test_one_bad_address_of_a_name_is_enough(monkeypatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", answers("8.8.8.8", "10.0.0.1"))
    with pytest.raises(AddressRefused, match=r"10\.0\.0\.1"):
        resolve("both.example", 80, ())
    monkeypatch.setattr(socket, "getaddrinfo", answers("8.8.8.8", "8.8.8.8"))
    assert resolve("one.example", 80, ()) == ["8.8.8.8"]


def test_a_name_is_resolved_once_and_the_checked_address_is_the_one_asked(monkeypatch) -> None:
    """DNS rebinding: the second answer would lead inside; nobody asks for one."""
    calls: list[str] = []
    given = iter([["8.8.8.8"], ["127.0.0.1"]])

    def getaddrinfo(host: str, port: int, **_: object) -> list:
        calls.append(host)
        return answers(*next(given))(host, port)

    connected: list[str] = []

    class Inner:
        def connect_tcp(self, host: str, *_: object) -> object:
            connected.append(host)
            raise httpcore2.ConnectError("no network in a test")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    backend = CheckedBackend((), time.monotonic() + 5)
    backend._inner = Inner()
    with pytest.raises(httpcore2.ConnectError):
        backend.connect_tcp("rebinding.example", 80)
    assert calls == ["rebinding.example"] and connected == ["8.8.8.8"]


def test_the_peer_is_checked_whatever_was_asked_for() -> None:
    """A route or a redirecting firewall may lead elsewhere than to the address that was asked."""
    closed: list[bool] = []

    class Stream:
        def get_extra_info(self, _: str) -> tuple[str, int]:
            return ("10.0.0.7", 80)

        def close(self) -> None:
            closed.append(True)

    class Inner:
        def connect_tcp(self, *_: object) -> Stream:
            return Stream()

    backend = CheckedBackend((), time.monotonic() + 5, lambda *_: ["8.8.8.8"])
    backend._inner = Inner()
    with pytest.raises(AddressRefused, match=r"10\.0\.0\.7"):
        backend.connect_tcp("odd.example", 80)
    assert closed == [True]


def test_certificates_are_checked_for_the_name_not_for_the_address(monkeypatch, fetcher) -> None:
    asked: list[str | None] = []

    class Stream:
        def get_extra_info(self, _: str) -> tuple[str, int]:
            return ("127.0.0.1", 443)

        def start_tls(self, context: object, server_hostname: str | None, timeout: object) -> None:
            assert context.check_hostname and context.verify_mode.name == "CERT_REQUIRED"
            asked.append(server_hostname)
            raise httpcore2.ConnectError("enough")

        def close(self) -> None:
            pass

    class Inner:
        def connect_tcp(self, host: str, *_: object) -> Stream:
            assert host == "127.0.0.1"
            return Stream()

    monkeypatch.setattr(httpcore2, "SyncBackend", Inner)
    with pytest.raises(FetchFailed, match="enough"):
        fetcher({"site.example": "127.0.0.1"}).fetch("https://site.example/x")
    assert asked == ["site.example"]


def test_time_and_names_that_do_not_resolve(monkeypatch) -> None:
    with pytest.raises(OutOfTime):
        left_of(time.monotonic() - 1, 5)
    assert left_of(time.monotonic() + 10, 2) == 2

    def fails(*_: object, **__: object) -> list:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fails)
    with pytest.raises(httpcore2.ConnectError, match="not known"):
        CheckedBackend((), time.monotonic() + 5).connect_tcp("nowhere.example", 80)
    with pytest.raises(AddressRefused):
        CheckedBackend((), time.monotonic() + 5).connect_unix_socket("/run/x")
