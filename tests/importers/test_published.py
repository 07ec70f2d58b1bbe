"""What importers of published data sets share: files found, bad rows listed, nc not entered."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from deepfact.errors import InputError
from deepfact.importers.base import Imported
from deepfact.importers.published import (
    good_rows,
    id_part,
    json_items,
    named_items,
    published_files,
)
from deepfact.importers.rows import json_rows


class Row(BaseModel):
    x: int


def test_a_file_or_a_folder_is_taken_in_the_order_of_the_patterns(tmp_path: Path) -> None:
    for name in ("b.json", "a1.jsonl", "a2.jsonl"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    assert published_files(tmp_path / "b.json", ["z"], data_set="Z") == [tmp_path / "b.json"]
    found = published_files(tmp_path, ["b.json", "a*.jsonl", "*.json"], data_set="Z")
    assert [file.name for file in found] == ["b.json", "a1.jsonl", "a2.jsonl"]
    with pytest.raises(InputError, match="no such file or folder"):
        published_files(tmp_path / "none", ["z"], data_set="Z")
    with pytest.raises(InputError, match=r"the folder has no z\.json or y\.json"):
        published_files(tmp_path, ["z.json", "y.json"], data_set="Z")


def test_a_folder_nc_is_named_and_not_entered(tmp_path: Path) -> None:
    (tmp_path / "nc").mkdir()
    (tmp_path / "nc" / "dev.json").write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match="non-commercial") as caught:
        published_files(tmp_path, ["dev.json"], data_set="Z")
    assert caught.value.fix.endswith(str(tmp_path / "nc"))
    assert published_files(tmp_path / "nc", ["dev.json"], data_set="Z")


def test_bad_rows_are_listed_and_the_others_read(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"x": 1}\n{"x": "one"}\n{"x": 2\n{"x": 3}\n', encoding="utf-8")
    out = Imported()
    rows = [row.x for _, row in good_rows(json_rows(file), Row, out, data_set="Z")]
    assert rows == [1, 3]
    assert [skip.where for skip in out.skipped] == [f"{file}, line 2", f"{file}, line 3"]
    assert "not a row of Z: x" in out.skipped[0].why
    assert "not JSON" in out.skipped[1].why


def test_a_file_without_one_good_row_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"y": 1}\n{"y": 2}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"no row is one of Z; the first: .*x") as caught:
        list(good_rows(json_rows(file), Row, Imported(), data_set="Z"))
    assert caught.value.where == f"{file}, line 1"


@pytest.mark.parametrize(
    ("text", "names"), [('[{"x": 1}, {"x": 2}]', ["1", "2"]), ('{"a": {"x": 1}}', ["a"])]
)
def test_lists_and_objects_of_objects(tmp_path: Path, text: str, names: list[str]) -> None:
    file = tmp_path / "a.json"
    file.write_text(text, encoding="utf-8")
    assert [name for name, _ in named_items(file)] == names
    assert next(json_items(file)).cells == {"x": 1}


@pytest.mark.parametrize("text", ["3", "[1]", "[{]", '{"a": 1}'])
def test_other_json_is_an_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "a.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        list(json_items(file))


def test_parts_of_ids_have_no_white_space_or_separators() -> None:
    assert id_part(" Zürich / HB\n2 ") == "Zürich_HB_2"
