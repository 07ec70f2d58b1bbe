"""The part of JSON Schema that output schemas use, checked strictly. Pure.

Small on purpose: what a provider can enforce and what is checked here are the same words.
A keyword that is not known here is a lint error, so no schema is ever half enforced.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator, Mapping

KEYWORDS = frozenset(
    ("type", "properties", "required", "additionalProperties", "items", "enum", "anyOf",
     "description", "title")
)  # fmt: skip

_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
}


def why_not(value: Any, schema: Mapping[str, Any], at: str = "answer") -> str:
    """The first thing in ``value`` that does not fit ``schema``; empty when it fits."""
    if branches := schema.get("anyOf"):
        problems = [why_not(value, branch, at) for branch in branches]
        if all(problems):
            return problems[-1] if value is None else problems[0]
    if (kind := schema.get("type")) is not None and not _TYPES[kind](value):
        return f"{at} is not of type {kind}"
    if "enum" in schema and not _among(value, schema["enum"]):
        return f"{at} is none of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, dict):
        return _object_problem(value, schema, at)
    if isinstance(value, list) and "items" in schema:
        found = (why_not(item, schema["items"], f"{at}[{n}]") for n, item in enumerate(value))
        return next((problem for problem in found if problem), "")
    return ""


def _among(value: Any, allowed: list[Any]) -> bool:
    """Python holds True and 1 to be equal; JSON does not."""
    return any(type(value) is type(one) and value == one for one in allowed)


def _object_problem(value: dict[str, Any], schema: Mapping[str, Any], at: str) -> str:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            return f"{at} lacks {name!r}"
    for name, item in value.items():
        if name not in properties:
            if schema.get("additionalProperties", True) is False:
                return f"{at} has an unknown key"
        elif problem := why_not(item, properties[name], f"{at}.{name}"):
            return problem
    return ""


def unknown_keywords(schema: Any) -> Iterator[str]:
    """Words of ``schema`` that are not checked here."""
    if not isinstance(schema, dict):
        yield f"{schema!r} instead of a schema"
        return
    yield from (str(word) for word in schema if word not in KEYWORDS)
    kind = schema.get("type")
    if kind is not None and (not isinstance(kind, str) or kind not in _TYPES):
        yield f"type {kind!r}"
    for inner in (*schema.get("properties", {}).values(), *schema.get("anyOf", ())):
        yield from unknown_keywords(inner)
    if "items" in schema:
        yield from unknown_keywords(schema["items"])


def words_of(schema: Mapping[str, Any]) -> set[str]:
    """Every property name and every enumerated word of ``schema``, at any depth."""
    words = {str(word) for word in schema.get("enum", ())}
    for name, inner in schema.get("properties", {}).items():
        words |= {name} | words_of(inner)
    for inner in schema.get("anyOf", ()):
        words |= words_of(inner)
    return words | words_of(schema["items"]) if "items" in schema else words
