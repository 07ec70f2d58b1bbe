"""What is measured of a verifier's probabilities: calibration, and supported above a threshold.

Pure. The key is a benchmark's labels. Probabilities of all three labels are measured as such and
as supported against the rest; those of a verifier that only tells supported from the rest, in the
second way alone. Claims without probabilities are in no figure here, and are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping

from deepfact.core.schemes.base import SchemeScore
from deepfact.core.schemes.calibration import BINS, Bin, calibration, reliability
from deepfact.core.schemes.thresholds import By, best_threshold, threshold_scores
from deepfact.records import Label

Scores = Mapping[Label, float]
"""Probability of each label, or of supported and one more, which then stands for the rest."""

THREE = "three labels"
REST = "supported against the rest"


@dataclass(frozen=True, slots=True)
class Calibrated:
    """How far probabilities are what they say."""

    of: str
    """`THREE` or `REST`."""
    score: SchemeScore
    bins: tuple[Bin, ...]
    """The reliability table."""


@dataclass(frozen=True, slots=True)
class Thresholded:
    """Supported above a threshold, scored against the rest."""

    threshold: float
    score: SchemeScore


def calibrated(
    key: Mapping[str, Label], scores: Mapping[str, Scores], *, bins: int = BINS, seed: int = 0
) -> tuple[Calibrated, ...]:
    """Calibration against a key, in each way that the probabilities allow; nothing where there is
    not one probability.

    Args:
        key: the labels by claim id.
        scores: by claim id; those of other claims are not looked at.
        bins: of confidence.
        seed: of the intervals.

    Raises:
        ValueError: probabilities that are out of range, or do not sum to 1.
    """
    if not scores:
        return ()
    found = [(label, scores.get(claim_id)) for claim_id, label in key.items()]
    given = [one for _, one in found if one]
    if not given:
        return ()
    ways = [(REST, [_two(label, one) for label, one in found])]
    if all(set(one) == set(Label) for one in given):
        ways.insert(0, (THREE, [_three(label, one) for label, one in found]))
    made = []
    for of, rows in ways:
        truth, named = [word for word, _ in rows], [one for _, one in rows]
        score = calibration(truth, named, bins=bins, seed=seed)
        made.append(Calibrated(of, score, tuple(reliability(truth, named, bins))))
    return tuple(made)


def _two(label: Label, scores: Scores | None) -> tuple[str, dict[str, float] | None]:
    """A key and probabilities of supported and the rest."""
    truth = "supported" if label is Label.SUPPORTED else "rest"
    if not scores:
        return truth, None
    supported = scores[Label.SUPPORTED]
    return truth, {"supported": supported, "rest": 1 - supported}


def _three(label: Label, scores: Scores | None) -> tuple[str, dict[str, float] | None]:
    return str(label), {str(each): value for each, value in scores.items()} if scores else None


def _supported(
    key: Mapping[str, Label], scores: Mapping[str, Scores]
) -> tuple[list[bool], list[float], int]:
    """The key and the probability of supported, and how many claims have none."""
    pairs = [
        (label is Label.SUPPORTED, scores[claim_id][Label.SUPPORTED])
        for claim_id, label in key.items()
        if scores.get(claim_id)
    ]
    return [gold for gold, _ in pairs], [score for _, score in pairs], len(key) - len(pairs)


def choose_threshold(key: Mapping[str, Label], scores: Mapping[str, Scores], *, by: By) -> float:
    """The threshold that does best on a key, see `best_threshold`. Apply it to other claims.

    Raises:
        ValueError: no claim has probabilities.
    """
    gold, found, _ = _supported(key, scores)
    return best_threshold(gold, found, by=by)


def at_threshold(
    key: Mapping[str, Label], scores: Mapping[str, Scores], threshold: float, *, seed: int = 0
) -> Thresholded:
    """Supported strictly above a threshold, scored by `threshold_scores`; claims without
    probabilities are left out and counted.

    Raises:
        ValueError: no claim has probabilities.
    """
    gold, found, without = _supported(key, scores)
    if not found:
        raise ValueError("no claim has probabilities")
    score = threshold_scores(gold, found, threshold, seed=seed)
    left_out = {"no scores": without} if without else {}
    return Thresholded(
        threshold,
        SchemeScore(
            score.scheme, score.n, score.values, score.intervals, score.method, left_out=left_out
        ),
    )
