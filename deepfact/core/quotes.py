"""Is a quote in the source that it names? The stored source decides, never the one who quotes.

Pure. Comparison is after Unicode normalisation (NFKC), with white space folded, typographic
quotes and dashes made plain, and invisible characters dropped; it is otherwise exact, and
case counts.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Iterator

from deepfact.records import Span

_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    }
)


def find_quote(quote: str, text: str) -> Span | None:
    """Where ``quote`` stands in ``text``: the first place, or None.

    Returns:
        The span in ``text`` itself, whatever was normalised away in between.
    """
    needle, _ = _normalised(quote)
    if not needle:  # nothing but white space and invisible characters is no quote
        return None
    start = text.find(quote)
    end = start + len(quote)
    if start >= 0 and not (end < len(text) and _joins(text[end])):
        return Span(start=start, end=end)
    haystack, positions = _normalised(text)
    start = haystack.find(needle)
    if start < 0:
        return None
    return Span(start=positions[start][0], end=positions[start + len(needle) - 1][1])


def _normalised(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The comparable form of ``text``, and for each of its characters the range it came from."""
    characters: list[str] = []
    positions: list[tuple[int, int]] = []
    for start, end in _clusters(text):
        for plain in _plain(text[start:end]):
            if plain == " " and (not characters or characters[-1] == " "):
                continue
            characters.append(plain)
            positions.append((start, end))
    if characters and characters[-1] == " ":
        characters.pop()
        positions.pop()
    return "".join(characters), positions


@lru_cache(maxsize=4096)
def _plain(cluster: str) -> str:
    """The comparable form of one cluster; white space of any kind is one blank each."""
    plain = unicodedata.normalize("NFKC", cluster).translate(_PLAIN)
    blank = (" " if character.isspace() else character for character in plain)
    return "".join(c for c in blank if unicodedata.category(c) not in ("Cf", "Cc"))


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """The ranges that normalise independently: a character and the marks that join it."""
    start = 0
    for position in range(1, len(text)):
        if not _joins(text[position]):
            yield start, position
            start = position
    if text:
        yield start, len(text)


def _joins(character: str) -> bool:
    """Whether a character may compose with the one before it: a mark, or a Hangul jamo."""
    if character < "\u0300":
        return False
    first = unicodedata.normalize("NFKD", character)[0]
    return unicodedata.category(first).startswith("M") or "\u1160" <= first <= "\u11ff"


def contains_words(part: str, whole: str) -> bool:
    """Whether ``part`` stands in ``whole`` after the same normalisation, ignoring case."""
    fold = [re.sub(r"\s+", " ", _normalised(text)[0]).casefold() for text in (part, whole)]
    return bool(fold[0]) and fold[0] in fold[1]
