"""A block's reading text, and the way back: which characters of the original it is made of.

Markup is left out and entities are replaced, so lengths differ; every position maps back
exactly. Pure.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

HARD_BREAK = "\u2028"
"""What a break that the author set shows as in reading text: a new line there, always."""


@dataclass(frozen=True, slots=True)
class Link:
    """A stretch of the reading text with a target, or one that is set high."""

    kind: str
    """``link``, ``url`` or ``sup``."""
    start: int
    end: int
    target: str = ""


@dataclass(slots=True)
class View:
    """Reading text made of pieces of the original.

    Add pieces in the order of the original; then ask.
    """

    text: str = ""
    links: list[Link] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    _plain: list[int] = field(default_factory=list)
    """Where each piece begins in the reading text."""
    _raw: list[int] = field(default_factory=list)
    _raw_end: list[int] = field(default_factory=list)
    _literal: list[bool] = field(default_factory=list)
    _length: int = 0
    _dropped: dict[int, int] = field(default_factory=dict)
    """Stretches that were left out: start in the original -> end, and back."""
    _dropped_back: dict[int, int] = field(default_factory=dict)

    @property
    def length(self) -> int:
        """Characters of reading text so far."""
        return self._length

    def keep(self, source: str, start: int, end: int) -> None:
        """Take ``source[start:end]`` as it is."""
        if end > start:
            self._add(source[start:end], start, end, literal=True)

    def replace(self, shown: str, start: int, end: int) -> None:
        """Show ``shown`` for the characters from ``start`` to ``end`` of the original."""
        if shown:
            self._add(shown, start, end, literal=False)
        else:
            self.drop(start, end)

    def drop(self, start: int, end: int) -> None:
        """Leave a stretch of the original out."""
        if end > start:
            self._dropped[start] = end
            self._dropped_back[end] = start

    def _add(self, shown: str, start: int, end: int, *, literal: bool) -> None:
        self._parts.append(shown)
        self._plain.append(self._length)
        self._raw.append(start)
        self._raw_end.append(end)
        self._literal.append(literal)
        self._length += len(shown)

    def close(self) -> View:
        """Make the text; nothing is added after that."""
        self.text = "".join(self._parts)
        self._parts = []
        return self

    def raw(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the original that ``text[start:end]`` comes from; not empty."""
        first = bisect_right(self._plain, start) - 1
        last = bisect_right(self._plain, end - 1) - 1
        raw_start = self._raw[first]
        if self._literal[first]:
            raw_start += start - self._plain[first]
        raw_end = self._raw_end[last]
        if self._literal[last]:
            raw_end = self._raw[last] + end - self._plain[last]
        return raw_start, raw_end

    def raw_with_markup(self, start: int, end: int) -> tuple[int, int]:
        """As `raw`, with the markup that directly touches it on either side."""
        raw_start, raw_end = self.raw(start, end)
        while raw_start in self._dropped_back:
            raw_start = self._dropped_back[raw_start]
        while raw_end in self._dropped:
            raw_end = self._dropped[raw_end]
        return raw_start, raw_end
