"""What a GGUF model file says of itself, and whether all of it is there.

Reads the header only (format: the "GGUF" specification of ggml, versions 2 and 3): magic,
metadata, and the table of tensors, from which follows how long the file has to be. So a
download that broke off is refused when it is added, not when it is served. This module
loads no weights, runs nothing of what it reads (the chat template stays a string that is
skipped), and every length it reads is checked against the size of the file first.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from deepfact.errors import InputError

MAGIC = b"GGUF"
VERSIONS = (2, 3)

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q",
            12: "d"}  # fmt: skip
_STRING, _ARRAY = 8, 9

_BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34),
    9: (32, 36), 10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210),
    15: (256, 292), 16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18),
    21: (256, 110), 22: (256, 82), 23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4),
    27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2), 34: (256, 54), 35: (256, 66), 39: (32, 17),
}  # fmt: skip
"""``tensor type -> (weights in a block, bytes of a block)``, from ggml. Of a type that is not
listed only the start is checked, not the end."""

_MAX_ARRAY_DEPTH = 4


@dataclass(frozen=True, slots=True)
class ModelHeader:
    """What the header says; an empty string where it says nothing."""

    name: str
    architecture: str
    licence: str
    context: int
    """Tokens that the model was trained to read at once; 0 when not stated."""
    parts: int
    """Files that the model is split into; 1 for a whole one."""


class _BrokenHeaderError(Exception):
    """The header cannot be read; the message says why."""


def read_header(path: Path) -> ModelHeader:
    """What the GGUF file at ``path`` says of itself.

    Raises:
        InputError: no such file, no file, empty, not GGUF, a version that is not known,
            damaged, or cut off.
    """
    if path.is_dir():
        raise InputError("this is a folder, a GGUF file is needed", where=str(path))
    try:
        if not path.exists():
            raise InputError("no such file", where=str(path))
        if not path.is_file():
            raise InputError("this is not a regular file", where=str(path))
        size = path.stat().st_size
        with path.open("rb") as file:
            return _read(file, size, path)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from None
    except (_BrokenHeaderError, struct.error) as error:
        raise InputError(
            f"the GGUF file is damaged or cut off: {error}",
            where=str(path),
            fix="fetch it again and compare its SHA-256 with the publisher's",
        ) from None


def _read(file: BinaryIO, size: int, path: Path) -> ModelHeader:
    magic = file.read(4)
    if magic != MAGIC:
        raise InputError(
            "the file is empty" if not magic else "this is not a GGUF file",
            where=str(path),
            fix="deepfact serves models in the GGUF format of llama.cpp",
        )
    reader = _Reader(file, size)
    version = reader.number("I")
    if version not in VERSIONS:
        raise InputError(
            f"GGUF version {version} is not known (known: 2 and 3)",
            where=str(path),
            fix="convert the model again with a current llama.cpp",
        )
    tensors, pairs = reader.number("Q"), reader.number("Q")
    reader.refuse_more_than_fits(tensors, 24, "tensors")
    reader.refuse_more_than_fits(pairs, 13, "metadata")
    facts = {}
    for _ in range(pairs):
        key = reader.text()
        facts[key] = reader.value(reader.number("I"))
    needed = _needed(reader, tensors, facts)
    if size < needed:
        raise _BrokenHeaderError(f"{size} bytes are there, {needed} are needed")
    architecture = _text(facts, "general.architecture")
    context, parts = facts.get(f"{architecture}.context_length"), facts.get("split.count")
    return ModelHeader(
        name=_text(facts, "general.name"),
        architecture=architecture,
        licence=_text(facts, "general.license"),
        context=context if isinstance(context, int) else 0,
        parts=parts if isinstance(parts, int) and parts > 1 else 1,
    )


def _needed(reader: _Reader, tensors: int, facts: dict[str, Any]) -> int:
    """Bytes that the file must have for the tensors of its table to be all there."""
    end = 0
    for _ in range(tensors):
        reader.text()
        dimensions = reader.number("I")
        reader.refuse_more_than_fits(dimensions, 8, "dimensions")
        weights = 1
        for _ in range(dimensions):
            weights *= reader.number("Q")
        kind, offset = reader.number("I"), reader.number("Q")
        block, block_bytes = _BLOCKS.get(kind, (1, 0))
        end = max(end, offset + weights // block * block_bytes)
    alignment = facts.get("general.alignment", 32)
    if not isinstance(alignment, int) or alignment < 1:
        raise _BrokenHeaderError(f"alignment {alignment!r}")
    return reader.position + -reader.position % alignment + end


def _text(facts: dict[str, Any], key: str) -> str:
    value = facts.get(key)
    return " ".join(value.split())[:200] if isinstance(value, str) else ""


class _Reader:
    """Little-endian values from a file, none of which may reach beyond its end."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._size, self.position = file, size, 4

    def _take(self, count: int) -> bytes:
        if count > self._size - self.position:
            raise _BrokenHeaderError(f"it ends at byte {self._size}, within its header")
        self.position += count
        return self._file.read(count)

    def _skip(self, count: int) -> None:
        if count > self._size - self.position:
            raise _BrokenHeaderError(f"it ends at byte {self._size}, within its header")
        self.position += count
        self._file.seek(count, 1)

    def refuse_more_than_fits(self, count: int, least: int, what: str) -> None:
        """Refuse a count of things of at least ``least`` bytes that the file cannot hold."""
        if count > (self._size - self.position) // least:
            raise _BrokenHeaderError(f"it announces {count} {what}, more than it has room for")

    def number(self, code: str) -> Any:
        """The next number, of a `struct` type code."""
        code = f"<{code}"
        return struct.unpack(code, self._take(struct.calcsize(code)))[0]

    def text(self) -> str:
        """The next string."""
        return self._take(self.number("Q")).decode("utf-8", errors="replace")

    def value(self, kind: int, depth: int = 0) -> Any:
        """The next metadata value; arrays (the vocabulary) are skipped and read as None."""
        if kind in _SCALARS:
            return self.number(_SCALARS[kind])
        if kind == _STRING:
            return self.text()
        if kind != _ARRAY or depth >= _MAX_ARRAY_DEPTH:
            raise _BrokenHeaderError(f"a metadata value of type {kind} at byte {self.position}")
        inner, count = self.number("I"), self.number("Q")
        if inner in _SCALARS:
            self._skip(count * struct.calcsize(f"<{_SCALARS[inner]}"))
            return None
        self.refuse_more_than_fits(count, 8, "array items")
        for _ in range(count):
            if inner == _STRING:
                self._skip(self.number("Q"))
            else:
                self.value(inner, depth + 1)
        return None
