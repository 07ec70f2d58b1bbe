"""Verifiers that are too simple to trust: what any other one must beat.

Their thresholds are fixed here: those of the best weighted accuracy, supported against the
rest, on the local verifier's training mixture, never on a set that anything is measured on.
None of them ever concludes "contradictory", for none can name a disputed part.
"""

from __future__ import annotations

from deepfact.records import (
    Claim,
    Evidence,
    FailureReason,
    Label,
    Source,
    SourceRole,
    Stance,
    Verdict,
    VerificationFailure,
)
from deepfact.retrievers.base import Passage
from deepfact.retrievers.bm25 import BM25Retriever
from deepfact.retrievers.words import stems
from deepfact.verifiers.base import Context

OVERLAP = 0.45
"""Share of the claim's content words in one sentence that `OverlapVerifier` calls supported."""
RETRIEVAL = 0.28
"""BM25 score per content word of the claim from which `RetrievalVerifier` says supported."""


class MajorityVerifier:
    """Gives every claim the same label, unread.

    Args:
        label: the label; by default what most claims of most benchmarks are.
    """

    name = "majority"

    def __init__(self, label: Label = Label.SUPPORTED) -> None:
        self.label = label

    def verify(self, claim: Claim, context: Context) -> Verdict:  # noqa: ARG002
        """Always the same label."""
        return Verdict(
            claim_id=claim.id,
            verifier=self.name,
            label=self.label,
            rationale=f"Every claim is called {self.label}; nothing was read.",
        )


class OverlapVerifier:
    """Supported when one cited sentence holds enough of the claim's content words.

    Args:
        threshold: the share of the claim's content words that is enough.
    """

    name = "overlap"

    def __init__(self, threshold: float = OVERLAP) -> None:
        self.threshold = threshold

    def verify(self, claim: Claim, context: Context) -> Verdict | VerificationFailure:
        """Supported or inconclusive; a failure when there is nothing to read."""
        retriever = BM25Retriever(readable(claim, context))
        if not retriever.passages:
            return nothing_to_read(claim, self.name)
        wanted = set(stems(claim.text))
        shares = [
            len(wanted & set(retriever.stems_of(at))) / max(1, len(wanted))
            for at in range(len(retriever.passages))
        ]
        best = max(range(len(shares)), key=lambda at: (shares[at], -at))
        share = shares[best]
        reason = (
            f"{share:.0%} of the claim's content words stand in one sentence; "
            f"{self.threshold:.0%} would do."
        )
        return _verdict(claim, self.name, share >= self.threshold, reason, retriever.passages[best])


class RetrievalVerifier:
    """Supported when the best BM25 score over the cited sentences is high enough.

    Args:
        threshold: the score per content word of the claim that is enough.
    """

    name = "retrieval"

    def __init__(self, threshold: float = RETRIEVAL) -> None:
        self.threshold = threshold

    def verify(self, claim: Claim, context: Context) -> Verdict | VerificationFailure:
        """Supported or inconclusive; a failure when there is nothing to read."""
        retriever = BM25Retriever(readable(claim, context))
        if not retriever.passages:
            return nothing_to_read(claim, self.name)
        found = retriever.search(claim.text, limit=1)
        score = found[0].score / max(1, len(stems(claim.text))) if found else 0.0
        reason = (
            f"The best sentence scores {score:.2f} per content word; {self.threshold:.2f} would do."
        )
        best = found[0] if found else retriever.passages[0]
        return _verdict(claim, self.name, score >= self.threshold, reason, best)


def readable(claim: Claim, context: Context) -> list[Source]:
    """What a claim may be judged by: its cited sources, or all when it cites none that exist;
    never generated text."""
    cited = context.cited(claim) or list(context.sources.values())
    return [s for s in cited if s.role not in (SourceRole.GENERATED, SourceRole.MODEL_ANSWER)]


def nothing_to_read(claim: Claim, verifier: str) -> VerificationFailure:
    """The failure of a claim without any source text."""
    return VerificationFailure(
        claim_id=claim.id,
        verifier=verifier,
        reason=FailureReason.NO_SOURCE,
        detail="there is no source text that may serve as evidence",
    )


def _verdict(claim: Claim, verifier: str, enough: bool, reason: str, best: Passage) -> Verdict:
    evidence = Evidence(
        source=best.source,
        quote=best.text,
        stance=Stance.SUPPORTS if enough else Stance.CONTEXT,
        span=best.span,
    )
    return Verdict(
        claim_id=claim.id,
        verifier=verifier,
        label=Label.SUPPORTED if enough else Label.INCONCLUSIVE,
        rationale=reason,
        evidence=(evidence,),
    )
