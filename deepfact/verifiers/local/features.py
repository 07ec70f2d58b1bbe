"""A comparison as a row of numbers for the small model. Pure; the order of `NAMES` is fixed.

The row holds how much of the claim the passages cover, and how its elements fared. It holds
no word, so that the model cannot learn topics, and no bare count of the claim's elements: the
changed claims of the training mixture have the element that was changed, and a count would give
them away. Few features, because measures of coverage that go together get signs that make no sense.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Iterator, Sequence

from deepfact.reading.compare import Comparison
from deepfact.reading.findings import Status

_KINDS = ("quantity", "date", "name")

NAMES: tuple[str, ...] = (
    "own_best", "near_best", "union", "bigrams", "missing_share",
    "quantity_missing", "date_missing", "name_missing",
    "dispute", "dispute_close", "conflict", "clear", "hedged_passage", "all_elements_covered",
)  # fmt: skip
"""Names of the features, in the order of a row."""


def features(comparison: Comparison) -> list[float]:
    """The row of a comparison, in the order of `NAMES`."""
    values = dict(_coverage(comparison)) | dict(_elements(comparison))
    return [float(values[name]) for name in NAMES]


def _coverage(comparison: Comparison) -> Iterator[tuple[str, float]]:
    readings, claim, library = comparison.readings, comparison.claim, comparison.library
    weights = {stem: library.weight(stem) for stem in claim.stems}
    total = sum(weights.values()) or 1.0
    union = sum(
        weight * max((r.vocabulary.match(stem) for r, _ in readings[:3]), default=0.0)
        for stem, weight in weights.items()
    )
    yield "own_best", max((fit.own for _, fit in readings), default=0.0)
    yield "near_best", max((fit.near for _, fit in readings), default=0.0)
    yield "union", union / total
    yield "bigrams", _bigrams(comparison)
    yield "missing_share", len(comparison.missing_words) / max(1, len(claim.content))


def _bigrams(comparison: Comparison) -> float:
    """The share of the claim's neighbouring content words that neighbour in the best passage."""
    if comparison.best is None:
        return 0.0
    mine = _pairs([word.stem for word in comparison.claim.content])
    theirs = _pairs([word.stem for word in comparison.best[0].elements.content])
    return len(mine & theirs) / max(1, len(mine))


def _pairs(stems: Sequence[str]) -> set[tuple[str, str]]:
    return set(pairwise(stems))


def _elements(comparison: Comparison) -> Iterator[tuple[str, float]]:
    findings = comparison.findings
    for kind in _KINDS:
        of_kind = [finding for finding in findings if finding.kind == kind]
        missing = sum(finding.status is Status.MISSING for finding in of_kind)
        yield f"{kind}_missing", missing / max(1, len(of_kind))
    disputed = [finding.dispute for finding in findings if finding.status is Status.DISPUTED]
    near = max((fit.near for _, fit in comparison.readings), default=0.0)
    hardest = max((finding.dispute for finding in findings), default=0.0)
    covered = all(finding.status is Status.COVERED for finding in findings)
    yield "dispute", max(disputed, default=0.0)
    yield "dispute_close", hardest * near
    yield "conflict", max((finding.conflict for finding in findings), default=0.0)
    yield "clear", 0.0 if disputed else near
    yield "hedged_passage", _hedged(comparison)
    yield "all_elements_covered", near if covered else 0.0


def _hedged(comparison: Comparison) -> float:
    """How far the claim states as fact what only a hedged passage says."""
    if comparison.best is None or comparison.claim.hedges:
        return 0.0
    reading, fit = comparison.best
    if not reading.elements.hedges:
        return 0.0
    plain = max((f.near for r, f in comparison.readings if not r.elements.hedges), default=0.0)
    return max(0.0, fit.near - 0.5 * plain)
