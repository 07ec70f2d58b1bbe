"""YAML that people write (run specs, auditors, mappings): strict, with line and column.

Only plain YAML values are read; a tag that would build an object is refused. So is a secret:
a spec is copied into the run's folder, and may be committed. This module knows no particular
spec, and never repeats a value that may be a secret.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from deepfact.errors import ConfigError, NewerSchemaError, did_you_mean
from deepfact.records import SCHEMA_VERSION
from deepfact.store.files import read_text
from deepfact.store.secrets import names_secret, scrub

M = TypeVar("M", bound=BaseModel)

DEEPEST = 100
"""Brackets in brackets."""

ALIASED = 100_000
"""Values that aliases may add to those that are written in a file."""


class _Loader(yaml.SafeLoader):
    """Plain values only; one that cannot be read, such as 2026-13-01, is told with its place."""

    def fetch_flow_collection_start(self, token: Any) -> None:
        # For each bracket the scanner looks at all that are open: four thousand cost seconds.
        if self.flow_level >= DEEPEST:
            problem = "nested too deeply"
            raise yaml.scanner.ScannerError(None, None, problem, self.get_mark())
        super().fetch_flow_collection_start(token)

    def construct_scalar(self, node: yaml.ScalarNode | yaml.MappingNode) -> Any:
        value = super().construct_scalar(node)
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            problem = "an escape such as \\ud83d stands for half a character"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None
        return value

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep=deep)
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
            problem = f"the value {str(node.value)[:40]!r} cannot be read: {error}"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None


def read_yaml(path: Path, model: type[M]) -> M:
    """The spec that a YAML file holds.

    Raises:
        ConfigError: not YAML, a key given twice, an unknown key (with a suggestion), a value
            that does not fit, a value that holds a secret; with line and column.
        InputError: no such file, or not UTF-8.
    """
    return parse_yaml(read_text(path), model, where=str(path))


def parse_yaml(text: str, model: type[M], *, where: str) -> M:
    """As `read_yaml`, of a text; ``where`` names it in errors."""
    node, data = _loaded(text, where)
    if not isinstance(data, dict):
        raise ConfigError("keys and values are needed, such as `name: my-run`", where=where)
    version = data.get("schema_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise NewerSchemaError(
            f"schema version {version} is newer than this deepfact knows ({SCHEMA_VERSION})",
            where=where,
            fix="upgrade deepfact: pip install --upgrade deepfact",
        )
    try:
        return model.model_validate(data)
    except ValidationError as error:
        # A misspelt key is missing under its right name too; the misspelling says more.
        first = min(error.errors(), key=lambda item: item["type"] != "extra_forbidden")
        raise ConfigError(
            _message(first), where=f"{where}, {_locate(node, first)}", fix=_hint(first, model)
        ) from None


def _loaded(text: str, where: str) -> tuple[yaml.Node, Any]:
    """The text's node tree, for places, and the plain values in it."""
    try:
        loader = _Loader(text)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        column = error.position - text.rfind("\n", 0, error.position)
        raise ConfigError(
            f"invalid YAML: the character {chr(error.character)!r} is not allowed",
            where=f"{where}, line {line}, column {column}",
        ) from None
    try:
        node = loader.get_single_node()
        if node is None:
            raise ConfigError("the file is empty", where=where)
        written: set[int] = set()
        _refuse_duplicates(node, where, written)
        _refuse_bombs(node, where, len(written))
        _refuse_secrets(node, "", where, set())
        return node, loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{where}, {_position(mark)}" if mark else where
        problem = " ".join(part for part in (error.context, error.problem) if part)
        raise ConfigError(f"invalid YAML: {problem}", where=place) from None
    except RecursionError:
        raise ConfigError("invalid YAML: nested too deeply", where=where) from None
    finally:
        loader.dispose()


def _position(mark: Any) -> str:
    return f"line {mark.line + 1}, column {mark.column + 1}"


