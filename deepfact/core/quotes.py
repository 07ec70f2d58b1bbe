"""Is a quote in the source that it names? The stored source decides, never the one who quotes.

Pure. Comparison is after Unicode normalisation (NFKC), with white space folded, typographic
quotes and dashes made plain, and invisible characters dropped; it is otherwise exact, and
case counts.
"""

from __future__ import annotations

import re
import unicodedata

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
    start = text.find(quote)
    if start >= 0 and quote:
        return Span(start=start, end=start + len(quote))
    needle, _ = _normalised(quote)
    if not needle:
        return None
    haystack, positions = _normalised(text)
    start = haystack.find(needle)
    if start < 0:
        return None
    return Span(start=positions[start], end=positions[start + len(needle) - 1] + 1)


def _normalised(text: str) -> tuple[str, list[int]]:
    """The comparable form of ``text``, and for each of its characters where it came from."""
    characters: list[str] = []
    positions: list[int] = []
    for position, character in enumerate(text):
        for plain in unicodedata.normalize("NFKC", character).translate(_PLAIN):
            if plain.isspace():
                plain = " "
            elif unicodedata.category(plain) in ("Cf", "Cc"):
                continue
            if plain == " " and (not characters or characters[-1] == " "):
                continue
            characters.append(plain)
            positions.append(position)
    if characters and characters[-1] == " ":
        characters.pop()
        positions.pop()
    return "".join(characters), positions


def contains_words(part: str, whole: str) -> bool:
    """Whether ``part`` stands in ``whole`` after the same normalisation, ignoring case."""
    fold = [re.sub(r"\s+", " ", _normalised(text)[0]).casefold() for text in (part, whole)]
    return bool(fold[0]) and fold[0] in fold[1]
