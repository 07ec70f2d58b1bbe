"""The embedded default verifier: reads the cited sources, compares elements, weighs them.

Deterministic, without network, key or any heavy model. It never takes generated text for
evidence, never concludes "contradictory" without naming the disputed words and quoting the
source, and gives a failure, not a label, when it has nothing to read.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Literal, Mapping

from deepfact.reading.compare import Comparison, compare
from deepfact.reading.findings import Finding, Status
from deepfact.reading.library import Library, Reading
from deepfact.records import (
    Claim,
    Contradiction,
    Evidence,
    FailureReason,
    Label,
    Source,
    SourceRole,
    Stance,
    Verdict,
    VerificationFailure,
)
from deepfact.verifiers.base import Context
from deepfact.verifiers.local.features import features
from deepfact.verifiers.local.model import shipped_weights
from deepfact.verifiers.local.qualify import qualifications
from deepfact.verifiers.local.rationale import rationale

NOT_EVIDENCE = (SourceRole.GENERATED, SourceRole.MODEL_ANSWER)
NAMEABLE = 0.3
"""How strong a dispute must be for its words to be named as wrong."""


REFUTES = 0.5
"""Probability that a contradiction must exceed."""


class LocalVerifier:
    """Judges a claim by its sources alone.

    Args:
        scope: ``cited`` reads the sources that the claim cites; when it cites none, or none that
            the benchmark holds, it falls back to all sources, for a claim without citations can
            still be checked. A claim whose cited sources are all generated text is not checked
            against others: it fails with ``no_source``. ``all`` reads every source, cited ones
            first.
        passages: how many passages are read closely for a claim.
        libraries: how many sets of sources are kept taken apart in memory.
    """

    name = "local"

    def __init__(
        self,
        scope: Literal["cited", "all"] = "cited",
        passages: int = 5,
        libraries: int = 64,
    ) -> None:
        self.scope = scope
        self.passages = max(1, passages)
        self._kept: OrderedDict[tuple[str, ...], Library] = OrderedDict()
        self._limit = max(1, libraries)

    def verify(self, claim: Claim, context: Context) -> Verdict | VerificationFailure:
        """The verdict on ``claim``; a failure with reason ``no_source`` when nothing is there."""
        sources = self._sources(claim, context)
        library = self._library(sources)
        if library.size == 0:
            detail = "the claim cites no text that may serve as evidence"
            return VerificationFailure(
                claim_id=claim.id,
                verifier=self.name,
                reason=FailureReason.NO_SOURCE,
                detail=detail,
            )
        query = f"{claim.text} {claim.context}" if claim.context else claim.text
        comparison = compare(claim.text, library, query=query, limit=self.passages)
        return self._conclude(claim, comparison)

    def _sources(self, claim: Claim, context: Context) -> list[Source]:
        cited = context.cited(claim)
        if self.scope == "all":
            seen = {source.id for source in cited}
            cited += [source for key, source in context.sources.items() if key not in seen]
        elif not cited:
            cited = list(context.sources.values())
        return [source for source in cited if source.role not in NOT_EVIDENCE]

    def _library(self, sources: list[Source]) -> Library:
        key = tuple(source.id for source in sources)
        library = self._kept.pop(key, None) or Library(sources)
        self._kept[key] = library
        while len(self._kept) > self._limit:
            self._kept.popitem(last=False)
        return library

    def _conclude(self, claim: Claim, comparison: Comparison) -> Verdict:
        scores = shipped_weights().probabilities(features(comparison))
        disputed = nameable_dispute(comparison)
        label = concluded(scores, nameable=disputed is not None)
        if comparison.best is None or comparison.best[1].near == 0.0:
            label = Label.INCONCLUSIVE  # nothing in common: there is nothing to weigh
        if label is not Label.CONTRADICTORY:
            disputed = None
        return Verdict(
            claim_id=claim.id,
            verifier=self.name,
            label=label,
            rationale=rationale(label, comparison, disputed),
            evidence=_evidence(label, comparison, disputed),
            qualifications=qualifications(comparison) if label is Label.SUPPORTED else (),
            contradictions=_contradictions(disputed),
            scores={each: round(value, 6) for each, value in scores.items()},
        )


def concluded(scores: Mapping[Label, float], *, nameable: bool) -> Label:
    """The label that follows from the probabilities.

    Contradictory only when the disputed words can be named and it is likelier than the other two
    together, for a refutation weighs more than an open verdict; else the likelier of the two.
    """
    if nameable and scores[Label.CONTRADICTORY] > REFUTES:
        return Label.CONTRADICTORY
    supported = scores[Label.SUPPORTED] > scores[Label.INCONCLUSIVE]
    return Label.SUPPORTED if supported else Label.INCONCLUSIVE


def nameable_dispute(comparison: Comparison) -> Finding | None:
    """The strongest dispute that names words of the claim and quotes a passage, or None."""
    candidates = [
        finding
        for finding in comparison.findings
        if finding.against is not None
        and finding.against.reading is not None
        and finding.text.strip()
        and (finding.status is Status.DISPUTED or finding.dispute >= NAMEABLE)
    ]
    return max(
        candidates,
        key=lambda finding: (finding.status is Status.DISPUTED, finding.dispute, -finding.start),
        default=None,
    )


def _contradictions(disputed: Finding | None) -> tuple[Contradiction, ...]:
    if disputed is None or disputed.against is None or disputed.against.reading is None:
        return ()
    passage = disputed.against.reading.passage
    return (Contradiction(disputed=disputed.text, source=passage.source, quote=passage.text),)


def _evidence(
    label: Label, comparison: Comparison, disputed: Finding | None
) -> tuple[Evidence, ...]:
    """The passages that the conclusion rests on, each once, with their stance."""
    rests_on: list[tuple[Reading, Stance]] = []
    if disputed is not None and disputed.against and disputed.against.reading:
        rests_on.append((disputed.against.reading, Stance.CONTRADICTS))
    stance = Stance.SUPPORTS if label is Label.SUPPORTED else Stance.CONTEXT
    if comparison.best is not None:
        rests_on.append((comparison.best[0], stance))
    if label is Label.SUPPORTED:
        rests_on += [
            (finding.bearing.reading, stance)
            for finding in comparison.of(Status.COVERED)
            if finding.bearing and finding.bearing.reading and finding.bearing.fit >= 0.4
        ]
    found: dict[tuple[str, int], Evidence] = {}
    for reading, how in rests_on:
        passage = reading.passage
        found.setdefault(
            (passage.source, passage.span.start),
            Evidence(source=passage.source, quote=passage.text, stance=how, span=passage.span),
        )
    return tuple(found.values())[:3]
