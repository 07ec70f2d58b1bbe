"""The records of the research gate: cards, claims, decisions, findings, and the ledger.

As in `deepfact.records`: frozen, unknown keys refused, no I/O, no clock. A `Ledger` is what a
run's append-only file folds to; the lines of that file, and the ledger as one JSON document,
are in `deepfact.store.ledger_records`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Self

from pydantic import AwareDatetime, Field, model_validator

from deepfact.records import (
    Claim,
    Contradiction,
    FileRecord,
    Hash,
    Id,
    Label,
    Origin,
    Outcome,
    PanelOutcome,
    Qualification,
    Record,
    Source,
    SourceRole,
    Span,
    Stance,
    Verdict,
    VerificationFailure,
    canonical_json,
    sha256_of,
)
from deepfact.vocabulary import ClaimKind as ClaimKind
from deepfact.vocabulary import Method as Method

EVIDENCE_ROLES = frozenset(set(SourceRole) - {SourceRole.GENERATED, SourceRole.MODEL_ANSWER})
"""Roles whose text may serve as evidence."""


class ExtractedBy(StrEnum):
    """How a claim came into the ledger."""

    TYPED = "typed"
    IMPORTED = "imported"
    PROVIDER = "provider"
    RULES = "rules"


# --- what a ledger holds -----------------------------------------------------------------


class SourceCard(Record):
    """A source with what the gate needs to know beyond its text."""

    source: Source
    type: str = ""
    """What sort of document: ``paper``, ``documentation``, ``dataset``, ``news``..."""
    excerpt: bool = False
    """The text is a part of the document only."""
    flags: tuple[str, ...] = ()
    """What in the text looks like an attempt to steer a model. It is data all the same."""

    @property
    def is_evidence(self) -> bool:
        """Generated text is stored and shown, and never evidence."""
        return self.source.role in EVIDENCE_ROLES


class ResearchClaim(FileRecord):
    """One bounded claim and the place in a card that it came from."""

    id: Id
    text: str = Field(min_length=1)
    context: str = ""
    subject: str = ""
    predicate: str = ""
    object: str = ""
    kind: ClaimKind = ClaimKind.OTHER
    conditions: dict[str, str] = {}
    """Under which the claim holds, such as ``{"version": "2.1", "workload": "cold start"}``."""
    caveat: str = ""
    """What a reader must know along with it; it refutes nothing."""
    confidence: float | None = Field(default=None, ge=0, le=1)
    """Of whoever extracted it; None when not stated."""
    card: Hash
    quote: str = ""
    """The card's own words that the claim rests on."""
    span: Span | None = None
    """Where they stand in the card's text."""
    extracted_by: ExtractedBy = ExtractedBy.TYPED


class Link(Record):
    """A further card that bears on a claim."""

    claim: Id
    card: Hash
    stance: Stance
    quote: str = ""


class CrossReading(Record):
    """What a verifier concluded on a claim when it was shown one other card alone."""

    claim: Id
    card: Hash
    outcome: Outcome


class Resolution(Record):
    """A recorded decision on a contradiction. It stays visible with what it decides."""

    contradiction: Id
    method: Method
    who: str = Field(min_length=1)
    when: AwareDatetime
    why: str = Field(min_length=1)
    """What a reader of either claim must know; it goes with the claims as a qualification."""
    withdrawn: Hash | None = None
    """The card that is withdrawn, with that method only."""

    @model_validator(mode="after")
    def _withdrawn_with_its_method(self) -> Self:
        if (self.method is Method.SOURCE_WITHDRAWN) != (self.withdrawn is not None):
            raise ValueError("a withdrawn card goes with the method source_withdrawn, only")
        return self


