"""Parquet by a mapping: batches, columns that nobody asked for, and what is wrong with a file."""

from __future__ import annotations

import io
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from deepfact.errors import InputError
from deepfact.importers import importer
from deepfact.importers import parquet as ours
from deepfact.records import Label

WHEN = datetime(2025, 1, 1, tzinfo=UTC)


def put(path: Path, **columns: list[Any]) -> Path:
    parquet.write_table(pa.table(columns), path)
    return path


def mapping(folder: Path, text: str) -> Path:
    path = folder / "m.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_our_names_need_no_mapping(tmp_path: Path) -> None:
    file = put(tmp_path / "c.parquet", id=["a", "b"], text=["A.", "é"], label=["supported", None])
    out = importer("parquet")(file, when=WHEN)
    (first, annotation), (second, none) = out.claims
    assert annotation and annotation.label is Label.SUPPORTED and none is None
    assert (first.id, second.text) == ("a", "é")


MAPPING = """
data_set: checks
fields: {id: key, text: statement, label: verdict}
labels: {"0": supported, "1": contradictory}
sources: {field: evidence, text: passage, url: link}
"""


def test_numbers_lists_and_documents_are_mapped(tmp_path: Path) -> None:
    evidence = [[{"passage": "P.", "link": "https://example.org"}], []]
    file = put(
        tmp_path / "c.parquet",
        key=[7, 8], statement=["A.", "B."], verdict=[0, 1], evidence=evidence,
        embedding=[[0.1], [0.2]],
    )  # fmt: skip
    out = ours.read(file, when=WHEN, mapping=mapping(tmp_path, MAPPING))
    (first, one), (_, two) = out.claims
    assert one and two and [one.label, two.label] == [Label.SUPPORTED, Label.CONTRADICTORY]
    assert first.id == "7" and first.cites == (out.sources[0].id,)
    assert "Columns not imported: 'embedding'." in out.notes


def test_rows_come_in_batches_and_only_columns_that_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [f"c{n}" for n in range(25)]
    file = put(tmp_path / "c.parquet", id=ids, text=["T."] * 25, junk=[b"x"] * 25)
    monkeypatch.setattr(ours, "BATCH", 10)
    seen: list[pa.RecordBatch] = []
    plain = parquet.ParquetFile.iter_batches

    def watched(self: Any, **options: Any) -> Any:
        for batch in plain(self, **options):
            seen.append(batch)
            yield batch

    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", watched)
    out = ours.read(file, when=WHEN)
    assert [claim.id for claim, _ in out.claims] == ids
    assert [batch.num_rows for batch in seen] == [10, 10, 5]
    assert seen[0].schema.names == ["id", "text"]
    assert any("25 claims have no label" in note for note in out.notes)
    assert any("claim texts occur more than once" in note for note in out.notes)


def test_a_wrong_row_stops_or_is_listed(tmp_path: Path) -> None:
    file = put(tmp_path / "c.parquet", id=["a", "a", "b"], text=["A.", "B.", ""])
    with pytest.raises(InputError, match="'a' is given twice") as told:
        ours.read(file, when=WHEN)
    assert "row 2" in told.value.where
    out = ours.read(file, when=WHEN, skip_bad=True)
    assert len(out.claims) == 1 and [
        "row 2" in out.skipped[0].where,
        "row 3" in out.skipped[1].where,
    ] == [
        True,
        True,
    ]


def test_a_cell_that_is_no_text_is_told(tmp_path: Path) -> None:
    file = put(tmp_path / "c.parquet", id=["a"], text=[1.5])
    with pytest.raises(InputError, match="'text' must be a text, this is a float"):
        ours.read(file, when=WHEN)


def test_a_mapping_that_names_a_missing_column_is_told_before_any_row(tmp_path: Path) -> None:
    file = put(tmp_path / "c.parquet", key=[7], statment=["A."], verdict=[9], evidence=[[]])
    with pytest.raises(InputError, match="no column 'statement' for the text") as told:
        ours.read(file, when=WHEN, mapping=mapping(tmp_path, MAPPING))
    assert "did you mean 'statment'?" in told.value.fix


def cut_short(folder: Path) -> bytes:
    whole = put(folder / "whole.parquet", id=["a"], text=["A."]).read_bytes()
    return whole[: len(whole) // 2]


def zipped(_: Path) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("claims.csv", "id,text\n")
    return data.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (cut_short, "Parquet that cannot be read"),
        (zipped, "not Parquet: this is a zip archive"),
        (lambda _: b"id,text\na,A.\n", "Parquet that cannot be read"),
        (lambda _: b"", "the file is empty"),
    ],
)
def test_what_is_no_parquet_is_told(tmp_path: Path, content: Any, words: str) -> None:
    file = tmp_path / "c.parquet"
    file.write_bytes(content(tmp_path))
    with pytest.raises(InputError, match=words):
        ours.read(file, when=WHEN)


def test_a_page_that_is_damaged_is_told_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "c.parquet"
    table = pa.table({"id": [f"c{n}" for n in range(4000)], "text": ["A text."] * 4000})
    parquet.write_table(table, file, row_group_size=2000, compression="zstd", use_dictionary=False)
    data = bytearray(file.read_bytes())
    second = parquet.ParquetFile(file).metadata.row_group(1).column(0)
    at = second.data_page_offset + 30
    data[at : at + 200] = b"\xff" * 200
    file.write_bytes(data)
    with pytest.raises(InputError, match="Parquet that cannot be read") as told:
        ours.read(file, when=WHEN)
    assert "after row" in told.value.where


def test_no_rows_no_file_and_two_columns_of_one_name(tmp_path: Path) -> None:
    empty = put(
        tmp_path / "e.parquet", id=pa.array([], pa.string()), text=pa.array([], pa.string())
    )
    with pytest.raises(InputError, match="columns and no rows"):
        ours.read(empty, when=WHEN)
    with pytest.raises(InputError, match="no such file"):
        ours.read(tmp_path / "none.parquet", when=WHEN)
    with pytest.raises(InputError, match="a folder"):
        ours.read(tmp_path, when=WHEN)
    twice = tmp_path / "t.parquet"
    parquet.write_table(pa.Table.from_arrays([pa.array(["a"])] * 2, names=["id", "id"]), twice)
    with pytest.raises(InputError, match="two columns are named 'id'"):
        ours.read(twice, when=WHEN)
