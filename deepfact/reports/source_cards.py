"""The sources that a report quotes, numbered in the order they are first quoted.

Only quoted sources are shown, with their quotes marked; long texts are shown around their
quotes, and the sum of all texts is bounded so that a report stays a file one can mail.
Pure: works on records that are in memory, or in the mapping it was given.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping

from deepfact.core.quotes import find_quote
from deepfact.records import Contradiction, Evidence, Qualification, Source, SourceRole, Span
from deepfact.reports.quotes import Piece, pieces

WHOLE_TEXT = 20_000
"""Characters up to which one source's text is shown whole."""
ALL_TEXTS = 500_000
"""Bytes up to which texts are shown whole, all sources of a report together."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote as it is shown: its words, its source, and whether it really stands there."""

    text: str
    stance: str
    """``supports``, ``contradicts`` or ``context``."""
    card: Card
    found: bool
    disputed: str = ""
    """The words of the claim that the quote is said to refute."""
    named: bool = True
    """Its source is named by title; by number alone otherwise."""


@dataclass(frozen=True, slots=True)
class Note:
    """A qualification as it is shown. It is never counted as a contradiction."""

    kind: str
    text: str
    quote: Quote | None


@dataclass(slots=True)
class Card:
    """A quoted source. ``source`` is None when the benchmark does not hold it."""

    id: str
    number: int
    source: Source | None
    spans: list[tuple[int, int]] = field(default_factory=list)

    @property
    def generated(self) -> bool:
        """Written by a model: never evidence, and marked as such."""
        return self.source is not None and self.source.role in (
            SourceRole.GENERATED,
            SourceRole.MODEL_ANSWER,
        )


class SourceCards:
    """Looks quotes up and remembers which sources they came from."""

    def __init__(
        self, sources: Mapping[str, Source], *, short: bool = False, texts: int = ALL_TEXTS
    ) -> None:
        """
        Args:
            sources: the benchmark's, by id.
            short: for a report that would grow too long: quotes name their source by number
                alone, and a text is left out once there is no room for it.
            texts: bytes of texts of sources to show.
        """
        self._sources, self._short, self._room = sources, short, texts
        self._cards: dict[str, Card] = {}
        self._found: dict[tuple[str, str], Span | None] = {}

    def evidence(self, evidence: Evidence) -> Quote:
        """A piece of evidence as a quote to show."""
        return self._quote(evidence.source, evidence.quote, str(evidence.stance))

    def contradiction(self, contradiction: Contradiction) -> Quote:
        """A contradiction as a quote to show, with the words it disputes."""
        return self._quote(
            contradiction.source, contradiction.quote, "contradicts", contradiction.disputed
        )

    def qualification(self, qualification: Qualification) -> Note:
        """A qualification as a note to show, with its quote when it has a source."""
        quote = None
        if qualification.source and qualification.quote:
            quote = self._quote(qualification.source, qualification.quote, "context")
        return Note(qualification.kind.replace("_", " "), qualification.text, quote)

    def cards(self) -> list[Card]:
        """The sources quoted so far, by number."""
        return list(self._cards.values())

    def shown(self) -> list[tuple[Card, list[Piece]]]:
        """Every quoted source with its text, whole while there is room."""
        room = self._room
        result: list[tuple[Card, list[Piece]]] = []
        for card in self._cards.values():
            text = card.source.text if card.source else ""
            whole = len(text) <= WHOLE_TEXT and _size(text) <= room
            cut = pieces(text, card.spans, limit=len(text) if whole else 0) if text else []
            if self._short and room < sum(_size(piece.text) for piece in cut):
                cut = []
            room -= sum(_size(piece.text) for piece in cut)
            result.append((card, cut))
        return result

    def _quote(self, source: str, words: str, stance: str, disputed: str = "") -> Quote:
        card = self._cards.get(source)
        if card is None:
            card = Card(source, len(self._cards) + 1, self._sources.get(source))
            self._cards[source] = card
        if (source, words) not in self._found:
            span = find_quote(words, card.source.text) if card.source else None
            self._found[source, words] = span
            if span is not None:
                card.spans.append((span.start, span.end))
        found = self._found[source, words] is not None
        return Quote(words, stance, card, found, disputed, named=not self._short)


def _size(text: str) -> int:
    """Bytes that a text takes in a file; what cannot be written is counted as one."""
    return len(text.encode("utf-8", "replace"))
