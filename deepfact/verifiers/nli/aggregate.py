"""From what a model says of each window to what it says of the claim. Pure.

``strongest`` (the default): the window that says most, that is, in which supported or
contradictory (whichever is higher there) is highest over all windows. ``support``: the window in
which supported is highest, as MiniCheck does (Tang, Laban and Durrett, EMNLP 2024); a
contradiction counts only where no window supports. ``mean``: the mean over all windows, for models
that are sure of themselves in every window; the first rule's window is quoted.
"""

from __future__ import annotations

from typing import Literal, Mapping, Sequence

from deepfact.records import Label

Rule = Literal["strongest", "support", "mean"]
Scores = Mapping[Label, float]

RULES: Mapping[Rule, str] = {
    "strongest": "the window in which supported or contradictory is likeliest decides",
    "support": "the window in which supported is likeliest decides",
    "mean": "the mean over all windows decides",
}


def aggregate(found: Sequence[Scores], rule: Rule) -> tuple[dict[Label, float], int]:
    """The claim's probabilities, and the window to quote; the first of equal windows.

    Args:
        found: for each window, the probability of each label; at least one window.
        rule: one of `RULES`.
    """
    if rule == "support":
        at = max(range(len(found)), key=lambda n: (found[n][Label.SUPPORTED], -n))
    else:
        at = max(range(len(found)), key=lambda n: (_says(found[n]), -n))
    if rule == "mean":
        return {label: sum(one[label] for one in found) / len(found) for label in found[0]}, at
    return dict(found[at]), at


def _says(scores: Scores) -> float:
    return max(scores[Label.SUPPORTED], scores.get(Label.CONTRADICTORY, 0.0))


def concluded(scores: Scores, threshold: float | None) -> Label:
    """The likeliest label, in the order of `Label` between equals; with a threshold, supported only
    strictly above it, and else the likeliest of the others."""
    if threshold is not None and scores[Label.SUPPORTED] > threshold:
        return Label.SUPPORTED
    others = [
        label for label in Label
        if label in scores and (threshold is None or label is not Label.SUPPORTED)
    ]  # fmt: skip
    return max(others, key=lambda label: scores[label])
