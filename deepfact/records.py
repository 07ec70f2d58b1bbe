"""Every record that crosses a file boundary, and nothing else.

Records are frozen and refuse unknown keys. A record that is a file of its own carries
``schema_version``; `deepfact.store.files` refuses a newer one and migrates an older one.
This module does no I/O, reads no clock, and imports nothing of deepfact. The records of a
run (spec, journal, scores, record) are in `deepfact.run_records`.

The words are those of the design: claim, source, evidence, label, qualification,
annotation, revision, version, verdict, verification failure, challenge, case,
adjudication, ruling, micro-gold, run.
"""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    field_validator,
    model_serializer,
    model_validator,
)

from deepfact.vocabulary import EditKind as EditKind
from deepfact.vocabulary import SourceRole as SourceRole
from deepfact.vocabulary import Trust as Trust

SCHEMA_VERSION = 1

Id = Annotated[
    str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\s/\\\x00-\x1f\x7f]+$")
]
"""A claim, report, case or auditor id: printable, without white space or path separators."""

Hash = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
"""An algorithm-tagged hash, such as ``sha256:9f86d0...``."""

BENCHMARK_NAME = re.compile(r"^[a-z0-9][a-z0-9._-]{0,99}$")


class Record(BaseModel):
    """Base of every record: frozen, unknown keys refused."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", ser_json_inf_nan="constants", defer_build=True
    )

    def canonical(self) -> str:
        """This record as canonical JSON: what is hashed and what is stored, one line."""
        return canonical_json(self.model_dump(mode="json", exclude_defaults=True))


class FileRecord(Record):
    """A record that is a file, or a line of a file, of its own."""

    schema_version: Literal[1] = 1

    def canonical(self) -> str:
        """As `Record.canonical`, always with the schema version."""
        data = self.model_dump(mode="json", exclude_defaults=True)
        return canonical_json({**data, "schema_version": self.schema_version})


class TaggedRecord(FileRecord):
    """A record that is told apart from its siblings by a tag, which is always written."""

    TAG: ClassVar[str] = "kind"

    @model_serializer(mode="wrap")
    def _with_tag(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        return {**data, self.TAG: getattr(self, self.TAG)}


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, no spaces, and every character as itself (UTF-8 when encoded)."""
    return _CANONICAL.encode(value)


def sha256_of(text: str | bytes) -> str:
    """The ``sha256:`` hash of a text (as UTF-8) or of bytes."""
    data = text.encode("utf-8") if isinstance(text, str) else text
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


# --- labels ------------------------------------------------------------------------------


class Label(StrEnum):
    """What the sources say of a claim. A qualification is never a label."""

    SUPPORTED = "supported"
    CONTRADICTORY = "contradictory"
    INCONCLUSIVE = "inconclusive"


class Stance(StrEnum):
    """How a quote bears on a claim."""

    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    CONTEXT = "context"


class QualificationKind(StrEnum):
    """Why a reader of an accurate claim needs more context."""

    METHOD_CHANGE = "method_change"
    SCOPE = "scope"
    LATER_DEVELOPMENT = "later_development"
    DEFINITION = "definition"
    HEDGE = "hedge"
    OTHER = "other"


# --- claims and sources ------------------------------------------------------------------


class Span(Record):
    """A half-open range of characters, ``text[start:end]``."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.end < self.start:
            raise ValueError(f"end {self.end} is before start {self.start}")
        return self


class Source(FileRecord):
    """A source card: a document and what is known of it.

    The id is the hash of the whole card, text included, so neither can change unseen.
    """

    id: Hash
    title: str
    url: str = ""
    role: SourceRole = SourceRole.SECONDARY
    trust: Trust = Trust.UNKNOWN
    published: str = ""
    """Date as the source gives it, ISO 8601 where known."""
    retrieved_at: AwareDatetime | None = None
    text: str

    @classmethod
    def create(cls, **card: Any) -> Self:
        """A source card with its id worked out. Takes every field but the id."""
        draft = cls(id=f"sha256:{'0' * 64}", **card)
        return draft.model_copy(update={"id": draft.content_hash()})

    def content_hash(self) -> str:
        """The hash that the id must equal: of the canonical card without its id."""
        data = self.model_dump(mode="json", exclude_defaults=True, exclude={"id"})
        return sha256_of(canonical_json({**data, "schema_version": self.schema_version}))


class Evidence(Record):
    """A quote, the source it is from, where it stands there, and its stance on the claim."""

    source: Hash
    quote: str = Field(min_length=1)
    stance: Stance
    span: Span | None = None
    """Characters of the source's text, when known."""


