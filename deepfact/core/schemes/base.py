"""What a scoring scheme gives: named values, how many units they rest on, and what was left out.

Pure. A scheme never drops a unit silently: one that its data set's convention leaves out is
counted in `SchemeScore.left_out` with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping

Interval = tuple[float, float]
"""Low and high end of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class SchemeScore:
    """The result of a scheme on one system's answers."""

    scheme: str
    """A key of `deepfact.core.schemes.SCHEMES`."""
    n: int
    """Units that count: claims, responses or tasks."""
    values: Mapping[str, float | None]
    """By name. None where the value is not defined, such as an AUC of one class."""
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    """95 % intervals of those values that have one."""
    method: str = ""
    """How the intervals were made."""
    unverified: int = 0
    """Units without an answer that count all the same, as the scheme says."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Units that do not count, by reason."""
