"""The gate: whether the evidence in a ledger carries a report.

Decides from the skeptic's findings and from what came of verifying and writing, by rule and
outside of any writer. A report is complete when nothing of severity error is left. It never
picks a side of a contradiction, and what explains a refutation is a stored reason or the words
"no reason recorded".
"""

from __future__ import annotations

from collections.abc import Sequence

from deepfact.core.skeptic import examine
from deepfact.records import (
    Outcome,
    Qualification,
    QualificationKind,
    SourceRole,
    Verdict,
)
from deepfact.research_records import (
    ClaimStanding,
    ContradictionState,
    Finding,
    Ledger,
    Method,
    ReportCounts,
    ReportStatus,
    ResearchClaim,
    ResearchReport,
    Severity,
    SkepticResult,
    Standing,
    Thresholds,
    WrittenSentence,
    standing_of,
)
from deepfact.version import VERSION

NO_REASON = "no reason recorded"

_KINDS = {
    Method.DIFFERENT_WORKLOAD: QualificationKind.SCOPE,
    Method.DIFFERENT_DATE: QualificationKind.LATER_DEVELOPMENT,
    Method.DIFFERENT_VERSION: QualificationKind.SCOPE,
    Method.DIFFERENT_MEASUREMENT: QualificationKind.METHOD_CHANGE,
    Method.DIFFERENT_SCOPE: QualificationKind.SCOPE,
    Method.DIFFERENT_DEFINITION: QualificationKind.DEFINITION,
    Method.CAVEAT: QualificationKind.OTHER,
}
"""The kind of qualification that a decision puts beside the claims it is about."""


def compile_report(
    ledger: Ledger,
    thresholds: Thresholds | None = None,
    *,
    written: Sequence[WrittenSentence] = (),
    no_prose: str = "",
) -> ResearchReport:
    """The report of a ledger, with its status.

    Args:
        ledger: what is known.
        thresholds: what the skeptic holds against it.
        written: prose, already checked sentence by sentence.
        no_prose: why there is none, when prose was asked for.
    """
    limits = thresholds or Thresholds()
    skeptic = examine(ledger, limits)
    rejected = [_rejected(sentence) for sentence in written if sentence.problems]
    if no_prose:
        rejected.append(_unwritten(no_prose))
    if rejected:
        skeptic = SkepticResult(
            ok=False,
            clusters=skeptic.clusters,
            contradictions=skeptic.contradictions,
            findings=(*rejected, *skeptic.findings),
        )
    standings = tuple(standings_of(ledger, skeptic))
    return ResearchReport(
        status=ReportStatus.COMPLETE if skeptic.ok else ReportStatus.INCOMPLETE,
        deepfact=VERSION,
        question=ledger.question,
        as_of=ledger.as_of,
        ledger_hash=ledger.content_hash(),
        thresholds=limits,
        counts=_counts(ledger, skeptic, standings),
        skeptic=skeptic,
        standings=standings,
        cards=ledger.cards,
        withdrawn=tuple(sorted(ledger.withdrawn)),
        written=tuple(written),
    )


def standings_of(ledger: Ledger, skeptic: SkepticResult) -> list[Standing]:
    """Where each claim stands. Claims of withdrawn cards are left out: nobody says them now."""
    outcomes = {outcome.claim_id: outcome for outcome in ledger.outcomes}
    return [
        _standing(claim, outcomes.get(claim.id), skeptic)
        for claim in ledger.claims
        if claim.card not in ledger.withdrawn
    ]


def _standing(claim: ResearchClaim, outcome: Outcome | None, skeptic: SkepticResult) -> Standing:
    standing = standing_of(outcome)
    mine = [one for one in skeptic.contradictions if claim.id in one.claims]
    return Standing(
        claim=claim,
        standing=standing,
        vote=_vote(outcome),
        reasons=_reasons(outcome, standing),
        contradictions=outcome.contradictions if isinstance(outcome, Verdict) else (),
        qualifications=_qualifications(claim, outcome, skeptic),
        disputed=tuple(one.id for one in mine if one.state is not ContradictionState.RESOLVED),
    )


def _vote(outcome: Outcome | None) -> str:
    """The panel's vote in words, with its valid votes; empty where nobody voted."""
    if outcome is None or not (outcome.votes or outcome.abstentions):
        return ""
    against = sum(vote.refutes for vote in outcome.votes)
    words = f"{against} of {len(outcome.votes)} valid votes refute"
    return f"{words}, {len(outcome.abstentions)} abstained" if outcome.abstentions else words


def _reasons(outcome: Outcome | None, standing: ClaimStanding) -> tuple[str, ...]:
    """Why a claim stands where it does, in the words that were stored."""
    if outcome is None:
        return ()
    if standing is ClaimStanding.REFUTED and outcome.votes:
        stated = [vote.rationale for vote in outcome.votes if vote.refutes]
    elif isinstance(outcome, Verdict):
        stated = [outcome.rationale]
    else:
        stated = [f"{outcome.reason}: {outcome.detail}" if outcome.detail else outcome.reason]
    kept = tuple(dict.fromkeys(reason for reason in stated if reason.strip()))
    return kept or (NO_REASON,)


def _qualifications(
    claim: ResearchClaim, outcome: Outcome | None, skeptic: SkepticResult
) -> tuple[Qualification, ...]:
    """All that a reader must know along with a claim, wherever it was recorded."""
    found = list(outcome.qualifications) if isinstance(outcome, Verdict) else []
    if claim.caveat:
        found.append(Qualification(kind=QualificationKind.OTHER, text=claim.caveat))
    found += [
        Qualification(kind=QualificationKind.SCOPE, text=f"{kind}: {value}")
        for kind, value in claim.conditions.items()
    ]
    for one in skeptic.contradictions:
        decided = one.resolution
        if claim.id in one.claims and decided is not None and decided.method in _KINDS:
            found.append(Qualification(kind=_KINDS[decided.method], text=decided.why))
    return tuple(dict.fromkeys(found))


def _rejected(sentence: WrittenSentence) -> Finding:
    return Finding(
        code="written_sentence_rejected",
        severity=Severity.ERROR,
        message=f"{'; '.join(sentence.problems)}: {sentence.text!r}",
        measured=", ".join(problem.partition(":")[0] for problem in sentence.problems),
        claims=tuple(cite for cite in sentence.cites if cite),
        todo="Write the sentence from the ledger again, or leave it out.",
    )


def _unwritten(why: str) -> Finding:
    return Finding(
        code="prose_not_written",
        severity=Severity.ERROR,
        message=f"the writer gave no prose: {why}",
        todo="Ask again, or make the report without a writer.",
    )


def _counts(ledger: Ledger, skeptic: SkepticResult, standings: Sequence[Standing]) -> ReportCounts:
    primary = [card for card in ledger.cards if card.source.role is SourceRole.PRIMARY]
    numbers = {str(kind): sum(one.standing is kind for one in standings) for kind in ClaimStanding}
    return ReportCounts(
        source_cards=len(ledger.cards),
        primary_source_cards=len(primary),
        extracted_claims=len(ledger.claims),
        clusters=len(skeptic.clusters),
        contradictions=len(skeptic.contradictions),
        **numbers,
    )
