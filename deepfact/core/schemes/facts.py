"""Schemes over the atomic facts of long answers: FActScore, VeriScore's F1@K.

Pure. Averages are over responses, which differs from pooling all facts: a short answer weighs
as much as a long one.
"""

from __future__ import annotations

from math import exp
from typing import Sequence

from deepfact.core.metrics import rate
from deepfact.core.schemes.base import Interval, SchemeScore
from deepfact.core.schemes.intervals import METHOD, of_counts, of_mean


def factscore(
    responses: Sequence[Sequence[bool] | None], *, gamma: int = 0, seed: int = 0
) -> SchemeScore:
    """FActScore: the mean over responses of the share of facts that are supported.

    Min et al., "FActScore", EMNLP 2023. Irrelevant facts count as not supported, as does each
    fact of a sentence that was judged irrelevant as a whole.

    Args:
        responses: whether each fact is supported; None where the system declined to answer,
            which the score leaves out and ``respond_pct`` counts.
        gamma: facts below which the length penalty ``exp(1 - gamma / facts)`` applies; 0 for
            none, as in the paper's table of human labels (its software uses 10).
        seed: of the intervals.

    Returns:
        ``score_pct``, ``respond_pct`` and ``pooled_pct`` (of all facts together), in percent;
        ``facts_per_response``.
    """
    answered = [facts for facts in responses if facts is not None]
    if not answered:
        silent = {"score_pct": None, "respond_pct": 0.0 if responses else None}
        return SchemeScore("factscore", 0, silent, left_out={"declined": len(responses)})
    shares = [_share(facts, gamma) for facts in answered]
    total = sum(map(len, answered))
    values: dict[str, float | None] = {
        "score_pct": 100 * sum(shares) / len(shares),
        "respond_pct": 100 * len(answered) / len(responses),
        "pooled_pct": 100 * sum(map(sum, answered)) / total if total else None,
        "facts_per_response": total / len(answered),
    }
    said = rate(len(answered), len(responses))
    intervals = {
        "score_pct": of_mean([100 * share for share in shares], seed=seed),
        "facts_per_response": of_mean([len(facts) for facts in answered], seed=seed),
        "pooled_pct": _pooled(answered, seed),
        "respond_pct": (100 * said.low, 100 * said.high),
    }
    declined = len(responses) - len(answered)
    return SchemeScore(
        scheme="factscore",
        n=len(answered),
        values=values,
        intervals={name: ends for name, ends in intervals.items() if ends},
        method=METHOD + " by response; respond_pct's by Wilson",
        left_out={"declined": declined} if declined else {},
    )


def f1_at_k(
    supported: Sequence[int], facts: Sequence[int], k: int, *, seed: int = 0
) -> SchemeScore:
    """VeriScore's F1@K: precision, and recall against k facts that an answer should hold.

    Song et al., "VeriScore", Findings of EMNLP 2024: recall is ``min(supported / k, 1)``; an
    answer without a supported fact scores 0. The k that they use is the median number of facts
    in a domain's answers.

    Args:
        supported: supported facts of each response.
        facts: all verifiable facts of each response.
        k: facts that an answer should hold, at least 1.
        seed: of the intervals.

    Returns:
        ``f1_at_k``, and ``precision`` over the responses that hold a fact.

    Raises:
        ValueError: k is below 1, or more facts are supported than there are.
    """
    if k < 1 or any(s > n for s, n in zip(supported, facts, strict=True)):
        raise ValueError("k is at least 1, and no more facts are supported than there are")
    scores = [_f1_at(s, n, k) for s, n in zip(supported, facts, strict=True)]
    precisions = [s / n for s, n in zip(supported, facts, strict=True) if n]
    intervals = {
        "f1_at_k": of_mean(scores, seed=seed),
        "precision": of_mean(precisions, seed=seed),
    }
    return SchemeScore(
        scheme="f1-at-k",
        n=len(scores),
        values={
            "f1_at_k": sum(scores) / len(scores) if scores else None,
            "precision": sum(precisions) / len(precisions) if precisions else None,
        },
        intervals={name: ends for name, ends in intervals.items() if ends},
        method=METHOD + " by response",
    )


def _pooled(answered: Sequence[Sequence[bool]], seed: int) -> Interval | None:
    import numpy as np

    counts = np.array([[sum(facts), len(facts)] for facts in answered], dtype=float)
    found = of_counts(
        counts, lambda sums: {"share": 100 * sums[:, 0] / np.maximum(sums[:, 1], 1)}, seed=seed
    )
    return found.get("share")


def _share(facts: Sequence[bool], gamma: int) -> float:
    if not facts:
        return 0.0
    penalty = exp(1 - gamma / len(facts)) if len(facts) < gamma else 1.0
    return penalty * sum(facts) / len(facts)


def _f1_at(supported: int, facts: int, k: int) -> float:
    if not supported:
        return 0.0
    precision, recall = supported / facts, min(supported / k, 1.0)
    return 2 * precision * recall / (precision + recall)
