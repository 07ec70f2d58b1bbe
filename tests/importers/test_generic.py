"""The generic importers: mapping, sources, all or nothing, and what each mistake says."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deepfact.errors import ConfigError, InputError
from deepfact.importers.generic import read_csv, read_jsonl
from deepfact.records import Label, SourceRole, Trust
from deepfact.store.files import MAX_LINE

WHEN = datetime(2025, 1, 1, tzinfo=UTC)


def put(tmp_path: Path, name: str, content: str | bytes) -> Path:
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return file


def lines(*rows: Any) -> str:
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)


GOOD = {"id": "a", "text": "Ice floats.", "label": "supported"}


def test_our_names_need_no_mapping(tmp_path: Path) -> None:
    row = GOOD | {"rationale": "r", "context": "c", "report": "r1", "sentence": 3, "domain": "d"}
    file = put(tmp_path, "set.jsonl", lines(row, {"id": 2, "text": "é"}))
    out = read_jsonl(file, when=WHEN)
    (first, annotation), (second, none) = out.claims
    assert annotation and first.origin
    assert (annotation.label, annotation.rationale) == (Label.SUPPORTED, "r")
    assert annotation.provenance.who == "set annotators"
    assert annotation.provenance.when == WHEN
    assert (first.context, first.domain, first.origin.report) == ("c", "d", "r1")
    assert first.origin.sentence == 3
    assert (second.id, second.text, second.origin, none) == ("2", "é", None, None)
    assert any("1 claims have no label" in note for note in out.notes)


MAPPING = """
data_set: checks
fields: {id: key, text: statement, label: verdict, cites: refs}
labels: {"TRUE": supported, "false": contradictory, "?": inconclusive}
constants: {domain: law, report: r1, role: primary}
"""


def test_mapping_renames_labels_and_fills_constants(tmp_path: Path) -> None:
    mapping = put(tmp_path, "m.yaml", MAPPING)
    file = put(
        tmp_path,
        "c.jsonl",
        lines(
            {"key": "a", "statement": "A", "verdict": "TRUE", "refs": ["s 1", 2], "extra": 1},
            {"key": "b", "statement": "B", "verdict": False, "domain": "own"},
        ),
    )
    sources = put(tmp_path, "s.jsonl", lines({"id": "s 1", "text": "x"}, {"id": 2, "text": "y"}))
    out = read_jsonl(file, when=WHEN, mapping=mapping, sources=sources)
    assert [a.label for _, a in out.claims if a] == [Label.SUPPORTED, Label.CONTRADICTORY]
    assert [a.original_label for _, a in out.claims if a] == ["TRUE", "false"]
    assert [c.domain for c, _ in out.claims] == ["law", "own"]
    assert {c.report for c, _ in out.claims} == {"r1"}
    assert out.claims[0][0].cites == tuple(s.id for s in out.sources)
    assert out.sources[0].role is SourceRole.PRIMARY
    assert any("'extra'" in note for note in out.notes)
    assert out.claims[0][1] and out.claims[0][1].provenance.who == "checks annotators"


def test_inline_sources(tmp_path: Path) -> None:
    mapping = put(tmp_path, "m.yaml", "sources: {field: docs, text: body, url: link}")
    docs = [{"title": "T", "body": "x", "link": "u", "role": "primary", "trust": "low"}, "plain"]
    rows = lines(GOOD | {"docs": docs}, {"id": "b", "text": "B", "docs": "plain"})
    out = read_jsonl(put(tmp_path, "c.jsonl", rows), when=WHEN, mapping=mapping)
    first, second = out.sources
    assert (first.title, first.text, first.url) == ("T", "x", "u")
    assert (first.role, first.trust) == (SourceRole.PRIMARY, Trust.LOW)
    assert out.claims[0][0].cites == (first.id, second.id)
    assert out.claims[1][0].cites == (second.id,)


def test_inline_source_in_columns_of_a_csv_row(tmp_path: Path) -> None:
    mapping = put(tmp_path, "m.yaml", "sources: {text: passage}")
    file = put(tmp_path, "c.csv", "id,text,passage,title\na,A,words,T\nb,B,,\n")
    out = read_csv(file, when=WHEN, mapping=mapping)
    assert [(s.title, s.text) for s in out.sources] == [("T", "words")]
    assert [len(c.cites) for c, _ in out.claims] == [1, 0]


def test_csv_quoted_line_breaks_and_separated_cites(tmp_path: Path) -> None:
    file = put(
        tmp_path, "c.csv", 'id,text,cites\r\na,"two\r\nlines, quoted",s1; s2\r\nb,B,s1|x;y\r\n'
    )
    sources = put(tmp_path, "s.csv", "id,text,title\ns1,one,T\ns2,two,\nx;y,three,\n")
    with pytest.raises(InputError, match="unknown source 'x'") as caught:
        read_csv(file, when=WHEN, sources=sources)
    assert "line 4 (row 2)" in caught.value.where
    put(tmp_path, "c.csv", 'id,text,cites\r\na,"two\r\nlines, quoted",s1; s2\r\nb,B,x;y\r\n')
    out = read_csv(file, when=WHEN, sources=sources)
    by_title = {s.title: s.id for s in out.sources}
    assert out.claims[0][0].text == "two\r\nlines, quoted"
    assert out.claims[0][0].cites == (by_title["T"], by_title["s2"])
    assert out.claims[1][0].cites == (by_title["x;y"],)


def test_long_cells_and_another_delimiter(tmp_path: Path) -> None:
    long = "x" * 200_000
    out = read_csv(put(tmp_path, "c.csv", f"id;text\na;{long}\n"), when=WHEN, delimiter=";")
    assert out.claims[0][0].text == long
    with pytest.raises(InputError, match="cannot separate"):
        read_csv(tmp_path / "c.csv", when=WHEN, delimiter="ab")


BAD_ROWS: list[tuple[Any, str, str]] = [
    (
        GOOD | {"id": "b", "label": "suported"},
        "unknown label 'suported'",
        "did you mean 'supported'",
    ),
    (GOOD | {"id": "b", "label": "x"}, "unknown label 'x'", "add 'x' to `labels:`"),
    (GOOD, "the claim id 'a' is given twice", "of its own"),
    (GOOD | {"id": "b", "cites": ["s1"]}, "unknown source 's1'", "option sources"),
    (GOOD | {"id": "b", "cites": {"x": 1}}, "a list of source ids", "such as"),
    ('{"id": "b"', "not JSON", "one JSON object"),
    ('{"id": "b", "id": "c", "text": "t"}', "the key 'id' is given twice", "one JSON object"),
    ('{"id": "b", "text": NaN}', "NaN", "one JSON object"),
    ("[" * 100_000, "not JSON", "one JSON object"),
    ('["b"]', "this is a list", "one JSON object"),
    ('{"id": "b", "text": "\\ud800"}', "half a character", "pair"),
    ({"id": "b"}, "no column 'text'", "mapping file"),
    (GOOD | {"id": "x/y"}, "path separator", "use letters"),
    (GOOD | {"id": "x y"}, "white space", "use letters"),
    (GOOD | {"id": "x" * 201}, "201 characters", "shorten"),
    (GOOD | {"id": ""}, "has no id", "its own"),
    (GOOD | {"id": 1.5}, "must be a text", ""),
    (GOOD | {"id": "b", "text": " "}, "has no text", ""),
    (GOOD | {"id": "b", "report": "x y"}, "report id", "use letters"),
    (GOOD | {"id": "b", "sentence": 1}, "is of no report", "constant"),
    (GOOD | {"id": "b", "report": "r", "sentence": -1}, "is no position", "from 0"),
    ({"id": "b", "text": "t", "rationale": "r"}, "rationale and no label", "'label'"),
]


@pytest.mark.parametrize(("row", "what", "fix"), BAD_ROWS)
def test_a_wrong_row_stops_the_import_or_is_listed(
    tmp_path: Path, row: Any, what: str, fix: str
) -> None:
    last = {"id": "z", "text": "Last."}
    file = put(tmp_path, "c.jsonl", lines(GOOD, row, last))
    with pytest.raises(InputError) as caught:
        read_jsonl(file, when=WHEN)
    assert what in caught.value.what
    assert fix in caught.value.fix
    assert f"{file}, line 2" in caught.value.where
    assert caught.value.exit_code == 2
    out = read_jsonl(file, when=WHEN, skip_bad=True)
    assert [c.id for c, _ in out.claims] == ["a", "z"]
    (skipped,) = out.skipped
    assert "line 2" in skipped.where and what in skipped.why
    assert any("1 rows were wrong" in note for note in out.notes)


def test_both_places_of_a_duplicate_are_named(tmp_path: Path) -> None:
    file = put(tmp_path, "c.csv", "id,text\na,A\nb,B\na,C\n")
    with pytest.raises(InputError) as caught:
        read_csv(file, when=WHEN)
    assert "line 4 (row 3)" in caught.value.where and "line 2 (row 1)" in caught.value.where


def test_a_skipped_row_leaves_no_source_behind(tmp_path: Path) -> None:
    mapping = put(tmp_path, "m.yaml", "sources: {field: docs}")
    rows = lines(GOOD | {"docs": "kept"}, GOOD | {"id": "b", "label": "x", "docs": "lost"})
    file = put(tmp_path, "c.jsonl", rows)
    out = read_jsonl(file, when=WHEN, mapping=mapping, skip_bad=True)
    assert [s.text for s in out.sources] == ["kept"]


@pytest.mark.parametrize("skip_bad", [False, True])
@pytest.mark.parametrize(
    ("content", "what", "fix"),
    [
        (b"", "empty", "right file"),
        (b"\n \n", "empty", "right file"),
        (b"\xef\xbb\xbfid,text\n", "byte-order mark", "utf-8-sig"),
        ("id,text\na,A\n".encode("utf-16"), "byte-order mark", "utf-16"),
        (b"id,text\na,caf\xe9\n", "not utf-8 (byte 0xe9)", "cp1252"),
        (b"id,txt\na,A\n", "no column 'text'", "did you mean 'txt'"),
        (b"id;text\na;A\n", "no column 'id'", "id;text"),
        (b"id,id,text\na,b,A\n", "two columns are named 'id'", "rename"),
        (b"id,,text\na,b,A\n", "column 2 has no name", "name it"),
        (b'id,text\na,"A\n', "not CSV", "quotation mark"),
        (b"id,text\n", "no rows", ""),
        (b"id,text\na," + b"x" * (MAX_LINE + 1), "longer than 8 MB", "right file"),
    ],
)
def test_a_csv_file_that_is_wrong_as_a_whole(
    tmp_path: Path, content: bytes, what: str, fix: str, skip_bad: bool
) -> None:
    file = put(tmp_path, "c.csv", content)
    with pytest.raises(InputError) as caught:
        read_csv(file, when=WHEN, skip_bad=skip_bad)
    assert what in caught.value.what and fix in caught.value.fix
    assert str(file) in caught.value.where


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "empty"),
        (b"\xef\xbb\xbf{}", "byte-order mark"),
        (b'{"id": "\xe9"}', "not utf-8"),
        (b'{"id": "' + b"x" * 10_000_000 + b'"}', "longer than 8 MB"),
        (b'{"id": "a"}\n{"id": "b"}\n', "no column 'text'"),
    ],
)
def test_a_json_lines_file_that_is_wrong_as_a_whole(
    tmp_path: Path, content: bytes, what: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_jsonl(put(tmp_path, "c.jsonl", content), when=WHEN, skip_bad=True)
    assert what in caught.value.what


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16", "utf-16-le"])
def test_another_encoding_can_be_named(tmp_path: Path, encoding: str) -> None:
    csv = put(tmp_path, "c.csv", "id,text\r\na,café\r\n".encode(encoding))
    jsonl = put(tmp_path, "c.jsonl", '{"id": "a", "text": "café"}\r\n'.encode(encoding))
    for out in (
        read_csv(csv, when=WHEN, encoding=encoding),
        read_jsonl(jsonl, when=WHEN, encoding=encoding),
    ):
        assert [c.text for c, _ in out.claims] == ["café"]


@pytest.mark.parametrize("encoding", ["nonsense", "idna", "hex", "a\0b", "unicode_escape"])
def test_an_encoding_that_is_none(tmp_path: Path, encoding: str) -> None:
    file = put(tmp_path, "c.jsonl", b"\xff\xfe\xfa" * 30)
    with pytest.raises(InputError, match=r"c\.jsonl"):
        read_jsonl(file, when=WHEN, encoding=encoding)


def test_sources_may_have_another_encoding(tmp_path: Path) -> None:
    file = put(tmp_path, "c.csv", "id,text,cites\na,café,s\n".encode("cp1252"))
    sources = put(tmp_path, "s.csv", "id,text\ns,naïve\n")
    out = read_csv(file, when=WHEN, sources=sources, encoding="cp1252", sources_encoding="utf-8")
    assert (out.claims[0][0].text, out.sources[0].text) == ("café", "naïve")


def test_cells_that_do_not_match_the_header(tmp_path: Path) -> None:
    file = put(tmp_path, "c.csv", "id,text\na,A\nb,B, and C\n")
    with pytest.raises(InputError, match="3 cells, but the header names 2"):
        read_csv(file, when=WHEN)
    assert [c.id for c, _ in read_csv(file, when=WHEN, skip_bad=True).claims] == ["a"]


@pytest.mark.parametrize(
    ("sources", "what"),
    [
        (lines({"id": "s1", "text": "x"}, {"id": "s1", "text": "y"}), "'s1' is given twice"),
        (lines({"id": "s1", "text": ""}), "has no text"),
        (lines({"id": "s1"}), "no column 'text'"),
        (lines({"id": "s1", "text": "x", "role": "primry"}), "'primry' is no role"),
        (lines({"id": "s1", "text": "x", "trust": "full"}), "'full' is no trust"),
        (lines({"id": "s", "text": "x"}), "cites the unknown source 's1'"),
        ("", "empty"),
    ],
)
def test_wrong_sources(tmp_path: Path, sources: str, what: str) -> None:
    file = put(tmp_path, "c.jsonl", lines(GOOD | {"cites": "s1"}))
    with pytest.raises(InputError) as caught:
        read_jsonl(file, when=WHEN, sources=put(tmp_path, "s.jsonl", sources))
    assert what in caught.value.what
    assert (", line " in caught.value.where) == bool(sources)


@pytest.mark.parametrize(
    ("mapping", "says"),
    [
        ("fields: {labl: x}", "did you mean 'label'"),
        ("field: {label: x}", "did you mean 'fields'"),
        ("labels: {yes: supported}", "quotation marks"),
        ("labels: {a: suported}", "labels.a"),
        ("constants: {role: friend}", "constants.role"),
    ],
)
def test_wrong_mappings(tmp_path: Path, mapping: str, says: str) -> None:
    file = put(tmp_path, "c.jsonl", lines(GOOD))
    with pytest.raises(ConfigError, match=says) as caught:
        read_jsonl(file, when=WHEN, mapping=put(tmp_path, "m.yaml", mapping))
    assert "line 1, column" in caught.value.where


@pytest.mark.parametrize("fields", ["label: verdct", "domain: topic"])
def test_a_column_that_the_mapping_names_must_be_there(tmp_path: Path, fields: str) -> None:
    mapping = put(tmp_path, "m.yaml", f"fields: {{{fields}}}")
    with pytest.raises(InputError, match="no column"):
        read_jsonl(put(tmp_path, "c.jsonl", lines(GOOD)), when=WHEN, mapping=mapping)
    with pytest.raises(InputError, match="no column"):
        read_csv(put(tmp_path, "c.csv", "id,text,label\na,A,x\n"), when=WHEN, mapping=mapping)


@pytest.mark.parametrize(
    ("cell", "private"),
    [("true", True), ("", False), ("False", False), ("yes", True), ("0", False)],
)
def test_a_private_claim_stays_private(tmp_path: Path, cell: str, private: bool) -> None:
    path = tmp_path / "claims.csv"
    path.write_text(f"id,text,private\nc1,The mill burned.,{cell}\n", encoding="utf-8")
    ((claim, _),) = read_csv(path, when=WHEN).claims
    assert claim.private is private


def test_whether_a_claim_is_private_is_never_guessed(tmp_path: Path) -> None:
    path = tmp_path / "claims.csv"
    path.write_text("id,text,private\nc1,The mill burned.,perhaps\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 2.*private"):
        read_csv(path, when=WHEN)
