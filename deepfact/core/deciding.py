"""What several decisions on one blind case come to: a label they hold together, or why none.

For the votes of an agent and for the members of a panel alike. Pure. "Cannot tell" counts: it
holds no label, so it stands in the way of a majority like a vote for another label. Nothing here
ever makes a label of silence: too few valid decisions come to no label, with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from deepfact.records import DivergenceKind, Label
from deepfact.run_records import TogetherRule


@dataclass(frozen=True, slots=True)
class Together:
    """What decisions come to."""

    label: Label | None
    """None when they come to none."""
    split: bool
    """Whether they differ at all; "cannot tell" differs from every label."""
    words: str
    """The count in words, such as ``2 of 3 for supported, 1 cannot tell``."""


def together(
    labels: Sequence[Label | None], *, rule: TogetherRule, least: int = 1, of: int | None = None
) -> Together:
    """What decisions come to under a rule.

    Args:
        labels: the label that each valid decision holds; None for "cannot tell".
        rule: how many must hold it.
        least: fewest valid decisions that may decide anything.
        of: how many were asked, when more than answered.
    """
    counts = Counter(labels)
    split = len(counts) > 1
    asked = len(labels) if of is None else of
    if len(labels) < least:
        words = f"{len(labels)} of {asked} answers are valid, {least} are needed"
        return Together(None, split, words)
    label, count = next(
        ((one, count) for one, count in counts.most_common() if one is not None), (None, 0)
    )
    enough = count == len(labels) if rule is TogetherRule.UNANIMOUS else 2 * count > len(labels)
    return Together(label if enough else None, split, _words(counts, len(labels)))


def named_kind(kinds: Sequence[DivergenceKind | None]) -> DivergenceKind | None:
    """The kind of divergence that more than half of several decisions name; None when none has
    that many."""
    for kind, count in Counter(kinds).items():
        if kind is not None and 2 * count > len(kinds):
            return kind
    return None


def _words(counts: Counter[Label | None], valid: int) -> str:
    """The count, labels first, in the order of `Label`."""
    parts = [f"{counts[label]} of {valid} for {label}" for label in Label if counts[label]]
    if counts[None]:
        parts.append(f"{counts[None]} of {valid} cannot tell")
    return ", ".join(parts) or "nobody decided"
