"""Reading and writing the files that deepfact keeps, whatever the locale: UTF-8, LF, whole.

Every reader of records goes through here, so that a broken file always gives the same kind
of error: what, in which file and line, and what to do. Writing is atomic: a reader sees the
old file or the new one. This module knows no particular record.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO, Callable, Iterable, Iterator, Sequence, TypeVar

from pydantic import TypeAdapter, ValidationError

from deepfact.errors import InputError, NewerSchemaError, RecordError
from deepfact.records import SCHEMA_VERSION, sha256_of

T = TypeVar("T")

LOG = logging.getLogger("deepfact.store")

BLOCK = 65536
"""Bytes that are read at a time when a file is looked through from its end."""

MAX_LINE = 8 * 1024 * 1024
"""Longest line of a JSON Lines or CSV file, in bytes. A longer one is surely a mistake."""

MANY = 32
"""With more files than this the whole disk is synced once, instead of each file. Linux waits for
that; another system may only begin it."""

MIGRATIONS: dict[tuple[str, int], Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""``(record name, schema version) -> step to the next version``. Steps are named functions
with a test each. A record that is one of several is known by its tag, such as ``answered``.
Empty while every record is at schema 1."""


# --- reading -----------------------------------------------------------------------------


def read_text(path: Path, *, encoding: str = "utf-8") -> str:
    """The text of a file, byte for byte (line ends are kept).

    Raises:
        InputError: no such file, unreadable, or not in that encoding.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", where=str(path)) from None
    except IsADirectoryError:
        raise InputError("this is a folder, a file is needed", where=str(path)) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from None
    return decode(data, where=str(path), encoding=encoding)


def decode(data: bytes, *, where: str, encoding: str = "utf-8") -> str:
    """``data`` as text; a byte-order mark or another encoding is an error that says what to do."""
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8") and data.startswith(
        (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
    ):
        name = "utf-8-sig" if data.startswith(b"\xef") else "utf-16"
        raise InputError(
            f"the file starts with a byte-order mark ({name})",
            where=where,
            fix=f"save it as plain UTF-8, or name the encoding where the command takes one: "
            f"--encoding {name}",
        )
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"not {encoding} (byte 0x{data[error.start]:02x})",
            where=where if ", line " in where else f"{where}, line {line}",
            fix="save it as UTF-8, or name the encoding where the command takes one: "
            "--encoding cp1252",
        ) from None
    except LookupError:
        raise InputError(f"unknown encoding {encoding!r}", where=where) from None


def read_record(path: Path, record: type[T]) -> T:
    """The record that a JSON file holds.

    Raises:
        RecordError: not JSON, or not of the record's shape.
        NewerSchemaError: written under a newer schema.
    """
    return parse_record(read_text(path), record, where=str(path))


_ADAPTERS: dict[type, TypeAdapter[Any]] = {}
"""Made once for each record: making one costs more than reading a line with it."""


def _adapter(record: type[T] | TypeAdapter[T]) -> TypeAdapter[T]:
    """What reads a record."""
    if isinstance(record, TypeAdapter):
        return record
    if record not in _ADAPTERS:
        _ADAPTERS[record] = TypeAdapter(record)
    return _ADAPTERS[record]


def parse_record(text: str | bytes, record: type[T] | TypeAdapter[T], *, where: str) -> T:
    """The record that ``text`` holds as JSON; errors as `read_record`."""
    adapter = _adapter(record)
    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        failure = error
    try:
        data = json.loads(text)
    except ValueError as error:
        raise RecordError(f"not JSON: {error}", where=where) from None
    except RecursionError:
        raise RecordError("not JSON of ours: nested too deeply", where=where) from None
    if not isinstance(data, dict):
        raise RecordError("a JSON object is needed", where=where)
    migrated = _migrated(data, getattr(record, "__name__", ""), where)
    if migrated is not data:
        try:
            return adapter.validate_python(migrated)
        except ValidationError as error:
            failure = error
    raise RecordError(explain(failure), where=where)


def _migrated(data: dict[str, Any], name: str, where: str) -> dict[str, Any]:
    """``data`` brought to the current schema, or itself when there is nothing to do."""
    version = data.get("schema_version", SCHEMA_VERSION)
    name = name or str(data.get("event") or data.get("kind") or "")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise NewerSchemaError(
            f"schema version {version} is newer than this deepfact knows ({SCHEMA_VERSION})",
            where=where,
            fix="upgrade deepfact: pip install --upgrade deepfact",
        )
    while isinstance(version, int) and (step := MIGRATIONS.get((name, version))):
        data, version = step(data), version + 1
    return data


def explain(error: ValidationError) -> str:
    """A validation error in a few plain words, the first three problems."""
    problems = []
    for item in error.errors()[:3]:
        field = ".".join(str(part) for part in item["loc"])
        problems.append(f"{field}: {item['msg']}" if field else item["msg"])
    more = error.error_count() - len(problems)
    return "; ".join(problems) + (f"; and {more} more" if more > 0 else "")


def read_lines(path: Path, *, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """``(line number, line)`` of a text file, split on LF only, blank lines left out.

    Raises:
        InputError: unreadable, not UTF-8, or a line longer than `MAX_LINE`.
    """
    for number, _, line in read_raw_lines(path):
        text = decode(line, where=f"{path}, line {number}", encoding=encoding)
        if text.strip():
            yield number, text.rstrip("\r\n")


def read_raw_lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """``(line number, offset in bytes, line)`` of a file, split on LF, which is kept.

    Raises:
        InputError: unreadable, or a line longer than `MAX_LINE`.
    """
    with _opened(path) as file:
        number = offset = 0
        while line := file.readline(MAX_LINE + 1):
            number += 1
            if len(line) > MAX_LINE:
                raise _too_long(path, number)
            yield number, offset, line
            offset += len(line)


def read_blocks(path: Path, size: int = 8 * 1024 * 1024) -> Iterator[tuple[int, bytes]]:
    """A file in blocks of whole lines: the number of a block's first line, and the block.

    Args:
        path: of the file.
        size: of a block in bytes, but for its last line.

    Raises:
        InputError: as `read_raw_lines`.
    """
    with _opened(path) as file:
        number = 1
        while block := file.read(size):
            block += b"" if block.endswith(b"\n") else file.readline(MAX_LINE + 1)
            lines = block.count(b"\n")
            if len(block) - block.rfind(b"\n", 0, -1) > MAX_LINE + 1:
                raise _too_long(path, number + lines - block.endswith(b"\n"))
            yield number, block
            number += lines


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError:
        read_text(path)  # raises, with the reason
        raise


def _too_long(path: Path, number: int) -> InputError:
    return InputError(
        f"the line is longer than {MAX_LINE // 1024 // 1024} MB",
        where=f"{path}, line {number}",
        fix="is this a JSON Lines file? It holds one record on each line",
    )


def hash_file(path: Path) -> str:
    """The ``sha256:`` hash of a file, read piece by piece.

    Raises:
        InputError: no such file, or unreadable.
    """
    try:
        with path.open("rb") as file:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    except OSError:
        return sha256_of(read_text(path))  # raises, with the reason


def read_jsonl(path: Path, record: type[T] | TypeAdapter[T]) -> Iterator[T]:
    """The records of a JSON Lines file; errors as `read_record`, with the line."""
    adapter = _adapter(record)
    name = getattr(record, "__name__", "")
    for number, line in read_lines(path):
        try:
            yield adapter.validate_json(line)
        except ValidationError:
            yield parse_record(line, record if name else adapter, where=f"{path}, line {number}")


# --- writing -----------------------------------------------------------------------------


def write_text(path: Path, text: str) -> None:
    """Write a text file as UTF-8 so that it is there whole or not at all."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all, and durable on return."""
    write_many([(path, data)])


