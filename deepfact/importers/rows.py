"""Rows of JSON Lines and CSV files, each with its place, whatever the bytes.

Every problem is an InputError with file, line (or row) and fix. A row that is broken by itself
is yielded as a `BadRow`, so that an importer decides whether it stops or lists it; what breaks
the file as a whole (encoding, an over-long line, no header) is raised. This module knows no
records and maps no labels.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator

from deepfact.errors import InputError
from deepfact.store.files import MAX_LINE, read_lines, read_text

_NO_FILE_ENCODINGS = frozenset(
    {"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined"}
)
"""Codecs for host names and Python source: no file is in one, and their errors are of their own
kind."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its cells by column, and where it stands."""

    where: str
    """File and line."""
    cells: dict[str, Any]


@dataclass(frozen=True, slots=True)
class BadRow:
    """One row that cannot be read, and why."""

    error: InputError


def json_rows(path: Path, *, encoding: str = "utf-8") -> Iterator[Row | BadRow]:
    """The objects of a JSON Lines file.

    Raises:
        InputError: unreadable, empty, not in that encoding, or a line over the length limit.
    """
    found = False
    # read_lines splits on the LF byte, which is half a character in UTF-16.
    plain = encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")
    lines = (read_lines if plain else _decoded_lines)(path, encoding=encoding)
    for number, line in lines:
        found = True
        where = f"{path}, line {number}"
        try:
            yield Row(where, _json_object(line, where))
        except InputError as error:
            yield BadRow(error)
    if not found:
        raise empty_file(path)


def csv_rows(
    path: Path, *, encoding: str = "utf-8", delimiter: str = ","
) -> Iterator[Row | BadRow]:
    """The rows of a CSV file with a header. Quoted cells may hold line breaks.

    Rows count from 1 after the header; lines are those of the file.

    Raises:
        InputError: unreadable, empty, not in that encoding, no usable header, or not CSV.
    """
    text = _text(path, encoding)
    if not text.strip():
        raise empty_file(path)
    _refuse_long_lines(text, path)
    # A cell may be as long as a line may be; the module's own limit of 128 kB is too short for
    # documents. The limit is the process's, so it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    header: list[str] | None = None
    number = 0  # of rows read, without the header
    while True:
        where = f"{path}, line {reader.line_num + 1}" + (f" (row {number + 1})" if header else "")
        try:
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            raise InputError(
                f"not CSV: {error}",
                where=where,
                fix="look for a quotation mark that is not closed or not doubled from this line on",
            ) from None
        if not any(cell.strip() for cell in cells):
            continue
        if header is None:
            header = _header(cells, where)
            continue
        number += 1
        if len(cells) != len(header):
            yield BadRow(
                InputError(
                    f"{len(cells)} cells, but the header names {len(header)} columns",
                    where=where,
                    fix="put cells that hold commas or line breaks between quotation marks",
                )
            )
            continue
        yield Row(where, dict(zip(header, cells, strict=True)))
    if not number:
        raise InputError("the file has a header and no rows", where=str(path))


def json_objects(path: Path) -> Iterator[Row]:
    """As `json_rows` in UTF-8, but the first row that cannot be read is raised."""
    for row in json_rows(path):
        if isinstance(row, BadRow):
            raise row.error
        yield row


def json_row(line: str, where: str) -> Row:
    """The object of one line.

    Raises:
        InputError: it is none.
    """
    return Row(where, _json_object(line, where))


def block_lines(path: Path, first: int, block: bytes) -> Iterator[tuple[str, bytes]]:
    """``(place, line)`` of each line of a block, without its line end.

    Args:
        path: of the file.
        first: number of the block's first line.
        block: whole lines, see `deepfact.store.files.read_blocks`.
    """
    for number, line in enumerate(block.split(b"\n"), first):
        yield f"{path}, line {number}", line.rstrip(b"\r")


def _decoded_lines(path: Path, *, encoding: str) -> Iterator[tuple[int, str]]:
    """As `deepfact.store.files.read_lines`, for encodings in which LF may not be one byte."""
    text = _text(path, encoding)
    _refuse_long_lines(text, path)
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line.rstrip("\r")


def _text(path: Path, encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name.replace("_", "-")
    except (LookupError, ValueError):
        name = ""
    if not name or name in _NO_FILE_ENCODINGS:
        raise InputError(
            f"{encoding!r} is no encoding of text files",
            where=str(path),
            fix="name one such as utf-8, utf-8-sig, utf-16 or cp1252",
        )
    return read_text(path, encoding=encoding)


def _refuse_long_lines(text: str, path: Path) -> None:
    for number, line in enumerate(text.split("\n"), start=1):
        if len(line) > MAX_LINE:
            raise InputError(
                f"the line is longer than {MAX_LINE // 1024 // 1024} MB",
                where=f"{path}, line {number}",
                fix="is it the right file? A row is surely not that long",
            )


def _json_object(line: str, where: str) -> dict[str, Any]:
    try:
        data = json.loads(line, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"not JSON: {error}", where=where, fix="each line holds one JSON object"
        ) from None
    if not isinstance(data, dict):
        raise InputError(
            f"a JSON object is needed, this is a {type(data).__name__}",
            where=where,
            fix="each line holds one JSON object, such as "
            '{"id": "c1", "text": "...", "label": "supported"}',
        )
    if "\\u" in line:
        refuse_half_characters(data, where)
    return data


def refuse_half_characters(data: Any, where: str) -> None:
    """Refuse JSON in which a text cannot be written as UTF-8.

    Raises:
        InputError: an escape is half of a pair.
    """
    try:
        json.dumps(data, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(
            "an escape such as \\ud83d stands for half a character",
            where=where,
            fix="both halves of the pair are needed, or the character itself",
        ) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} is given twice")
    return data


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def _header(cells: list[str], where: str) -> list[str]:
    header = [cell.strip() for cell in cells]
    for index, name in enumerate(header):
        if not name:
            raise InputError(f"column {index + 1} has no name", where=where, fix="name it")
        if name in header[:index]:
            raise InputError(f"two columns are named {name!r}", where=where, fix="rename one")
    return header


def empty_file(path: Path) -> InputError:
    return InputError("the file is empty", where=str(path), fix="is it the right file?")
