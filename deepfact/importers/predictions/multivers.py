"""Predictions of MultiVerS checkpoints for SciFact and Citation-Integrity.

https://github.com/dwadden/multivers: a row a claim, ``evidence`` by document with a label. No
evidence at all and an explicit NEI say the same. Reads only.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from deepfact.core.labels import from_data_set
from deepfact.errors import InputError
from deepfact.importers.rows import json_objects
from deepfact.records import Label
from deepfact.store.files import explain


class _Document(BaseModel):
    model_config = ConfigDict(strict=True)
    label: str


class _Row(BaseModel):
    model_config = ConfigDict(strict=True)
    id: int
    evidence: dict[str, _Document]


def read(path: Path, data_set: str) -> dict[int, list[Label]]:
    """The labels of each claim's documents, in the order of the file, by claim number.

    Args:
        path: the file of predictions.
        data_set: whose words they are, a key of `deepfact.core.labels.DATA_SETS`.

    Raises:
        InputError: a row is not one, a label is unknown, or a claim is answered twice.
    """
    answers: dict[int, list[Label]] = {}
    for raw in json_objects(path):
        try:
            row = _Row.model_validate(raw.cells)
        except ValidationError as error:
            raise InputError(f"not a prediction: {explain(error)}", where=raw.where) from None
        if row.id in answers:
            raise InputError(f"claim {row.id} is answered twice", where=raw.where)
        answers[row.id] = [
            from_data_set(data_set, document.label, where=raw.where)
            for document in row.evidence.values()
        ]
    return answers
