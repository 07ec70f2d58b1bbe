"""Cuts a source's text where its quotes begin and end, so that they can be marked.

Whether a quote stands in a text is for `deepfact.core.quotes` to say. Pure: no I/O, no markup.
"""

from __future__ import annotations

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
