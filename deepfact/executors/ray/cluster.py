"""The cluster: connecting to one or starting one, and whether it has room for the workers."""

from __future__ import annotations

import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deepfact.errors import ConfigError, InputError, MissingExtraError

STORE_BYTES = 256 * 1024 * 1024
"""Room for texts in the object store of a cluster of our own; beyond it they go to disk."""


def need_ray() -> None:
    """Refuse early when the extra is not installed.

    Raises:
        MissingExtraError: it is not.
    """
    try:
        import ray  # noqa: F401
    except ImportError:
        raise MissingExtraError("the ray executor needs Ray", extra="ray") from None


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Within it Ray is connected: to the cluster at an address, to the one that this process is
    connected to already, or to one of its own on this machine, which ends with it.

    Raises:
        InputError: there is no cluster.
        ConfigError: an address through which the response store cannot be shared.
    """
    import ray

    if address.startswith("ray://"):
        raise ConfigError(
            "a Ray client cannot keep the response store",
            where=f"--address {address}",
            fix="run deepfact on a machine of the cluster, with --address auto",
        )
    if ray.is_initialized():
        yield
        return
    _answers(address)
    # Sockets lie in this folder, and their paths may have about a hundred characters.
    base = "/tmp" if Path("/tmp").is_dir() else None  # noqa: S108
    folder = tempfile.mkdtemp(prefix="deepfact-", dir=base) if not address else ""
    # One of our own is for this machine alone: it listens on loopback.
    own: dict[str, Any] = {
        "_temp_dir": folder,
        "_node_ip_address": "127.0.0.1",
        "include_dashboard": False,
        "object_store_memory": STORE_BYTES,
    }
    try:
        try:
            ray.init(
                address=address or "local",
                log_to_driver=False,
                configure_logging=False,
                **(own if not address else {}),
            )
        except (ConnectionError, ValueError, RuntimeError, OSError) as error:
            where = f"--address {address}" if address else "a cluster on this machine"
            said = str(error).strip().splitlines() or [type(error).__name__]
            raise InputError(
                f"no Ray cluster could be used: {said[0]}",
                where=where,
                fix="start one with `ray start --head`, or leave --address out",
            ) from None
        yield
    finally:
        ray.shutdown()
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def _answers(address: str) -> None:
    """Refuse at once an address where nobody listens: Ray itself would try for minutes.

    Raises:
        InputError: nobody does.
    """
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit():
        return  # ``auto``, or a name that Ray resolves
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=5.0).close()
    except (OSError, OverflowError) as error:
        raise InputError(
            f"no Ray cluster answers: {error}",
            where=f"--address {address}",
            fix="start one with `ray start --head`, or leave --address out",
        ) from None


def fitting(workers: int, num_cpus: float, num_gpus: float) -> int:
    """How many workers there are to be: as many as asked for, or as fit when 0.

    Raises:
        ConfigError: they do not fit into the cluster, even when it is empty.
    """
    import ray

    has: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    cpus, gpus = has.get("CPU", 0.0), has.get("GPU", 0.0)
    room = [int(cpus / num_cpus)] if num_cpus else []
    room += [int(gpus / num_gpus)] if num_gpus else []
    fit = min(room) if room else max(workers, 1)
    if fit < max(workers, 1):
        raise ConfigError(
            f"{max(workers, 1)} workers of {num_cpus:g} CPUs and {num_gpus:g} GPUs do not fit: "
            f"the cluster has {cpus:g} CPUs and {gpus:g} GPUs",
            fix="give workers, num_cpus or num_gpus otherwise with --executor-option",
        )
    return workers or fit
