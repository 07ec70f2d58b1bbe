"""What a comparison finds of one element of a claim. Data, and the rule that settles it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Iterable

from deepfact.reading.library import Reading

DISPUTE = 0.42
"""How well a passage must fit the claim before its other value disputes the claim's."""
MARGIN = 0.12
"""How much better the disputing passage must fit than the one that bears the claim out."""


class Status(StrEnum):
    """What the passages say of one element."""

    COVERED = "covered"
    MISSING = "missing"
    DISPUTED = "disputed"


@dataclass(frozen=True, slots=True)
class Side:
    """A passage that bears an element out, or says otherwise, and how well it fits (0 to 1)."""

    fit: float
    reading: Reading | None = None
    words: str = ""
    """The source's words for the element."""
    note: str = ""
    """How it bears the element out, where not by saying the same."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One element of the claim, and the best passage for and against it."""

    kind: str
    """``quantity``, ``date``, ``name``, ``direction``, ``negation``, ``quotation`` or
    ``attribution``."""
    text: str
    """The claim's words, exactly."""
    start: int
    end: int
    status: Status
    bearing: Side | None = None
    against: Side | None = None
    conflict: float = 0.0
    """How well two different sources stand for and against it; 0 when they do not."""

    @property
    def dispute(self) -> float:
        """How much better the passage against it fits than the one for it, never below 0."""
        if self.against is None:
            return 0.0
        return max(0.0, self.against.fit - (0.5 * self.bearing.fit if self.bearing else 0.0))


def settle(finding: Finding, bearing: Iterable[Side], against: Iterable[Side]) -> Finding:
    """The finding with its best sides, its status, and whether sources are at odds over it."""
    supporters = sorted(bearing, key=lambda side: -side.fit)
    opponents = sorted(against, key=lambda side: -side.fit)
    best = supporters[0] if supporters else None
    worst = opponents[0] if opponents else None
    status = Status.MISSING if best is None else Status.COVERED
    floor = max(DISPUTE, best.fit + MARGIN if best else 0.0)
    if worst is not None and worst.fit >= floor:
        status = Status.DISPUTED
    conflict = 0.0
    for side in supporters:
        for other in opponents:
            if side.reading and other.reading and side.reading.source != other.reading.source:
                conflict = max(conflict, min(side.fit, other.fit))
    return replace(finding, status=status, bearing=best, against=worst, conflict=conflict)
