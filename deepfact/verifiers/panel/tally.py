"""From votes and abstentions to the outcome on a claim. Pure.

Every vote and abstention is kept in the outcome, with its reasons. What explains the outcome
is a stored reason, word for word. Quotes that are not in the source they name stay with
their vote and its flag, and do not count as evidence of the verdict.
"""

from __future__ import annotations

from collections import Counter
from typing import Iterable, Mapping, Sequence

from deepfact.core.panel import PanelRule, decide
from deepfact.core.quotes import contains_words
from deepfact.core.vote_checks import span_of
from deepfact.records import (
    Abstention,
    Claim,
    Contradiction,
    Evidence,
    FailureReason,
    PromptRef,
    Qualification,
    Source,
    Usage,
    Verdict,
    VerificationFailure,
    Vote,
)

NO_REASON = "no reason recorded"


def tally(
    claim: Claim,
    votes: Sequence[Vote],
    abstentions: Sequence[Abstention],
    *,
    rule: PanelRule,
    sources: Mapping[str, Source],
    prompt: PromptRef,
    flags: Sequence[str] = (),
) -> Verdict | VerificationFailure:
    """The outcome of a panel on a claim.

    Args:
        sources: those shown, by id.
        flags: what was noticed before any vote.

    Returns:
        A verdict when the panel confirmed or refuted; a failure with reason
        ``too_few_votes`` when it is unverified. Either keeps every vote and abstention.
    """
    decision = decide(votes, rule)
    usage = total_usage([*(vote.usage for vote in votes), *(one.usage for one in abstentions)])
    if decision.label is None:
        return VerificationFailure(
            claim_id=claim.id,
            reason=FailureReason.TOO_FEW_VOTES,
            detail=_why_unverified(votes, abstentions, rule),
            usage=usage,
            flags=tuple(flags),
            panel=decision.outcome,
            votes=tuple(votes),
            abstentions=tuple(abstentions),
            rule=str(rule),
            prompt=prompt,
        )
    side = [vote for vote in votes if vote.refutes == decision.deciding]
    agreeing = [vote for vote in side if vote.label is decision.label] or side
    split = f"split_panel:{decision.valid - decision.refuting}-{decision.refuting}"
    return Verdict(
        claim_id=claim.id,
        label=decision.label,
        rationale=next((v.rationale for v in agreeing if v.rationale.strip()), NO_REASON),
        evidence=_evidence(agreeing, sources),
        qualifications=_qualifications(votes, sources),
        contradictions=_contradictions(agreeing, claim, sources),
        flags=(*flags, *((split,) if decision.split else ())),
        usage=usage,
        panel=decision.outcome,
        votes=tuple(votes),
        abstentions=tuple(abstentions),
        rule=str(rule),
        prompt=prompt,
    )


def _why_unverified(votes: Sequence[Vote], lost: Sequence[Abstention], rule: PanelRule) -> str:
    counted = Counter(one.reason.value for one in lost)
    reasons = ", ".join(f"{n} {reason}" for reason, n in sorted(counted.items()))
    asked = f"{len(votes)} of {len(votes) + len(lost)} votes are valid, {rule.valid} are needed"
    return f"{asked}; abstentions: {reasons or 'none'}"


def _stands(source: str | None, quote: str, sources: Mapping[str, Source]) -> bool:
    known = sources.get(source or "")
    return known is not None and span_of(quote, known.text) is not None


def _evidence(votes: Iterable[Vote], sources: Mapping[str, Source]) -> tuple[Evidence, ...]:
    every = (one for vote in votes for one in vote.evidence)
    return tuple(dict.fromkeys(one for one in every if _stands(one.source, one.quote, sources)))


def _contradictions(
    votes: Iterable[Vote], claim: Claim, sources: Mapping[str, Source]
) -> tuple[Contradiction, ...]:
    every = (vote.contradiction for vote in votes if vote.contradiction is not None)
    return tuple(
        dict.fromkeys(
            one
            for one in every
            if _stands(one.source, one.quote, sources) and contains_words(one.disputed, claim.text)
        )
    )


def _qualifications(
    votes: Iterable[Vote], sources: Mapping[str, Source]
) -> tuple[Qualification, ...]:
    """Those of all valid votes, whichever side they took: each passage or wording once."""
    kept: dict[tuple[str, str], Qualification] = {}
    for vote in votes:
        for one in vote.qualifications:
            if one.quote and not _stands(one.source, one.quote, sources):
                one = one.model_copy(update={"source": None, "quote": ""})
            by_words = (one.source or "", " ".join((one.quote or one.text).split()))
            kept.setdefault(by_words, one)
    return tuple(kept.values())


def total_usage(parts: Iterable[Usage]) -> Usage:
    """The sum; its price is unknown when any part that used tokens has none."""
    every = list(parts)
    priced = [one for one in every if one.input_tokens or one.output_tokens]
    known = bool(priced) and all(one.usd is not None for one in priced)
    return Usage(
        calls=sum(one.calls for one in every),
        input_tokens=sum(one.input_tokens for one in every),
        output_tokens=sum(one.output_tokens for one in every),
        usd=sum(one.usd or 0.0 for one in priced) if known else None,
    )
