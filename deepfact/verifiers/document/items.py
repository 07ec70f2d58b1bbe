"""What is asked about: a claim under a short id, with what is known of it so far.

An item lives for one run over one claim. It is written to by the pipeline alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from deepfact.providers.base import CallFailed
from deepfact.records import Claim, Source, Stance
from deepfact.trace_records import (
    TracedCall,
    TracedDocument,
    TracedElement,
    TracedExtract,
    TracedJudgement,
    TracedQuery,
)


@dataclass(frozen=True)
class Asked:
    """What a model sees of a claim or of a fact of it."""

    id: str
    """Of its words, not of its place: see `deepfact.verifiers.panel.verifier.ask_id`."""
    text: str
    context: str = ""
    around: str = ""
    """Sentences of the report next to it; they are not evidence."""
    elements: tuple[TracedElement, ...] = ()


@dataclass
class Item:
    """One claim on its way to a verdict."""

    claim: Claim
    asked: Asked
    elements: tuple[TracedElement, ...] = ()
    queries: list[TracedQuery] = field(default_factory=list)
    documents: dict[str, TracedDocument] = field(default_factory=dict)
    """By tag."""
    extracts: list[TracedExtract] = field(default_factory=list)
    judgements: list[TracedJudgement] = field(default_factory=list)
    calls: list[TracedCall] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failure: CallFailed | None = None

    @property
    def alive(self) -> bool:
        """Whether nothing has failed yet."""
        return self.failure is None

    @property
    def shown(self) -> Asked:
        """The claim with its elements."""
        one = self.asked
        return Asked(one.id, one.text, one.context, one.around, self.elements)

    @property
    def counted(self) -> list[TracedExtract]:
        """The extracts that stand in their source."""
        return [one for one in self.extracts if one.id]

    @property
    def open_elements(self) -> list[TracedElement]:
        """Elements for which no passage was found that settles anything."""
        settled = {one.element for one in self.counted if one.stance is not Stance.CONTEXT}
        return [one for one in self.elements if one.id not in settled]

    def fail(self, failure: CallFailed, step: str) -> None:
        """Give up on this claim; the first reason stands."""
        if self.failure is None:
            self.failure = CallFailed(failure.reason, f"{step}: {failure.detail}")

    def note(self, text: str) -> None:
        """Keep a remark, once."""
        if text not in self.notes:
            self.notes.append(text)


@dataclass(frozen=True)
class Document:
    """A document in question, under the tag that it has in this run."""

    tag: str
    source: Source
    found_in: str
    snippets: tuple[str, ...]
    """What the searches found in it, best first."""
    round: int
