"""Shared fixtures. Tests never reach beyond loopback: a socket to anywhere else raises."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

_connect = socket.socket.connect


def _loopback_only(self: socket.socket, address: object) -> None:
    """Refuse every connection that leaves this machine."""
    if self.family in (socket.AF_INET, socket.AF_INET6):
        host = str(address[0]) if isinstance(address, tuple) else str(address)
        if host not in ("127.0.0.1", "::1", "localhost"):
            raise RuntimeError(f"a test tried to reach {host}")
    _connect(self, address)


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "connect", _loopback_only)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of public data sets, named by DEEPFACT_DATA."""
    folder = os.environ.get("DEEPFACT_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("DEEPFACT_DATA does not name the folder of public data sets")
    return Path(folder)
