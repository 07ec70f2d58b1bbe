"""What the importers of published data sets share: finding their files, checking their rows.

A row that is not what the format says is listed as skipped with the reason, and the others are
imported; a file without one good row is an error. A folder named ``nc``, with data under a
non-commercial licence, is never entered by itself: the user names it. Reads only; maps no label.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Iterable, Iterator, TypeVar

from pydantic import BaseModel, ValidationError

from deepfact.errors import InputError
from deepfact.importers.base import Imported, SkippedRow
from deepfact.importers.rows import BadRow, Row, refuse_half_characters
from deepfact.records import Source, SourceRole, Trust
from deepfact.store.files import explain, read_text

M = TypeVar("M", bound=BaseModel)

_NOT_IN_AN_ID = re.compile(r"[\s/\\\x00-\x1f\x7f]+")


def published_files(path: Path, patterns: Iterable[str], *, data_set: str) -> list[Path]:
    """The files of a data set: ``path`` itself, or what the folder holds, first pattern first.

    Args:
        path: a file, or a folder.
        patterns: names or glob patterns of files in the folder.
        data_set: its name, for the error.

    Raises:
        InputError: there is no such file. Where the folder ``nc`` in it has one, it says so.
    """
    if path.is_file():
        return [path]
    patterns = list(patterns)
    found = {file: None for pattern in patterns for file in sorted(path.glob(pattern))}
    if found:
        return list(found)
    wanted = " or ".join(patterns)
    behind = next((file for pattern in patterns for file in (path / "nc").glob(pattern)), None)
    if behind is not None:
        raise InputError(
            f"{behind.name} is under a non-commercial licence and is only read when its folder "
            "is named",
            where=str(path),
            fix=f"if the licence allows your use, name {path / 'nc'}",
        )
    if not path.exists():
        raise InputError("no such file or folder", where=str(path))
    raise InputError(
        f"the folder has no {wanted}",
        where=str(path),
        fix=f"name the folder that holds {data_set}, or the file",
    )


def good_rows(
    rows: Iterable[Row | BadRow], model: type[M], out: Imported, *, data_set: str
) -> Iterator[tuple[Row, M]]:
    """The rows that are what the format says; each other one is listed as skipped.

    Raises:
        InputError: not one row is good.
    """
    good, first = 0, None
    for row in rows:
        if isinstance(row, BadRow):
            bad = row.error
        else:
            try:
                checked = model.model_validate(row.cells)
            except ValidationError as error:
                bad = InputError(f"not a row of {data_set}: {explain(error)}", where=row.where)
            else:
                good += 1
                yield row, checked
                continue
        first = first or bad
        out.skipped.append(SkippedRow(where=bad.where, why=bad.what))
    if not good and first is not None:
        raise InputError(
            f"no row is one of {data_set}; the first: {first.what}",
            where=first.where,
            fix="is it the right file?",
        )


def json_items(path: Path) -> Iterator[Row]:
    """The objects of a JSON file that holds a list of them, or an object of them by name.

    Raises:
        InputError: unreadable, or something else.
    """
    for _, row in named_items(path):
        yield row


def named_items(path: Path) -> Iterator[tuple[str, Row]]:
    """As `json_items`, each with its name; in a list, its number from 1."""
    try:
        text = read_text(path)
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON: {error}", where=str(path)) from None
    if "\\u" in text:
        refuse_half_characters(data, str(path))
    items: Iterable[tuple[Any, Any]]
    if isinstance(data, list):
        items = enumerate(data, start=1)
    elif isinstance(data, dict):
        items = data.items()
    else:
        raise InputError("a list of objects is needed", where=str(path))
    for name, item in items:
        where = f"{path}, item {name}"
        if not isinstance(item, dict):
            raise InputError(f"an object is needed, this is a {type(item).__name__}", where=where)
        yield str(name), Row(where, item)


def id_part(text: str) -> str:
    """Text as a part of an id: white space and path separators become ``_``."""
    return _NOT_IN_AN_ID.sub("_", text.strip())[:120]


def model_answer(title: str, text: str) -> Source:
    """A model's answer as a source card: where claims stood, never evidence."""
    return Source.create(
        title=" ".join(title.split())[:200],
        role=SourceRole.GENERATED,
        trust=Trust.UNKNOWN,
        text=text,
    )


def note_repeated(out: Imported, *, shown: int = 10) -> None:
    """Add a note on claims whose text occurs more than once: how many, and the first of them."""
    ids: dict[str, list[str]] = {}
    for claim, _ in out.claims:
        ids.setdefault(claim.text, []).append(claim.id)
    repeated = [same for same in ids.values() if len(same) > 1]
    if not repeated:
        return
    listed = "; ".join(" = ".join(same) for same in repeated[:shown])
    more = f"; and {len(repeated) - shown} more" if len(repeated) > shown else ""
    out.notes.append(
        f"{len(repeated)} claim texts occur more than once, all of them imported: {listed}{more}."
    )


def note_counts(out: Imported, table: str) -> None:
    """Add the note that says how labels were mapped and how many there are of each."""
    counts: dict[str, int] = {}
    mapped: dict[str, str] = {}
    for _, annotation in out.claims:
        if annotation is not None:
            word = annotation.original_label
            counts[word] = counts.get(word, 0) + 1
            mapped[word] = annotation.label.value
    listed = "; ".join(f"{word} is {mapped[word]} ({counts[word]})" for word in sorted(counts))
    unlabelled = sum(annotation is None for _, annotation in out.claims)
    tail = f" {unlabelled} claims are unlabelled." if unlabelled else ""
    out.notes.append(
        f"Labels (table {table!r}): {listed or 'none'}. {len(out.claims)} claims imported, "
        f"{len(out.skipped)} rows skipped, each with its reason.{tail}"
    )