@contextmanager
def writing(path: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """A file to write piece by piece, there whole or not at all, and durable afterwards; and where
    it lies until then."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file, part
            file.flush()
            os.fsync(file.fileno())
        part.chmod(0o644)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def append(file: FileIO, data: bytes) -> None:
    """Add to the end of an unbuffered file: all of it is there and durable on return, or, when
    the disk is full, nothing of it, so that what is added later does not follow half a line.

    Raises:
        InputError: it was deleted meanwhile: what is added would be gone with the last handle.
        OSError: it cannot be written.
    """
    status = os.fstat(file.fileno())
    if not status.st_nlink and not _lies_at(Path(file.name), status):
        raise InputError(
            "the file was deleted or replaced while it was being written to",
            where=str(file.name),
            fix="run this again; what was added until then is in the file that was deleted",
        )
    end = status.st_size
    try:
        left = memoryview(data)
        while left:
            left = left[file.write(left) :]
        os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            file.truncate(end)
        raise


def _lies_at(path: Path, status: os.stat_result) -> bool:
    """Whether an open file is the one at a path; some file systems count no names."""
    try:
        return os.path.samestat(path.stat(), status)
    except OSError:
        return False


def cut_half_line(path: Path) -> int:
    """Cut off a last line without its end, which a power cut or a killed writer left; the log
    says so.

    Returns:
        How many bytes that were; 0 when there is no file.
    """
    if not path.is_file():
        return 0
    with path.open("rb+") as file:
        size = whole = file.seek(0, os.SEEK_END)
        while whole:
            start = max(0, whole - BLOCK)
            file.seek(start)
            found = file.read(whole - start).rfind(b"\n") + 1
            whole = start + found
            if found:
                break
        if whole < size:
            file.truncate(whole)
            file.flush()
            os.fsync(file.fileno())
            LOG.warning(
                "%s: the last line was half-written (%d bytes) and is cut off; "
                "nothing before it is lost",
                path,
                size - whole,
            )
    return size - whole


def write_many(files: Iterable[tuple[Path, bytes]]) -> None:
    """Write files, each there whole or not at all, and all durable on return.

    The disk is waited for once all are written, which is many times faster than file by file.
    """
    staged: list[tuple[Path, Path]] = []
    try:
        for path, data in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(
                dir=path.parent, prefix=f".{path.name}.", suffix=".part"
            )
            staged.append((Path(name), path))
            with os.fdopen(handle, "wb") as file:
                file.write(data)
        _sync([part for part, _ in staged])
        for part, path in staged:
            part.chmod(0o644)
            part.replace(path)
    except BaseException:
        for part, _ in staged:
            part.unlink(missing_ok=True)
        raise
    _sync(sorted({path.parent for _, path in staged}))


def _sync(paths: Sequence[Path]) -> None:
    """Wait until files or folders are on disk: one by one, or all at once when they are many."""
    if len(paths) > MANY and hasattr(os, "sync"):
        os.sync()
        return
    for path in paths:
        if path.is_dir():
            sync_folder(path)
        else:
            with path.open("rb+") as file:
                os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Make renames in a folder durable, where the system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows cannot open folders; renames are durable enough there
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def jsonl(lines: Iterable[str]) -> str:
    """Canonical lines as the text of a JSON Lines file."""
    return "".join(f"{line}\n" for line in lines)
