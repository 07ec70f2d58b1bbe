"""The index of a version: where each of its revisions stands in its file, and what it came to.

An index is worked out from revisions and says nothing that they do not. It lies in the user's own
cache, never in the benchmark's folder: what comes with a download is not trusted. Its name is the
hash of the version's manifest, which covers the version and all before it, and every column is
checked against its hash when it is read. One that is missing or does not match is made anew.
This module folds nothing; see `deepfact.store.rows`.
"""

from __future__ import annotations

import json
import os
import sys
from array import array
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from deepfact.errors import IntegrityError
from deepfact.records import Label, Revision, RevisionKind, canonical_json, sha256_of
from deepfact.store.files import writing

FORMAT = 2
KINDS = tuple(RevisionKind)
LABELS = (None, *Label)
RETIRED = 4
"""Added to a label's place in `LABELS` when the claim is retired."""

_TEXTS = ("ids", "reports", "domains", "sources")
_BYTES = ("kinds", "standings", "lines", "entries")
_NUMBERS = {"rows": "I", "offsets": "Q", "lengths": "I", "cite_counts": "I", "cites": "I"}
_NAMES = (*_TEXTS, *_BYTES, *_NUMBERS)


def cache_folder() -> Path:
    """Where indexes are kept: ``$DEEPFACT_HOME/versions``, or the user's cache."""
    if home := os.environ.get("DEEPFACT_HOME"):
        return Path(home).expanduser() / "versions"
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    base = cache if cache.is_absolute() else Path.home() / ".cache"
    return base / "deepfact" / "versions"


@dataclass(frozen=True, slots=True)
class _File:
    """An index on disk, whose columns are read one by one."""

    path: Path
    columns: dict[str, tuple[int, int, str]]
    """Start, length in bytes and hash by name."""

    def read(self, name: str) -> bytes:
        """A column as it lies there.

        Raises:
            IntegrityError: it cannot be read, or is not what was written.
        """
        start, length, expected = self.columns[name]
        try:
            with self.path.open("rb") as file:
                file.seek(start)
                data = file.read(length)
        except OSError:
            data = b""
        if sha256_of(data) != expected:
            raise IntegrityError(
                "the index does not match its hash",
                where=str(self.path),
                fix="delete it; it is made anew from the benchmark",
            )
        return data