class Qualification(Record):
    """Context that a reader of an accurate claim needs. It refutes nothing."""

    kind: QualificationKind
    text: str = Field(min_length=1)
    source: Hash | None = None
    quote: str = ""


class Contradiction(Record):
    """The part of the claim that a source disputes, with the source's own words."""

    disputed: str = Field(min_length=1)
    """The words of the claim that are wrong."""
    source: Hash
    quote: str = Field(min_length=1)


class Origin(Record):
    """Where a claim stood."""

    report: Id
    """Report id; intervals are clustered by it."""
    document: Hash | None = None
    """The report's own text, stored as a source card with role ``generated``."""
    sentence: int | None = Field(default=None, ge=0)
    span: Span | None = None


class Claim(FileRecord):
    """One checkable statement, with what is needed to read it alone."""

    id: Id
    text: str = Field(min_length=1)
    context: str = ""
    origin: Origin | None = None
    cites: tuple[Hash, ...] = ()
    domain: str = ""
    subject: str = ""
    predicate: str = ""
    object: str = ""
    kind: str = ""
    private: bool = False
    """Never published."""

    @property
    def report(self) -> str:
        """The report this claim is from, or its own id when it stands alone."""
        return self.origin.report if self.origin else self.id


# --- annotations and versions ------------------------------------------------------------


class Provenance(Record):
    """Who says so, since when, and out of which run and case."""

    who: str = Field(min_length=1)
    when: AwareDatetime
    run: str = ""
    case: str = ""


