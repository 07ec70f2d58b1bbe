"""Is this installation fit for work? Each question is one check with an answer and, where it is
not well, what to do.

Nothing is changed beyond a trial file that is removed again, no key is read further than whether
it is there, and no connection is made unless an address is given.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from enum import StrEnum
from importlib import metadata
from pathlib import Path

from deepfact.errors import DeepFactError
from deepfact.records import Record
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.locate import find_benchmarks
from deepfact.store.secrets import scrub
from deepfact.version import VERSION

KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "BRAVE_SEARCH_API_KEY", "TAVILY_API_KEY")
"""Environment variables that hold keys. None is needed for what runs without a model."""

LITTLE_SPACE = 1_000_000_000
"""Bytes free below which a long run may fail."""


class Health(StrEnum):
    """How a check came out. Only ``bad`` makes `deepfact doctor` fail."""

    GOOD = "good"
    NOTE = "note"
    BAD = "bad"


class Finding(Record):
    """What one check found."""

    check: str
    health: Health
    found: str
    fix: str = ""
    """What to do, for a person; empty when there is nothing to do."""


def examine(
    folder: Path, *, benchmarks: Path | None = None, connect: tuple[str, ...] = ()
) -> Iterator[Finding]:
    """Every check, in the order in which one would ask.

    Args:
        folder: where runs are to be made.
        benchmarks: the folder that holds benchmarks; the usual places when left out.
        connect: addresses to reach, such as a provider's ``base_url``. None, none is reached.
    """
    yield from _versions()
    yield from _extras()
    yield from _keys()
    yield from _places(folder)
    yield _clock(folder)
    yield from _shipped(benchmarks)
    for address in connect:
        yield _reached(address)


# --- the installation --------------------------------------------------------------------


def _versions() -> Iterator[Finding]:
    python = f"Python {platform.python_version()} ({platform.system()} {platform.machine()})"
    encoding = f"arguments and file names are {sys.getfilesystemencoding()}"
    words = f"deepfact {VERSION}, {python}, SQLite {sqlite3.sqlite_version}; {encoding}"
    yield Finding(check="versions", health=Health.GOOD, found=words)
    wanted = _requirements()
    absent = [name for name in wanted.get("", ()) if _version(name) is None]
    if absent:
        yield Finding(
            check="dependencies",
            health=Health.BAD,
            found=f"not installed: {', '.join(absent)}",
            fix="pip install --upgrade deepfact",
        )
    else:
        here = ", ".join(f"{name} {_version(name)}" for name in wanted.get("", ()))
        yield Finding(check="dependencies", health=Health.GOOD, found=here)


def _extras() -> Iterator[Finding]:
    for extra, names in sorted(_requirements().items()):
        if extra in ("", "dev"):
            continue
        absent = [name for name in names if _version(name) is None]
        yield Finding(
            check=f"extra {extra}",
            health=Health.NOTE if absent else Health.GOOD,
            found=f"not installed: {', '.join(absent)}" if absent else "installed",
            fix=f"pip install 'deepfact[{extra}]'" if absent else "",
        )


def _requirements() -> dict[str, list[str]]:
    """Names of required distributions by extra; those that are always needed under ``""``."""
    found: dict[str, list[str]] = {}
    for line in metadata.requires("deepfact") or ():
        name, extra = re.match(r"[\w.-]+", line), re.search(r"extra == ['\"]([\w-]+)['\"]", line)
        if name and name[0] != "deepfact":
            found.setdefault(extra[1] if extra else "", []).append(name[0])
    return found


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _keys() -> Iterator[Finding]:
    for name in KEYS:
        there = bool(os.environ.get(name))
        yield Finding(
            check=f"key {name}",
            health=Health.GOOD if there else Health.NOTE,
            found="present" if there else "not set; only live calls need it",
        )


# --- the machine -------------------------------------------------------------------------


def _places(folder: Path) -> Iterator[Finding]:
    for name, place in (("working folder", folder), ("temporary folder", _temporary())):
        try:
            with tempfile.TemporaryFile(dir=place) as trial:
                trial.write(b"deepfact")
                trial.flush()
                os.fsync(trial.fileno())
            free = shutil.disk_usage(place).free
        except OSError as error:
            yield Finding(
                check=name,
                health=Health.BAD,
                found=f"{place} cannot be written: {error.strerror or error}",
                fix="work in a folder that is yours, or free some space",
            )
            continue
        little = free < LITTLE_SPACE
        yield Finding(
            check=name,
            health=Health.NOTE if little else Health.GOOD,
            found=f"{place} can be written; {free / 1e9:.1f} GB free",
            fix="free some space before a long run" if little else "",
        )


def _temporary() -> Path:
    """The folder for temporary files, also where none can be written."""
    try:
        return Path(tempfile.gettempdir())
    except OSError:
        return Path(os.environ.get("TMPDIR", "/tmp"))  # noqa: S108


def _clock(folder: Path, now: Callable[[], float] = time.time) -> Finding:
    """The clock against the newest thing that a run left here: it cannot lie in the future."""
    said = datetime.fromtimestamp(now(), tz=UTC)
    newest, where = 0.0, None
    for path in (folder / "results").glob("*/journal.jsonl"):
        if (at := path.stat().st_mtime) > newest:
            newest, where = at, path
    if newest > now() + 60:
        return Finding(
            check="clock",
            health=Health.BAD,
            found=f"it is {said:%Y-%m-%d %H:%M} UTC by the clock, but {where} is of "
            f"{datetime.fromtimestamp(newest, tz=UTC):%Y-%m-%d %H:%M}",
            fix="set the clock: revisions and journals carry its time",
        )
    return Finding(check="clock", health=Health.GOOD, found=f"{said:%Y-%m-%d %H:%M} UTC")


# --- benchmarks and providers ------------------------------------------------------------


def _shipped(root: Path | None) -> Iterator[Finding]:
    for name, folder in find_benchmarks(root).items():
        try:
            store = BenchmarkStore(folder)
            versions = store.versions()
            if versions:
                store.load(versions[-1])
        except DeepFactError as error:
            yield Finding(
                check=f"benchmark {name}",
                health=Health.BAD,
                found=str(error),
                fix=f"deepfact bench verify {name}",
            )
            continue
        yield Finding(
            check=f"benchmark {name}",
            health=Health.GOOD,
            found=f"{len(versions)} versions, the newest can be read",
        )


def _reached(address: str) -> Finding:
    """Whether something answers at an address. Any answer will do: no key is sent."""
    import urllib.error
    import urllib.request

    check, shown = "connection", scrub(address)
    if not address.startswith(("http://", "https://")):
        return Finding(
            check=check,
            health=Health.BAD,
            found=f"{shown} is no http or https address",
            fix="write it as in a config's base_url, such as https://api.example.com",
        )
    began = time.perf_counter()
    try:
        with urllib.request.urlopen(address, timeout=10) as reply:  # noqa: S310
            status = reply.status
    except urllib.error.HTTPError as error:
        status = error.code
    except (OSError, ValueError) as error:
        return Finding(
            check=check,
            health=Health.BAD,
            found=f"{shown} cannot be reached: {scrub(str(error))}",
            fix="check the address, the network and the proxy settings",
        )
    took = time.perf_counter() - began
    return Finding(
        check=check, health=Health.GOOD, found=f"{shown} answers ({status}, {took * 1000:.0f} ms)"
    )
