"""How much of long texts a report shows, so that it stays a file one can mail.

A text is cut only when all of them together would not fit, the longest ones first, and the cut
says how many characters are left out. Pure: no I/O, no markup.
"""

from __future__ import annotations

from collections.abc import Iterable

BYTES = 2_900_000
"""Bytes that a report may have before texts in it are cut."""
SHORTEST = 40
"""Characters below which nothing is ever cut."""
READABLE = 160
"""Characters that texts should keep; rather than less, fewer quotes are shown."""
REASONS = 240
"""Characters of the reasons of rulings, where fewer quotes are not enough."""
_TELLING = 16
"""Bytes of the words that tell of a cut."""


def size(text: str) -> int:
    """Bytes that a text takes in a file; what cannot be written is counted as one."""
    return len(text.encode("utf-8", "replace"))


def taken(texts: Iterable[str], limit: int) -> int:
    """Bytes that texts take when each is cut after ``limit`` characters."""
    return sum(
        size(text) if len(text) <= limit else size(text[:limit]) + _TELLING for text in texts
    )


def longest(texts: Iterable[str], room: int) -> int:
    """How many characters of each text to show so that all of them take at most ``room`` bytes.

    Args:
        texts: all that will be shown, repetitions included.
        room: in bytes.

    Returns:
        At least `SHORTEST`, whatever the room.
    """
    found = list(texts)
    low, high = SHORTEST, max([SHORTEST, *map(len, found)])
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if taken(found, middle) <= room else (low, middle - 1)
    return low


def fitted(text: str, limit: int | None) -> str:
    """``text``, or as much of it as ``limit`` characters and how many are left out."""
    if limit is None or len(text) <= limit:
        return text
    return f"{text[:limit]} [… {len(text) - limit} more]"
