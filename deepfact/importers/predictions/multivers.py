"""Predictions of MultiVerS checkpoints for SciFact and Citation-Integrity, and their keys.

https://github.com/dwadden/multivers: a row a claim, ``evidence`` by document with a label and
sentences. No evidence at all and an explicit NEI say the same. Reads only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Iterator, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from deepfact.core.labels import from_data_set
from deepfact.core.schemes.abstracts import AnsweredDocument, KeyDocument
from deepfact.errors import InputError
from deepfact.importers.rows import json_objects
from deepfact.store.files import explain


class _Document(BaseModel):
    model_config = ConfigDict(strict=True)
    label: str
    sentences: list[int] = []


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True)
    id: int
    evidence: dict[str, _Document]


class _Key(BaseModel):
    model_config = ConfigDict(strict=True)
    id: int
    evidence: dict[str, list[_Document]]


T = TypeVar("T", _Answer, _Key)


def read(path: Path, data_set: str) -> dict[int, dict[str, AnsweredDocument]]:
    """What a system says of each claim's documents, in the order of the file, by claim number.

    Args:
        path: the file of predictions.
        data_set: whose words they are, a key of `deepfact.core.labels.DATA_SETS`.

    Raises:
        InputError: a row is not one, a label is unknown, or a claim is answered twice.
    """
    return {
        row.id: {
            name: AnsweredDocument(
                from_data_set(data_set, found.label, where=where), tuple(found.sentences)
            )
            for name, found in row.evidence.items()
        }
        for where, row in _rows(path, _Answer)
    }


def read_key(path: Path, data_set: str) -> dict[int, dict[str, KeyDocument]]:
    """The documents that bear on each claim, with their sets of sentences, by claim number.

    Raises:
        InputError: as `read`; or the rationales of a document differ in their label.
    """
    key: dict[int, dict[str, KeyDocument]] = {}
    for where, row in _rows(path, _Key):
        key[row.id] = {}
        for name, rationales in row.evidence.items():
            words = {rationale.label for rationale in rationales}
            if len(words) > 1:
                raise InputError(f"document {name} carries several labels", where=where)
            for word in words:
                key[row.id][name] = KeyDocument(
                    from_data_set(data_set, word, where=where),
                    tuple(frozenset(rationale.sentences) for rationale in rationales),
                )
    return key


def _rows(path: Path, model: type[T]) -> Iterator[tuple[str, T]]:
    seen: set[int] = set()
    for raw in json_objects(path):
        row: Any = None
        try:
            row = model.model_validate(raw.cells)
        except ValidationError as error:
            raise InputError(f"not a row of evidence: {explain(error)}", where=raw.where) from None
        if row.id in seen:
            raise InputError(f"claim {row.id} is answered twice", where=raw.where)
        seen.add(row.id)
        yield raw.where, row
