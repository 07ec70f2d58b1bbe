"""How a ledger lies on disk: the lines of its append-only file, and the one JSON document.

In the document people may name cards by short names of their own; in the file every card goes
by its hash. Records only: no I/O, no clock.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from deepfact.records import (
    FileRecord,
    Hash,
    Id,
    Outcome,
    Record,
    SourceRole,
    Span,
    Stance,
    TaggedRecord,
    Trust,
    canonical_json,
)
from deepfact.research_records import (
    ClaimKind,
    CrossReading,
    ExtractedBy,
    Link,
    ReportStatus,
    ResearchClaim,
    Resolution,
    SkepticResult,
)

# --- the ledger as one JSON document -----------------------------------------------------


class CardEntry(Record):
    """A source card in a ledger document."""

    id: Hash | None = None
    """The hash of the card; worked out when left out, checked when given."""
    name: str = ""
    """A short name by which claims of this document may refer to the card."""
    title: str
    url: str = ""
    role: SourceRole = SourceRole.SECONDARY
    trust: Trust = Trust.UNKNOWN
    type: str = ""
    published: str = ""
    retrieved_at: AwareDatetime | None = None
    excerpt: bool = False
    text: str = ""


class ClaimEntry(Record):
    """A claim in a ledger document."""

    id: Id
    text: str = Field(min_length=1)
    context: str = ""
    subject: str = ""
    predicate: str = ""
    object: str = ""
    kind: ClaimKind = ClaimKind.OTHER
    conditions: dict[str, str] = {}
    caveat: str = ""
    confidence: float | None = Field(default=None, ge=0, le=1)
    card: str = Field(min_length=1)
    """Id or name of the card it came from."""
    quote: str = ""
    span: Span | None = None
    extracted_by: ExtractedBy = ExtractedBy.IMPORTED


class LinkEntry(Record):
    """A link in a ledger document."""

    claim: Id
    card: str = Field(min_length=1)
    stance: Stance
    quote: str = ""


class LedgerDocument(FileRecord):
    """A whole ledger as one JSON document: what ``research import`` and ``check`` read."""

    question: str = ""
    as_of: AwareDatetime | None = None
    cards: tuple[CardEntry, ...] = ()
    claims: tuple[ClaimEntry, ...] = ()
    links: tuple[LinkEntry, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    readings: tuple[CrossReading, ...] = ()
    resolutions: tuple[Resolution, ...] = ()
    aliases: dict[str, str] = {}


# --- the ledger's file -------------------------------------------------------------------


class LedgerEntry(TaggedRecord):
    """One thing that was added to a ledger."""

    TAG = "entry"


class QuestionSet(LedgerEntry):
    """What the run is about, and the date it is about."""

    entry: Literal["question_set"] = "question_set"
    question: str = ""
    as_of: AwareDatetime | None = None
    aliases: dict[str, str] = {}


class CardAdded(LedgerEntry):
    """A source card; its text lies in the run's folder of sources."""

    entry: Literal["card_added"] = "card_added"
    source: Hash
    type: str = ""
    excerpt: bool = False
    flags: tuple[str, ...] = ()


class ClaimAdded(LedgerEntry):
    """A claim."""

    entry: Literal["claim_added"] = "claim_added"
    claim: ResearchClaim


class LinkAdded(LedgerEntry):
    """A link."""

    entry: Literal["link_added"] = "link_added"
    link: Link


class OutcomeAdded(LedgerEntry):
    """A verifier's outcome on a claim; the newest one counts, older ones stay."""

    entry: Literal["outcome_added"] = "outcome_added"
    outcome: Outcome


class ReadingAdded(LedgerEntry):
    """A verifier's reading of a claim against one other card; the newest one counts."""

    entry: Literal["reading_added"] = "reading_added"
    reading: CrossReading


class ResolutionAdded(LedgerEntry):
    """A decision on a contradiction."""

    entry: Literal["resolution_added"] = "resolution_added"
    resolution: Resolution


class SkepticPassed(LedgerEntry):
    """What a skeptic pass found, and in which state of the ledger."""

    entry: Literal["skeptic_passed"] = "skeptic_passed"
    ledger: Hash
    result: SkepticResult


class Reported(LedgerEntry):
    """A report that was written: its status, and the hash of its Markdown."""

    entry: Literal["reported"] = "reported"
    ledger: Hash
    status: ReportStatus
    markdown: Hash


AnyEntry = Annotated[
    QuestionSet
    | CardAdded
    | ClaimAdded
    | LinkAdded
    | OutcomeAdded
    | ReadingAdded
    | ResolutionAdded
    | SkepticPassed
    | Reported,
    Field(discriminator="entry"),
]


class LedgerLine(FileRecord):
    """A line of ``ledger.jsonl``, chained to the line before it."""

    number: int = Field(ge=1)
    previous: Hash | None = None
    """Hash of the bytes of the line before it; None on the first line."""
    who: str = Field(min_length=1)
    when: AwareDatetime
    entry: AnyEntry

    def canonical(self) -> str:
        """As `FileRecord.canonical`, with the tag of its entry."""
        data = self.model_dump(mode="json", exclude_defaults=True)
        return canonical_json({**data, "schema_version": self.schema_version})
