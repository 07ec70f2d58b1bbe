"""The embedded default verifier: reads the cited sources, compares elements, weighs them.

What a claim cites has to carry it. In a benchmark of a few hundred sources, the others are searched
too, but only for what is at odds with the cited ones: another number for the same thing, or
another source than the one credited.

Deterministic, without network, key or any heavy model. It never takes generated text for
evidence, never concludes "contradictory" without naming the disputed words and quoting the
source, and gives a failure, not a label, when it has nothing to read.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Literal, Mapping

from deepfact.errors import InputError
from deepfact.reading.compare import Comparison, compare
from deepfact.reading.crosscheck import AT_ODDS, crosscheck
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
SLACK = 1e-6
"""What the sum of label shares may be off."""


class LocalVerifier:
    """Judges a claim by its sources alone.

    Args:
        scope: ``cited`` reads the sources that the claim cites; when it cites none, or none that
            the benchmark holds, it falls back to all sources, for a claim without citations can
            still be checked. A claim whose cited sources are all generated text is not checked
            against others: it fails with ``no_source``. ``all`` goes on to every source when the
            cited ones leave a claim inconclusive.
        passages: how many passages are read closely for a claim.
        libraries: how many sets of sources are kept taken apart in memory.
        crosscheck: sources of a benchmark up to which all of them are searched for what is at odds
            with the cited ones; 0 for never. For collections about one matter: where documents are
            about different things, their figures are at odds only by the look of it.
        shares: how often each label is expected (the class prior), where that is known, as by a
            sample judged by hand: three positive numbers whose sum is 1. The probabilities are
            then corrected for it, and the likeliest label is given, since what a wrong label costs
            is no longer guessed; still none is called contradictory without words to name.

    Raises:
        InputError: shares that are none.
    """

    name = "local"

    def __init__(
        self,
        scope: Literal["cited", "all"] = "cited",
        passages: int = 5,
        libraries: int = 64,
        crosscheck: int = 0,
        shares: dict[Label, float] | None = None,
    ) -> None:
        self.scope = scope
        self.passages = max(1, passages)
        self.crosscheck = crosscheck
        self.shares = None if shares is None else _checked(shares)
        self._kept: OrderedDict[tuple[str, ...], Library] = OrderedDict()
        self._limit = max(1, libraries)
        self._shared: tuple[Mapping[str, Source], Library] | None = None

    def verify(self, claim: Claim, context: Context) -> Verdict | VerificationFailure:
        """The verdict on ``claim``; a failure with reason ``no_source`` when nothing is there."""
        comparison = self.compare(claim, context)
        if comparison is None:
            return VerificationFailure(
                claim_id=claim.id,
                verifier=self.name,
                reason=FailureReason.NO_SOURCE,
                detail="the claim cites no text that may serve as evidence",
            )
        verdict = self._conclude(claim, comparison)
        if self.scope == "all" and verdict.label is Label.INCONCLUSIVE and not _at_odds(comparison):
            wider = self._compare(claim, self._all(context))
            if wider is not None:
                verdict = self._conclude(claim, wider)
        return verdict

    def compare(self, claim: Claim, context: Context) -> Comparison | None:
        """The claim held against its sources, and checked against others where there are few; None
        when there is nothing to read."""
        cited = context.cited(claim)
        if not cited:
            return self._compare(claim, self._all(context))
        sources = [source for source in cited if source.role not in NOT_EVIDENCE]
        if not sources and self.scope == "all":
            return self._compare(claim, self._all(context))
        comparison = self._compare(claim, self._library(sources))
        if comparison is not None and len(sources) < len(context.sources) <= self.crosscheck:
            ids = {source.id for source in sources}
            comparison = crosscheck(comparison, self._all(context), ids)
        return comparison

    def _compare(self, claim: Claim, library: Library) -> Comparison | None:
        if library.size == 0:
            return None
        query = f"{claim.text} {claim.context}" if claim.context else claim.text
        return compare(claim.text, library, query=query, limit=self.passages)

    def _all(self, context: Context) -> Library:
        """One library of all the benchmark's sources, built once."""
        if self._shared is None or self._shared[0] is not context.sources:
            sources = [s for s in context.sources.values() if s.role not in NOT_EVIDENCE]
            self._shared = context.sources, Library(sources)
        return self._shared[1]

    def _library(self, sources: list[Source]) -> Library:
        key = tuple(sorted(source.id for source in sources))
        library = self._kept.pop(key, None) or Library(sources)
        self._kept[key] = library
        while len(self._kept) > self._limit:
            self._kept.popitem(last=False)
        return library

    def _conclude(self, claim: Claim, comparison: Comparison) -> Verdict:
        scores = shipped_weights().probabilities(features(comparison))
        disputed = nameable_dispute(comparison)
        if self.shares is None:
            label = concluded(scores, nameable=disputed is not None)
        else:
            scores = shipped_weights().told(scores, self.shares)
            label = likeliest(scores, nameable=disputed is not None)
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


def _at_odds(comparison: Comparison) -> bool:
    """Whether a claim is open because sources conflict: reading more would settle nothing."""
    return any(finding.conflict >= AT_ODDS for finding in comparison.findings)


def concluded(scores: Mapping[Label, float], *, nameable: bool) -> Label:
    """The label that follows from the probabilities.

    Contradictory only when the disputed words can be named and it is likelier than the other two
    together, for a refutation weighs more than an open verdict; else the likelier of the two.
    """
    if nameable and scores[Label.CONTRADICTORY] > REFUTES:
        return Label.CONTRADICTORY
    supported = scores[Label.SUPPORTED] > scores[Label.INCONCLUSIVE]
    return Label.SUPPORTED if supported else Label.INCONCLUSIVE


def likeliest(scores: Mapping[Label, float], *, nameable: bool) -> Label:
    """The likeliest label; of the other two when the disputed words cannot be named."""
    open_to = [each for each in scores if nameable or each is not Label.CONTRADICTORY]
    return max(open_to, key=lambda each: scores[each])


def _checked(shares: Mapping[Label, float]) -> dict[Label, float]:
    """Label shares as given, when they are some."""
    if (
        set(shares) != set(Label)
        or not all(0 < share < 1 for share in shares.values())
        or abs(sum(shares.values()) - 1) > SLACK
    ):
        said = ", ".join(f"{label}: {share:g}" for label, share in shares.items())
        raise InputError(
            f"these are no shares of the three labels: {said or 'none'}",
            where="local verifier, option 'shares'",
            fix="give supported, contradictory and inconclusive a number above 0 each, sum 1",
        )
    return dict(shares)


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
