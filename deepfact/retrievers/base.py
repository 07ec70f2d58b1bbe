"""What a retriever is, and what it returns. No implementation here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Sequence

from deepfact.records import Span


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a source's text: ``source.text[span.start:span.end] == text``."""

    source: str
    """Id of the source."""
    span: Span
    text: str
    score: float = 0.0
    """Higher is better; comparable within one search only."""


class Retriever(Protocol):
    """Finds passages for a query, best first."""

    def search(self, query: str, *, limit: int = 10) -> Sequence[Passage]:
        """At most ``limit`` passages; empty when nothing matches."""
        ...
