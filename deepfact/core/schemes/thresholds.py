"""Schemes over scores with a threshold: what counts as positive, and which threshold to take.

Pure; scikit-learn does the arithmetic. Positive is *above* the threshold, never at it: a
"partially supported" that is scored 0.5 must not pass a threshold of 0.5 (WiCE,
https://github.com/ryokamoi/wice).
"""

from __future__ import annotations

from math import sqrt
from typing import Literal, Sequence

from deepfact.core.schemes.base import Interval, SchemeScore
from deepfact.core.schemes.classes import binary_scores

GRID = tuple(step / 100 for step in range(101))
"""The thresholds that are tried: 0.00, 0.01, ..., 1.00."""

By = Literal["f1", "accuracy", "balanced_accuracy"]


def above(scores: Sequence[float], threshold: float) -> list[bool]:
    """Which scores are positive: strictly above the threshold."""
    return [score > threshold for score in scores]


def threshold_scores(
    gold: Sequence[bool], scores: Sequence[float], threshold: float, *, seed: int = 0
) -> SchemeScore:
    """Scores at a threshold, and the area under the ROC curve, which needs none.

    Returns:
        ``f1``, ``precision``, ``recall`` of the positive class, ``accuracy``,
        ``balanced_accuracy``, ``threshold``, and ``auc`` (ties count half; None unless both
        classes occur).
    """
    result = binary_scores(gold, above(scores, threshold), unanswered="wrong", seed=seed)
    names = {
        "f1": "f1/true",
        "precision": "precision/true",
        "recall": "recall/true",
        "accuracy": "accuracy",
        "balanced_accuracy": "balanced_accuracy",
    }
    values = {name: result.values.get(inner) for name, inner in names.items()}
    auc = _auc(gold, scores)
    values |= {"threshold": threshold, "auc": auc}
    intervals = {n: result.intervals[i] for n, i in names.items() if i in result.intervals}
    area = None if auc is None else _area_interval(auc, sum(gold), len(gold) - sum(gold))
    return SchemeScore(
        scheme="threshold",
        n=result.n,
        values=values,
        intervals={**intervals, **({"auc": area} if area else {})},
        method=f"{result.method}; the AUC's by Hanley and McNeil",
    )


def best_threshold(
    gold: Sequence[bool],
    scores: Sequence[float],
    *,
    by: By = "f1",
    grid: Sequence[float] = GRID,
) -> float:
    """The threshold of the grid that does best; the lowest of equals.

    Choose it on development data and apply it to others: chosen on the data that it is scored
    on, it flatters.

    Raises:
        ValueError: no scores, or an empty grid.
    """
    if not scores or not grid:
        raise ValueError("a threshold needs scores and a grid to choose from")
    return max(sorted(grid), key=lambda threshold: _value(gold, scores, threshold, by))


def _value(gold: Sequence[bool], scores: Sequence[float], threshold: float, by: By) -> float:
    answers = above(scores, threshold)
    hits = sum(truth and answer for truth, answer in zip(gold, answers, strict=True))
    right = sum(truth == answer for truth, answer in zip(gold, answers, strict=True))
    positive, answered, n = sum(gold), sum(answers), len(answers)
    if by == "f1":
        return 2 * hits / (positive + answered) if positive + answered else 0.0
    if by == "accuracy":
        return right / n
    misses = right - hits
    return (hits / positive if positive else 1.0) + (
        misses / (n - positive) if n > positive else 1.0
    )


def _auc(gold: Sequence[bool], scores: Sequence[float]) -> float | None:
    if len(set(gold)) < 2:
        return None
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(list(gold), list(scores)))


def _area_interval(area: float, positive: int, negative: int) -> Interval:
    """Hanley and McNeil's interval of an area under the curve (Radiology 143, 1982)."""
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    spread = area * (1 - area) + (positive - 1) * (q1 - area**2) + (negative - 1) * (q2 - area**2)
    reach = 1.959964 * sqrt(max(spread, 0.0) / (positive * negative))
    return max(0.0, area - reach), min(1.0, area + reach)
