"""Scores with their uncertainty: how good verdicts are against a key.

Pure. Every claim of the key counts exactly once: a failure, or no answer at all, is
unverified and counts as wrong. scipy and scikit-learn do the arithmetic; they are imported
when a score is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence

from deepfact.records import Label, Outcome, Verdict
from deepfact.run_records import ClassScore, Estimate, Rate, ScoreSheet

if TYPE_CHECKING:
    import numpy as np

LABELS = tuple(Label)
RESAMPLES = 2000


def rate(k: int, n: int, *, unverified: int = 0) -> Rate:
    """k of n with Wilson's 95 % score interval (E. B. Wilson, JASA 22, 1927).

    Args:
        k: successes.
        n: all of them, 0 included: then the interval is all of [0, 1].
        unverified: how many of the n had no verdict.
    """
    if n == 0:
        return Rate(k=0, n=0, unverified=unverified, low=0.0, high=1.0, method="wilson")
    from scipy.stats import binomtest

    interval = binomtest(k, n).proportion_ci(method="wilson")
    low, high = float(interval.low), float(interval.high)
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
    ids = list(key)
    answers = [answer_of(outcomes.get(claim_id)) for claim_id in ids]
    right = [answer == key[claim_id] for claim_id, answer in zip(ids, answers, strict=True)]
    unverified = sum(answer is None for answer in answers)
    binary = sum(
        answer is not None and (answer is Label.SUPPORTED) == (key[claim_id] is Label.SUPPORTED)
        for claim_id, answer in zip(ids, answers, strict=True)
    )
    confusion = _confusion([key[claim_id] for claim_id in ids], answers)
    accuracy, macro_f1 = _clustered(ids, key, answers, reports, seed)
    return ScoreSheet(
        verifier=verifier,
        on=on,
        n=len(ids),
        unverified=unverified,
        missing=sum(claim_id not in outcomes for claim_id in ids),
        accuracy=rate(sum(right), len(ids), unverified=unverified),
        accuracy_clustered=accuracy,
        binary=rate(binary, len(ids), unverified=unverified),
        macro_f1=macro_f1,
        per_class=_per_class(confusion),
        confusion=tuple(map(tuple, confusion)),
        strata=_by_stratum(ids, right, answers, strata or {}),
    )


def answer_of(outcome: Outcome | None) -> Label | None:
    """The label of a verdict; None for a failure, and for no outcome at all."""
    return outcome.label if isinstance(outcome, Verdict) else None


def _confusion(truth: Sequence[Label], answers: Sequence[Label | None]) -> list[list[int]]:
    """Rows: key; columns: verdict, unverified last."""
    table = [[0] * (len(LABELS) + 1) for _ in LABELS]
    for label, answer in zip(truth, answers, strict=True):
        column = len(LABELS) if answer is None else LABELS.index(answer)
        table[LABELS.index(label)][column] += 1
    return table


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
    ids: Sequence[str],
    right: Sequence[bool],
    answers: Sequence[Label | None],
    strata: Mapping[str, Sequence[str]],
) -> dict[str, Rate]:
    groups: dict[str, list[int]] = {}
    for index, claim_id in enumerate(ids):
        for stratum in strata.get(claim_id, ()):
            groups.setdefault(stratum, []).append(index)
    return {
        stratum: rate(
            sum(right[index] for index in members),
            len(members),
            unverified=sum(answers[index] is None for index in members),
        )
        for stratum, members in sorted(groups.items())
    }


def _clustered(
    ids: Sequence[str],
    key: Mapping[str, Label],
    answers: Sequence[Label | None],
    reports: Mapping[str, str],
    seed: int,
) -> tuple[Estimate, Estimate]:
    """Accuracy and macro-F1 with percentile bootstrap intervals that draw whole reports.

    Macro-F1 is over the labels that occur in the key; an unverified claim is a miss of its
    label and a hit of none. A single report gives no interval: there is nothing to draw.
    """
    n = len(ids)
    method = "bootstrap by report"
    if n == 0:
        empty = Estimate(value=None, n=0, method=method)
        return empty, empty
    import numpy as np

    clusters: dict[str, int] = {}
    tables = np.zeros((len({reports.get(i, i) for i in ids}), len(LABELS), len(LABELS) + 1))
    for claim_id, answer in zip(ids, answers, strict=True):
        cluster = clusters.setdefault(reports.get(claim_id, claim_id), len(clusters))
        column = len(LABELS) if answer is None else LABELS.index(answer)
        tables[cluster, LABELS.index(key[claim_id]), column] += 1
    draws = max(200, min(RESAMPLES, 20_000_000 // len(clusters)))
    weights = np.random.default_rng(seed).multinomial(
        len(clusters), [1 / len(clusters)] * len(clusters), size=draws
    )
    sampled = np.tensordot(weights, tables, axes=1)
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
