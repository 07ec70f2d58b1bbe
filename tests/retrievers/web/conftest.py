"""Shared by the tests of web search: what may be fetched here, and names that lead here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from deepfact.retrievers.web.addresses import check_address
from deepfact.retrievers.web.fetch import Fetcher
from deepfact.retrievers.web.records import FetchLimits

LOOPBACK = ("127.0.0.1",)


@pytest.fixture
def fetcher() -> Callable[..., Fetcher]:
    """Makes fetchers that may read from this machine. ``names`` says where host names lead."""

    def make(names: dict[str, str] | None = None, **limits: Any) -> Fetcher:
        given = {"allow_addresses": LOOPBACK, "robots": False, "seconds": 10.0, **limits}

        def resolver(host: str, port: int, allowed: Any) -> list[str]:
            address = (names or {}).get(host, host)
            check_address(address, allowed)
            return [address]

        return Fetcher(FetchLimits(**given), resolver=resolver)

    return make