class Index:
    """Columns with one item for each revision of a version, in order. Empty, or as stored."""

    def __init__(self, file: _File | None = None) -> None:
        self._file = file
        self._source_numbers: dict[str, int] = {}

    @cached_property
    def ids(self) -> list[str]:
        """Claim ids."""
        return self._texts("ids")

    @cached_property
    def reports(self) -> list[str]:
        """The claim's report where the revision adds one; else empty."""
        return self._texts("reports")

    @cached_property
    def domains(self) -> list[str]:
        """The claim's domain where the revision adds one; else empty."""
        return self._texts("domains")

    @cached_property
    def kinds(self) -> bytearray:
        """Places in `KINDS`."""
        return self._bytes("kinds")

    @cached_property
    def standings(self) -> bytearray:
        """Label and retirement after the revision; see `LABELS` and `RETIRED`."""
        return self._bytes("standings")

    @cached_property
    def lines(self) -> bytearray:
        """SHA-256 of the revision's line without its line end, 32 bytes each."""
        return self._bytes("lines")

    @cached_property
    def entries(self) -> bytearray:
        """Entry hash after the revision, 32 bytes each."""
        return self._bytes("entries")

    @cached_property
    def rows(self) -> array[int]:
        """Which claim the revision is about: its place in the order of adding, from 0."""
        return self._numbers("rows")

    @cached_property
    def offsets(self) -> array[int]:
        """Where the line starts in its file, in bytes."""
        return self._numbers("offsets")

    @cached_property
    def lengths(self) -> array[int]:
        """How long the line is, in bytes, without its line end."""
        return self._numbers("lengths")

    @cached_property
    def cite_counts(self) -> array[int]:
        """How many sources the added claim cites."""
        return self._numbers("cite_counts")

    @cached_property
    def cites(self) -> array[int]:
        """What added claims cite, one after another, as places in `sources`."""
        return self._numbers("cites")

    @cached_property
    def sources(self) -> list[str]:
        """Every source that is cited here, once."""
        return self._texts("sources")

    def append(
        self, revision: Revision, *, row: int, offset: int, length: int, line: bytes,
        entry: bytes, standing: int,
    ) -> None:  # fmt: skip
        """One more revision.

        Args:
            revision: read from the line.
            row: of the claim.
            offset: where the line starts.
            length: how long it is.
            line: its hash.
            entry: entry hash after the revision.
            standing: label and retirement after it.
        """
        claim = revision.claim
        self.ids.append(revision.claim_id)
        self.rows.append(row)
        self.kinds.append(KINDS.index(revision.kind))
        self.standings.append(standing)
        self.offsets.append(offset)
        self.lengths.append(length)
        self.lines.extend(line)
        self.entries.extend(entry)
        self.reports.append(claim.report if claim else "")
        self.domains.append(claim.domain if claim else "")
        self.cite_counts.append(len(claim.cites) if claim else 0)
        for source in claim.cites if claim else ():
            if source not in self._source_numbers:
                self._source_numbers[source] = len(self.sources)
                self.sources.append(source)
            self.cites.append(self._source_numbers[source])

    def check(self) -> None:
        """Check every column against its hash.

        Raises:
            IntegrityError: one does not match.
        """
        for name in _NAMES if self._file else ():
            self._read(name)

    def write(self, path: Path, *, manifest: str, size: int) -> None:
        """Keep the index of the version with this manifest, whose revisions take ``size`` bytes.

        Raises:
            OSError: the folder cannot be written to.
        """
        columns = {name: self._encoded(name) for name in _NAMES}
        places: dict[str, tuple[int, int, str]] = {}
        start = 0
        for name, data in columns.items():
            places[name] = (start, len(data), sha256_of(data))
            start += len(data)
        text = canonical_json({**_facts(manifest, size), "columns": places})
        with writing(path) as (file, _):
            file.write(f"{sha256_of(text)} {text}\n".encode())
            for data in columns.values():
                file.write(data)

    @classmethod
    def stored(cls, path: Path, *, manifest: str, size: int) -> Index | None:
        """The index that `write` kept; None when there is none that fits.

        Args:
            path: where it lies.
            manifest: hash of the version's manifest.
            size: of the version's revisions, in bytes.
        """
        try:
            with path.open("rb") as file:
                head = file.readline(1_000_000)
        except OSError:
            return None
        expected, _, text = head.rstrip(b"\n").partition(b" ")
        if sha256_of(text).encode() != expected:
            return None
        data = json.loads(text)
        columns = data.pop("columns")
        if data != _facts(manifest, size):
            return None
        return cls(
            _File(path, {n: (len(head) + at, long, has) for n, (at, long, has) in columns.items()})
        )

    def _read(self, name: str) -> bytes:
        return self._file.read(name) if self._file else b""

    def _texts(self, name: str) -> list[str]:
        found: list[str] = json.loads(self._read(name) or b"[]")
        return found

    def _bytes(self, name: str) -> bytearray:
        return bytearray(self._read(name))

    def _numbers(self, name: str) -> array[int]:
        return array(_NUMBERS[name], self._read(name))

    def _encoded(self, name: str) -> bytes:
        column = getattr(self, name)
        if name in _TEXTS:
            return json.dumps(column, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
        return bytes(column) if name in _BYTES else column.tobytes()


def _facts(manifest: str, size: int) -> dict[str, Any]:
    """What must be equal for an index to be the one that is looked for."""
    return {
        "format": FORMAT,
        "byteorder": sys.byteorder,
        "manifest": manifest,
        "size": size,
    }
