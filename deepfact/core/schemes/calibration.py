"""Calibration of a verifier's scores: Brier, expected calibration error, the reliability table.

Pure. Brier, Monthly Weather Review 78, 1950, here over all classes as in its first form; expected
calibration error as in Guo et al., "On Calibration of Modern Neural Networks", ICML 2017, with
bins of equal width.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, isclose
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from deepfact.core.schemes.base import Interval, SchemeScore
from deepfact.core.schemes.intervals import METHOD, of_counts, of_mean

if TYPE_CHECKING:
    import numpy as np

BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """The units whose confidence is above ``low`` and at most ``high``."""

    low: float
    high: float
    n: int
    confidence: float | None
    """Mean of the units' highest probability; None when empty."""
    accuracy: float | None
    """Share of them whose most probable label is the key."""


def reliability(
    gold: Sequence[str], scores: Sequence[Mapping[str, float] | None], bins: int = BINS
) -> list[Bin]:
    """What a reliability plot shows: accuracy by confidence, in bins of equal width.

    Args:
        gold: the key of each unit.
        scores: probability of each label; None where there is none: in no bin.
        bins: how many, at least 1.

    Raises:
        ValueError: probabilities are out of range, do not sum to 1, or lack the key's label.
    """
    rows = [_top(truth, found) for truth, found in zip(gold, scores, strict=True) if found]
    table = []
    for index in range(bins):
        low, high = index / bins, (index + 1) / bins
        # The lowest bin holds 0 as well.
        inside = [row for row in rows if low < row[0] <= high or (index == 0 and row[0] == 0)]
        n = len(inside)
        table.append(
            Bin(
                low=low,
                high=high,
                n=n,
                confidence=sum(row[0] for row in inside) / n if n else None,
                accuracy=sum(row[1] for row in inside) / n if n else None,
            )
        )
    return table


def calibration(
    gold: Sequence[str],
    scores: Sequence[Mapping[str, float] | None],
    *,
    bins: int = BINS,
    seed: int = 0,
) -> SchemeScore:
    """How far probabilities are what they say.

    Args:
        gold: the key of each unit.
        scores: probability of each label; None where a verifier gave none: left out, and counted.
        bins: of confidence.
        seed: of the interval.

    Returns:
        ``brier`` (0 to 2, lower is better: the squared distance to the key over all labels),
        ``ece`` and ``mce`` (mean and greatest gap between accuracy and confidence of a bin),
        ``confidence`` and ``accuracy``.

    Raises:
        ValueError: as `reliability`.
    """
    table = [found for found in reliability(gold, scores, bins) if found.n]
    n = sum(found.n for found in table)
    left_out = {"no scores": len(gold) - n} if n < len(gold) else {}
    names = ("brier", "ece", "mce", "confidence", "accuracy")
    if not n:
        return SchemeScore("calibration", 0, dict.fromkeys(names), left_out=left_out)
    distances = [_distance(truth, s) for truth, s in zip(gold, scores, strict=True) if s]
    gaps = [(abs((b.accuracy or 0.0) - (b.confidence or 0.0)), b.n) for b in table]
    rows = [_top(truth, s) for truth, s in zip(gold, scores, strict=True) if s]
    intervals = _intervals(rows, bins, seed)
    if ends := of_mean(distances, seed=seed):
        intervals["brier"] = ends
    return SchemeScore(
        scheme="calibration",
        n=n,
        values={
            "brier": sum(distances) / n,
            "ece": sum(gap * size for gap, size in gaps) / n,
            "mce": max(gap for gap, _ in gaps),
            "confidence": sum((b.confidence or 0.0) * b.n for b in table) / n,
            "accuracy": sum((b.accuracy or 0.0) * b.n for b in table) / n,
        },
        intervals=intervals,
        method=METHOD,
        left_out=left_out,
    )


def _intervals(rows: Sequence[tuple[float, bool]], bins: int, seed: int) -> dict[str, Interval]:
    """Of the errors, confidence and accuracy. A drawn sample has noisier bins than the whole, so
    the interval of an error reaches higher than it would for a fresh sample."""
    import numpy as np

    counts = np.zeros((len(rows), bins, 3))
    for index, (confidence, right) in enumerate(rows):
        counts[index, max(0, ceil(confidence * bins) - 1)] = (1, confidence, right)

    def of_sums(sums: np.ndarray[Any, Any]) -> dict[str, np.ndarray[Any, Any]]:
        n, sure, right = sums[..., 0], sums[..., 1], sums[..., 2]
        gaps = np.abs(right - sure)
        total = n.sum(axis=1)
        return {
            "ece": gaps.sum(axis=1) / total,
            "mce": (gaps / np.maximum(n, 1)).max(axis=1),
            "confidence": sure.sum(axis=1) / total,
            "accuracy": right.sum(axis=1) / total,
        }

    return of_counts(counts, of_sums, seed=seed)


def _top(truth: str, scores: Mapping[str, float]) -> tuple[float, bool]:
    """The highest probability, and whether it is the key's. A tie is settled by the name, so
    that the order of a mapping decides nothing."""
    if truth not in scores or any(not 0 <= value <= 1 for value in scores.values()):
        raise ValueError(f"probabilities from 0 to 1 that include {truth!r} are needed: {scores}")
    if not isclose(sum(scores.values()), 1.0, abs_tol=1e-3):
        raise ValueError(f"probabilities sum to {sum(scores.values())}, not to 1")
    label = min(scores, key=lambda name: (-scores[name], name))
    return scores[label], label == truth


def _distance(truth: str, scores: Mapping[str, float]) -> float:
    return sum((value - (label == truth)) ** 2 for label, value in scores.items())
