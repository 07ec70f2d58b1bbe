"""The sources of the generic importers: from a file of their own, or inside the rows.

Their ids are any text; ours are content hashes. This module keeps which is which, so that what
claims cite resolves, and reads nothing but the file of sources.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

from pydantic import ValidationError

from deepfact.errors import InputError, did_you_mean
from deepfact.importers.mapping import Constants, InlineSources, Mapping
from deepfact.importers.rows import BadRow, Row, csv_rows, json_rows
from deepfact.records import Source, SourceRole, Trust
from deepfact.store.files import explain

_BETWEEN = re.compile(r"[;|]")

_FILE = InlineSources()
"""Columns of a file of sources: our names."""


@dataclass(slots=True)
class Documents:
    """The sources so far, each once, and what their own ids stand for."""

    constants: Constants
    by_id: dict[str, Source] = field(default_factory=dict)
    by_name: dict[str, Source] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    file: Path | None = None

    def all(self) -> list[Source]:
        """Every source, in the order of the files."""
        return list(self.by_id.values())

    def keep(self, source: Source) -> None:
        """Add a source unless it is there."""
        self.by_id.setdefault(source.id, source)

    def read(self, path: Path, *, encoding: str, bad: Callable[[InputError, str], None]) -> None:
        """Read a file of sources (``.csv``, else JSON Lines).

        Args:
            bad: told of each row that is wrong; raises to stop.

        Raises:
            InputError: the file as a whole is wrong, or what ``bad`` raises.
        """
        self.file = path
        rows = (csv_rows if path.suffix.lower() == ".csv" else json_rows)(path, encoding=encoding)
        for row in rows:
            if isinstance(row, BadRow):
                bad(row.error, row.error.where)
                continue
            try:
                self._add(row)
            except InputError as error:
                bad(error, row.where)

    def _add(self, row: Row) -> None:
        for column in ("id", "text"):
            if column not in row.cells:
                raise InputError(
                    f"the source has no column {column!r}",
                    where=row.where,
                    fix="columns of a file of sources: id, text, and optionally title, url, role, "
                    "trust, published",
                )
        name = string(row, "id").strip()
        if not name:
            raise InputError(
                "the source has no id", where=row.where, fix="claims cite a source by its id"
            )
        if name in self.places:
            raise InputError(
                f"the source id {name!r} is given twice",
                where=f"{row.where}, and before in {self.places[name]}",
            )
        source = _source(row, _FILE, self.constants, untitled=name)
        if source is None:
            raise InputError(f"the source {name!r} has no text", where=row.where)
        self.places[name], self.by_name[name] = row.where, source
        self.keep(source)

    def cited(self, cell: Any, where: str) -> list[str]:
        """The hash ids of the sources that a cell names: a list, or text with ``;`` or ``|``.

        Raises:
            InputError: the cell is neither, or names a source that is not there.
        """
        return [self._named(name, where) for name in self._names(cell, where)]

    def _names(self, cell: Any, where: str) -> list[str]:
        if cell is None:
            return []
        if isinstance(cell, str):
            whole = cell.strip()
            # An id may hold a separator itself.
            parts = [whole] if whole in self.by_name else _BETWEEN.split(cell)
            return [part.strip() for part in parts if part.strip()]
        names = cell if isinstance(cell, list) else [cell]
        if not all(isinstance(n, str) or type(n) is int for n in names):
            raise InputError(
                "what a claim cites is a list of source ids", where=where, fix='such as ["s1"]'
            )
        return [str(name).strip() for name in names]

    def _named(self, name: str, where: str) -> str:
        if name in self.by_name:
            return self.by_name[name].id
        if self.file is None:
            fix = "name the file of sources with the option sources"
        else:
            hint = did_you_mean(name, self.by_name)
            fix = f"add it to {self.file}" + (f"; {hint}" if hint.startswith("did") else "")
        raise InputError(f"the claim cites the unknown source {name!r}", where=where, fix=fix)


def inline_sources(row: Row, mapping: Mapping) -> list[Source]:
    """The documents that stand in a row itself.

    Raises:
        InputError: one has no text, or a role or trust that is not ours.
    """
    inline = mapping.sources
    if inline is None:
        return []
    if not inline.field:
        source = _source(row, inline, mapping.constants, untitled="")
        return [source] if source else []
    cell = row.cells.get(inline.field)
    if cell is None or cell == "":
        return []
    found = []
    for number, item in enumerate(cell if isinstance(cell, list) else [cell], start=1):
        cells = {inline.text: item} if isinstance(item, str) else item
        where = f"{row.where}, {inline.field!r} {number}"
        if not isinstance(cells, dict):
            raise InputError("a source is an object or a text", where=where)
        source = _source(Row(where, cells), inline, mapping.constants, untitled="")
        if source is None:
            raise InputError(f"the source has no text in {inline.text!r}", where=where)
        found.append(source)
    return found


def string(row: Row, column: str) -> str:
    """A cell as text; empty where it is missing or null.

    Raises:
        InputError: it is neither a text nor a whole number nor true or false.
    """
    value = row.cells.get(column)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    raise InputError(
        f"{column!r} must be a text, this is a {type(value).__name__}", where=row.where
    )


def _source(
    row: Row, columns: InlineSources, constants: Constants, *, untitled: str
) -> Source | None:
    """A source card of a row's cells; None where there is no text."""
    text = string(row, columns.text)
    if not text.strip():
        return None
    url = string(row, columns.url)
    role, trust = string(row, columns.role), string(row, columns.trust)
    for word, known in ((role, SourceRole), (trust, Trust)):
        if word and word not in [member.value for member in known]:
            raise InputError(
                f"{word!r} is no {'role' if known is SourceRole else 'trust'} of a source",
                where=row.where,
                fix=did_you_mean(word, [member.value for member in known]),
            )
    try:
        return Source.create(
            title=string(row, columns.title) or untitled or url,
            url=url,
            role=SourceRole(role) if role else constants.role,
            trust=Trust(trust) if trust else constants.trust,
            published=string(row, columns.published),
            text=text,
        )
    except ValidationError as error:
        raise InputError(explain(error), where=row.where) from None