def _refuse_duplicates(node: yaml.Node, where: str, done: set[int]) -> None:
    if id(node) in done:  # an alias: it may stand in many places, or in itself
        return
    done.add(id(node))
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if str(key.value) in seen:
                raise ConfigError(
                    f"the key {key.value!r} is given twice",
                    where=f"{where}, {_position(key.start_mark)}",
                )
            seen.add(str(key.value))
            _refuse_duplicates(value, where, done)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_duplicates(item, where, done)


def _refuse_bombs(node: yaml.Node, where: str, written: int) -> None:
    """Raise if aliases make the file hold itself, or many times more values than are written in
    it: whatever copies the values, to check or to write them, would never end."""
    sizes: dict[int, int] = {}

    def size(one: yaml.Node) -> int:
        if isinstance(one, yaml.ScalarNode):
            return 1
        if id(one) in sizes:
            if not sizes[id(one)]:
                raise ConfigError(
                    "invalid YAML: a value holds itself",
                    where=f"{where}, {_position(one.start_mark)}",
                )
            return sizes[id(one)]
        sizes[id(one)] = 0
        inner = chain(*one.value) if isinstance(one, yaml.MappingNode) else one.value
        sizes[id(one)] = made = 1 + sum(map(size, inner))
        if made > 2 * written + ALIASED:  # keys are not among those written
            raise ConfigError(
                f"invalid YAML: aliases make more than {ALIASED:,} values of this one",
                where=f"{where}, {_position(one.start_mark)}",
                fix="write out what is meant",
            )
        return made

    size(node)


def _refuse_secrets(node: yaml.Node, field: str, where: str, done: set[int]) -> None:
    """Raise if a value holds a secret, by the name of its field or by its looks."""
    if isinstance(node, yaml.ScalarNode):
        filled = node.value and not node.tag.endswith(":null")
        if filled and (names_secret(field) or scrub(node.value) != node.value):
            raise ConfigError(
                f"{field!r} holds a secret, or what looks like one"
                if field
                else "a secret, or what looks like one, is written here",
                where=f"{where}, {_position(node.start_mark)}",
                fix="specs are copied into results: put it into an environment variable",
            )
    if id(node) in done:  # an alias: aliases of aliases would otherwise never end
        return
    done.add(id(node))
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else field
            _refuse_secrets(key, "", where, done)
            _refuse_secrets(value, name, where, done)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_secrets(item, field, where, done)


def _message(error: ErrorDetails) -> str:
    path = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        return f"unknown key {path!r}"
    if error["type"] == "missing":
        return f"the key {path!r} is missing"
    return f"{path}: {error['msg']}" if path else error["msg"]


def _locate(node: yaml.Node, error: ErrorDetails) -> str:
    """Line and column of the value (or unknown key) that an error is about."""
    mark = node.start_mark
    for part in error["loc"]:
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == str(part):
                    unknown = error["type"] == "extra_forbidden"
                    node, mark = value, (key if unknown else value).start_mark
                    break
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            node = node.value[part]
            mark = node.start_mark
    return _position(mark)


def _hint(error: ErrorDetails, model: type[BaseModel]) -> str:
    """For an unknown key, the known one that is closest; for a date without a zone, how to."""
    if error["type"] == "timezone_aware":
        return "write it like 2026-01-31T00:00:00Z"
    if error["type"] != "extra_forbidden":
        return ""
    *path, unknown = error["loc"]
    owner: Any = model
    for part in path:
        if isinstance(part, str) and part in getattr(owner, "model_fields", {}):
            owner = _record_in(owner.model_fields[part].annotation)
    if owner is None:  # inside something that is no record: its keys are not known here
        return ""
    return did_you_mean(str(unknown), owner.model_fields)


def _record_in(annotation: Any) -> type[BaseModel] | None:
    """The model inside an annotation such as ``tuple[StageSpec, ...]`` or ``PolicySpec | None``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        if found := _record_in(inner):
            return found
    return None
