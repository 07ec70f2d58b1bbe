"""Where quotes stand in a source's text, for highlighting; and which stand nowhere.

A quote is found when it is in the source after Unicode (NFKC) and white-space normalisation,
the rule by which it counts as evidence. Pure: no I/O, no markup.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Iterable

CONTEXT = 160
"""Characters kept on either side of a quote when a text is shown in part."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a text as it is shown: plain, quoted, or left out."""

    text: str
    quoted: bool = False
    left_out: int = 0
    """Characters that stand here in the source and are not shown; ``text`` is empty then."""


class SourceText:
    """A source's text, ready to be searched for quotes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._folded: tuple[str, list[int]] | None = None

    def find(self, quote: str) -> tuple[int, int] | None:
        """``(start, end)`` of the quote's first occurrence in the text as stored, or None."""
        if not quote.strip():
            return None
        start = self.text.find(quote)
        if start >= 0:
            return start, start + len(quote)
        # Folding a whole text is slow, and most quotes are verbatim: only on the first miss.
        if self._folded is None:
            self._folded = _fold(self.text)
        folded, at = self._folded
        needle = _fold(quote)[0].strip()
        start = folded.find(needle) if needle else -1
        return None if start < 0 else (at[start], at[start + len(needle) - 1] + 1)


def _fold(text: str) -> tuple[str, list[int]]:
    """The normalised text, and for each of its characters where it comes from."""
    characters: list[str] = []
    at: list[int] = []
    position = 0
    while position < len(text):
        end = position + 1
        # A base character and its combining marks are normalised together, as NFKC asks.
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1
        for character in unicodedata.normalize("NFKC", text[position:end]):
            if not character.isspace():
                characters.append(character)
                at.append(position)
            elif characters and characters[-1] != " ":
                characters.append(" ")
                at.append(position)
        position = end
    return "".join(characters), at


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, overlapping and touching ones joined."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def pieces(text: str, quoted: Iterable[tuple[int, int]], *, limit: int) -> list[Piece]:
    """``text`` cut where quotes begin and end.

    Args:
        text: the source's text.
        quoted: the quotes' spans.
        limit: a longer text is shown around its quotes only (its beginning, when it has none),
            and each gap says how many characters it holds.
    """
    marks = merged(quoted)
    if len(text) <= limit:
        windows = [(0, len(text))]
    elif marks:
        windows = merged((max(0, start - CONTEXT), end + CONTEXT) for start, end in marks)
    else:
        windows = [(0, CONTEXT)]
    cut: list[Piece] = []
    position = 0
    for start, end in windows:
        end = min(end, len(text))
        if start > position:
            cut.append(Piece("", left_out=start - position))
        cut += _window(text, marks, start, end)
        position = end
    if position < len(text):
        cut.append(Piece("", left_out=len(text) - position))
    return cut


def _window(text: str, marks: list[tuple[int, int]], start: int, end: int) -> list[Piece]:
    """One stretch of the text, cut at the quotes inside it."""
    cut: list[Piece] = []
    for mark_start, mark_end in marks:
        if mark_start < start or mark_end > end:
            continue
        if mark_start > start:
            cut.append(Piece(text[start:mark_start]))
        cut.append(Piece(text[mark_start:mark_end], quoted=True))
        start = mark_end
    if start < end:
        cut.append(Piece(text[start:end]))
    return cut
