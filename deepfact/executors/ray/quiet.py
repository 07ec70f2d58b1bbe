"""Keeps what Ray says away from the results: standard output is for ours alone.

Ray tells of lost workers from threads of its own, on standard output; what matters of that the
driver says itself. Ray's logs are in its own folder.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing is reported to anybody
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # as future versions do, without the warning
    "RAY_LOG_TO_DRIVER": "0",
    "RAY_BACKEND_LOG_LEVEL": "error",
}


class _OursOnly:
    """A stream that takes nothing from Ray's threads."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, unless it is Ray that does."""
        if threading.current_thread().name.startswith("ray_"):
            return len(text)
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def quiet() -> Iterator[None]:
    """Within it Ray writes nothing to this process's streams."""
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    logger = logging.getLogger("ray")
    level, out, err = logger.level, sys.stdout, sys.stderr
    logger.setLevel(logging.CRITICAL)
    sys.stdout, sys.stderr = _OursOnly(out), _OursOnly(err)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = out, err
        logger.setLevel(level)
