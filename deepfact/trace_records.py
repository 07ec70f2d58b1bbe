"""What a verifier that works in steps did for one claim, so that a reader can follow it.

As in `deepfact.records`: frozen, unknown keys refused, no I/O, no clock. A trace explains an
outcome and is no part of it: scores, cases and challenges never read one. One line of
``traces.jsonl`` holds one trace; of several for a claim the last one counts.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from deepfact.records import (
    FailureReason,
    FileRecord,
    Hash,
    Id,
    Label,
    PromptRef,
    Record,
    Span,
    Stance,
    Usage,
)


class TracedElement(Record):
    """A part of the claim that can be right or wrong by itself: an element, or an atomic fact."""

    id: str
    """Such as ``E1``."""
    text: str
    kind: Literal["fact", "attribution"] = "fact"


class TracedQuery(Record):
    """A search, and what it brought."""

    round: int = Field(ge=0)
    """0 for those of the plan; then that of the follow-up."""
    text: str
    found: tuple[Hash, ...] = ()
    """Sources of its passages, best first."""


class TracedDocument(Record):
    """A document that came into question."""

    tag: str
    """The short id under which the model saw it, such as ``S1``."""
    source: Hash
    title: str
    url: str = ""
    found_in: str = ""
    """``cited``, ``benchmark`` or ``search``."""
    round: int = Field(default=0, ge=0)
    chosen: bool = False
    """Whether it was to be read for this claim."""
    read: int = Field(default=0, ge=0)
    """Characters of it that were read."""
    characters: int = Field(default=0, ge=0)
    """Characters that it has."""


class TracedExtract(Record):
    """A passage that was copied out of a document for an element."""

    id: str
    """Such as ``Q1``; empty for one that does not count."""
    element: str
    source: Hash
    quote: str
    stance: Stance
    says: str = ""
    """What the reader of the document said of it."""
    span: Span | None = None
    """Where it stands in the source; None when it is not there, and then it does not count."""


class TracedJudgement(Record):
    """What was concluded on one element, and from which passages."""

    element: str
    label: Label
    reason: str
    disputed: str = ""
    quotes: tuple[str, ...] = ()
    """Ids of the extracts it rests on."""


class TracedCall(Record):
    """A question to the model."""

    step: str
    """Such as ``document/read``."""
    prompt: PromptRef
    claims: int = Field(ge=1)
    """How many claims it was asked about at once."""
    about: str = ""
    """The document that was read, such as ``S1``."""
    usage: Usage = Usage()
    """Of the whole call, not of this claim's share in it."""
    failed: FailureReason | None = None


class Trace(FileRecord):
    """All that was done for one claim, in the order of the steps."""

    claim_id: Id
    verifier: str
    """Kind of verifier."""
    together_with: tuple[Id, ...] = ()
    """Claims that were checked in the same group."""
    elements: tuple[TracedElement, ...] = ()
    queries: tuple[TracedQuery, ...] = ()
    documents: tuple[TracedDocument, ...] = ()
    extracts: tuple[TracedExtract, ...] = ()
    judgements: tuple[TracedJudgement, ...] = ()
    label: Label | None = None
    """None when there is no verdict."""
    failure: str = ""
    """Why there is none."""
    calls: tuple[TracedCall, ...] = ()
    usage: Usage = Usage()
    """This claim's share of all calls."""
    notes: tuple[str, ...] = ()
    """What was noticed on the way: answers that named no claim, documents cut, budget spent."""
