"""Keeping keys out of everything that is written: errors, answers, exports, logs.

A provider sends its key; nobody else sees it. Texts that come from outside (error messages,
answers) may repeat it, so they are scrubbed before they are kept or shown. This module never
stores or prints a key.
"""

from __future__ import annotations

import os
import re

MASK = "[secret]"

_NAMES = re.compile(r"(API_?KEY|AUTH_?TOKEN|ACCESS_?TOKEN|SECRET|PASSWORD|CUSTOM_HEADERS)", re.I)
_FIELD = re.compile(
    r"(^|_)(api_?key|auth_?token|access_?token|authorization|secret|password|custom_headers)$", re.I
)
_SHORTEST = 8  # shorter values are words such as "none" or "test", and would mask plain text

_SHAPES = re.compile(
    r"""
    \bsk-[A-Za-z0-9_-]{16,}                          # the providers' own keys
    | (?<=[Bb]earer\s)[A-Za-z0-9._~+/=-]{8,}
    | (?<=x-api-key:\s)\S{8,}
    | (?<=://)[^/\s:@]+:[^/\s@]+(?=@)                # user:password in a URL
    """,
    re.VERBOSE,
)

_pattern: tuple[tuple[str, ...], re.Pattern[str]] | None = None


def scrub(text: str) -> str:
    """``text`` with every known key, and whatever looks like one, masked. For errors."""
    return _SHAPES.sub(MASK, scrub_known(text))


def scrub_known(text: str) -> str:
    """``text`` with the keys of this environment masked. For answers and requests, which must
    not be altered for merely looking like a key."""
    return known_secrets().sub(MASK, text) if text else text


def names_secret(field: str) -> bool:
    """Whether a field of this name holds a secret itself: ``api_key``, ``X-Api-Key``,
    ``client_secret``. Not ``api_key_env``, which names the variable that holds one."""
    return _FIELD.search(field.replace("-", "_")) is not None


def known_secrets() -> re.Pattern[str]:
    """One pattern for all keys in the environment; the same one until they change."""
    global _pattern
    values = tuple(value for name, value in os.environ.items() if _NAMES.search(name))
    if _pattern is None or _pattern[0] != values:
        parts = {part for value in values for part in _parts(value)}
        longest_first = sorted(parts, key=len, reverse=True)
        alternatives = "|".join(re.escape(part) for part in longest_first)
        _pattern = values, re.compile(alternatives or r"(?!)")
    return _pattern[1]


def _parts(value: str) -> list[str]:
    """A key; or, of a value that holds headers (``name: value`` lines), each header's value."""
    found = []
    for line in value.splitlines() or [value]:
        _, colon, rest = line.partition(": ")
        found.append((rest if colon else line).strip())
    return [part for part in found if len(part) >= _SHORTEST]
