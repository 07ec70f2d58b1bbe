"""Opening versions: small ones are read whole, large ones through indexes of their revisions.

The revisions stay the truth. What indexes say is taken only when the state that comes of it has
the hash that the manifest has; if not, everything is read from the revisions. An index that is
missing is made. This module never writes into a benchmark's folder.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from deepfact.core.state import State, fold
from deepfact.errors import IntegrityError
from deepfact.records import Manifest, Revision, sha256_of
from deepfact.store.files import decode, parse_record, read_raw_lines
from deepfact.store.index import Index, cache_folder
from deepfact.store.rows import Rows, revision_at

if TYPE_CHECKING:
    from deepfact.store.benchmark import BenchmarkStore, BenchmarkVersion

LOG = logging.getLogger("deepfact.store")

LARGE = 4 * 1024 * 1024
"""Bytes of revisions, over all versions that a version comes from, from which indexes are used."""

LONG = 64 * 1024 * 1024
"""Bytes of revisions that take so long to read that it is told: some ten seconds."""


def is_large(store: BenchmarkStore, versions: Sequence[Manifest]) -> bool:
    """Whether the revisions of these versions take so much that they are not read whole."""
    return sum(_size(_revisions(store, made.version)) for made in versions) >= LARGE


def open_state(store: BenchmarkStore, lineage: Sequence[Manifest]) -> State:
    """The state after a line of versions, first one first. Its hash is for the caller to check.

    Raises:
        BenchmarkError: a revision does not fit the state before it.
        IntegrityError: revisions are not those that their manifest names.
    """
    if not is_large(store, lineage):
        return fold(
            (f"{store.name}@{manifest.version}", store.revisions(manifest.version))
            for manifest in lineage
        )
    with suppress(IntegrityError, LookupError):
        rows = Rows()
        for manifest in lineage:
            path = _revisions(store, manifest.version)
            index = _stored(store, manifest.version)
            if index is None:
                _index(rows, store, manifest.version)
            else:
                rows.take(path, index)
        state = State(rows)
        if state.state_hash == lineage[-1].state_hash:
            rows.believe(lineage[-1].counts)
            return state
    rows = Rows()
    for manifest in lineage:
        _index(rows, store, manifest.version)
    return State(rows)


def _index(rows: Rows, store: BenchmarkStore, version: int) -> None:
    """Go on by a version whose index is not there, and keep one."""
    if (size := _size(_revisions(store, version))) >= LONG:
        LOG.warning(
            "%s@%s: reading %d MB of revisions, once, to index them",
            store.name, version, size // 1_000_000,
        )  # fmt: skip
    read_into(rows, store, version)
    keep(rows.last_index, store, version)


def rows_of(version: BenchmarkVersion) -> Rows:
    """The entries of a version as rows to go on from; errors as `open_state`."""
    if isinstance(version.state.entries, Rows):
        return version.state.entries.copy()
    rows = Rows()
    for manifest in version.store.lineage(version.manifest.version):
        read_into(rows, version.store, manifest.version)
    return rows


def read_into(rows: Rows, store: BenchmarkStore, version: int) -> None:
    """Go on by the revisions of a version, each read and checked.

    Raises:
        BenchmarkError: a revision does not fit the state before it.
        IntegrityError: the file is not the one that the manifest names.
        RecordError: a line is no revision.
    """
    path = store.check_file(version, "revisions.jsonl")
    rows.begin(path)
    for number, (offset, line, revision) in enumerate(read_revisions(path), 1):
        rows.add(revision, line, offset=offset, where=f"{store.name}@{version}, revision {number}")


def read_revisions(path: Path) -> Iterator[tuple[int, bytes, Revision]]:
    """``(offset, line, revision)`` of a file of revisions; errors as `files.read_jsonl`."""
    for number, offset, line in read_raw_lines(path):
        where = f"{path}, line {number}"
        if text := decode(line, where=where).strip():
            yield offset, line, parse_record(text, Revision, where=where)


def keep(index: Index, store: BenchmarkStore, version: int) -> None:
    """Keep the index of a version for the next time, where the cache can be written to."""
    size = _size(_revisions(store, version))
    manifest = sha256_of(store.manifest_bytes(version))
    with suppress(OSError):
        index.write(_cached(manifest), manifest=manifest, size=size)


def revisions_of(
    store: BenchmarkStore, version: int, claim_id: str, ancestry: Sequence[Manifest]
) -> list[Revision]:
    """The revisions of one claim in one version, of an ancestry that may be large.

    Raises:
        IntegrityError: revisions are not those that their manifest names.
    """
    index = _stored(store, version) if is_large(store, ancestry) else None
    if index is None and is_large(store, ancestry):
        store.load(version)  # makes it
        index = _stored(store, version)
    if index is None:
        return [one for one in store.revisions(version) if one.claim_id == claim_id]
    path = _revisions(store, version)
    return [revision_at(path, index, at) for at, known in enumerate(index.ids) if known == claim_id]


def committed(store: BenchmarkStore, manifest: Manifest, rows: Rows) -> BenchmarkVersion:
    """The version that was committed just now. Read again, unless it is large: then its index is
    kept, and the rows that the commit has made are taken."""
    from deepfact.store.benchmark import BenchmarkVersion

    lineage = store.lineage(manifest.version)
    if not is_large(store, lineage):
        return store.load(manifest.version)
    keep(rows.last_index, store, manifest.version)
    store.made = BenchmarkVersion(store, manifest, State(rows), store.sources_of(lineage))
    return store.made


def _stored(store: BenchmarkStore, version: int) -> Index | None:
    manifest = sha256_of(store.manifest_bytes(version))
    size = _size(_revisions(store, version))
    return Index.stored(_cached(manifest), manifest=manifest, size=size)


def _cached(manifest: str) -> Path:
    digest = manifest.partition(":")[2]
    return cache_folder() / digest[:2] / f"{digest}.index"


def _revisions(store: BenchmarkStore, version: int) -> Path:
    return store.version_folder(version) / "revisions.jsonl"


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
