"""The entries of a large version as rows: a few columns in memory, the words in their files.

For each claim: id, label, entry hash, and which revisions hold its words. An entry is read when it
is asked for, and its line checked against the hash that the index has of it. This module decides
nothing about what a revision does: that is `deepfact.core.state`.
"""

from __future__ import annotations

import weakref
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, KeysView
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import accumulate, compress
from pathlib import Path
from typing import BinaryIO

from deepfact.core.state import Columns, Entry, StoredEntries, revised
from deepfact.errors import IntegrityError
from deepfact.records import Counts, Revision, RevisionKind
from deepfact.store.files import parse_record
from deepfact.store.index import KINDS, LABELS, RETIRED, Index

_ADD = KINDS.index(RevisionKind.ADD)
_ANNOTATES = {KINDS.index(RevisionKind.RELABEL), KINDS.index(RevisionKind.RERATIONALE)}
_LABEL_OF = dict(enumerate(LABELS)) | {RETIRED | at: label for at, label in enumerate(LABELS)}
_IS_LIVE = bytes(not standing & RETIRED for standing in range(256))
_OPEN_FILES = 16
_BLOCK = 16
"""Rows that are compared at once."""


@dataclass(slots=True)
class _Part:
    """The revisions of one version."""

    path: Path
    index: Index
    first: int
    """Number of its first revision, counted through all parts."""


