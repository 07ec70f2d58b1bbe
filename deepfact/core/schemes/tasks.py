"""Schemes of DeepResearch Bench: citation accuracy (FACT) and mean judge scores (RACE).

Pure. https://github.com/Ayanami0730/deep_research_bench: verdicts and scores are a model's, not
people's; what is measured here is the arithmetic on them.
"""

from __future__ import annotations

from typing import Literal, Mapping, Sequence

from deepfact.core.schemes.base import Interval, SchemeScore
from deepfact.core.schemes.intervals import METHOD, of_counts, of_mean

CitationVerdict = Literal["supported", "unsupported", "unknown"]


def citation_scores(tasks: Sequence[Sequence[CitationVerdict]], *, seed: int = 0) -> SchemeScore:
    """FACT: how many citations a report holds, and how many of them support their statement.

    Args:
        tasks: verdicts of each task's pairs of statement and URL.
        seed: of the intervals.

    Returns:
        ``total_citations`` (a task, those known) and ``total_valid_citations`` (a task), both
        over the tasks that have at least one citation, and ``valid_rate``, supported of known.
        An unknown verdict, where the page could not be read, counts in none of them.
    """
    citing = [task for task in tasks if task]
    left_out = {
        "tasks without a citation": len(tasks) - len(citing),
        "unknown verdicts": sum(verdict == "unknown" for task in citing for verdict in task),
    }
    left_out = {why: count for why, count in left_out.items() if count}
    known = [sum(verdict != "unknown" for verdict in task) for task in citing]
    valid = [sum(verdict == "supported" for verdict in task) for task in citing]
    n = len(citing)
    values: dict[str, float | None] = {
        "total_citations": sum(known) / n if n else None,
        "total_valid_citations": sum(valid) / n if n else None,
        "valid_rate": sum(valid) / sum(known) if sum(known) else None,
    }
    return SchemeScore(
        scheme="citation-accuracy",
        n=n,
        values=values,
        intervals=_citation_intervals(known, valid, seed),
        method=METHOD + " by task",
        left_out=left_out,
    )


def _citation_intervals(
    known: Sequence[int], valid: Sequence[int], seed: int
) -> dict[str, Interval]:
    import numpy as np

    n = len(known)
    counts = np.column_stack([known, valid]).astype(float)
    return of_counts(
        counts,
        lambda sums: {
            "total_citations": sums[:, 0] / n,
            "total_valid_citations": sums[:, 1] / n,
            "valid_rate": np.where(sums[:, 0] > 0, sums[:, 1] / np.maximum(sums[:, 0], 1), np.nan),
        },
        seed=seed,
    )


def task_means(rows: Sequence[Mapping[str, float]], *, seed: int = 0) -> SchemeScore:
    """RACE: the mean over tasks of each dimension.

    Raises:
        ValueError: tasks with different dimensions, which would be means of different tasks.
    """
    names = list(rows[0]) if rows else []
    if any(set(row) != set(names) for row in rows):
        raise ValueError("tasks with different dimensions cannot be averaged together")
    columns = {name: [row[name] for row in rows] for name in names}
    intervals = {name: of_mean(column, seed=seed) for name, column in columns.items()}
    return SchemeScore(
        scheme="task-means",
        n=len(rows),
        values={name: sum(column) / len(rows) for name, column in columns.items()},
        intervals={name: ends for name, ends in intervals.items() if ends},
        method=METHOD + " by task",
    )
