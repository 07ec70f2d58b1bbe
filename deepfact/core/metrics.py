"""Scores with their uncertainty: how good verdicts are against a key.

Pure. Every claim of the key counts exactly once: a failure, or no answer at all, is
unverified and counts as wrong. numpy is imported when a score is asked for; scipy would take
longer to import than most scores take (docs/decisions/0147).
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any, Hashable, Mapping, Sequence

from deepfact.records import Label, Outcome, Verdict
from deepfact.run_records import ClassScore, Estimate, Rate, ScoreSheet

if TYPE_CHECKING:
    import numpy as np

LABELS = tuple(Label)
Z = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution."""
RESAMPLES = 2000
MANY_CLUSTERS = 10_000
_NONE = len(LABELS)
_CODES: dict[Label | None, int] = {label: place for place, label in enumerate((*LABELS, None))}
"""Place of each label in tables; no verdict comes last."""


def rate(k: int, n: int, *, unverified: int = 0) -> Rate:
    """k of n with Wilson's 95 % score interval (E. B. Wilson, JASA 22, 1927), with scipy's figures.

    Args:
        k: successes.
        n: all of them, 0 included: then the interval is all of [0, 1].
        unverified: how many of the n had no verdict.
    """
    if n == 0:
        return Rate(k=0, n=0, unverified=unverified, low=0.0, high=1.0, method="wilson")
    share, scale = k / n, 2 * (n + Z**2)
    middle = (2 * n * share + Z**2) / scale
    half = Z / scale * sqrt(4 * n * share * (1 - share) + Z**2)
    low, high = middle - half if k else 0.0, middle + half if k < n else 1.0
    return Rate(k=k, n=n, unverified=unverified, low=low, high=high, method="wilson")


def score(
    key: Mapping[str, Label],
    outcomes: Mapping[str, Outcome],
    *,
    verifier: str,
    on: str,
    reports: Mapping[str, str],
    strata: Mapping[str, Sequence[str]] | None = None,
    seed: int = 0,
) -> ScoreSheet:
    """Verdicts scored against a key.

    Args:
        key: label of each claim that is scored.
        outcomes: by claim id; claims outside the key are ignored.
        verifier: whose they are, for the sheet.
        on: which key this is, in words.
        reports: report of each claim; the bootstrap draws whole reports.
        strata: the strata that each claim is in, for the table by stratum.
        seed: of the bootstrap.
    """
    strata = strata or {}
    return score_answers(
        list(key.values()),
        [answer_of(outcomes.get(claim_id)) for claim_id in key],
        missing=sum(claim_id not in outcomes for claim_id in key),
        verifier=verifier,
        on=on,
        reports=[reports.get(claim_id, claim_id) for claim_id in key],
        strata=[tuple(strata.get(claim_id, ())) for claim_id in key],
        seed=seed,
    )


def score_answers(
    key: Sequence[Label],
    answers: Sequence[Label | None],
    *,
    missing: int,
    verifier: str,
    on: str,
    reports: Sequence[str],
    strata: Sequence[tuple[str, ...]],
    seed: int = 0,
) -> ScoreSheet:
    """As `score`, of labels alone, with an item for each claim, in one order.

    Args:
        key: its label.
        answers: the verdict's label; None where there is none.
        missing: how many have not even a failure.
        verifier, on, seed: as for `score`.
        reports: its report.
        strata: the strata that it is in.
    """
    import numpy as np

    truth = np.fromiter(map(_CODES.__getitem__, key), np.int64, len(key))
    given = np.fromiter(map(_CODES.__getitem__, answers), np.int64, len(key))
    unverified = int((given == _NONE).sum())
    right = truth == given
    supported = _CODES[Label.SUPPORTED]
    binary = (given != _NONE) & ((given == supported) == (truth == supported))
    confusion = _tables(np.zeros_like(truth), truth, given, 1)[0].tolist()
    accuracy, macro_f1 = _clustered(truth, given, reports, seed)
    return ScoreSheet(
        verifier=verifier,
        on=on,
        n=len(key),
        unverified=unverified,
        missing=missing,
        accuracy=rate(int(right.sum()), len(key), unverified=unverified),
        accuracy_clustered=accuracy,
        binary=rate(int(binary.sum()), len(key), unverified=unverified),
        macro_f1=macro_f1,
        per_class=_per_class(confusion),
        confusion=tuple(map(tuple, confusion)),
        strata=_by_stratum(right, given == _NONE, strata),
    )


def answer_of(outcome: Outcome | None) -> Label | None:
    """The label of a verdict; None for a failure, and for no outcome at all."""
    return outcome.label if isinstance(outcome, Verdict) else None


def _tables(
    cluster: np.ndarray[Any, Any],
    truth: np.ndarray[Any, Any],
    given: np.ndarray[Any, Any],
    clusters: int,
) -> np.ndarray[Any, Any]:
    """A table for each cluster. Rows: key; columns: verdict, unverified last."""
    import numpy as np

    shape = (clusters, len(LABELS), len(LABELS) + 1)
    place = (cluster * shape[1] + truth) * shape[2] + given
    return np.bincount(place, minlength=shape[0] * shape[1] * shape[2]).reshape(shape)


