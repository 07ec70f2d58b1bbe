"""Outcomes in bulk: what thousands of deepfact's own lines say, without making a record of each.

A block of lines is parsed into columns of the types that the records have. What records demand of
single values is then demanded of every value that occurs, by the records' own rules. Only blocks
are taken of which each line would be read as an outcome by itself; of any other this module says
nothing, not even what is wrong: that is for the one who reads it line by line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from deepfact.records import Label, Verdict, VerificationFailure

if TYPE_CHECKING:
    import pyarrow as pa

KINDS: dict[str, type[BaseModel]] = {"verdict": Verdict, "failure": VerificationFailure}
FIELDS = {name: info for model in KINDS.values() for name, info in model.model_fields.items()}
"""The fields of all outcomes. Those of one name are of one type."""
_PLAIN: dict[Any, str] = {str: "string", int: "int64", float: "float64", bool: "bool"}
_NULL = re.compile(rb"[:,\[]\s*null")


class Answers(NamedTuple):
    """What lines of verdicts say."""

    claim_ids: list[str]
    labels: list[Label | None]
    """None is a failure."""
    scored: bool
    """Whether one of them may have probabilities."""


def answers_of(block: bytes) -> Answers | None:
    """What a block of lines says; None when one of them is not exactly one outcome.

    Args:
        block: whole lines, the last one with or without its line end.
    """
    lines = _lines_of_objects(block)
    if not lines or (b"null" in block and _NULL.search(block)):
        return None  # a column does not tell a null from what is not there
    first = block[: block.find(b"\n")]
    usual = frozenset(name for name in FIELDS if f'"{name}"'.encode() in first)
    rows = _parsed(block, usual) or _parsed(block, frozenset(FIELDS))
    if rows is None or rows.num_rows != lines or not {"kind", "claim_id"} <= set(rows.column_names):
        return None
    if not all(_is_sound(rows, kind) for kind in KINDS):
        return None
    named = rows.column_names
    return Answers(
        rows["claim_id"].to_pylist(),
        _labels(rows["label"]) if "label" in named else [None] * lines,
        scored="scores" in named and rows["scores"].null_count < lines,
    )


def _parsed(block: bytes, fields: frozenset[str]) -> pa.Table | None:
    """The rows of a block; None when they have other fields than these, or others' types."""
    import pyarrow as pa
    import pyarrow.json

    options = pyarrow.json.ParseOptions(
        explicit_schema=_schema(fields), unexpected_field_behavior="error"
    )
    try:
        table = pyarrow.json.read_json(
            pa.BufferReader(block),
            read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(block) + 1),
            parse_options=options,
        )
        table.validate(full=True)  # among others that texts are UTF-8
    except pa.ArrowInvalid:
        return None
    return table.combine_chunks()


def _lines_of_objects(block: bytes) -> int:
    """How many lines there are; 0 unless each begins and ends like an object. No line then begins
    within an object, and with as many objects as lines each line is one."""
    import numpy as np

    ended = block if block.endswith(b"\n") else block + b"\n"
    letters = np.frombuffer(ended, np.uint8)
    ends = np.flatnonzero(letters == ord("\n"))
    starts = np.concatenate([[0], ends[:-1] + 1])
    alike = (letters[starts] == ord("{")).all() and (letters[ends - 1] == ord("}")).all()
    return len(ends) if alike else 0


def _labels(column: pa.ChunkedArray) -> list[Label | None]:
    coded = column.combine_chunks().dictionary_encode()
    known = [Label(word) for word in coded.dictionary.to_pylist()]
    return [None if code is None else known[code] for code in coded.indices.to_pylist()]


# --- types --------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _schema(names: frozenset[str]) -> pa.Schema:
    import pyarrow as pa

    return pa.schema([(name, _type(FIELDS[name].annotation)) for name in sorted(names)])


def _type(annotation: Any) -> pa.DataType:
    """The type of a column for a field of a record."""
    import pyarrow as pa

    kind = _bare(annotation)
    if get_origin(kind) is Literal:
        return pa.string() if isinstance(get_args(kind)[0], str) else pa.int64()
    if get_origin(kind) is tuple:
        return pa.list_(_type(get_args(kind)[0]))
    if get_origin(kind) is dict:
        words, value = get_args(kind)
        return pa.struct([(str(word), _type(value)) for word in words])
    if issubclass(kind, BaseModel):
        return pa.struct([(n, _type(i.annotation)) for n, i in kind.model_fields.items()])
    if issubclass(kind, StrEnum):
        return pa.string()
    return pa.type_for_alias(_PLAIN[kind])


def _bare(annotation: Any) -> Any:
    """An annotation without what it says beside the type."""
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        (only,) = (part for part in get_args(annotation) if part is not NoneType)
        return _bare(only)
    return annotation


# --- values -------------------------------------------------------------------------------


def _is_sound(rows: pa.Table, kind: str) -> bool:
    """Whether all rows of a kind have the fields that they need, no other, and sound values."""
    import pyarrow.compute as pc

    model = KINDS[kind]
    if not set(rows["kind"].unique().to_pylist()) <= KINDS.keys():
        return False
    of_kind = pc.equal(rows["kind"], kind)
    chosen = rows if pc.all(of_kind).as_py() else rows.filter(of_kind)
    columns = {name: chosen[name].combine_chunks() for name in chosen.column_names}
    strange = columns.keys() - model.model_fields
    if any(columns[name].null_count < chosen.num_rows for name in strange):
        return False
    return not chosen.num_rows or _are_sound(columns, model)


def _are_sound(columns: Mapping[str, pa.Array], model: type[BaseModel]) -> bool:
    """The same of the columns of a model; one that is not there has no value."""
    for name, info in model.model_fields.items():
        column = columns.get(name)
        if info.is_required() and (column is None or column.null_count):
            return False
        if column is not None and not _may_be(column.drop_null(), info):
            return False
    return True


def _may_be(values: pa.Array, info: FieldInfo) -> bool:
    """Whether a field may have these values, none of which is missing."""
    import pyarrow.compute as pc

    kind = _bare(info.annotation)
    if not len(values) or (kind in (str, int, bool) and not _rules(info)):
        return True
    if kind is float and not _rules(info):
        return bool(pc.all(pc.is_finite(values)).as_py())
    if get_origin(kind) is dict:
        value = FieldInfo.from_annotation(get_args(kind)[1])
        return all(_may_be(column.drop_null(), value) for column in values.flatten())
    if get_origin(kind) is tuple:
        return _may_be(values.flatten(), FieldInfo.from_annotation(get_args(kind)[0]))
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        if kind.__pydantic_decorators__.model_validators:
            return _passes(kind, [_given(one) for one in values.to_pylist()])
        return _are_sound({n: pc.struct_field(values, n) for n in kind.model_fields}, kind)
    return _passes(info.rebuild_annotation(), values.unique().to_pylist())


def _rules(info: FieldInfo) -> bool:
    return bool(info.metadata) or info.rebuild_annotation() is not info.annotation


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


@lru_cache(maxsize=64)
def _reader(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(list[kind])


def _passes(kind: Any, values: list[Any]) -> bool:
    """Whether pydantic takes each of the values for a ``kind``."""
    try:
        _reader(kind).validate_python(values)
    except ValidationError:
        return False
    return True