class Rows(StoredEntries):
    """The entries after the revisions of a line of versions. `copy` before going on from it."""

    def __init__(self) -> None:
        self._parts: list[_Part] = []
        self._revisions = 0
        self._ids: list[str] = []
        self._places: dict[str, int] | None = {}
        """The row of each claim; None until somebody asks for one by its id."""
        self._claims = array("I")
        """Number of the revision that holds the claim."""
        self._notes = array("I")
        """Number of the revision that holds its annotation."""
        self._standings = bytearray()
        self._digests = bytearray()
        self._spread: tuple[int, int] | None = None
        """How many reports and cited sources there are, while that is known."""
        self._files = _Files()

    def copy(self) -> Rows:
        """The same rows, to go on from."""
        made = Rows()
        made._parts, made._revisions = self._parts[:], self._revisions
        made._ids, made._places = self._ids[:], self._places and self._places.copy()
        made._claims, made._notes = self._claims[:], self._notes[:]
        made._standings, made._digests = self._standings[:], self._digests[:]
        made._spread = self._spread
        return made

    @property
    def _at(self) -> dict[str, int]:
        """The row of each claim."""
        if self._places is None:
            self._places = dict(zip(self._ids, range(len(self._ids)), strict=True))
        return self._places

    # --- going on ------------------------------------------------------------------------

    def begin(self, path: Path) -> Index:
        """Begin a version whose revisions lie at ``path``; its index grows with each `add`."""
        return self._begin(path, Index())

    def _begin(self, path: Path, index: Index) -> Index:
        self._parts.append(_Part(path, index, self._revisions))
        return index

    @property
    def last_index(self) -> Index:
        """The index of the version begun or taken last."""
        return self._parts[-1].index

    def believe(self, counts: Counts) -> None:
        """Take how many reports and sources there are from a manifest whose state this is."""
        self._spread = counts.reports, counts.sources

    def moved(self, path: Path) -> None:
        """Tell where the revisions of the last version lie now; files that are open are closed."""
        self._files.close()
        self._parts[-1].path = path

    def add(self, revision: Revision, line: bytes, *, offset: int, where: str) -> None:
        """One more revision of the version begun last.

        Args:
            revision: what it says.
            line: as it lies in its file.
            offset: where the line starts there, in bytes.
            where: what it is read from, for errors.

        Raises:
            BenchmarkError: it does not fit what is there.
        """
        known = self._at.get(revision.claim_id)
        after = revised(revision, None if known is None else self._entry(known), where=where)
        row = len(self._ids) if known is None else known
        line = line.rstrip(b"\r\n")
        standing = LABELS.index(after.label) | (RETIRED if after.retired else 0)
        entry = bytes.fromhex(after.entry_hash().partition(":")[2])
        self._parts[-1].index.append(
            revision, row=row, offset=offset, length=len(line), line=sha256(line).digest(),
            entry=entry, standing=standing,
        )  # fmt: skip
        self._put(row, revision.claim_id, KINDS.index(revision.kind), standing, entry)

    def take(self, path: Path, index: Index) -> None:
        """Go on by a whole version whose revisions were indexed before.

        Raises:
            IntegrityError: the index is damaged.
            LookupError: it does not fit what is there.
        """
        index.check()
        self._begin(path, index)
        if not any(index.kinds):  # only new claims: as most first versions are
            first, count = self._revisions, len(index.ids)
            self._ids += index.ids
            self._places = None
            self._claims.extend(range(first, first + count))
            self._notes.extend(range(first, first + count))
            self._standings += index.standings
            self._digests += index.entries
            self._revisions += count
            self._spread = None
            return
        added = _ADD in index.kinds  # row by row: what follows may be about one that is new
        (self._put_each if added else self._put_all)(index)

    def _put_each(self, index: Index) -> None:
        """Go on by the revisions of an index, one after another."""
        entries = bytes(index.entries)
        for at, (row, claim_id, kind, standing) in enumerate(
            zip(index.rows, index.ids, index.kinds, index.standings, strict=True)
        ):
            self._put(row, claim_id, kind, standing, entries[32 * at : 32 * at + 32])

    def _put_all(self, index: Index) -> None:
        """As `_put_each`, at once, where no claim is new. A claim's last revision holds."""
        import numpy as np

        rows = np.frombuffer(index.rows, np.uint32)
        kinds = np.frombuffer(index.kinds, np.uint8)
        notes = np.isin(kinds, list(_ANNOTATES))
        numbers = np.arange(self._revisions, self._revisions + len(rows))
        np.frombuffer(self._notes, np.uint32)[rows[notes]] = numbers[notes]
        np.frombuffer(self._standings, np.uint8)[rows] = np.frombuffer(index.standings, np.uint8)
        entries = np.frombuffer(index.entries, np.uint8).reshape(-1, 32)
        np.frombuffer(self._digests, np.uint8).reshape(-1, 32)[rows] = entries
        self._revisions += len(rows)
        if not notes.all():
            self._spread = None

    def _put(self, row: int, claim_id: str, kind: int, standing: int, entry: bytes) -> None:
        number = self._revisions
        self._revisions += 1
        if kind == _ADD:
            if self._places is not None:
                self._places[claim_id] = row
            self._ids.append(claim_id)
            self._claims.append(number)
            self._notes.append(number)
            self._standings.append(standing)
            self._digests += entry
            self._spread = None
            return
        if kind in _ANNOTATES:
            self._notes[row] = number
        else:
            self._spread = None
        self._standings[row] = standing
        self._digests[32 * row : 32 * row + 32] = entry

    # --- reading -------------------------------------------------------------------------

    def __getitem__(self, claim_id: str) -> Entry:
        """The entry of a claim, read from its files.

        Raises:
            KeyError: there is no such claim.
            IntegrityError: its line is not what it was.
        """
        return self._entry(self._at[claim_id])

    def __contains__(self, claim_id: object) -> bool:
        return claim_id in self._at

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def keys(self) -> KeysView[str]:
        """The claim ids, in order."""
        return self._at.keys()

    def __len__(self) -> int:
        return len(self._ids)

    def live(self) -> Iterator[Entry]:
        """The live entries, in order, read one after another."""
        for row, standing in enumerate(self._standings):
            if not standing & RETIRED:
                yield self._entry(row)

    def hash_lines(self) -> list[str]:
        """See `deepfact.core.state.State.state_hash`; in the order in which claims were added."""
        digits = bytes(self._digests).hex()
        ends = range(0, len(digits), 64)
        return [
            f"{i}\tsha256:{digits[at : at + 64]}\n" for i, at in zip(self._ids, ends, strict=True)
        ]

    def digest(self, claim_id: str) -> bytes | None:
        """The entry hash of one claim; None when it is not there."""
        row = self._at.get(claim_id)
        return None if row is None else self._digest(row)

    def differing(self, then: StoredEntries) -> Iterator[tuple[str, Entry | None, Entry]]:
        """See `deepfact.core.state.StoredEntries`."""
        shared = 0
        if isinstance(then, Rows) and self._goes_on_from(then):
            shared = len(then._ids)  # rows are alike but for a few
            for start in range(0, 32 * shared, 32 * _BLOCK):
                stop = min(start + 32 * _BLOCK, 32 * shared)
                if self._digests[start:stop] != then._digests[start:stop]:
                    for row in range(start // 32, stop // 32):
                        if self._digest(row) != then._digest(row):
                            yield self._ids[row], then._entry(row), self._entry(row)
        for row in range(shared, len(self._ids)):
            claim_id = self._ids[row]
            if self._digest(row) != then.digest(claim_id):
                yield claim_id, then.get(claim_id), self._entry(row)

    def lacking(self, then: StoredEntries) -> list[str]:
        """See `deepfact.core.state.StoredEntries`."""
        if isinstance(then, Rows) and self._goes_on_from(then):
            return []
        return [claim_id for claim_id in then if claim_id not in self]

    def _goes_on_from(self, then: Rows) -> bool:
        """Whether the claims of ``then`` are the first ones here, in the same order."""
        return self._ids[: len(then._ids)] == then._ids

    def _digest(self, row: int) -> bytes:
        return bytes(self._digests[32 * row : 32 * row + 32])

    def columns(self) -> Columns:
        """The live entries in outline, in order."""
        found = Columns([], [], [], [])
        for part, start, stop in self._stretches():
            standings = self._standings[start:stop]
            live = standings.translate(_IS_LIVE)
            places = [at - part.first for at in compress(self._claims[start:stop], live)]
            found.claim_ids.extend(compress(self._ids[start:stop], live))
            found.labels.extend(map(_LABEL_OF.__getitem__, compress(standings, live)))
            found.reports.extend(_picked(part.index.reports, places))
            found.domains.extend(_picked(part.index.domains, places))
        return found

    def counts(self) -> Counts:
        """See `deepfact.core.state.State.counts`."""
        labels = {str(label or "unlabelled"): self._standings.count(place)
                  for place, label in enumerate(LABELS)}  # fmt: skip
        live = sum(labels.values())
        if self._spread is None:
            self._spread = self._measured_spread()
        reports, sources = self._spread
        return Counts(
            claims=live, retired=len(self._ids) - live, reports=reports, sources=sources, **labels
        )

    def _measured_spread(self) -> tuple[int, int]:
        reports: set[str] = set()
        cited: set[str] = set()
        for part, start, stop in self._stretches():
            index = part.index
            ends = list(accumulate(index.cite_counts))
            places: set[int] = set()
            for row in range(start, stop):
                if not self._standings[row] & RETIRED:
                    at = self._claims[row] - part.first
                    reports.add(index.reports[at])
                    places.update(index.cites[ends[at] - index.cite_counts[at] : ends[at]])
            cited.update(index.sources[place] for place in places)
        return len(reports), len(cited)

    def _stretches(self) -> Iterator[tuple[_Part, int, int]]:
        """Each part with the rows ``start`` to ``stop`` whose claims it holds: claims stand in the
        order in which they were added."""
        start = 0
        for place, part in enumerate(self._parts):
            last = place + 1 == len(self._parts)
            stop = (
                len(self._ids) if last
                else bisect_right(self._claims, self._parts[place + 1].first - 1, lo=start)
            )  # fmt: skip
            if stop > start:
                yield part, start, stop
            start = stop

    def _entry(self, row: int) -> Entry:
        claim, note = self._claims[row], self._notes[row]
        added = self._revision(claim)
        noted = added if note == claim else self._revision(note)
        assert added.claim is not None  # noqa: S101 - an add has a claim
        return Entry(added.claim, noted.annotation, bool(self._standings[row] & RETIRED))

    def _revision(self, number: int) -> Revision:
        place = bisect_right(self._parts, number, key=lambda part: part.first) - 1
        part = self._parts[place]
        return revision_at(part.path, part.index, number - part.first, self._files)


def _picked(texts: list[str], places: list[int]) -> Iterable[str]:
    """The texts at some places, which ascend."""
    if places and places[-1] - places[0] == len(places) - 1:
        return texts[places[0] : places[-1] + 1]
    return map(texts.__getitem__, places)


class _Files:
    """Files that lines are read from; a few are kept open."""

    def __init__(self) -> None:
        self._open: dict[Path, BinaryIO] = {}
        weakref.finalize(self, _close, self._open)

    def read(self, path: Path, offset: int, length: int) -> bytes:
        file = self._open.get(path)
        if file is None:
            if len(self._open) >= _OPEN_FILES:
                self.close()
            file = self._open[path] = path.open("rb")
        file.seek(offset)
        return file.read(length)

    def close(self) -> None:
        _close(self._open)


def _close(files: dict[Path, BinaryIO]) -> None:
    for file in files.values():
        file.close()
    files.clear()


def revision_at(path: Path, index: Index, at: int, files: _Files | None = None) -> Revision:
    """The revision at place ``at`` of the file of revisions that an index is of.

    Raises:
        IntegrityError: the line is not what it was when the index was made.
    """
    try:
        line = (files or _Files()).read(path, index.offsets[at], index.lengths[at])
    except OSError:
        line = b""
    if sha256(line).digest() != index.lines[32 * at : 32 * at + 32]:
        raise IntegrityError(
            f"revision {at + 1} is not the one that the manifest was made with",
            where=str(path),
            fix="restore the file, for example from version control",
        )
    return _parsed(line, f"{path}, revision {at + 1}")


@lru_cache(maxsize=8)
def _parsed(line: bytes, where: str) -> Revision:
    """Two versions, or a claim and its annotation, often ask for one line after the other."""
    return parse_record(line, Revision, where=where)
