"""Golden files of the records of a transfer run, schema 1."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deepfact import transfer_records
from deepfact.errors import NewerSchemaError
from deepfact.records import FileRecord
from deepfact.store.files import parse_record

GOLDEN = Path(__file__).parents[1] / "golden" / "transfer"
FILES = sorted(GOLDEN.glob("*.json"))
CLASSES = {
    name: thing
    for name, thing in vars(transfer_records).items()
    if isinstance(thing, type) and issubclass(thing, FileRecord) and thing is not FileRecord
    and thing.__module__ == transfer_records.__name__
}  # fmt: skip


def test_every_record_that_is_a_file_has_a_golden() -> None:
    assert {path.stem for path in FILES} == set(CLASSES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_parses_is_written_again_and_a_newer_one_is_refused(path: Path) -> None:
    stored = path.read_bytes()
    record = parse_record(stored, CLASSES[path.stem], where=path.name)
    assert (record.canonical() + "\n").encode("utf-8") == stored
    newer = json.dumps({**json.loads(stored), "schema_version": 2})
    with pytest.raises(NewerSchemaError, match="schema version 2 is newer"):
        parse_record(newer, CLASSES[path.stem], where=path.name)
