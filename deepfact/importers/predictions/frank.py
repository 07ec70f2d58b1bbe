"""FRANK: people's factuality scores of summaries beside the values of automatic metrics.

https://github.com/artidoro/frank, joined to one CSV. An empty cell is a missing value, never 0.
Reads only.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from deepfact.errors import InputError, did_you_mean
from deepfact.importers.rows import BadRow, csv_rows

JUDGED = "Factuality"


@dataclass(frozen=True, slots=True)
class JudgedSummary:
    """A summary, people's score of it, and a metric's; None where a value is missing."""

    summarizer: str
    data_set: str
    split: str
    judged: float | None
    metric: float | None


def read(path: Path, metric: str) -> list[JudgedSummary]:
    """Every summary with the value of one metric.

    Raises:
        InputError: unreadable, no such column, or a cell that is no number.
    """
    summaries = []
    for row in csv_rows(path):
        if isinstance(row, BadRow):
            raise row.error
        for column in ("model_name", JUDGED, metric):
            if column not in row.cells:
                raise InputError(
                    f"no column {column!r}", where=row.where, fix=did_you_mean(column, row.cells)
                )
        cells = row.cells
        summaries.append(
            JudgedSummary(
                summarizer=cells["model_name"],
                data_set=cells.get("dataset", ""),
                split=cells.get("split", ""),
                judged=_number(cells[JUDGED], row.where),
                metric=_number(cells[metric], row.where),
            )
        )
    return summaries


def _number(cell: str, where: str) -> float | None:
    if not cell.strip():
        return None
    try:
        return float(cell)
    except ValueError:
        raise InputError(f"{cell!r} is no number", where=where) from None


def metrics(path: Path) -> list[str]:
    """The columns that hold metrics: those after ``split``.

    Raises:
        InputError: unreadable, or no such column.
    """
    for row in csv_rows(path):
        if isinstance(row, BadRow):
            raise row.error
        columns = list(row.cells)
        if "split" not in columns:
            raise InputError("no column 'split'", where=row.where)
        return columns[columns.index("split") + 1 :]
    return []
