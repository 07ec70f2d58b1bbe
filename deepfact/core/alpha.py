"""Krippendorff's alpha for nominal labels, from counts of labels per unit.

``alpha = 1 - (n - 1) (n - sum_c o_cc) / (n^2 - sum_c n_c^2)``, where ``o_ck`` is the coincidence
matrix (ordered pairs of labels that two observers gave one unit, each unit weighing as many labels
as it has), ``n_c`` its margins and ``n`` their sum: K. Krippendorff, Computing Krippendorff's
Alpha-Reliability, 2011, section C. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


def coincidences(row: Sequence[int]) -> list[list[float]]:
    """One unit's part of the coincidence matrix.

    Args:
        row: how many observers gave the unit each label; two in all at the least.
    """
    others = sum(row) - 1
    return [
        [(one * (two - (at == to))) / others for to, two in enumerate(row)]
        for at, one in enumerate(row)
    ]


def alpha_of(matrices: Array) -> Array:
    """Alpha of each of many coincidence matrices, for a bootstrap.

    Args:
        matrices: shape ``(draws, labels, labels)``.

    Returns:
        Shape ``(draws,)``; NaN where fewer than two labels occur, since alpha is not defined there.
    """
    import numpy as np

    margins = matrices.sum(axis=2)
    n = margins.sum(axis=1)
    apart = n - matrices.trace(axis1=1, axis2=2)
    by_chance = n**2 - (margins**2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Array = np.where(by_chance > 1e-9, 1 - (n - 1) * apart / by_chance, np.nan)
    return result


def nominal_alpha(counts: Sequence[Sequence[int]]) -> float | None:
    """Alpha of units of which each has two labels at the least.

    Args:
        counts: of each unit, how many observers gave it each label.

    Returns:
        None where fewer than two labels occur.
    """
    margins: list[int] = [sum(column) for column in zip(*counts, strict=True)]
    n = sum(margins)
    by_chance = n * n - sum(margin * margin for margin in margins)
    if not by_chance:
        return None
    same = sum(sum(one * one - one for one in row) / (sum(row) - 1) for row in counts)
    return 1 - (n - 1) * (n - same) / by_chance
