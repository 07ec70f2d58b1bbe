"""The subtasks of Factcheck-Bench that have labels of their own: what is worth checking.

https://github.com/yuxiaw/Factcheck-GPT. Reads only.
"""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import Mapping

from deepfact.errors import InputError
from deepfact.importers.rows import json_objects

COLUMNS: Mapping[str, tuple[str, tuple[str, ...]]] = MappingProxyType(
    {
        "subtask1": ("checkworthy", ("yes", "other", "opinion", "not_a_claim")),
        "subtask2": ("checkworthy", ("factual", "opinion", "not_a_claim")),
        "subtask4": ("label", ("true", "false", "not_enough_evidence")),
    }
)
"""Column and words of each subtask."""


def read(path: Path, subtask: str) -> list[str]:
    """The published label of each row.

    Raises:
        InputError: a row without one, or a word that the subtask does not have.
    """
    column, words = COLUMNS[subtask]
    labels = []
    for row in json_objects(path):
        word = row.cells.get(column)
        if word not in words:
            raise InputError(
                f"{word!r} is no label of {subtask}",
                where=row.where,
                fix=f"labels: {', '.join(words)}",
            )
        labels.append(str(word))
    return labels
