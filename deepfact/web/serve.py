"""Starts the audit page's server: where it listens, over what, and under which names.

Loopback unless told otherwise; anywhere else only over TLS, or when the person says in so many
words that plain HTTP will do. The server's own access log is off, since a sign-in address holds
a secret; what is refused or kept is logged by `deepfact.web`.
"""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import uvicorn

from deepfact.errors import InputError
from deepfact.web.app import build_app

LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Place:
    """Where the server listens."""

    host: str = "127.0.0.1"
    port: int = 8765
    """0 takes any free one."""
    name: str = ""
    """The name under which auditors reach it, when that is not ``host``."""
    cert: Path | None = None
    key: Path | None = None
    insecure: bool = False
    """Serve others than this machine without TLS."""

    @property
    def secure(self) -> bool:
        """Whether it is served over TLS."""
        return self.cert is not None


def check_place(place: Place) -> None:
    """Refuse what would put secrets on the network in the clear.

    Raises:
        InputError: beyond loopback without TLS or the word for it, or half a certificate.
    """
    if (place.cert is None) != (place.key is None):
        raise InputError(
            "a certificate and its key go together", fix="give both --tls-cert and --tls-key"
        )
    for path in (place.cert, place.key):
        if path is not None and not path.is_file():
            raise InputError("no such file", where=str(path))
    if place.secure:
        try:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(str(place.cert), str(place.key))
        except (OSError, ValueError) as error:
            raise InputError(
                f"certificate and key cannot be used: {error}", where=str(place.cert),
                fix="both in PEM, the key without a password",
            ) from None  # fmt: skip
    if not (is_loopback(place.host) or place.secure or place.insecure):
        raise InputError(
            "beyond this machine, links and decisions would go over the network in the clear",
            where=f"--host {place.host}",
            fix="give --tls-cert and --tls-key, or say --insecure when something else protects it",
        )


def is_loopback(host: str) -> bool:
    """Whether an address or name is this machine's own and no other's."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def listen(place: Place) -> socket.socket:
    """The socket to serve on.

    Raises:
        InputError: the address is not this machine's, or the port is in use.
    """
    host = place.host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, place.port))
        sock.listen(128)  # who comes before the server is up waits, and is not turned away
    except (OSError, OverflowError) as error:
        sock.close()
        raise InputError(
            f"cannot listen here: {getattr(error, 'strerror', None) or error}",
            where=f"{place.host}, port {place.port}",
            fix="give another --port (0 takes any free one) or --host",
        ) from None
    return sock


def address(place: Place, port: int) -> str:
    """The address that auditors open, without a path."""
    host = place.name or place.host
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared with, not bound to
        host = socket.gethostname()
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    return f"{'https' if place.secure else 'http'}://{host}:{port}"


def link(place: Place, port: int, secret: str) -> str:
    """An auditor's sign-in link."""
    return f"{address(place, port)}/enter/{quote(secret)}"


def hosts_of(place: Place, port: int) -> list[str]:
    """The names that a browser may call the server by."""
    names = [address(place, port).partition("://")[2].rpartition(":")[0], place.host]
    if is_loopback(place.host):
        names += LOCAL_NAMES
    return [name.lower() for name in names]


def serve(folder: Path, place: Place, sock: socket.socket, *, root: Path | None = None) -> None:
    """Serve a run's audit page until interrupted.

    Args:
        folder: the run's.
        place: as checked by `check_place`.
        sock: from `listen`.
        root: folder that holds benchmarks.

    Raises:
        InputError: no run or benchmark there, or nobody audits it in person.
    """
    port = sock.getsockname()[1]
    app = build_app(folder, hosts=hosts_of(place, port), root=root, secure=place.secure)
    with contextlib.suppress(KeyboardInterrupt):  # how it is stopped
        uvicorn.Server(_config(place, app)).run(sockets=[sock])


def _config(place: Place, app: object) -> uvicorn.Config:
    tls: Mapping[str, str] = {}
    if place.secure:
        tls = {"ssl_certfile": str(place.cert), "ssl_keyfile": str(place.key)}
    logging.getLogger("deepfact.web").setLevel(logging.INFO)
    return uvicorn.Config(
        app,  # type: ignore[arg-type]  # any ASGI app; uvicorn's own type is narrower
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=5,
        **tls,  # type: ignore[arg-type]  # only the two names above
    )