class Ledger(FileRecord):
    """Everything that a research run knows, each thing once, in the order it was added."""

    question: str = ""
    as_of: AwareDatetime | None = None
    """The date that sources are stale or fresh against."""
    cards: tuple[SourceCard, ...] = ()
    claims: tuple[ResearchClaim, ...] = ()
    links: tuple[Link, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    """The newest one of each claim; older ones stay in the ledger's file."""
    readings: tuple[CrossReading, ...] = ()
    resolutions: tuple[Resolution, ...] = ()
    aliases: dict[str, str] = {}
    """Other names of subjects: ``{"PG": "PostgreSQL"}``."""

    def content_hash(self) -> str:
        """The hash of what is known, whatever the order and the time it was added."""
        data = self.model_dump(mode="json", exclude_defaults=True)
        for name, value in data.items():
            if isinstance(value, list):
                data[name] = sorted(canonical_json(one) for one in value)
        return sha256_of(canonical_json({**data, "schema_version": self.schema_version}))

    @property
    def sources(self) -> Mapping[str, Source]:
        """The sources of all cards by id."""
        return {card.source.id: card.source for card in self.cards}

    @property
    def evidence(self) -> Mapping[str, Source]:
        """The sources that may serve as evidence, by id: not generated, not withdrawn."""
        gone = self.withdrawn
        usable = (card.source for card in self.cards if card.is_evidence)
        return {source.id: source for source in usable if source.id not in gone}

    def bounded(self, claim: ResearchClaim) -> Claim:
        """A claim as verifiers and benchmarks have it: it cites its card, and the cards linked
        to it that support or contradict it, as far as they may serve as evidence."""
        linked = [
            link.card
            for link in self.links
            if link.claim == claim.id and link.stance is not Stance.CONTEXT
        ]
        evidence = self.evidence
        return Claim(
            id=claim.id,
            text=claim.text,
            context=claim.context,
            origin=Origin(report=f"source-{claim.card[7:23]}"),
            cites=tuple(c for c in dict.fromkeys([claim.card, *linked]) if c in evidence),
            subject=claim.subject,
            predicate=claim.predicate,
            object=claim.object,
            kind=str(claim.kind),
        )

    @property
    def withdrawn(self) -> frozenset[str]:
        """Ids of cards that a decision withdrew."""
        return frozenset(one.withdrawn for one in self.resolutions if one.withdrawn)


# --- what the skeptic and the gate conclude ----------------------------------------------


class Severity(StrEnum):
    """What a finding does to the report: only errors keep it from being complete."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Finding(Record):
    """One thing that is wrong or weak, under a code that does not change."""

    code: str
    severity: Severity
    message: str
    measured: str = ""
    """What was counted, such as ``linked_sources=2``."""
    claims: tuple[Id, ...] = ()
    cards: tuple[Hash, ...] = ()
    contradiction: str = ""
    todo: str = ""
    """What to do about it."""

    def line(self) -> str:
        """In one line: ``thin_source_corpus: linked_sources=2``."""
        return f"{self.code}: {self.measured}" if self.measured else self.code


class ContradictionState(StrEnum):
    """Whether anybody has decided on a contradiction. In any state it stays visible."""

    OPEN = "open"
    RESOLVED = "resolved"
    CARRIED = "carried"


class ClaimContradiction(Record):
    """Claims that cannot all be true, as the skeptic found them."""

    id: Id
    kind: str
    """``truth``, ``quantity``, ``date``, ``exclusive``, ``negation`` or ``text``."""
    severity: Severity
    claims: tuple[Id, ...]
    cards: tuple[Hash, ...] = ()
    """The cards of both sides."""
    notes: tuple[str, ...]
    """One for each pair that conflicts; it names both claims and what they say."""
    state: ContradictionState = ContradictionState.OPEN
    resolution: Resolution | None = None


class Thresholds(Record):
    """What the skeptic holds against a ledger. The reason of each default is beside it."""

    linked_sources: int = Field(default=25, ge=0)
    """Below: ``thin_source_corpus``. A survey of a disputed technical question that cites fewer
    independent documents has usually not gone beyond the first page of a search."""
    primary_cards: int = Field(default=3, ge=0)
    """Below: ``thin_primary_source_coverage``. With two, one withdrawal leaves a single voice."""
    source_families: int = Field(default=2, ge=0)
    """Below: ``narrow_source_family_coverage``. All from one site is one point of view."""
    stale_days: int = Field(default=1095, ge=0)
    """Older: ``stale_linked_source``. Three years: few measured figures outlive that."""
    claims_per_card: float = Field(default=1.0, ge=0)
    """Below: ``low_extracted_claim_density``. Less than one claim a card means that cards are
    listed and not read."""
    relative_tolerance: float = Field(default=0.01, ge=0)
    """Numbers that differ by less agree. One per cent is what rounding does."""
    approximate_tolerance: float = Field(default=0.1, ge=0)
    """The same where a side says about, nearly, roughly: ten per cent."""
    contradiction_confidence: float = Field(default=0.5, ge=0, le=1)
    """A contradiction is an error when both claims were extracted with at least this much
    confidence, else a warning: below it, the extraction is the likelier mistake."""
    unverified_share: float = Field(default=0.0, ge=0, le=1)
    """Share of claims that may stay unverified after a verifier was asked. None: what nobody
    could settle is not fit to be told as found."""
    require_verification: bool = False
    """Whether a claim that no verifier was asked about is an error. Off, so that a ledger can
    be checked before a verifier is paid for; ``research run`` turns it on."""
    single_valued: tuple[str, ...] = ()
    """Further predicates that have one value at a time, such as ``maintainer``."""


class SkepticResult(Record):
    """What a skeptic pass found. ``ok`` is whether nothing of severity error is left."""

    ok: bool
    clusters: tuple[tuple[Id, ...], ...] = ()
    contradictions: tuple[ClaimContradiction, ...] = ()
    findings: tuple[Finding, ...] = ()


class ReportStatus(StrEnum):
    """Whether the evidence carries the report."""

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"


class ClaimStanding(StrEnum):
    """Where a claim stands. ``not_asked`` is not ``unverified``: nobody was asked."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNVERIFIED = "unverified"
    NOT_ASKED = "not_asked"


class Standing(Record):
    """One claim with what came of verifying it, as the report and the writer are given it."""

    claim: ResearchClaim
    standing: ClaimStanding
    vote: str = ""
    """Such as ``2 of 3 valid votes refute``; empty for a verifier that does not vote."""
    reasons: tuple[str, ...] = ()
    """Stored reasons, word for word; ``no reason recorded`` when there is none."""
    contradictions: tuple[Contradiction, ...] = ()
    """What a refutation disputes, with the source's words."""
    qualifications: tuple[Qualification, ...] = ()
    disputed: tuple[str, ...] = ()
    """Ids of contradictions that it is a side of and that nobody has resolved."""


class ReportCounts(Record):
    """The figures of a report's first lines."""

    source_cards: int
    primary_source_cards: int
    extracted_claims: int
    clusters: int
    contradictions: int
    confirmed: int = 0
    refuted: int = 0
    unverified: int = 0
    not_asked: int = 0

    def words(self) -> dict[str, int]:
        """By name, as reports write them."""
        return {name.replace("_", " "): value for name, value in self}


class WrittenSentence(Record):
    """A sentence of the prose, with the claims it cites and what is wrong with it."""

    text: str
    cites: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """Each as ``code: what is wrong``; empty when the sentence may stand."""


class ResearchReport(FileRecord):
    """``report.json``: what the gate decided, complete enough to render without the ledger."""

    status: ReportStatus
    deepfact: str
    question: str = ""
    as_of: AwareDatetime | None = None
    ledger_hash: Hash
    thresholds: Thresholds = Thresholds()
    counts: ReportCounts
    skeptic: SkepticResult
    standings: tuple[Standing, ...] = ()
    cards: tuple[SourceCard, ...] = ()
    withdrawn: tuple[Hash, ...] = ()
    written: tuple[WrittenSentence, ...] = ()
    """The prose, when a provider wrote one."""

    def of(self, standing: ClaimStanding) -> list[Standing]:
        """The claims of one standing, in the order of the ledger."""
        return [one for one in self.standings if one.standing == standing]


def standing_of(outcome: Verdict | VerificationFailure | None) -> ClaimStanding:
    """Where an outcome puts its claim.

    A panel's own conclusion counts. Without one, a verdict supports, contradicts, or leaves
    open; a failure is never anything but unverified.
    """
    if outcome is None:
        return ClaimStanding.NOT_ASKED
    if outcome.kind == "failure":
        return ClaimStanding.UNVERIFIED
    if outcome.panel is PanelOutcome.REFUTED:
        return ClaimStanding.REFUTED
    if outcome.label is Label.SUPPORTED and outcome.panel in (None, PanelOutcome.CONFIRMED):
        return ClaimStanding.CONFIRMED
    if outcome.label is Label.CONTRADICTORY and outcome.panel is None:
        return ClaimStanding.REFUTED
    return ClaimStanding.UNVERIFIED
