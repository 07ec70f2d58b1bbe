"""Claims from a Parquet file, by a mapping of its columns, batch by batch.

Columns that nothing is made of are not read. As in `deepfact.importers.generic`, the first row that
is wrong stops the import, unless ``skip_bad`` asks for such rows to be listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from deepfact.errors import InputError
from deepfact.importers.base import Imported
from deepfact.importers.first_bytes import refuse_other_format
from deepfact.importers.generic import read_mapping, read_rows, used_columns
from deepfact.importers.rows import Row
from deepfact.store.files import read_text

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

BATCH = 1024
"""Rows that are in memory at once, beside what was made of those before."""


def read(
    path: Path,
    *,
    when: datetime,
    mapping: Path | None = None,
    sources: Path | None = None,
    sources_encoding: str = "utf-8",
    skip_bad: bool = False,
) -> Imported:
    """The claims of a Parquet file.

    Args:
        path: the file.
        when: date of the import, for the provenance of the annotations.
        mapping: a YAML file, see `deepfact.importers.mapping`; without one, columns have our names
            and labels are our words.
        sources: a second file (``.csv``, else JSON Lines) with the sources that claims cite.
        sources_encoding: of that file.
        skip_bad: list rows that are wrong as skipped, and import the others.

    Raises:
        InputError: a file or a row is wrong. Nothing is returned.
    """
    table = read_mapping(mapping)
    with _opened(path) as file:
        columns = list(file.schema_arrow.names)
        _refuse_twice(columns, path)
        if not file.metadata.num_rows:
            raise InputError("the file has columns and no rows", where=str(path))
        used = used_columns(table)
        rows = _rows(file, path, [name for name in columns if name in used])
        return read_rows(
            path, rows, when, table, sources, sources_encoding, skip_bad,
            tabular=True, columns=columns,
        )  # fmt: skip


def _opened(path: Path) -> ParquetFile:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    if not path.is_file():
        read_text(path)  # raises, with the reason
    if not path.stat().st_size:
        raise InputError("the file is empty", where=str(path), fix="is it the right file?")
    refuse_other_format(path, "Parquet")
    try:
        return ParquetFile(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _broken(error, path) from None


def _rows(file: ParquetFile, path: Path, columns: Sequence[str]) -> Iterator[Row]:
    """The rows, counted from 1."""
    import pyarrow as pa

    number = 0
    try:
        for batch in file.iter_batches(batch_size=BATCH, columns=list(columns)):
            for cells in batch.to_pylist():
                number += 1
                yield Row(f"{path}, row {number}", cells)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise _broken(error, path, number) from None


def _broken(error: Exception, path: Path, after: int = 0) -> InputError:
    reason = " ".join(str(error).split())[:200]
    place = f"{path}, after row {after}" if after else str(path)
    fix = "is the file whole? Fetch it again"
    return InputError(f"Parquet that cannot be read: {reason}", where=place, fix=fix)


def _refuse_twice(columns: Sequence[str], path: Path) -> None:
    for name in columns:
        if columns.count(name) > 1:
            raise InputError(f"two columns are named {name!r}", where=str(path), fix="rename one")
