"""A comparison as a row of numbers for the small model. Pure; the order of `NAMES` is fixed.

The row holds how much of the claim the passages cover, and how its elements fared. It holds
no word, so that the model cannot learn topics. Each feature has a known sense (`SENSE`), which the
model is held to: more coverage can only speak for support, a stronger dispute only for a
contradiction.
"""

from __future__ import annotations

import re
from math import fsum
from typing import Iterator, Sequence

from deepfact.reading.compare import Comparison
from deepfact.reading.findings import Finding, Status
from deepfact.reading.library import Reading

_INFERENCE = re.compile(r"[,;]\s(?:so|thus|hence)\s")
_VALUES = ("quantity", "date")
_SAYINGS = ("quotation", "attribution")
FIRM = 0.35
"""How well a passage must fit before it covers a number or a date firmly."""

SENSE: dict[str, tuple[int, int, int]] = {
    "own_best": (1, 0, -1),
    "clause_mean": (1, 0, -1),
    "clause_least": (1, 0, -1),
    "union": (1, 0, -1),
    "absent": (-1, 0, 1),
    "values_covered": (1, 0, -1),
    "values_missing": (-1, 1, 0),
    "names_missing": (-1, 0, 1),
    "value_dispute": (-1, 1, 0),
    "name_dispute": (-1, 1, 0),
    "direction_dispute": (-1, 1, 0),
    "negation_dispute": (-1, 1, 0),
    "saying_dispute": (-1, 1, 0),
    "disputed": (-1, 1, -1),
    "conflict": (-1, -1, 1),
    "hedged": (-1, -1, 1),
}
"""Feature -> which way it may speak for supported, contradictory and inconclusive: up (1), down
(-1), or either (0)."""

NAMES: tuple[str, ...] = tuple(SENSE)
"""Names of the features, in the order of a row."""


def features(comparison: Comparison) -> list[float]:
    """The row of a comparison, in the order of `NAMES`."""
    values = dict(_coverage(comparison)) | dict(_elements(comparison))
    return [float(values[name]) for name in NAMES]


def _coverage(comparison: Comparison) -> Iterator[tuple[str, float]]:
    claim, library, fit = comparison.claim, comparison.library, comparison.fit
    weights = {stem: library.weight(stem) for stem in claim.stems}
    total = fsum(weights.values()) or 1.0
    union = fsum(
        weight * max((reading.vocabulary.match(stem) for reading, _ in fit.wide), default=0.0)
        for stem, weight in weights.items()
    )
    absent = fsum(w for stem, w in weights.items() if not library.vocabulary.match(stem))
    clauses = [
        max((fit.clause(begin, reading) for reading, _ in fit.wide), default=0.0)
        for begin, _ in claim.clauses
    ]
    yield "own_best", max((alignment.own for _, alignment in comparison.readings), default=0.0)
    yield "clause_mean", sum(clauses) / max(1, len(clauses))
    yield "clause_least", min(clauses, default=0.0)
    yield "union", union / total
    yield "absent", absent / total


def _elements(comparison: Comparison) -> Iterator[tuple[str, float]]:
    findings = comparison.findings
    values = [finding for finding in findings if finding.kind in _VALUES]
    names = [finding for finding in findings if finding.kind == "name"]
    firm = sum(bool(f.bearing and f.bearing.fit >= FIRM) for f in values if _covered(f))
    yield "values_covered", min(2, firm) / 2
    yield "values_missing", min(1, sum(f.status is Status.MISSING for f in values))
    yield "names_missing", min(1, sum(f.status is Status.MISSING for f in names))
    yield "value_dispute", _dispute(values)
    yield "name_dispute", _dispute(names)
    yield "direction_dispute", _dispute(f for f in findings if f.kind == "direction")
    yield "negation_dispute", _dispute(f for f in findings if f.kind == "negation")
    yield "saying_dispute", _dispute(f for f in findings if f.kind in _SAYINGS)
    yield "disputed", float(any(f.status is Status.DISPUTED for f in findings))
    yield "conflict", max((finding.conflict for finding in findings), default=0.0)
    yield "hedged", _hedged(comparison, values)


def _covered(finding: Finding) -> bool:
    return finding.status is Status.COVERED


def _dispute(findings: Sequence[Finding] | Iterator[Finding]) -> float:
    """How strongly the hardest of some elements is disputed, 0 when none is."""
    return max((f.dispute for f in findings if f.status is Status.DISPUTED), default=0.0)


def _hedged(comparison: Comparison, values: Sequence[Finding]) -> float:
    """How far the claim states as fact what only hedged passages say: by its words, or by a number
    or date of its own that no plain passage has."""
    if comparison.best is None or comparison.claim.hedges:
        return 0.0
    found: dict[bool, float] = {True: 0.0, False: 0.0}
    for reading, alignment in comparison.readings:
        hedged = _is_hedged(reading)
        found[hedged] = max(found[hedged], alignment.own)
    by_words = max(0.0, found[True] - found[False])
    by_values = max((_hedged_value(finding) for finding in values), default=0.0)
    return max(by_words, by_values)


def _is_hedged(reading: Reading) -> bool:
    """Whether a sentence hedges what it says; a hedge after "so" is of what follows from it."""
    passage = reading.elements
    return any(not _INFERENCE.search(passage.text[: hedge.start]) for hedge in passage.hedges)


def _hedged_value(finding: Finding) -> float:
    """How well a covered number or date fits that stands after a hedge in its sentence."""
    side = finding.bearing
    if not _covered(finding) or side is None or side.reading is None:
        return 0.0
    at = side.reading.passage.text.find(side.words)
    hedged = any(hedge.start < at for hedge in side.reading.elements.hedges)
    return 0.7 * side.fit if hedged else 0.0
