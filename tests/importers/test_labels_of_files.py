"""Labels of the generic importers: spellings, several annotators, files that are something else."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from deepfact.errors import ConfigError, InputError
from deepfact.importers.generic import read_csv, read_jsonl
from deepfact.records import Label

WHEN = datetime(2025, 1, 1, tzinfo=UTC)

THREE = "id,text,label\na,A.,supported\nb,B.,Supported\nc,C., SUPPORTED\nd,D.,not-supported\n"
LABELS = "labels: {supported: supported, not supported: contradictory}\n"


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_three_spellings_are_told_at_once_with_their_rows(tmp_path: Path) -> None:
    file = put(tmp_path, "c.csv", THREE + "e,E.,Supported\n")
    with pytest.raises(InputError) as told:
        read_csv(file, when=WHEN, mapping=put(tmp_path, "m.yaml", LABELS))
    assert "unknown label 'Supported', the first of 3 words" in told.value.what
    assert "'Supported' (2), ' SUPPORTED' (1), 'not-supported' (1)" in told.value.what
    assert "line 3 (row 2)" in told.value.where
    assert "spelling: loose" in told.value.fix


def test_spelling_alone_is_not_offered_where_it_would_not_do(tmp_path: Path) -> None:
    file = put(tmp_path, "c.csv", THREE + "e,E.,maybe\n")
    with pytest.raises(InputError) as told:
        read_csv(file, when=WHEN, mapping=put(tmp_path, "m.yaml", LABELS))
    assert "'maybe' (1)" in told.value.what and "loose" not in told.value.fix


def test_loose_spelling_maps_them_and_keeps_what_was_published(tmp_path: Path) -> None:
    mapping = put(tmp_path, "m.yaml", LABELS + "spelling: loose\n")
    out = read_csv(put(tmp_path, "c.csv", THREE), when=WHEN, mapping=mapping)
    annotations = [annotation for _, annotation in out.claims if annotation]
    assert [one.label for one in annotations] == [Label.SUPPORTED] * 3 + [Label.CONTRADICTORY]
    assert [one.original_label for one in annotations][2:] == [" SUPPORTED", "not-supported"]
    assert "in any case" in out.notes[0]


def test_loose_spelling_may_not_mean_two_things(tmp_path: Path) -> None:
    text = "spelling: loose\nlabels: {Yes: supported, 'YES': contradictory}\n".replace(
        "Yes", "'Yes'"
    )
    with pytest.raises(ConfigError, match="mean different labels"):
        read_csv(put(tmp_path, "c.csv", THREE), when=WHEN, mapping=put(tmp_path, "m.yaml", text))


def test_with_skip_bad_each_such_row_is_listed(tmp_path: Path) -> None:
    mapping = put(tmp_path, "m.yaml", LABELS)
    out = read_csv(put(tmp_path, "c.csv", THREE), when=WHEN, mapping=mapping, skip_bad=True)
    assert [claim.id for claim, _ in out.claims] == ["a"] and len(out.skipped) == 3


SEVERAL = (
    LABELS
    + """annotators:
  - {who: second reader, label: label_2, rationale: why_2}
  - {who: crowd, label: votes}
licence: CC BY 4.0
url: https://example.org/checks
"""
)


def test_other_annotators_labels_are_kept(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "text": "A.", "label": "supported", "label_2": "not supported",
         "why_2": "No.", "votes": ["supported", "", "not supported"]},
        {"id": "b", "text": "B.", "label": "supported", "label_2": "", "votes": []},
        {"id": "c", "text": "C.", "label": "supported", "label_2": "supported"},
    ]  # fmt: skip
    file = put(tmp_path, "c.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    out = read_jsonl(file, when=WHEN, mapping=put(tmp_path, "m.yaml", SEVERAL))
    told = {
        claim_id: [(one.provenance.who, one.label, one.rationale) for one in found]
        for claim_id, found in out.further.items()
    }
    assert told == {
        "a": [
            ("second reader", Label.CONTRADICTORY, "No."),
            ("crowd 1", Label.SUPPORTED, ""),
            ("crowd 3", Label.CONTRADICTORY, ""),
        ],
        "c": [("second reader", Label.SUPPORTED, "")],
    }
    assert (out.licence, out.origin) == ("CC BY 4.0", "https://example.org/checks")
    assert "2 claims have labels of other annotators, 4 in all; on 1 of them" in out.notes[-1]
    assert not any("not imported" in note for note in out.notes)


def test_a_mapping_that_names_a_missing_column_of_an_annotator(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no column 'label_2' for the label of second reader"):
        read_csv(put(tmp_path, "c.csv", THREE), when=WHEN, mapping=put(tmp_path, "m.yaml", SEVERAL))


def test_an_annotators_unknown_words_are_counted_too(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "text": "A.", "label": "supported", "label_2": "?", "why_2": "", "votes": []},
        {"id": "b", "text": "B.", "label": "supported", "label_2": "", "votes": ["!", "?"]},
    ]
    file = put(tmp_path, "c.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InputError, match=r"'\?' \(2\), '!' \(1\)"):
        read_jsonl(file, when=WHEN, mapping=put(tmp_path, "m.yaml", SEVERAL))


def test_as_many_rationales_as_labels(tmp_path: Path) -> None:
    mapping = put(
        tmp_path, "m.yaml", LABELS + "annotators: [{who: crowd, label: votes, rationale: whys}]\n"
    )
    row = {"id": "a", "text": "A.", "votes": ["supported", "supported"], "whys": ["x"]}
    file = put(tmp_path, "c.jsonl", json.dumps(row) + "\n")
    with pytest.raises(InputError, match="'votes' has 2 labels, and 'whys' 1 rationales"):
        read_jsonl(file, when=WHEN, mapping=mapping)


def zipped() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("claims.csv", THREE)
    return data.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (zipped(), "this is a zip archive"),
        (gzip.compress(THREE.encode(), mtime=0), "compressed with gzip"),
        (b"PAR1....PAR1", "this is a Parquet file"),
        (b"%PDF-1.7", "this is a PDF"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS"),
    ],
)
def test_a_file_that_is_something_else_is_told(tmp_path: Path, content: bytes, words: str) -> None:
    for name, read in (("c.csv", read_csv), ("c.jsonl", read_jsonl)):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=words) as told:
            read(tmp_path / name, when=WHEN)
        assert told.value.fix and name in told.value.where
