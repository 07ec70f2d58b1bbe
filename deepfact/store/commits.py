"""How a version comes to be: staged, checked, and put in place by one rename.

A folder ``versions/.staging-<n>`` marks a commit as begun. Whoever opens the benchmark next and
finds one that nobody is working on clears what it left: the folder, sources of no version, and a
changelog that is one line short. Nothing here reads or writes a committed version's files.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Iterable

from deepfact.core.state import EMPTY, apply
from deepfact.errors import BenchmarkError, InputError
from deepfact.records import Manifest, Revision, Source, sha256_of
from deepfact.store.files import jsonl, sync_folder, write_text
from deepfact.store.manifests import render_manifest, sources_of

if TYPE_CHECKING:
    from deepfact.store.benchmark import BenchmarkStore, BenchmarkVersion


def commit(
    store: BenchmarkStore,
    revisions: Sequence[Revision],
    *,
    parent: int | None,
    author: str,
    date: datetime,
    note: str,
    sources: Iterable[Source] = (),
    merged: int | None = None,
) -> BenchmarkVersion:
    """See `BenchmarkStore.commit`."""
    if not revisions:
        raise BenchmarkError("a version needs at least one revision", where=store.name)
    with locked(store):
        base = store.load(parent) if parent is not None else None
        if merged is not None:
            store.manifest(merged)  # it must be there
        state = apply(base.state if base else EMPTY, revisions, where=store.name)
        held = set(base.sources) if base else set()
        version = max(store.versions(), default=0) + 1
        staging = store.folder / "versions" / f".staging-{version}"
        staging.mkdir()  # marks the commit as begun: from here on there is something to clear
        cards = list(sources)
        store.sources.add(*cards)
        added = {card.id for card in cards}
        _check_sources(revisions, held | added, store.name)
        texts = {
            "revisions.jsonl": jsonl(revision.canonical() for revision in revisions),
            "sources.txt": jsonl(sorted(added - held)),
        }
        hashes = {name: sha256_of(text) for name, text in texts.items()}
        for number in store.versions():
            made = store.manifest(number)
            same = made.revisions_hash == hashes["revisions.jsonl"]
            if same and (made.parent, made.merged) == (parent, merged):
                return store.load(number)
        manifest = Manifest(
            benchmark=store.name,
            version=version,
            parent=parent,
            parent_manifest=sha256_of(store.manifest_bytes(parent)) if parent else None,
            merged=merged,
            merged_manifest=sha256_of(store.manifest_bytes(merged)) if merged else None,
            revisions=len(revisions),
            revisions_hash=hashes["revisions.jsonl"],
            sources_hash=hashes["sources.txt"],
            state_hash=state.state_hash,
            counts=state.counts(),
            author=" ".join(author.split()),
            date=date,
            note=" ".join(note.split()),
        )
        for name, text in texts.items():
            write_text(staging / name, text)
        write_text(staging / "manifest.json", render_manifest(manifest))
        staging.replace(store.version_folder(version))
        sync_folder(store.folder / "versions")
        write_text(store.folder / "CHANGELOG.md", store.expected_changelog())
    return store.load(version)


def _check_sources(revisions: Sequence[Revision], held: set[str], where: str) -> None:
    for revision in revisions:
        for source in sources_of(revision) - held:
            raise BenchmarkError(
                f"claim {revision.claim_id!r} refers to an unknown source: {source}",
                where=where,
                fix="add the source card with the claims that cite it",
            )


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