class Annotation(Record):
    """A label with its reasons."""

    label: Label
    rationale: str = ""
    evidence: tuple[Evidence, ...] = ()
    qualifications: tuple[Qualification, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    provenance: Provenance
    original_label: str = ""
    """The label in the words of the data set it was imported from, kept as published."""


class RevisionKind(StrEnum):
    """What a revision does to a claim."""

    ADD = "add"
    RELABEL = "relabel"
    RERATIONALE = "re-rationale"
    RETIRE = "retire"
    RESTORE = "restore"


class Revision(FileRecord):
    """One change to one claim: who, why, on what evidence, out of which case."""

    kind: RevisionKind
    claim_id: Id
    who: str = Field(min_length=1)
    when: AwareDatetime
    why: str = Field(min_length=1)
    run: str = ""
    case: str = ""
    claim: Claim | None = None
    """With ``add`` only."""
    annotation: Annotation | None = None
    """With ``relabel`` and ``re-rationale``; with ``add`` unless the claim is unlabelled."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        adds = self.kind is RevisionKind.ADD
        if adds != (self.claim is not None):
            raise ValueError("a claim belongs to an add, and to nothing else")
        if self.claim is not None and self.claim.id != self.claim_id:
            raise ValueError(f"claim_id {self.claim_id!r} is not the claim's id {self.claim.id!r}")
        annotates = self.kind in (RevisionKind.RELABEL, RevisionKind.RERATIONALE)
        if annotates and self.annotation is None:
            raise ValueError(f"a {self.kind} needs an annotation")
        if self.annotation is not None and not (annotates or adds):
            raise ValueError(f"a {self.kind} takes no annotation")
        return self


class Counts(Record):
    """What a version holds: live claims by label, and claims retired."""

    claims: int = Field(ge=0)
    supported: int = Field(default=0, ge=0)
    contradictory: int = Field(default=0, ge=0)
    inconclusive: int = Field(default=0, ge=0)
    unlabelled: int = Field(default=0, ge=0)
    retired: int = Field(default=0, ge=0)
    reports: int = Field(default=0, ge=0)
    sources: int = Field(default=0, ge=0)
    """Sources that live claims cite."""


class Manifest(FileRecord):
    """What makes a version: its parent, its revisions and the state that results."""

    benchmark: str
    version: int = Field(ge=1)
    parent: int | None = Field(default=None, ge=1)
    parent_manifest: Hash | None = None
    """Hash of the parent's manifest file, so that history is a chain."""
    merged: int | None = Field(default=None, ge=1)
    """The second parent of a merge, whose history is this version's too."""
    merged_manifest: Hash | None = None
    """Hash of the second parent's manifest file."""
    revisions: int = Field(ge=0)
    revisions_hash: Hash
    """Of the bytes of ``revisions.jsonl``."""
    sources_hash: Hash
    """Of the bytes of ``sources.txt``."""
    state_hash: Hash
    """Of the state: see `deepfact.store.state`."""
    counts: Counts
    author: str = Field(min_length=1)
    date: AwareDatetime
    note: str = Field(min_length=1)

    @model_validator(mode="after")
    def _chained(self) -> Self:
        if (self.parent is None) != (self.parent_manifest is None):
            raise ValueError("a parent and the hash of its manifest go together")
        if self.parent is not None and self.parent >= self.version:
            raise ValueError(f"parent {self.parent} is not before version {self.version}")
        if (self.merged is None) != (self.merged_manifest is None):
            raise ValueError("a merged version and the hash of its manifest go together")
        if self.merged is not None and (
            self.parent is None or self.merged == self.parent or self.merged >= self.version
        ):
            raise ValueError(f"version {self.merged} cannot be the second parent")
        return self


class RecordedFile(Record):
    """What a file of a benchmark that no manifest covers was at some time, and who says so."""

    path: str = Field(pattern=r"^[^/\\].*$")
    """Within the benchmark, with ``/``."""
    hash: Hash | None
    """Of its bytes; None when it was taken away."""
    who: str = Field(min_length=1)
    when: AwareDatetime | None = None
    """None for what deepfact wrote itself while making the benchmark."""
    why: str = Field(min_length=1)


class Checksums(FileRecord):
    """``checksums.json``: the files that no manifest covers (card, keys, licence...), and every
    change of them that somebody answered for. The newest entry of a file counts."""

    entries: tuple[RecordedFile, ...]
    hash: Hash
    """Of the entries as canonical JSON, so that a damaged list is told from a damaged file."""


class Edit(Record):
    """How an unsupported micro-gold claim was made of a supported one: what was changed, from
    which words, to which."""

    kind: EditKind
    before: str
    """The words that were there; empty where words were only put in."""
    after: str
    """The words that are there now; empty where words were only taken out."""
    original: str = Field(min_length=1)
    """The supported claim's text."""
    original_id: Id | None = None
    seed: int | None = None
    """Of the generator; None where a person made or changed the edit."""


class KeyEntry(FileRecord):
    """The known answer to one claim (micro-gold, or the author's key), kept apart from it."""

    claim_id: Id
    label: Label
    stratum: str = ""
    needs: tuple[str, ...] = ()
    rationale: str = ""
    disputed: str = ""
    evidence: tuple[Evidence, ...] = ()
    qualifications: tuple[Qualification, ...] = ()
    edit: Edit | None = None
    """With a micro-gold claim that was made of a supported one."""
    assumed: bool = False
    """The label that the claim came into the benchmark with was assumed, for every claim alike: it
    is nobody's, until a round or a person gives one."""


class FurtherAnnotation(FileRecord):
    """Another annotator's label of a claim, which is not the benchmark's: a data set with several
    annotators has them all, and the benchmark's own label is one of them, or was made of them."""

    claim_id: Id
    annotation: Annotation


# --- votes and verdicts ------------------------------------------------------------------


class FailureReason(StrEnum):
    """Why there is no answer. None of these is ever turned into a label."""

    ERROR = "error"
    TIMEOUT = "timeout"
    RATE_LIMITED = "rate_limited"
    REFUSED = "refused"
    UNREADABLE = "unreadable"
    TRUNCATED = "truncated"
    NO_ANSWER = "no_answer"
    NO_SOURCE = "no_source"
    WRONG_CLAIM = "wrong_claim"
    BAD_QUOTE = "bad_quote"
    SELF_CONTRADICTION = "self_contradiction"
    TOO_FEW_VOTES = "too_few_votes"
    EXPIRED = "expired"
    BUDGET = "budget"


class PanelOutcome(StrEnum):
    """What a panel concludes. Unverified is neither of the other two."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNVERIFIED = "unverified"


class Usage(Record):
    """What an answer cost. ``usd`` is None where the price is unknown."""

    calls: int = Field(default=0, ge=0)
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    usd: float | None = None


class PromptRef(Record):
    """Which prompt was asked: its name, its version and the hash of its file."""

    name: str = Field(min_length=1)
    version: int = Field(ge=1)
    hash: Hash


class Grounds(StrEnum):
    """Why a vote does not let a claim stand. Counted apart: they are not the same finding."""

    CONTRADICTION = "contradiction"
    NOT_SUPPORTED_BY_QUOTE = "not_supported_by_quote"
    WEAK_OR_FABRICATED_SOURCE = "weak_or_fabricated_source"
    OUTDATED = "outdated"
    SOURCES_DISAGREE = "sources_disagree"
    """Credible sources of equal standing say different things."""
    DISPUTED_OR_QUALIFIED = "disputed_or_qualified"
    """All that a prompt tells which asks one question for both."""
    NONE = "none"


class Vote(Record):
    """One verifier call's answer on one claim, with its reasons."""

    index: int = Field(ge=0)
    """Which of the panel's votes, from 0."""
    label: Label
    refutes: bool = False
    """Whether it counts against the claim, by the rule that the prompt declares."""
    grounds: Grounds = Grounds.NONE
    contradiction: Contradiction | None = None
    qualifications: tuple[Qualification, ...] = ()
    rationale: str = ""
    evidence: tuple[Evidence, ...] = ()
    flags: tuple[str, ...] = ()
    """Failed checks that the config lets pass, each as ``check: what was wrong``."""
    usage: Usage = Usage()
    prompt: PromptRef | None = None
    model: str = ""
    persona: str = ""


class Abstention(Record):
    """A vote that did not come about, with the reason. It is neither for nor against."""

    index: int = Field(ge=0)
    reason: FailureReason
    detail: str = ""
    usage: Usage = Usage()
    prompt: PromptRef | None = None
    model: str = ""
    persona: str = ""


class Verdict(TaggedRecord):
    """What a verifier concludes on a claim."""

    kind: Literal["verdict"] = "verdict"
    claim_id: Id
    verifier: str = ""
    label: Label
    rationale: str = ""
    evidence: tuple[Evidence, ...] = ()
    qualifications: tuple[Qualification, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    scores: dict[Label, float] | None = None
    """Probability of each label, where the verifier gives one."""
    flags: tuple[str, ...] = ()
    usage: Usage = Usage()
    panel: PanelOutcome | None = None
    """With a panel of votes; None for verifiers that do not vote."""
    votes: tuple[Vote, ...] = ()
    abstentions: tuple[Abstention, ...] = ()
    rule: str = ""
    """How the votes were counted, by name and in full."""
    prompt: PromptRef | None = None

    @field_validator("scores")
    @classmethod
    def _in_one_order(cls, scores: dict[Label, float] | None) -> dict[Label, float] | None:
        """A verdict read back from a journal, whose keys are sorted, is written as before."""
        return scores if scores is None else dict(sorted(scores.items()))


class VerificationFailure(TaggedRecord):
    """No verdict, with the reason. Counted everywhere, never a label."""

    kind: Literal["failure"] = "failure"
    claim_id: Id
    verifier: str = ""
    reason: FailureReason
    detail: str = ""
    usage: Usage = Usage()
    flags: tuple[str, ...] = ()
    panel: PanelOutcome | None = None
    votes: tuple[Vote, ...] = ()
    abstentions: tuple[Abstention, ...] = ()
    rule: str = ""
    prompt: PromptRef | None = None


Outcome = Annotated[Verdict | VerificationFailure, Field(discriminator="kind")]
"""What comes of asking a verifier about one claim: exactly one of the two."""


# --- auditing ----------------------------------------------------------------------------


class Position(Record):
    """One side of a case, without any word of whose it is."""

    label: Label
    rationale: str = ""
    evidence: tuple[Evidence, ...] = ()
    qualifications: tuple[Qualification, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()


class Case(FileRecord):
    """What an auditor sees. It does not say which side is the benchmark's, nor why it is asked."""

    id: Id
    claim: Claim
    a: Position
    b: Position


class CaseKind(StrEnum):
    """Why a case was put before an auditor."""

    CHALLENGE = "challenge"
    CONTROL = "control"
    """Verifier and benchmark agree: measures auditors, and finds errors that both share."""


class CaseKey(FileRecord):
    """What the auditor must not see: kept apart from the case."""

    case_id: Id
    claim_id: Id
    kind: CaseKind
    incumbent: Literal["a", "b"]
    """The side that is the benchmark's."""
    challenger: str


class Decision(StrEnum):
    """An auditor's decision on a blind case."""

    A = "a"
    B = "b"
    NEITHER = "neither"
    """Neither side: the auditor gives a label of their own."""
    CANNOT_TELL = "cannot_tell"


class DivergenceKind(StrEnum):
    """What ails an annotation that an auditor does not bear out. Asked in transfer runs alone, of
    the side that the auditor decides against, whose it is unseen."""

    EVIDENCE_MISMATCH = "evidence_mismatch"
    """Its evidence and its label don't match."""
    NOT_VERIFIABLE = "not_verifiable"
    """The claim cannot be verified, or is ambiguous."""
    SUBJECTIVE = "subjective"
    """The claim is subjective, or underspecified."""
    NO_RATIONALE = "no_rationale"
    """There is no gold rationale that would settle it."""


class AuditVote(Record):
    """One answer of a model that audits, on one blind case."""

    index: int = Field(ge=0)
    decision: Decision
    label: Label | None = None
    """The label that it holds; None when it cannot tell."""
    rationale: str
    evidence: tuple[Evidence, ...] = ()
    contradiction: Contradiction | None = None
    queries: tuple[str, ...] = ()
    """What it searched the sources for before it decided."""
    flags: tuple[str, ...] = ()
    """Failed checks that the config lets pass, each as ``check: what was wrong``."""
    usage: Usage = Usage()
    prompt: PromptRef | None = None
    model: str = ""
    divergence: DivergenceKind | None = None
    """As in an adjudication."""


class Deliberation(Record):
    """How an auditor that is no single person came to its decision, with everybody's reasons."""

    rule: str
    """How votes or members were counted."""
    count: str
    """What they came to, in words."""
    split: bool = False
    """Whether valid votes, or members, differed."""
    decided_by: tuple[str, ...] = ()
    """Members of a panel whose decision it is, or the person it was escalated to."""
    votes: tuple[AuditVote, ...] = ()
    abstentions: tuple[Abstention, ...] = ()
    members: tuple[Adjudication, ...] = ()
    """Decisions of a panel's members, and of the person it was escalated to."""
    escalated_to: str = ""
    """Who was asked because the members came to no decision."""
    flags: tuple[str, ...] = ()
    """What was noticed in the case or its sources before anybody was asked."""
    usage: Usage = Usage()


class Adjudication(FileRecord):
    """An auditor's decision on a case, with the reason."""

    case_id: Id
    auditor: str = Field(min_length=1)
    decision: Decision
    label: Label | None = None
    """The auditor's own label, with ``neither`` only."""
    rationale: str = Field(min_length=1)
    evidence: tuple[Evidence, ...] = ()
    notes: str = ""
    when: AwareDatetime | None = None
    seconds: float | None = Field(default=None, ge=0)
    """Time on the case, for people."""
    contradictions: tuple[Contradiction, ...] = ()
    """What the auditor itself found disputed, with the words of the source."""
    deliberation: Deliberation | None = None
    """How it came about, where several votes or several auditors decided."""
    divergence: DivergenceKind | None = None
    """What ails the side decided against, in transfer runs; None where nobody asked, or when it is
    none of the kinds."""

    @model_validator(mode="after")
    def _label_with_neither(self) -> Self:
        if (self.decision is Decision.NEITHER) != (self.label is not None):
            raise ValueError("a label of the auditor's own goes with 'neither', and only with it")
        if not self.rationale.strip():
            raise ValueError("an adjudication needs a rationale")
        return self


class RulingKind(StrEnum):
    """What policy makes of the adjudications of one case."""

    UPHOLD = "uphold"
    REVISE = "revise"
    UNRESOLVED = "unresolved"


class Ruling(Record):
    """The outcome of a case once it is unblinded."""

    case_id: Id
    claim_id: Id
    kind: RulingKind
    label: Label | None = None
    """The label that stands after it; None when unresolved."""
    accepts_challenge: bool = False
    """The challenger's side won, and it is not the benchmark's label."""
    auditors: tuple[str, ...] = ()
    reason: str = "no reason recorded"
    """The deciding auditor's stored rationale, word for word."""


def parse_when(text: str) -> datetime:
    """An ISO 8601 date or time; without a zone it is read as UTC.

    Raises:
        ValueError: the text is no such date.
    """
    when = datetime.fromisoformat(text)
    return when if when.tzinfo else when.replace(tzinfo=UTC)
