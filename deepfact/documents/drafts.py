"""A report before and while it is read: what a file says of it, and its record in the making."""

from __future__ import annotations

from dataclasses import dataclass, field

from deepfact.documents.records import Marker, Original, SegmentKind, Sentence
from deepfact.documents.references import Lists
from deepfact.documents.resolve import Resolver
from deepfact.documents.units import Unit

Claimed = tuple[int, int, SegmentKind, int | None, int]
"""A stretch that is something: start, end, kind, sentence, level."""


@dataclass(frozen=True, slots=True)
class Given:
    """A sentence as a data set publishes it."""

    text: str
    relevance: int | None = None
    reason: str = ""
    annotated: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """A report before it is read: what a file says of it."""

    id: str
    text: str
    original: Original
    form: str
    """``markdown``, ``html``, ``text`` or ``page`` (text of a PDF)."""
    question: str = ""
    title: str = ""
    author: str = ""
    given: tuple[Given, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Draft:
    """The record in the making."""

    report: Report
    units: list[Unit]
    lists: Lists
    resolver: Resolver
    claimed: list[Claimed] = field(default_factory=list)
    sentences: list[Sentence] = field(default_factory=list)
    markers: list[Marker] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    title: str = ""