def _per_class(confusion: Sequence[Sequence[int]]) -> tuple[ClassScore, ...]:
    scores = []
    for index, label in enumerate(LABELS):
        hit = confusion[index][index]
        answered = sum(row[index] for row in confusion)
        there = sum(confusion[index])
        scores.append(
            ClassScore(
                label=label,
                precision=hit / answered if answered else None,
                recall=hit / there if there else None,
                f1=2 * hit / (answered + there) if answered + there else None,
                n=there,
            )
        )
    return tuple(scores)


def _by_stratum(
    right: np.ndarray[Any, Any],
    unverified: np.ndarray[Any, Any],
    strata: Sequence[tuple[str, ...]],
) -> dict[str, Rate]:
    import numpy as np

    group, distinct = _numbered(strata)
    counts = np.stack(
        [np.bincount(group, weights=one, minlength=len(distinct))
         for one in (right, np.ones_like(right), unverified)], axis=1,
    ).astype(int)  # fmt: skip
    totals: dict[str, Any] = {}
    for names, counted in zip(distinct, counts, strict=True):
        for name in names:
            totals[name] = totals.get(name, 0) + counted
    return {
        name: rate(int(k), int(n), unverified=int(without))
        for name, (k, n, without) in sorted(totals.items())
    }


def _numbered(values: Sequence[Hashable]) -> tuple[np.ndarray[Any, Any], list[Any]]:
    """Each value's number, equal ones having the same, and the distinct values by number."""
    import numpy as np

    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    found = np.fromiter(map(numbers.__getitem__, values), np.int64, len(values))
    return found, list(numbers)


def _clustered(
    truth: np.ndarray[Any, Any],
    given: np.ndarray[Any, Any],
    reports: Sequence[str],
    seed: int,
) -> tuple[Estimate, Estimate]:
    """Accuracy and macro-F1 with percentile bootstrap intervals that draw whole reports.

    Macro-F1 is over the labels that occur in the key; an unverified claim is a miss of its
    label and a hit of none. A single report gives no interval: there is nothing to draw.
    """
    n = len(truth)
    method = "bootstrap by report"
    if n == 0:
        empty = Estimate(value=None, n=0, method=method)
        return empty, empty
    import numpy as np

    cluster, clusters = _numbered(reports)
    tables = _tables(cluster, truth, given, len(clusters))
    sampled = _resampled(tables, seed)
    whole = tables.sum(axis=0, keepdims=True)
    estimates = []
    for statistic in (_accuracy, macro_f1_of):
        values = statistic(sampled)
        low, high = map(float, np.nanpercentile(values, [2.5, 97.5]))
        shown = len(clusters) > 1
        estimates.append(
            Estimate(
                value=float(statistic(whole)[0]),
                n=n,
                low=low if shown else None,
                high=high if shown else None,
                method=method,
            )
        )
    return estimates[0], estimates[1]


def _resampled(tables: np.ndarray[Any, Any], seed: int) -> np.ndarray[Any, Any]:
    """The sums of as many tables as there are, drawn with replacement, many times.

    Draws are made some at a time, which changes none of them, to bound the memory. Of very many
    clusters, those with equal tables are drawn together, as which of them is drawn makes no
    difference; where nearly all tables differ, tables are drawn one by one.
    """
    import numpy as np

    count = len(tables)
    generator = np.random.default_rng(seed)
    draws = max(200, min(RESAMPLES, 20_000_000 // count))
    kinds: np.ndarray[Any, Any] = tables.reshape(count, -1)
    of_kind: np.ndarray[Any, Any] = np.ones(count)
    if count > MANY_CLUSTERS:
        kinds, of_kind = np.unique(kinds, axis=0, return_counts=True)
        if len(kinds) > count / 10:
            return _drawn_singly(tables, draws, generator)
    some = max(1, 2_000_000 // len(kinds))
    sums = [
        generator.multinomial(count, of_kind / count, size=min(some, draws - done))
        @ kinds.astype(float)
        for done in range(0, draws, some)
    ]
    return np.concatenate(sums).reshape(draws, *tables.shape[1:])


def _drawn_singly(
    tables: np.ndarray[Any, Any], draws: int, generator: np.random.Generator
) -> np.ndarray[Any, Any]:
    """As `_resampled`: a place among the tables for each draw, which is much faster than how often
    each of very many is drawn."""
    import numpy as np

    count = len(tables)
    kinds = tables.reshape(count, -1).astype(float)
    drawn = np.zeros((max(1, 2_000_000 // count), count))
    sums = []
    for done in range(0, draws, len(drawn)):
        some = drawn[: draws - done]
        for row in some:
            row[:] = np.bincount(generator.integers(count, size=count), minlength=count)
        sums.append(some @ kinds)
    return np.concatenate(sums).reshape(draws, *tables.shape[1:])


def _accuracy(tables: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Accuracy of each table. Shape ``(draws, labels, labels + 1)`` to ``(draws,)``."""
    hits: np.ndarray[Any, Any] = tables[:, range(len(LABELS)), range(len(LABELS))].sum(axis=1)
    result: np.ndarray[Any, Any] = hits / tables.sum(axis=(1, 2))
    return result


def macro_f1_of(tables: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Macro-F1 of each table, over labels that its key has. Shapes as `_accuracy`."""
    import numpy as np

    hits = tables[:, range(len(LABELS)), range(len(LABELS))]
    there = tables.sum(axis=2)
    answered = tables[:, :, : len(LABELS)].sum(axis=1)
    f1 = np.where(there > 0, 2 * hits / np.maximum(there + answered, 1), np.nan)
    result: np.ndarray[Any, Any] = np.nanmean(f1, axis=1)
    return result
