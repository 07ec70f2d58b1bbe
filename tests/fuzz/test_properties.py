"""Properties of readers that many of the others stand on, over values that hypothesis makes up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from deepfact.documents.build import build_record
from deepfact.documents.drafts import Report
from deepfact.documents.inline import trimmed_url
from deepfact.documents.records import Original
from deepfact.errors import DeepFactError, InputError, RecordError
from deepfact.records import Claim, Source, sha256_of
from deepfact.store.files import parse_record, read_jsonl
from deepfact.store.specs import parse_yaml
from deepfact.verifiers.panel.answers import UnreadableError, parse_object

TEXTS = st.text(max_size=12) | st.sampled_from(["\ud800", "&a [*a]", "{{x}}", "\x00", "- ", "1e9"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=15,
)


class Anything(BaseModel):
    options: dict[str, Any] = {}


@given(VALUES)
def test_whatever_json_says_a_record_is_refused_or_can_be_written(value: Any) -> None:
    for data in (value, {"id": "c1", "text": value}, {"id": value, "text": "so", "cites": value}):
        try:
            claim = parse_record(json.dumps(data), Claim, where="a.json")
        except RecordError as error:
            assert error.where == "a.json"
        else:
            claim.canonical().encode("utf-8")


@given(st.dictionaries(TEXTS, VALUES, max_size=4))
def test_whatever_yaml_says_a_spec_is_refused_or_can_be_written(value: dict[str, Any]) -> None:
    text = yaml.dump({"options": value}, allow_unicode=False)
    try:
        spec = parse_yaml(text, Anything, where="a.yaml")
    except DeepFactError as error:
        assert "a.yaml" in error.where
    else:
        json.dumps(spec.options, ensure_ascii=False, default=str).encode("utf-8")


@given(st.text(max_size=200))
def test_any_text_is_yaml_of_ours_or_refused_with_its_place(text: str) -> None:
    try:
        parse_yaml(text, Anything, where="a.yaml")
    except DeepFactError as error:
        assert error.where.startswith("a.yaml") and error.exit_code == 2


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300))
def test_any_bytes_are_lines_of_ours_or_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    try:
        list(read_jsonl(path, Source))
    except InputError as error:
        assert error.where.startswith(str(path))


@given(VALUES)
def test_an_answer_of_a_model_is_unreadable_or_can_be_written(value: Any) -> None:
    try:
        found = parse_object(json.dumps(value))
    except UnreadableError:
        return
    json.dumps(found, ensure_ascii=False).encode("utf-8")


MARKS = st.sampled_from(
    ["# ", "> ", "- ", "1. ", "|", "[1]", "[^1]", "](", "https://a.b/c)", "`", "```\n", "**", "_",
     "<sup>1</sup>", "<b>", "</p>", "<!--", "\n", "\n\n", "  \n", "\t", "\r\n", "&amp;", "\\[",
     "## References\n", "[1] A. https://a.b\n", "【1†x】", "(Smith, 2020)", "word ", "So it is. "]
)  # fmt: skip


@settings(max_examples=60)
@given(st.lists(MARKS, max_size=40).map("".join), st.sampled_from(["markdown", "text", "html"]))
def test_any_report_becomes_a_record_that_keeps_its_text(text: str, form: str) -> None:
    original = Original(name="a", format=form, size=len(text), hash=sha256_of(text))
    record = build_record(Report(id="r", text=text, original=original, form=form))
    assert "".join(record.text[one.start : one.end] for one in record.segments) == text
    for sentence in record.sentences:
        assert 0 <= sentence.span.start <= sentence.span.end <= len(text)


@given(st.text(alphabet="ab()[].,!*", max_size=30))
def test_a_url_without_punctuation_is_its_beginning_and_stays_so(url: str) -> None:
    short = trimmed_url(url)
    assert url.startswith(short) and trimmed_url(short) == short
    assert short.count(")") <= short.count("(") or not short.endswith(")")


@pytest.mark.parametrize("text", ["a" + ")" * 200_000, "x" + " " * 200_000 + "y", "[" * 50_000])
def test_reports_of_one_mark_take_no_time(text: str) -> None:
    """Each of these took time in proportion to the square of its length, or may."""
    original = Original(name="a", format="markdown", size=len(text), hash=sha256_of(text))
    url = f"https://a.b/{text}"
    assert trimmed_url(url).startswith("https://a.b/")
    record = build_record(Report(id="r", text=text, original=original, form="markdown"))
    assert record.text == text
