"""Percentile bootstrap intervals for the scoring schemes: of tables, and of means.

Pure; draws are seeded. Whole clusters (reports) are drawn, since the claims of one report are
no independent trials. numpy does the arithmetic and is imported when it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from deepfact.core.schemes.base import Interval

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

DRAWS = 1000
METHOD = "bootstrap"


def drawn(n: int, seed: int = 0, draws: int = DRAWS) -> Array:
    """How often each of n clusters is in each draw: shape ``(draws, n)``."""
    import numpy as np

    # Few draws of many clusters: the weights are a dense table.
    draws = max(200, min(draws, 20_000_000 // max(n, 1)))
    return np.random.default_rng(seed).multinomial(n, [1 / n] * n, size=draws)


def of_counts(
    counts: Array,
    statistic: Callable[[Array], Mapping[str, Array]],
    *,
    seed: int = 0,
) -> dict[str, Interval]:
    """Intervals of statistics of summed counts.

    Args:
        counts: one table a cluster, shape ``(clusters, ...)``.
        statistic: from summed tables, shape ``(draws, ...)``, to values by name.
        seed: of the draws.

    Returns:
        By name; empty with fewer than two clusters: there is nothing to draw.
    """
    import numpy as np

    if len(counts) < 2:
        return {}
    sums = np.tensordot(drawn(len(counts), seed), counts, axes=1)
    return {name: ends for name, values in statistic(sums).items() if (ends := _ends(values))}


def of_mean(values: Sequence[float], *, seed: int = 0) -> Interval | None:
    """The interval of a mean over units; None with fewer than two."""
    import numpy as np

    if len(values) < 2:
        return None
    return _ends(drawn(len(values), seed) @ np.asarray(values, dtype=float) / len(values))


def _ends(values: Array) -> Interval | None:
    import numpy as np

    finite = values[np.isfinite(values)]
    if not len(finite):
        return None
    low, high = np.percentile(finite, [2.5, 97.5])
    return float(low), float(high)
