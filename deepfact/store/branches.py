"""Versions that go apart and come together: where two come from, and how one is brought over.

A version is known by what it says and comes from, not by its number: two copies of a benchmark
number their versions each for itself. Decides nothing about claims.
"""

from __future__ import annotations

from collections.abc import Iterator

from deepfact.errors import BenchmarkError
from deepfact.records import Manifest, Revision, canonical_json, sha256_of
from deepfact.store.benchmark import BenchmarkStore, BenchmarkVersion


def identities(store: BenchmarkStore, version: int) -> dict[int, str]:
    """What makes each version of a version's ancestry the same one in any copy: its revisions and
    its parents' identities. By number, oldest first."""
    found: dict[int, str] = {}
    for manifest in store.ancestry(version):
        parents = [
            found[number] for number in (manifest.parent, manifest.merged) if number is not None
        ]
        found[manifest.version] = sha256_of(canonical_json([manifest.revisions_hash, *parents]))
    return found


def common_version(ours: BenchmarkVersion, theirs: BenchmarkVersion) -> int | None:
    """The newest version in the line of ``theirs`` that ``ours`` comes from too, by its number in
    the benchmark of ``theirs``; None when the two have nothing in common."""
    known = set(identities(ours.store, ours.manifest.version).values())
    others = identities(theirs.store, theirs.manifest.version)
    line = [manifest.version for manifest in theirs.store.lineage(theirs.manifest.version)]
    return next((number for number in line[::-1] if others[number] in known), None)


def comes_from(version: BenchmarkVersion, other: BenchmarkVersion) -> bool:
    """Whether ``other`` is this version, or one that it was made from or merged with."""
    identity = identities(other.store, other.manifest.version)[other.manifest.version]
    return identity in identities(version.store, version.manifest.version).values()


def revisions_since(version: BenchmarkVersion, base: int) -> Iterator[Revision]:
    """What the versions after ``base`` in a version's line did, oldest first."""
    for manifest in version.store.lineage(version.manifest.version):
        if manifest.version > base:
            yield from version.store.revisions(manifest.version)


def revisions_beyond(version: BenchmarkVersion, other: BenchmarkVersion) -> list[Revision]:
    """What the ancestry of a version did that is not in the ancestry of another, oldest first."""
    known = set(identities(other.store, other.manifest.version).values())
    return [
        revision
        for number, identity in identities(version.store, version.manifest.version).items()
        if identity not in known
        for revision in version.store.revisions(number)
    ]


def bring_in(store: BenchmarkStore, version: BenchmarkVersion) -> int:
    """Make a version of another copy a version here, with what it was made from and its sources;
    says its number here. What is here already is left as it is.

    Raises:
        BenchmarkError: the two have no first version in common.
    """
    origin = version.store
    if origin.folder.resolve() == store.folder.resolve():
        return version.manifest.version
    here: dict[str, int] = {}
    for number in store.versions():
        here.setdefault(identities(store, number)[number], number)
    numbers: dict[int, int] = {}
    for number, identity in identities(origin, version.manifest.version).items():
        if identity not in here:
            here[identity] = _copied(store, origin, origin.manifest(number), numbers)
        numbers[number] = here[identity]
    return numbers[version.manifest.version]


def _copied(
    store: BenchmarkStore, origin: BenchmarkStore, manifest: Manifest, numbers: dict[int, int]
) -> int:
    if manifest.parent is None:
        raise BenchmarkError(
            f"{origin.name} and {store.name} have no first version in common",
            where=str(origin.folder),
        )
    made = store.commit(
        list(origin.revisions(manifest.version)),
        parent=numbers[manifest.parent],
        merged=numbers[manifest.merged] if manifest.merged is not None else None,
        author=manifest.author,
        date=manifest.date,
        note=manifest.note,
        sources=[origin.sources[source] for source in origin.sources_added(manifest.version)],
    )
    return made.manifest.version
