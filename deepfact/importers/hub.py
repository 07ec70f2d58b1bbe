"""Claims from a data set that the `datasets` library reads: a folder, or an id on the Hub.

Nothing is fetched unless the user says so, and no script that comes with a data set is run. Rows
are streamed. Labels that a data set numbers are read by the names that it gives to the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from deepfact.errors import InputError, did_you_mean
from deepfact.importers.base import Imported
from deepfact.importers.generic import read_mapping, read_rows, used_columns
from deepfact.importers.rows import Row

PREFIX = "hf:"


def read(
    path: Path,
    *,
    when: datetime,
    mapping: Path | None = None,
    config: str = "",
    split: str = "",
    revision: str = "",
    download: bool = False,
    sources: Path | None = None,
    sources_encoding: str = "utf-8",
    skip_bad: bool = False,
) -> Imported:
    """The claims of one split of a data set.

    Args:
        path: a folder of data files, or ``owner/name`` on the Hub (``hf:owner/name`` as well).
        when: date of the import, for the provenance of the annotations.
        mapping: a YAML file, see `deepfact.importers.mapping`.
        config: which configuration, where there are several.
        split: which split, where there are several.
        revision: of a data set on the Hub.
        download: whether it may be read from the Hub.
        sources, sources_encoding: a second file with the sources that claims cite.
        skip_bad: list rows that are wrong as skipped, and import the others.

    Raises:
        InputError: no such data set here, or not to be read; a row is wrong.
    """
    table = read_mapping(mapping)
    name = path.as_posix().removeprefix(PREFIX)
    local = Path(name).is_dir()
    if not local and not download:
        raise InputError(
            "there is no such folder, and nothing is fetched from the Hub unless you say so",
            where=name,
            fix="name a folder, or add -o download=true while you are online",
        )
    if local and (Path(name) / f"{Path(name).resolve().name}.py").is_file():
        raise InputError(
            "the data set comes with a script, which is not run",
            where=name,
            fix="import its data files (Parquet, CSV, JSON Lines) one by one",
        )
    found = _loaded(name, config, split, revision)
    columns = list(found.column_names or [])
    used = used_columns(table)
    if columns:
        found = found.select_columns([column for column in columns if column in used])
    out = read_rows(
        Path(name), _rows(found, name), when, table, sources, sources_encoding, skip_bad,
        tabular=True, columns=columns,
    )  # fmt: skip
    if not out.claims and not out.skipped:
        raise InputError("the split has no rows", where=name)
    _describe(out, found, name, config, split, local=local)
    return out


def _loaded(name: str, config: str, split: str, revision: str) -> Any:
    """The split, as a stream.

    Raises:
        InputError: it cannot be loaded, or which split is meant is not clear.
    """
    import datasets

    try:
        parts = datasets.load_dataset(
            name, config or None, revision=revision or None, streaming=True
        )
    except Exception as error:  # of the library, of pyarrow, of whatever fetches
        raise _unread(error, name) from None
    splits = sorted(map(str, parts))
    if split and split not in splits:
        raise InputError(f"no split {split!r}", where=name, fix=did_you_mean(split, splits))
    if not split and len(splits) > 1:
        raise InputError(
            f"the data set has {len(splits)} splits: {', '.join(splits)}",
            where=name,
            fix=f"name one, such as -o split={splits[0]}",
        )
    return parts[split or splits[0]]


def _unread(error: Exception, name: str) -> InputError:
    reason = " ".join(str(error).split())[:300] or type(error).__name__
    return InputError(
        f"datasets cannot load it: {reason}",
        where=name,
        fix="is the id right, the folder whole, a config needed (-o config=...), the Hub in reach?",
    )


def _rows(found: Any, name: str) -> Iterator[Row]:
    """The rows, counted from 1, with names for numbered labels."""
    numbered = _numbered(found.features or {})
    number = 0
    try:
        for cells in found:
            number += 1
            named = {
                column: _named(value, numbered[column]) if column in numbered else value
                for column, value in cells.items()
            }
            yield Row(f"{name}, row {number}", named)
    except InputError:
        raise
    except Exception as error:
        raise _unread(error, f"{name}, after row {number}") from None


def _numbered(features: Mapping[str, Any]) -> dict[str, list[str]]:
    """The columns of numbered labels, or of lists of them, with the names of the numbers."""
    found = {}
    for column, feature in features.items():
        inner = getattr(feature, "feature", feature)
        if names := getattr(inner, "names", None):
            found[column] = list(names)
    return found


def _named(value: Any, names: list[str]) -> Any:
    """The name of a number; None for -1, by which `datasets` says that there is no label."""
    if isinstance(value, list):
        return [_named(one, names) for one in value]
    if not isinstance(value, int):
        return value
    return names[value] if 0 <= value < len(names) else None


def _describe(
    out: Imported, found: Any, name: str, config: str, split: str, *, local: bool
) -> None:
    """What the card says of where it is from."""
    info = found.info
    chosen = ", ".join(
        f"{what} {value}"
        for what, value in (("config", config), ("split", split or str(found.split)))
        if value
    )
    where = f"the folder {Path(name).name}" if local else f"{name} on the Hub"
    checked = "" if local else f", revision {info.version or 'unknown'}"
    out.origin = (
        out.origin or info.homepage or ("" if local else f"https://huggingface.co/datasets/{name}")
    )
    out.licence = out.licence or info.license or ""
    out.notes.append(f"Read from {where} ({chosen}{checked}).")
