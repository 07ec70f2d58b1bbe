"""How a version comes to be: staged, checked, and put in place by one rename.

A folder ``versions/.staging-<n>`` marks a commit as begun. Whoever opens the benchmark next and
finds one that nobody is working on clears what it left: the folder, sources of no version, and a
changelog that is one line short. Nothing here reads or writes a committed version's files.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Iterable

from deepfact.core.state import State
from deepfact.errors import BenchmarkError, InputError
from deepfact.records import Manifest, Revision, Source, sha256_of
from deepfact.store import large
from deepfact.store.files import jsonl, sync_folder, write_text, writing
from deepfact.store.manifests import render_manifest, sources_of
from deepfact.store.rows import Rows

if TYPE_CHECKING:
    from deepfact.store.benchmark import BenchmarkStore, BenchmarkVersion


def commit(
    store: BenchmarkStore,
    revisions: Iterable[Revision],
    *,
    parent: int | None,
    author: str,
    date: datetime,
    note: str,
    sources: Iterable[Source] = (),
    merged: int | None = None,
) -> BenchmarkVersion:
    """See `BenchmarkStore.commit`."""
    with locked(store):
        base = store.made if store.made and store.made.manifest.version == parent else None
        if base is None and parent is not None:
            base = store.load(parent)
        if merged is not None:
            store.manifest(merged)  # it must be there
        rows = large.rows_of(base) if base else Rows()
        held = set(base.sources) if base else set()
        version = max(store.versions(), default=0) + 1
        staging = store.folder / "versions" / f".staging-{version}"
        staging.mkdir()  # marks the commit as begun: from here on there is something to clear
        cards = list(sources)
        store.sources.add(*cards)
        added = {card.id for card in cards}
        count, revisions_hash = _write_revisions(
            staging / "revisions.jsonl", revisions, rows, held | added, store.name
        )
        for number in store.versions():
            made = store.manifest(number)
            same = made.revisions_hash == revisions_hash
            if same and (made.parent, made.merged) == (parent, merged):
                return store.load(number)
        sources_text = jsonl(sorted(added - held))
        state = State(rows)
        manifest = Manifest(
            benchmark=store.name,
            version=version,
            parent=parent,
            parent_manifest=sha256_of(store.manifest_bytes(parent)) if parent else None,
            merged=merged,
            merged_manifest=sha256_of(store.manifest_bytes(merged)) if merged else None,
            revisions=count,
            revisions_hash=revisions_hash,
            sources_hash=sha256_of(sources_text),
            state_hash=state.state_hash,
            counts=state.counts(),
            author=" ".join(author.split()),
            date=date,
            note=" ".join(note.split()),
        )
        write_text(staging / "sources.txt", sources_text)
        write_text(staging / "manifest.json", render_manifest(manifest))
        staging.replace(store.version_folder(version))
        sync_folder(store.folder / "versions")
        write_text(store.folder / "CHANGELOG.md", store.expected_changelog())
    rows.moved(store.version_folder(version) / "revisions.jsonl")
    return large.committed(store, manifest, rows)


def _write_revisions(
    path: Path, revisions: Iterable[Revision], rows: Rows, held: set[str], where: str
) -> tuple[int, str]:
    """Write revisions one by one while ``rows`` go on by them; how many they are, and the hash of
    the file.

    Raises:
        BenchmarkError: there is none; one does not fit, or refers to a source that is not held.
    """
    count = offset = 0
    digest = hashlib.sha256()
    with writing(path) as (file, part):
        rows.begin(part)
        for revision in revisions:
            count += 1
            if revision.claim_id in rows:
                file.flush()  # the claim may be one that was written just now
            for source in sources_of(revision) - held:
                raise BenchmarkError(
                    f"claim {revision.claim_id!r} refers to an unknown source: {source}",
                    where=where,
                    fix="add the source card with the claims that cite it",
                )
            line = f"{revision.canonical()}\n".encode()
            rows.add(revision, line, offset=offset, where=f"{where}, revision {count}")
            file.write(line)
            digest.update(line)
            offset += len(line)
        if not count:
            raise BenchmarkError("a version needs at least one revision", where=where)
        rows.moved(path)
    return count, f"sha256:{digest.hexdigest()}"


@contextmanager
def locked(store: BenchmarkStore) -> Iterator[None]:
    from filelock import FileLock

    with FileLock(store.folder / ".lock"):
        _clear_staging(store)
        try:
            yield
        finally:
            _clear_staging(store)


def finish_interrupted(store: BenchmarkStore) -> None:
    """Clear what a killed commit left: a staging folder, or a changelog one line short."""
    from filelock import FileLock, Timeout

    staging = any((store.folder / "versions").glob(".staging-*"))
    path = store.folder / "CHANGELOG.md"
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    newest = max(
        (
            int(path.name)
            for path in (store.folder / "versions").iterdir()
            if re.fullmatch(r"[0-9]+", path.name)
        ),
        default=0,
    )
    if not staging and (not newest or f"\n- **{newest}** (" in text):
        return
    try:
        with FileLock(store.folder / ".lock", timeout=0):
            _clear_staging(store)
            expected = store.expected_changelog()
            if text and expected != text and expected.startswith(text):
                write_text(path, expected)
            for part in store.folder.glob(".CHANGELOG.md.*.part"):
                part.unlink(missing_ok=True)
    except (Timeout, OSError, InputError):
        return  # somebody is committing, or we may only read, or it is for `verify` to tell


def _clear_staging(store: BenchmarkStore) -> None:
    """Remove what a commit that did not happen left: its folder, and sources of no version."""
    staging = list((store.folder / "versions").glob(".staging-*"))
    if not staging:
        return
    added = {source for version in store.versions() for source in store.sources_added(version)}
    for source in set(store.sources) - added:
        store.sources.path(source).unlink(missing_ok=True)
    for part in store.sources.folder.glob("??/.*.part"):
        part.unlink(missing_ok=True)
    for path in staging:
        shutil.rmtree(path, ignore_errors=True)
