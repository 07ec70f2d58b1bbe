"""The record of an imported report: its text, its segments, sentences, citations, references.

All offsets are characters of ``text``, half open. The segments tile it: put one after the other
they are the text again. No I/O here.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from deepfact.records import FileRecord, Hash, Id, Record, Span


class SegmentKind(StrEnum):
    """What a stretch of a report is."""

    SENTENCE = "sentence"
    HEADING = "heading"
    TABLE = "table"
    """A row of a table."""
    CODE = "code"
    REFERENCE = "reference"
    """An entry of a reference list."""
    MARKUP = "markup"
    """Bullets, rules, tags, navigation: nothing that is read as a sentence."""
    SPACE = "space"


class Place(StrEnum):
    """The block that a sentence stands in."""

    PARAGRAPH = "paragraph"
    LIST = "list"
    QUOTE = "quote"


class MarkerKind(StrEnum):
    """How a citation is written."""

    BRACKET = "bracket"
    """``[1]``, ``[1, 3-5]``, 【1†source】"""
    FOOTNOTE = "footnote"
    """``[^1]``"""
    GLUED = "glued"
    """Digits set directly behind a word or a full stop: ``growth.12``."""
    SUPERSCRIPT = "superscript"
    AUTHOR_YEAR = "author_year"
    LINK = "link"
    """``[text](url)``: carries its own target."""
    URL = "url"
    """A bare URL: carries its own target."""
    IDENTIFIER = "identifier"
    """``arXiv:1234.56789``, ``doi:10.1/x``: carries its own target."""

    @property
    def carries_target(self) -> bool:
        """Whether it resolves by itself, without a reference list."""
        return self in (MarkerKind.LINK, MarkerKind.URL, MarkerKind.IDENTIFIER)


class Segment(Record):
    """One stretch of the text."""

    kind: SegmentKind
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    sentence: int | None = None
    """Index of the sentence, for a sentence."""
    level: int = 0
    """Of a heading, 1 to 6; 0 for a line that only looks like one."""


class Reference(Record):
    """A source as the report names it."""

    numbers: tuple[int, ...] = ()
    """Its numbers in the report: several when one URL is listed under several."""
    label: str = ""
    """Of a footnote that is no number."""
    title: str = ""
    """The entry without number, URL and date."""
    url: str = ""
    further_urls: tuple[str, ...] = ()
    date: str = ""
    """ISO 8601, as exact as the entry is."""
    accessed: bool = False
    """The date says when the source was looked at, not when it was published."""
    listed: bool = True
    """It has an entry in a reference list; otherwise it is only linked to in the text."""
    span: Span


class Marker(Record):
    """A citation in the text."""

    kind: MarkerKind
    text: str
    span: Span
    sentence: int | None = None
    """The sentence it stands in; None in a heading, a table or between blocks."""
    numbers: tuple[int, ...] = ()
    references: tuple[int, ...] = ()
    """What it resolves to: places in the list of references."""
    unresolved: str = ""
    """Why it, or a part of it, resolves to nothing; empty when all of it does."""


class Sentence(Record):
    """A sentence, and what is made of it."""

    index: int = Field(ge=0)
    span: Span
    text: str
    """As it is read: without markup and citation marks."""
    place: Place = Place.PARAGRAPH
    section: tuple[str, ...] = ()
    """The headings above it, outermost first."""
    references: tuple[int, ...] = ()
    """What its citations resolve to."""
    verifiable: bool = False
    why: str = ""
    """The rule, or the rater's reason."""
    relevance: int | None = Field(default=None, ge=1, le=5)
    """To the report's question, 5 is most; None when there is no question or no rating."""
    rated_by: str = "rules"


class Original(Record):
    """The file that a report came from."""

    name: str
    format: str
    size: int = Field(ge=0)
    """Bytes."""
    hash: Hash
    """Of the file's bytes. For a report inside a JSON file: of that file."""
    encoding: str = ""
    """In which the text, encoded again, gives the bytes; empty where the text was extracted."""
    item: str = ""
    """Which report of a file that holds several."""


class ReportRecord(FileRecord):
    """An imported report."""

    id: Id
    title: str = ""
    question: str = ""
    author: str = ""
    """The system or person that wrote it, where the file says so."""
    original: Original
    text: str
    text_hash: Hash
    segments: tuple[Segment, ...]
    sentences: tuple[Sentence, ...]
    markers: tuple[Marker, ...] = ()
    references: tuple[Reference, ...] = ()
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _tiled(self) -> Self:
        at = 0
        for segment in self.segments:
            if segment.start != at or segment.end <= at:
                raise ValueError(f"the segments leave a gap or overlap at character {at}")
            at = segment.end
        if at != len(self.text):
            raise ValueError(f"the segments end at character {at} of {len(self.text)}")
        return self
