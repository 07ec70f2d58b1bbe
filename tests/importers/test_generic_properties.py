"""Whatever bytes the generic importers are given, a user sees an InputError or an import."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepfact.errors import InputError
from deepfact.importers.base import Imported
from deepfact.importers.generic import read_csv, read_jsonl

WHEN = datetime(2025, 1, 1, tzinfo=UTC)

MAPPING = """
labels: {"": inconclusive, "true": supported, "0": contradictory}
sources: {field: docs}
"""

_scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["a", "b", "supported", "\ud800", "s1;s2"])
)
_values = st.recursive(
    _scalars,
    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=4), v, max_size=3),
)
_columns = st.sampled_from(
    ["id", "text", "label", "rationale", "report", "sentence", "cites", "domain", "docs", "x"]
)
_objects = st.dictionaries(_columns, _values) | st.fixed_dictionaries(
    {"id": st.sampled_from("abcd"), "text": st.text(min_size=1), "docs": _values}
)
_json_lines = st.lists(_objects.map(json.dumps) | _values.map(json.dumps), max_size=5).map(
    lambda rows: "\n".join(rows).encode()
)
_csv = st.lists(
    st.lists(st.sampled_from(["id", "text", "label", '"', "\r", "\n", "a", "é", "\0"]), max_size=4),
    max_size=5,
).map(lambda rows: "\n".join(",".join(row) for row in [["id", "text"], *rows]).encode())
_bytes = st.binary(max_size=200) | _json_lines | _csv
_encodings = st.sampled_from(
    ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252", "utf-7", "unicode_escape", "idna", "x"]
)


def check(read: Any, folder: Path, content: bytes, encoding: str, skip_bad: bool) -> None:
    claims, sources, mapping = folder / "c", folder / "s", folder / "m.yaml"
    claims.write_bytes(content)
    sources.write_text('{"id": "s1", "text": "x"}\n', encoding="utf-8")
    mapping.write_text(MAPPING, encoding="utf-8")
    try:
        out = read(
            claims,
            when=WHEN,
            mapping=mapping,
            sources=sources,
            encoding=encoding,
            sources_encoding="utf-8",
            skip_bad=skip_bad,
        )
    except InputError as error:
        assert error.exit_code == 2 and error.where and error.what
        str(error).encode("utf-8")
        return
    assert isinstance(out, Imported)
    assert skip_bad or not out.skipped
    held = {source.id for source in out.sources}
    for claim, _ in out.claims:
        assert set(claim.cites) <= held
        claim.canonical().encode("utf-8")
    for text in [*out.notes, *(row.why for row in out.skipped)]:
        text.encode("utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("generic")


@settings(max_examples=150, deadline=None)
@given(content=_bytes, encoding=_encodings, skip_bad=st.booleans())
def test_json_lines(folder: Path, content: bytes, encoding: str, skip_bad: bool) -> None:
    check(read_jsonl, folder, content, encoding, skip_bad)


@settings(max_examples=150, deadline=None)
@given(content=_json_lines, skip_bad=st.booleans())
def test_json_objects(folder: Path, content: bytes, skip_bad: bool) -> None:
    check(read_jsonl, folder, content, "utf-8", skip_bad)


@settings(max_examples=150, deadline=None)
@given(content=_bytes, encoding=_encodings, skip_bad=st.booleans())
def test_csv(folder: Path, content: bytes, encoding: str, skip_bad: bool) -> None:
    check(read_csv, folder, content, encoding, skip_bad)
