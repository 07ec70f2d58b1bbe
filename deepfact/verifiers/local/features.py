"""A comparison as a row of numbers for the small model. Pure; the order of `NAMES` is fixed.

The row holds how much of the claim the passages cover, and how its elements fared. It holds
no word, so that the model cannot learn topics.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Iterator, Sequence

from deepfact.verifiers.local.compare import Comparison
from deepfact.verifiers.local.findings import Finding, Status

_KINDS = ("quantity", "date", "name", "direction", "negation", "quotation", "attribution")

NAMES: tuple[str, ...] = (
    "own_best", "near_best", "own_second", "union", "whole", "own_mean", "relevance", "bigrams",
    "words_log", "missing_share", "missing_weight",
    *(f"{kind}_{what}" for kind in _KINDS for what in ("count", "covered", "missing", "dispute")),
    "quantity_fit", "date_fit", "name_fit", "derived", "elsewhere",
    "disputed", "dispute", "dispute_close", "conflict", "clear",
    "hedged_passage", "hedged_claim", "negated_claim", "negated_passage", "negation_differs",
    "numbers_missing", "all_elements_covered", "disputed_share",
)  # fmt: skip
"""Names of the features, in the order of a row."""


def features(comparison: Comparison) -> list[float]:
    """The row of a comparison, in the order of `NAMES`."""
    values = dict(_coverage(comparison))
    values |= dict(_kinds(comparison.findings))
    values |= dict(_elements(comparison))
    values |= dict(_polarity(comparison))
    return [float(values[name]) for name in NAMES]


def _coverage(comparison: Comparison) -> Iterator[tuple[str, float]]:
    readings, claim, library = comparison.readings, comparison.claim, comparison.library
    own = [*sorted((fit.own for _, fit in readings), reverse=True)[:3], 0.0, 0.0]
    weights = {stem: library.weight(stem) for stem in claim.stems}
    total = sum(weights.values()) or 1.0
    union = sum(
        weight * max((r.vocabulary.match(stem) for r, _ in readings[:3]), default=0.0)
        for stem, weight in weights.items()
    )
    whole = sum(weight * library.vocabulary.match(stem) for stem, weight in weights.items())
    missing = comparison.missing_words
    yield "own_best", own[0]
    yield "near_best", max((fit.near for _, fit in readings), default=0.0)
    yield "own_second", own[1]
    yield "union", union / total
    yield "whole", whole / total
    yield "own_mean", sum(own[:3]) / 3
    yield "relevance", max((reading.relevance for reading, _ in readings), default=0.0)
    yield "bigrams", _bigrams(comparison)
    yield "words_log", math.log1p(len(claim.content))
    yield "missing_share", len(missing) / max(1, len(claim.content))
    yield "missing_weight", max((weights.get(stem, 0.0) for stem in claim.stems), default=0.0)


def _bigrams(comparison: Comparison) -> float:
    """The share of the claim's neighbouring content words that neighbour in the best passage."""
    if comparison.best is None:
        return 0.0
    mine = _pairs([word.stem for word in comparison.claim.content])
    theirs = _pairs([word.stem for word in comparison.best[0].elements.content])
    return len(mine & theirs) / max(1, len(mine))


def _pairs(stems: Sequence[str]) -> set[tuple[str, str]]:
    return set(pairwise(stems))


def _kinds(findings: Sequence[Finding]) -> Iterator[tuple[str, float]]:
    """For each kind: how many, which share covered and missing, and the strongest dispute."""
    for kind in _KINDS:
        of_kind = [finding for finding in findings if finding.kind == kind]
        count = len(of_kind) or 1
        yield f"{kind}_count", math.log1p(len(of_kind))
        yield f"{kind}_covered", sum(f.status is Status.COVERED for f in of_kind) / count
        yield f"{kind}_missing", sum(f.status is Status.MISSING for f in of_kind) / count
        yield f"{kind}_dispute", max((f.dispute for f in of_kind), default=0.0)


def _elements(comparison: Comparison) -> Iterator[tuple[str, float]]:
    findings = comparison.findings
    for kind in ("quantity", "date", "name"):
        fits = [f.bearing.fit if f.bearing else 0.0 for f in findings if f.kind == kind]
        yield f"{kind}_fit", min(fits, default=0.6)
    notes = [f.bearing.note for f in findings if f.bearing]
    disputed = [finding for finding in findings if finding.status is Status.DISPUTED]
    near = max((fit.near for _, fit in comparison.readings), default=0.0)
    hardest = max((finding.dispute for finding in findings), default=0.0)
    covered = sum(finding.status is Status.COVERED for finding in findings)
    yield "derived", float(any(" of " in note for note in notes))
    yield "elsewhere", sum(note.startswith("elsewhere") for note in notes) / max(1, len(findings))
    yield "disputed", math.log1p(len(disputed))
    yield "dispute", max((f.dispute for f in disputed), default=0.0)
    yield "dispute_close", hardest * near
    yield "conflict", max((finding.conflict for finding in findings), default=0.0)
    yield "clear", near * float(not disputed)
    yield "all_elements_covered", near * float(covered == len(findings))
    yield "disputed_share", len(disputed) / max(1, len(findings))
    yield (
        "numbers_missing",
        math.log1p(
            sum(f.status is Status.MISSING for f in findings if f.kind in ("quantity", "date"))
        ),
    )


def _polarity(comparison: Comparison) -> Iterator[tuple[str, float]]:
    claim = comparison.claim
    hedged = negated = 0.0
    if comparison.best is not None:
        reading, fit = comparison.best
        unhedged = max((f.near for r, f in comparison.readings if not r.elements.hedges), default=0)
        if reading.elements.hedges and not claim.hedges:
            hedged = max(0.0, fit.near - 0.5 * unhedged)
        negated = float(bool(reading.elements.negations))
    mine = float(bool(claim.negations))
    yield "hedged_passage", hedged
    yield "hedged_claim", float(bool(claim.hedges))
    yield "negated_claim", mine
    yield "negated_passage", negated
    yield "negation_differs", abs(mine - negated)
