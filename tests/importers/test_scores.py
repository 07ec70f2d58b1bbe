"""Probabilities in files of verdicts: where they are read, and what is no probability."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deepfact.errors import InputError
from deepfact.importers.scores import read_scores
from deepfact.records import Label

S, C, I = Label.SUPPORTED, Label.CONTRADICTORY, Label.INCONCLUSIVE  # noqa: E741


def put(folder: Path, *rows: Any, name: str = "v.jsonl", encoding: str = "utf-8") -> Path:
    path = folder / name
    text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    path.write_text(text, encoding=encoding)
    return path


def test_by_label_or_as_one_number(tmp_path: Path) -> None:
    file = put(
        tmp_path,
        {"claim_id": "a", "scores": {"supported": 0.5, "contradictory": 0.2, "inconclusive": 0.3}},
        {"id": "b", "label": "supported", "score": 1},
        {"claim_id": "c", "label": "supported"},
        {"claim_id": "d", "score": None},
        {"claim_id": "of-another-set", "score": 7},
        {"claim_id": "e", "scores": {"supported": 0.25, "inconclusive": 0.75}},
    )
    assert read_scores(file, "abcde") == {
        "a": {S: 0.5, C: 0.2, I: 0.3},
        "b": {S: 1.0, I: 0.0},
        "e": {S: 0.25, I: 0.75},
    }


def test_csv_and_other_encodings(tmp_path: Path) -> None:
    quoted = '"{""supported"": 0.25, ""inconclusive"": 0.75}"'
    file = put(tmp_path, "claim_id,label,score,scores", "a,supported,0.75,", f"b,,,{quoted}",
               name="v.csv")  # fmt: skip
    assert read_scores(file, "ab") == {"a": {S: 0.75, I: 0.25}, "b": {S: 0.25, I: 0.75}}
    plain = put(tmp_path, "claim_id,label", "a,supported", name="w.csv")
    assert read_scores(plain, "a") == {}
    wide = put(tmp_path, {"claim_id": "a", "score": 0.5}, encoding="utf-16")
    assert read_scores(wide, "a", encoding="utf-16") == {"a": {S: 0.5, I: 0.5}}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"score": 73}, "73 is no probability"),
        ({"score": "high"}, "'high' is no probability"),
        ({"score": True}, "True is no probability"),
        ({"score": [0.5]}, "no probability"),
        ({"scores": [0.5, 0.5]}, "an object with a probability for each label"),
        ({"scores": "{"}, "an object with a probability for each label"),
        ({"scores": {"supported": 0.5, "suported": 0.5}}, "unknown label 'suported'"),
        ({"scores": {"supported": 0.5, "inconclusive": 0.4}}, "sum to 0.9000"),
        ({"scores": {"supported": 1.0}}, "supported and another label"),
        ({"scores": {"contradictory": 0.5, "inconclusive": 0.5}}, "supported and another label"),
        ({"scores": {"supported": -0.5, "inconclusive": 1.5}}, "-0.5 is no probability"),
    ],
)
def test_what_is_no_probability_is_told_with_its_line(
    tmp_path: Path, row: dict[str, Any], words: str
) -> None:
    file = put(tmp_path, {"claim_id": "a", "score": 0.5}, {"claim_id": "b", **row})
    with pytest.raises(InputError, match=words) as told:
        read_scores(file, "ab")
    assert told.value.where.endswith("line 2")


def test_a_claim_with_two_answers(tmp_path: Path) -> None:
    row = {"claim_id": "a", "score": 0.5}
    assert read_scores(put(tmp_path, row, row), "a") == {"a": {S: 0.5, I: 0.5}}
    with pytest.raises(InputError, match="'a' has probabilities twice"):
        read_scores(put(tmp_path, row, {**row, "score": 0.6}), "a")


@pytest.mark.parametrize(("name", "encoding"), [("v.csv", "utf-8"), ("v.jsonl", "utf-16")])
def test_a_row_that_cannot_be_read_is_told(tmp_path: Path, name: str, encoding: str) -> None:
    text = "claim_id,score\na,0.5,x" if name == "v.csv" else "{nonsense"
    with pytest.raises(InputError):
        read_scores(put(tmp_path, text, name=name, encoding=encoding), "a", encoding=encoding)
