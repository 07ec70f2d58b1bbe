"""The skeptic pass: everything that speaks against writing a report from a ledger as it is.

Pure. Each finding has a stable code, a severity, what was counted, and what to do next. The
skeptic looks for what is wrong and decides nothing: whether the report is complete is for the
gate, and a contradiction is settled by a recorded decision or not at all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from deepfact.core.contradictions import find_conflicts
from deepfact.core.quotes import find_quote
from deepfact.core.skeptic_corpus import Corpus, family
from deepfact.core.skeptic_values import plain, read_period
from deepfact.records import SourceRole, Trust
from deepfact.research_records import (
    ClaimKind,
    ClaimStanding,
    ContradictionState,
    Finding,
    Ledger,
    ResearchClaim,
    Severity,
    SkepticResult,
    Thresholds,
)

NEXT_STEPS = {
    "no_source_cards": "Add sources: deepfact research add-source.",
    "no_extracted_claims": "Add claims: deepfact research add-claim or import.",
    "missing_primary_source": "Add a primary source (the paper, the data, the vendor's own "
    "documentation) and a claim from it.",
    "generated_source_card_linked": "Replace the card by what the generated text was made from; "
    "generated text may be kept, but no claim may rest on it.",
    "quote_not_in_source": "Correct the quote, or the card it names; the stored text decides.",
    "span_outside_source": "Correct the span; it counts characters of the card's text.",
    "structured_claim_contradiction": "Read both sources. Record what tells them apart, withdraw "
    "one, or carry both as a caveat: deepfact research resolve.",
    "text_contradiction": "Read both sources. Record what tells them apart, withdraw one, or "
    "carry both as a caveat: deepfact research resolve.",
    "thin_source_corpus": "Look for further independent sources, or say in the report how few "
    "there are.",
    "thin_primary_source_coverage": "Add primary sources.",
    "narrow_source_family_coverage": "Add a source from another publisher.",
    "measurement_claim_without_document_anchor": "Give each measured figure the quote or span it "
    "was read from.",
    "stale_linked_source": "Look for a newer source, or state the date with the claim.",
    "benchmark_claim_needs_caveat": "State workload, version and hardware as conditions, or a "
    "caveat.",
    "low_extracted_claim_density": "Extract claims from the cards that have none, or remove the "
    "cards from the corpus.",
    "low_trust_source_linked": "Find the same claim in a source of higher trust.",
    "claims_share_one_origin": "Count them as one source; look for an independent one.",
    "source_contains_instructions": "None: the text was treated as data. Look at the card before "
    "you trust it.",
    "claims_differ_by_condition": "None: state the condition with each claim.",
    "claim_refuted": "Leave the claim out, or report it as refuted with the stored reason.",
    "claim_unverified": "Ask again, or find a source that settles it: deepfact research verify.",
    "claim_not_verified": "Ask a verifier: deepfact research verify.",
    "resolution_without_contradiction": "None needed when a claim was added since; decide again "
    "if the conflict is still there under another id.",
}
"""Every code, and what to do about it. Codes do not change; new ones may be added."""

NOTES = 3
"""Pairs of a contradiction that its finding tells; the contradiction holds them all."""

_BENCHMARK = re.compile(
    r"\bbenchmarks?\b|\bleaderboards?\b|\bstate[ -]of[ -]the[ -]art\b|\bsota\b|"
    r"\boutperform(?:s|ed)?\b"
)


def examine(ledger: Ledger, thresholds: Thresholds | None = None) -> SkepticResult:
    """The skeptic pass over a ledger.

    Args:
        ledger: what is known.
        thresholds: what it is held against; the documented defaults when left out.

    Returns:
        Clusters, contradictions, and findings: errors first, each in the order of the checks.
    """
    limits = thresholds or Thresholds()
    corpus = Corpus(ledger, limits, find_conflicts(ledger, limits))
    findings = [finding for check in CHECKS for finding in check(corpus)]
    findings.sort(key=lambda finding: list(Severity).index(finding.severity))
    return SkepticResult(
        ok=all(finding.severity is not Severity.ERROR for finding in findings),
        clusters=corpus.conflicts.clusters,
        contradictions=corpus.conflicts.contradictions,
        findings=tuple(findings),
    )


def _found(
    code: str,
    severity: Severity,
    message: str,
    measured: str = "",
    *,
    claims: Iterable[str] = (),
    cards: Iterable[str] = (),
    contradiction: str = "",
) -> Finding:
    return Finding(
        code=code,
        severity=severity,
        message=message,
        measured=measured,
        claims=tuple(claims),
        cards=tuple(cards),
        contradiction=contradiction,
        todo=NEXT_STEPS[code],
    )


# --- contradictions ----------------------------------------------------------------------


def _contradictions(corpus: Corpus) -> Iterator[Finding]:
    for one in corpus.conflicts.contradictions:
        severity = one.severity
        if one.state is ContradictionState.CARRIED:
            severity = Severity.WARNING
        elif one.state is ContradictionState.RESOLVED:
            severity = Severity.INFO
        said = "; ".join(one.notes[:NOTES])
        if len(one.notes) > NOTES:
            said += f"; and {len(one.notes) - NOTES} more pairs"
        if one.resolution is not None:
            said += f" [{one.resolution.method}, by {one.resolution.who}: {one.resolution.why}]"
        yield _found(
            "text_contradiction" if one.kind == "text" else "structured_claim_contradiction",
            severity,
            said,
            f"{one.id}, {one.state}",
            claims=one.claims,
            cards=one.cards,
            contradiction=one.id,
        )
    there = {one.id for one in corpus.conflicts.contradictions}
    for resolution in corpus.ledger.resolutions:
        if resolution.contradiction not in there:
            yield _found(
                "resolution_without_contradiction",
                Severity.INFO,
                f"a decision by {resolution.who} is about a contradiction that is not there",
                resolution.contradiction,
            )


def _differences(corpus: Corpus) -> Iterator[Finding]:
    for one in corpus.conflicts.differences:
        yield _found("claims_differ_by_condition", Severity.INFO, one.why, claims=one.claims)


# --- the corpus --------------------------------------------------------------------------


def _presence(corpus: Corpus) -> Iterator[Finding]:
    if not corpus.ledger.cards:
        yield _found("no_source_cards", Severity.ERROR, "the ledger holds no source card")
    if not corpus.claims:
        yield _found("no_extracted_claims", Severity.ERROR, "the ledger holds no claim")


def _generated(corpus: Corpus) -> Iterator[Finding]:
    for card in corpus.linked:
        if not card.is_evidence:
            resting = [claim.id for claim in corpus.claims if claim.card == card.source.id]
            yield _found(
                "generated_source_card_linked",
                Severity.ERROR,
                f"a claim or link rests on generated text: {card.source.title!r}",
                f"role={card.source.role}",
                claims=resting,
                cards=[card.source.id],
            )


def _coverage(corpus: Corpus) -> Iterator[Finding]:
    limits = corpus.limits
    primary = [card for card in corpus.evidence if card.source.role is SourceRole.PRIMARY]
    if corpus.claims and not primary:
        yield _found("missing_primary_source", Severity.ERROR, "no claim rests on a primary source")
    counted = (
        ("thin_source_corpus", "linked_sources", len(corpus.origins), limits.linked_sources),
        ("thin_primary_source_coverage", "primary_cards", len(primary), limits.primary_cards),
        (
            "narrow_source_family_coverage",
            "families",
            len({family(card.source.url) for card in corpus.evidence}),
            limits.source_families,
        ),
    )
    for code, name, count, least in counted:
        if count < least:
            message = f"{count} where at least {least} are asked for"
            yield _found(code, Severity.WARNING, message, f"{name}={count}")
    usable = [card for card in corpus.ledger.cards if card.is_evidence]
    if corpus.claims and usable and len(corpus.claims) / len(usable) < limits.claims_per_card:
        ratio = len(corpus.claims) / len(usable)
        yield _found(
            "low_extracted_claim_density",
            Severity.WARNING,
            f"{len(corpus.claims)} claims from {len(usable)} cards",
            f"claims_per_card={ratio:.2f}",
        )


def _origins(corpus: Corpus) -> Iterator[Finding]:
    for cards in corpus.origins.values():
        if len(cards) > 1:
            ids = [card.source.id for card in cards]
            yield _found(
                "claims_share_one_origin",
                Severity.WARNING,
                f"{len(cards)} cards are one text or one address: {cards[0].source.title!r}",
                f"cards={len(cards)}",
                claims=[claim.id for claim in corpus.claims if claim.card in ids],
                cards=ids,
            )


def _cards(corpus: Corpus) -> Iterator[Finding]:
    today = corpus.today
    for card in corpus.evidence:
        period = read_period(card.source.published)
        age = (today - period.last).days if today and period else 0
        if age > corpus.limits.stale_days:
            yield _found(
                "stale_linked_source",
                Severity.WARNING,
                f"{card.source.title!r} is of {card.source.published}",
                f"days={age}",
                cards=[card.source.id],
            )
        if card.source.trust is Trust.LOW:
            yield _found(
                "low_trust_source_linked",
                Severity.WARNING,
                f"a claim rests on a card of low trust: {card.source.title!r}",
                cards=[card.source.id],
            )
    for card in corpus.ledger.cards:
        if card.flags:
            yield _found(
                "source_contains_instructions",
                Severity.INFO,
                f"the text of {card.source.title!r} talks to whoever reads it",
                ", ".join(card.flags),
                cards=[card.source.id],
            )


# --- claims ------------------------------------------------------------------------------


def _anchors(corpus: Corpus) -> Iterator[Finding]:
    loose: list[str] = []
    for claim in corpus.claims:
        card = corpus.cards.get(claim.card)
        text = card.source.text if card else ""
        if claim.quote and find_quote(claim.quote, text) is None:
            yield _found(
                "quote_not_in_source",
                Severity.ERROR,
                f"claim {claim.id} quotes words that its card does not have: {claim.quote[:80]!r}",
                claims=[claim.id],
                cards=[claim.card],
            )
        elif claim.span and not 0 < claim.span.end - claim.span.start <= len(
            text[claim.span.start : claim.span.end]
        ):
            yield _found(
                "span_outside_source",
                Severity.ERROR,
                f"claim {claim.id} points to characters that its card does not have",
                f"{claim.span.start}-{claim.span.end} of {len(text)}",
                claims=[claim.id],
                cards=[claim.card],
            )
        elif not (claim.quote or claim.span):
            loose += [claim.id] if _measures(claim) else []
    if loose:
        yield _found(
            "measurement_claim_without_document_anchor",
            Severity.WARNING,
            "measured figures without the place in the document that they were read from: "
            + ", ".join(loose),
            f"claims={len(loose)}",
            claims=loose,
        )


def _benchmarks(corpus: Corpus) -> Iterator[Finding]:
    outcomes = {outcome.claim_id: outcome for outcome in corpus.ledger.outcomes}
    for claim in corpus.claims:
        bench = claim.kind is ClaimKind.BENCHMARK or _BENCHMARK.search(plain(claim.text))
        outcome = outcomes.get(claim.id)
        told = getattr(outcome, "qualifications", ())
        if bench and not (claim.caveat or claim.conditions or told):
            yield _found(
                "benchmark_claim_needs_caveat",
                Severity.WARNING,
                f"claim {claim.id} tells a benchmark's result without its conditions",
                claims=[claim.id],
            )


def _verification(corpus: Corpus) -> Iterator[Finding]:
    by_standing: dict[ClaimStanding, list[str]] = {one: [] for one in ClaimStanding}
    for claim_id, standing in corpus.standings.items():
        by_standing[standing].append(claim_id)
    counted = Counter({standing: len(ids) for standing, ids in by_standing.items()})
    refuted = by_standing[ClaimStanding.REFUTED]
    if refuted:
        yield _found(
            "claim_refuted",
            Severity.WARNING,
            f"the verifier refuted: {', '.join(refuted)}",
            f"claims={len(refuted)}",
            claims=refuted,
        )
    unverified = by_standing[ClaimStanding.UNVERIFIED]
    asked = counted.total() - counted[ClaimStanding.NOT_ASKED]
    if unverified:
        over = len(unverified) / asked > corpus.limits.unverified_share
        yield _found(
            "claim_unverified",
            Severity.ERROR if over else Severity.WARNING,
            f"the verifier came to no conclusion on: {', '.join(unverified)}",
            f"claims={len(unverified)} of {asked}",
            claims=unverified,
        )
    skipped = by_standing[ClaimStanding.NOT_ASKED]
    if skipped and corpus.limits.require_verification:
        yield _found(
            "claim_not_verified",
            Severity.ERROR,
            f"no verifier was asked about: {', '.join(skipped)}",
            f"claims={len(skipped)}",
            claims=skipped,
        )


CHECKS: Sequence[Callable[[Corpus], Iterator[Finding]]] = (
    _presence,
    _contradictions,
    _generated,
    _coverage,
    _anchors,
    _verification,
    _origins,
    _cards,
    _benchmarks,
    _differences,
)
"""Every check, in the order in which findings of one severity are told."""


def _measures(claim: ResearchClaim) -> bool:
    return claim.kind in (ClaimKind.MEASUREMENT, ClaimKind.BENCHMARK)
