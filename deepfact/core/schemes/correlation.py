"""The scheme of FRANK: how a metric goes with people's judgements, system by system.

Pure; scipy does the arithmetic. Pagnoni et al., "Understanding Factuality in Abstractive
Summarization with FRANK", NAACL 2021: partial correlation that controls for the summarizer, so
that a metric earns nothing by telling good systems from bad ones.
"""

from __future__ import annotations

from math import atanh, sqrt, tanh
from typing import Sequence

from deepfact.core.schemes.base import Interval, SchemeScore


def partial_correlation(
    metric: Sequence[float | None], judged: Sequence[float | None], groups: Sequence[str]
) -> SchemeScore:
    """Correlation of what is left once the mean of each group is taken off.

    That is the partial correlation that controls for the group as a set of indicators.

    Args:
        metric: value of each unit; None where it is missing: left out, and counted.
        judged: people's score of each unit, likewise.
        groups: what is controlled for, such as the summarizer.

    Returns:
        ``pearson`` and ``spearman`` of the residuals (ties take average ranks), with their
        two-sided p-values ``pearson_p`` and ``spearman_p``; None where residuals do not vary.
        Intervals are Fisher's, for Spearman with Bonett and Wright's variance (Psychometrika
        65, 2000).
    """
    kept = [
        (float(m), float(j), group)
        for m, j, group in zip(metric, judged, groups, strict=True)
        if m is not None and j is not None
    ]
    dropped = len(metric) - len(kept)
    left_out = {"no value": dropped} if dropped else {}
    names = ("pearson", "spearman")
    if len(kept) < 4:
        return SchemeScore(
            "partial-correlation", len(kept), dict.fromkeys(names), left_out=left_out
        )
    import numpy as np
    from scipy.stats import pearsonr, spearmanr

    left, right = (np.array([row[column] for row in kept]) for column in (0, 1))
    group = np.unique([row[2] for row in kept], return_inverse=True)[1]
    sizes = np.bincount(group)
    # Rounded, so that ties between groups stay ties: their ranks must not follow float noise.
    residuals = [
        np.round(values - (np.bincount(group, weights=values) / sizes)[group], 12)
        for values in (left, right)
    ]
    if not all(values.any() for values in residuals):
        undefined: dict[str, float | None] = dict.fromkeys(names)
        return SchemeScore("partial-correlation", len(kept), undefined, left_out=left_out)
    straight, ranks = pearsonr(*residuals), spearmanr(*residuals)
    r, rho = float(straight.statistic), float(ranks.statistic)
    n = len(kept)
    return SchemeScore(
        scheme="partial-correlation",
        n=n,
        values={
            "pearson": r,
            "spearman": rho,
            "pearson_p": float(straight.pvalue),
            "spearman_p": float(ranks.pvalue),
        },
        intervals={
            "pearson": _fisher(r, 1 / sqrt(n - 3)),
            "spearman": _fisher(rho, sqrt((1 + rho**2 / 2) / (n - 3))),
        },
        method="Fisher's z",
        left_out=left_out,
    )


def _fisher(r: float, error: float) -> Interval:
    if abs(r) >= 1:
        return r, r
    z = atanh(r)
    return tanh(z - 1.959964 * error), tanh(z + 1.959964 * error)
