"""The strict checker of output schemas."""

from __future__ import annotations

from typing import Any

import pytest

from deepfact.prompts.library import load_prompt
from deepfact.prompts.schema import unknown_keywords, why_not, words_of

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["a"],
    "properties": {
        "a": {"type": "boolean"},
        "b": {"anyOf": [{"type": "object", "required": ["x"]}, {"type": "null"}]},
        "c": {"type": "array", "items": {"type": "string", "enum": ["p", "q"]}},
        "d": {"type": "integer"},
        "e": {"enum": [1]},
    },
}


@pytest.mark.parametrize(
    "value", [{"a": True}, {"a": False, "b": None}, {"a": True, "b": {"x": 1}, "c": ["p", "q"]}]
)
def test_what_fits(value: object) -> None:
    assert why_not(value, SCHEMA) == ""


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ([], "answer is not of type object"),
        ({}, "answer lacks 'a'"),
        ({"a": "true"}, "answer.a is not of type boolean"),
        ({"a": 1}, "answer.a is not of type boolean"),
        ({"a": True, "z": 1}, "answer has an unknown key"),
        ({"a": True, "b": {}}, "answer.b lacks 'x'"),
        ({"a": True, "c": ["p", "r"]}, "answer.c[1] is none of p, q"),
        ({"a": True, "d": True}, "answer.d is not of type integer"),
        ({"a": True, "e": True}, "answer.e is none of 1"),
    ],
)
def test_what_does_not(value: object, problem: str) -> None:
    assert why_not(value, SCHEMA) == problem


def test_keywords_that_would_not_be_checked_are_found_at_any_depth() -> None:
    deep = {"type": "object", "properties": {"a": {"items": {"minLength": 1}}}}
    assert list(unknown_keywords(deep)) == ["minLength"]
    assert list(unknown_keywords({"type": "text"})) == ["type 'text'"]
    assert list(unknown_keywords({"anyOf": [3]})) == ["3 instead of a schema"]


@pytest.mark.parametrize("name", ["verifier/bundled/v1", "verifier/split/v1"])
def test_shipped_schemas_are_fully_checked(name: str) -> None:
    assert list(unknown_keywords(load_prompt(name).front.output_schema)) == []


def test_words_are_property_names_and_enumerated_values() -> None:
    assert words_of(SCHEMA) >= {"a", "b", "c", "p", "q"}
