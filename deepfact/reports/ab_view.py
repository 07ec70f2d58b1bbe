"""What the report of an A/B run shows, worked out of its record. No markup, no statistics.

Reasons are the stored ones, word for word. Pure: works on the record and on the sources that
it was given.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Mapping, Sequence

from deepfact.core.compare import ALL, qualified_group
from deepfact.experiment_records import (
    AbRecord,
    ArmRecord,
    AskedClaim,
    Comparison,
    Flip,
    LabelsFrom,
    OutcomeRates,
    PairedDifference,
)
from deepfact.records import Abstention, Label, Outcome, Source, Usage, Verdict, Vote
from deepfact.reports.quotes import Piece
from deepfact.reports.source_cards import Card, Note, Quote, SourceCards
from deepfact.reports.view import reason


@dataclass(frozen=True, slots=True)
class VoteView:
    """A vote with its reasons; votes that are the same in everything are shown once."""

    numbers: tuple[int, ...]
    """Which of the panel's votes, from 1."""
    refutes: bool
    label: str
    grounds: str
    reason: str
    model: str
    persona: str
    contradiction: Quote | None
    evidence: tuple[Quote, ...]
    notes: tuple[Note, ...]
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LostVote:
    """A vote that did not come about."""

    number: int
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class ArmView:
    """What one arm made of one claim."""

    arm: str
    outcome: str
    label: str
    """Empty where there is no verdict."""
    reason: str
    votes: tuple[VoteView, ...]
    lost: tuple[LostVote, ...]
    notes: tuple[Note, ...]

    @property
    def count(self) -> str:
        """The votes in words, such as ``0 for, 3 against``."""
        against = sum(len(vote.numbers) for vote in self.votes if vote.refutes)
        valid = sum(len(vote.numbers) for vote in self.votes)
        words = f"{valid - against} for, {against} against"
        return f"{words}, {len(self.lost)} without an answer" if self.lost else words


@dataclass(frozen=True, slots=True)
class FlipView:
    """A claim whose outcome differs, with both arms' reasons."""

    flip: Flip
    asked: AskedClaim
    first: ArmView
    other: ArmView


@dataclass(frozen=True, slots=True)
class Latency:
    """How long live calls took, in seconds. Not in the record: it is never the same twice."""

    calls: int
    median: float
    slow: float
    """Nineteen of twenty calls took no longer."""


def latency_of(seconds: Sequence[float]) -> Latency | None:
    """The latency of an arm; None when it made no live call."""
    if not seconds:
        return None
    ordered = sorted(seconds)
    return Latency(len(ordered), median(ordered), ordered[-(-95 * len(ordered) // 100) - 1])


FROM = {
    LabelsFrom.VERSION: "the labels of the version",
    LabelsFrom.KEY: "a key of the benchmark",
    LabelsFrom.FILE: "the file of claims",
    LabelsFrom.NOWHERE: "nowhere: the claims have no labels",
}


class AbView:
    """What both templates are given."""

    def __init__(
        self,
        record: AbRecord,
        sources: Mapping[str, Source],
        seconds: Mapping[str, Sequence[float]],
    ) -> None:
        """Reads the record once; ``seconds`` are those of each arm's live calls."""
        self.record = record
        self.labels_from = FROM[record.labels_from]
        if record.spec.key:
            self.labels_from = f"the key “{record.spec.key}” of the benchmark"
        self.groups = [rates.group for rates in record.arms[0].rates]
        self.latency = {arm.arm: latency_of(seconds.get(arm.arm, ())) for arm in record.arms}
        self.cards = SourceCards(sources)
        self._claims = {one.claim.id: one for one in record.claims}
        self._outcomes = {
            arm.arm: {outcome.claim_id: outcome for outcome in arm.outcomes[0]}
            for arm in record.arms
        }
        self.flips = {
            comparison.other: [self._flip(comparison, flip) for flip in comparison.flips]
            for comparison in record.comparisons
        }

    def rates(self, arm: ArmRecord, group: str) -> OutcomeRates | None:
        """An arm's rates in a group."""
        return next((rates for rates in arm.rates if rates.group == group), None)

    def whole(self, comparison: Comparison) -> PairedDifference:
        """The difference over all claims."""
        found = comparison.difference(ALL)
        assert found is not None  # noqa: S101 -- this group is always there
        return found

    @property
    def loosening_groups(self) -> list[str]:
        """The groups of the loosening check, those that have claims."""
        names = [
            name
            for label in (Label.CONTRADICTORY, Label.SUPPORTED)
            for name in (str(label), qualified_group(label, True), qualified_group(label, False))
        ]
        return [name for name in names if name in self.groups]

    @property
    def shown_sources(self) -> list[tuple[Card, list[Piece]]]:
        """The sources that are quoted, with their text."""
        return self.cards.shown()

    @property
    def checks_loosening(self) -> bool:
        """Whether there are contradictory claims to check it on."""
        return str(Label.CONTRADICTORY) in self.groups

    def loosened(self, comparison: Comparison) -> list[Flip]:
        """Contradictory claims that the other arm newly confirms."""
        return [flip for flip in comparison.flips if flip.false_confirmation]

    def _flip(self, comparison: Comparison, flip: Flip) -> FlipView:
        return FlipView(
            flip=flip,
            asked=self._claims[flip.claim_id],
            first=self._arm(comparison.first, flip.claim_id, str(flip.first)),
            other=self._arm(comparison.other, flip.claim_id, str(flip.other)),
        )

    def _arm(self, arm: str, claim_id: str, word: str) -> ArmView:
        outcome: Outcome = self._outcomes[arm][claim_id]
        verdict = outcome if isinstance(outcome, Verdict) else None
        why = verdict.rationale if verdict else getattr(outcome, "detail", "")
        return ArmView(
            arm=arm,
            outcome=word,
            label=str(verdict.label) if verdict else "",
            reason=reason(why),
            votes=tuple(self._vote(numbers, vote) for numbers, vote in _merged(outcome.votes)),
            lost=tuple(map(_lost, outcome.abstentions)),
            notes=tuple(map(self.cards.qualification, verdict.qualifications)) if verdict else (),
        )

    def _vote(self, numbers: tuple[int, ...], vote: Vote) -> VoteView:
        disputed = vote.contradiction
        return VoteView(
            numbers=numbers,
            refutes=vote.refutes,
            label=str(vote.label),
            grounds=str(vote.grounds).replace("_", " "),
            reason=reason(vote.rationale),
            model=vote.model,
            persona=vote.persona,
            contradiction=None if disputed is None else self.cards.contradiction(disputed),
            evidence=tuple(map(self.cards.evidence, vote.evidence)),
            notes=tuple(map(self.cards.qualification, vote.qualifications)),
            flags=vote.flags,
        )


def _merged(votes: Sequence[Vote]) -> list[tuple[tuple[int, ...], Vote]]:
    """Votes that differ in nothing but their number and cost put together, numbers from 1."""
    kept: dict[str, tuple[tuple[int, ...], Vote]] = {}
    for vote in votes:
        same = vote.model_copy(update={"index": 0, "usage": Usage()}).canonical()
        numbers, first = kept.get(same, ((), vote))
        kept[same] = ((*numbers, vote.index + 1), first)
    return list(kept.values())


def _lost(abstention: Abstention) -> LostVote:
    return LostVote(
        abstention.index + 1, str(abstention.reason).replace("_", " "), reason(abstention.detail)
    )
