"""The versioned benchmark store: versions as revisions over a parent, checked by hash.

    benchmarks/<name>/
      versions/<n>/manifest.json     parent, hashes, counts, author, date, note
      versions/<n>/revisions.jsonl   one revision a line
      versions/<n>/sources.txt       ids of the sources that the version adds, one a line
      sources/                       content-addressed, see `deepfact.store.sources`
      keys/<which>.jsonl             known answers, kept apart; never given to who is measured
      checksums.json                 hashes of what no manifest covers, see `deepfact.store.seal`
      CHANGELOG.md                   one line a version
      README.md                      the dataset card

A version's folder appears by one rename, so a killed commit leaves the old versions and
nothing else; what it left lying is cleared when the benchmark is next opened. A committed
version is never written to again. This module does no scoring and knows no labels' meaning.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Iterable

from deepfact.core.state import State
from deepfact.errors import BenchmarkError, IntegrityError, did_you_mean
from deepfact.records import (
    BENCHMARK_NAME,
    Claim,
    KeyEntry,
    Manifest,
    Revision,
    Source,
    sha256_of,
)
from deepfact.run_records import VersionRef
from deepfact.store import commits, large, seal
from deepfact.store.files import hash_file, read_jsonl, read_record, read_text, write_text
from deepfact.store.manifests import CHANGELOG_HEAD, changelog_line
from deepfact.store.sources import SourceStore


@dataclass(frozen=True)
class BenchmarkVersion:
    """One version of a benchmark, read and checked."""

    store: BenchmarkStore
    manifest: Manifest
    state: State
    sources: SourceStore
    """The sources that this version and those before it brought in; later ones are not seen."""

    @property
    def ref(self) -> VersionRef:
        """Its name, number and state hash."""
        return VersionRef(
            benchmark=self.store.name,
            version=self.manifest.version,
            state_hash=self.manifest.state_hash,
        )

    @property
    def claims(self) -> list[Claim]:
        """The live claims, in order."""
        return self.state.claims

    def __str__(self) -> str:
        return f"{self.store.name}@{self.manifest.version}"


class BenchmarkStore:
    """One benchmark's folder."""

    def __init__(self, folder: Path) -> None:
        """Opens the benchmark in ``folder`` and clears what an interrupted commit left.

        Raises:
            BenchmarkError: there is no benchmark there.
        """
        self.folder = folder
        self.keys = folder / "keys"
        """Where the known answers lie; a copy without them may be pointed to the original's."""
        self.made: BenchmarkVersion | None = None
        """The large version that was committed last, which need not be read to go on from it."""
        if not (folder / "versions").is_dir():
            raise BenchmarkError("there is no benchmark in this folder", where=str(folder))
        commits.finish_interrupted(self)

    @classmethod
    def create(cls, folder: Path, *, card: str) -> BenchmarkStore:
        """A new, empty benchmark; ``card`` becomes its README.md.

        Raises:
            BenchmarkError: the folder's name is no benchmark name, or it exists already.
        """
        check_name(folder.name)
        if folder.exists() and any(folder.iterdir()):
            raise BenchmarkError(
                "this folder exists and is not empty",
                where=str(folder),
                fix="choose another name, or import into it as a new version",
            )
        staged = folder.with_name(f".{folder.name}.part")
        shutil.rmtree(staged, ignore_errors=True)
        (staged / "versions").mkdir(parents=True)
        write_text(staged / "README.md", card)
        write_text(staged / "CHANGELOG.md", CHANGELOG_HEAD)
        seal.record(staged, who="deepfact", why="written when the benchmark was made")
        if folder.is_dir():
            folder.rmdir()
        staged.replace(folder)
        return cls(folder)

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.resolve().name

    @cached_property
    def sources(self) -> SourceStore:
        """The sources of all versions by id."""
        return SourceStore(self.folder / "sources")

    # --- reading -------------------------------------------------------------------------

    def versions(self) -> list[int]:
        """Version numbers, ascending.

        Raises:
            IntegrityError: two folders stand for one number.
        """
        numbers: dict[int, str] = {}
        for path in sorted((self.folder / "versions").iterdir()):
            if not re.fullmatch(r"[0-9]+", path.name):
                continue
            number = int(path.name)
            if number in numbers:
                raise IntegrityError(
                    f"two versions have the number {number}: {numbers[number]} and {path.name}",
                    where=str(path.parent),
                    fix="keep the one whose folder is the plain number",
                )
            numbers[number] = path.name
        return sorted(numbers)

    def version_folder(self, version: int) -> Path:
        """Where a version lies."""
        return self.folder / "versions" / str(version)

    def manifest(self, version: int) -> Manifest:
        """A version's manifest.

        Raises:
            BenchmarkError: no such version.
            IntegrityError: the manifest is another version's.
        """
        path = self.version_folder(version) / "manifest.json"
        if not path.is_file():
            have = ", ".join(map(str, self.versions())) or "none"
            raise BenchmarkError(
                f"{self.name} has no version {version}",
                fix=f"it has: {have}",
                where=str(self.folder),
            )
        manifest = read_record(path, Manifest)
        if manifest.version != version:
            raise IntegrityError(
                f"this is the manifest of version {manifest.version}, in the folder of {version}: "
                "two versions with one number",
                where=str(path),
            )
        return manifest

    def lineage(self, version: int) -> list[Manifest]:
        """The manifests from the first version to this one along the parents.

        Raises:
            IntegrityError: a manifest is not the one that its child was made from.
        """
        chain = [self.manifest(version)]
        while chain[-1].parent is not None:
            child = chain[-1]
            chain.append(self._made_from(child, child.parent, child.parent_manifest))
        return chain[::-1]

    def ancestry(self, version: int) -> list[Manifest]:
        """As `lineage`, with the versions that merges brought in, oldest first."""
        found: dict[int, Manifest] = {}
        ahead = [self.manifest(version)]
        while ahead:
            child = ahead.pop()
            if child.version not in found:
                found[child.version] = child
                ahead += [
                    self._made_from(child, number, expected)
                    for number, expected in (
                        (child.parent, child.parent_manifest),
                        (child.merged, child.merged_manifest),
                    )
                    if number is not None
                ]
        return [found[number] for number in sorted(found)]

    def _made_from(self, child: Manifest, number: int | None, expected: str | None) -> Manifest:
        parent = self.manifest(number or 0)
        if sha256_of(self.manifest_bytes(parent.version)) != expected:
            raise IntegrityError(
                f"not the manifest that version {child.version} was made from",
                where=str(self.version_folder(parent.version) / "manifest.json"),
            )
        return parent

    def heads(self) -> list[int]:
        """The versions that no other version was made from: more than one after two people, or
        two runs, went on from the same version."""
        manifests = [self.manifest(version) for version in self.versions()]
        used = {number for made in manifests for number in (made.parent, made.merged)}
        return [made.version for made in manifests if made.version not in used]

    def manifest_bytes(self, version: int) -> bytes:
        """The bytes of a version's manifest, as its children's hashes cover them."""
        return (self.version_folder(version) / "manifest.json").read_bytes()

    def revisions(self, version: int) -> Iterator[Revision]:
        """The revisions of one version, in order.

        Raises:
            IntegrityError: the file is not the one that the manifest names.
        """
        path = self.check_file(version, "revisions.jsonl")
        return read_jsonl(path, Revision)

    def sources_added(self, version: int) -> list[str]:
        """Ids of the sources that one version brought in, sorted.

        Raises:
            IntegrityError: the file is not the one that the manifest names.
        """
        return read_text(self.check_file(version, "sources.txt")).split()

    def check_file(self, version: int, name: str) -> Path:
        """Where a version's ``revisions.jsonl`` or ``sources.txt`` lies, which must hash to what
        the manifest says.

        Raises:
            IntegrityError: it does not.
        """
        manifest = self.manifest(version)
        expected = manifest.sources_hash if name == "sources.txt" else manifest.revisions_hash
        path = self.version_folder(version) / name
        if hash_file(path) != expected:
            raise IntegrityError(
                "the manifest does not match: this is not the file it was made with",
                where=str(path),
                fix="restore the file, for example from version control",
            )
        return path

    def load(self, version: int | None = None) -> BenchmarkVersion:
        """A version (the newest when None), folded and checked against its manifest.

        Raises:
            BenchmarkError: no such version, or none at all.
            IntegrityError: what lies there does not hash to what the manifest says.
        """
        if version is None:
            numbers = self.versions()
            if not numbers:
                raise BenchmarkError("the benchmark has no versions yet", where=str(self.folder))
            version = numbers[-1]
        lineage = self.lineage(version)
        state = large.open_state(self, lineage)
        if state.state_hash != lineage[-1].state_hash:
            raise IntegrityError(
                f"version {version} does not match its manifest: the state hash differs",
                where=str(self.version_folder(version)),
            )
        return BenchmarkVersion(self, lineage[-1], state, self.sources_of(lineage))

    def sources_of(self, lineage: Sequence[Manifest]) -> SourceStore:
        """The sources that a line of versions brought in."""
        ids = (source for manifest in lineage for source in self.sources_added(manifest.version))
        return SourceStore(self.sources.folder, frozenset(ids))

    def history(self, claim_id: str, version: int) -> list[tuple[int, Revision]]:
        """Every revision of one claim up to a version, oldest first, with its version.

        A merge repeats what the version that it merged says; such a repetition is left out.
        """
        found: list[tuple[int, Revision]] = []
        ancestry = self.ancestry(version)
        for manifest in ancestry:
            known = [revision for _, revision in found] if manifest.merged else []
            found += [
                (manifest.version, revision)
                for revision in large.revisions_of(self, manifest.version, claim_id, ancestry)
                if revision not in known
            ]
        if not found:
            raise BenchmarkError(
                f"{self.name}@{version} has no claim {claim_id!r}",
                fix=did_you_mean(claim_id, self.load(version).state.entries),
            )
        return found

    def key(self, which: str) -> dict[str, KeyEntry]:
        """The known answers in ``keys/<which>.jsonl`` by claim id; empty when there is no such key.

        Only measuring reads keys: nothing from here may reach a verifier or an auditor.
        """
        path = self.keys / f"{which}.jsonl"
        if not path.is_file():
            return {}
        return {entry.claim_id: entry for entry in read_jsonl(path, KeyEntry)}

    # --- writing -------------------------------------------------------------------------

    def commit(
        self,
        revisions: Iterable[Revision],
        *,
        parent: int | None,
        author: str,
        date: datetime,
        note: str,
        sources: Iterable[Source] = (),
        merged: int | None = None,
    ) -> BenchmarkVersion:
        """Make the next version. Committing the same revisions on the same parent again gives
        the version that is there already, so that an interrupted caller can simply repeat.

        Args:
            revisions: at least one; read once, and written as they come.
            parent: the version they apply to; None for a first version.
            author: who makes the version.
            date: when, with a zone.
            note: one line for the changelog.
            sources: cards that the revisions refer to and the benchmark may not hold yet.
            merged: the second parent, when the version is a merge.

        Raises:
            BenchmarkError: no revisions; one that does not fit; a source that is not held.
        """
        return commits.commit(
            self,
            revisions,
            parent=parent,
            author=author,
            date=date,
            note=note,
            sources=sources,
            merged=merged,
        )

    def fork(self, folder: Path) -> BenchmarkStore:
        """A copy of the benchmark in ``folder``, which must not exist, without its keys."""
        staged = folder.with_name(f".{folder.name}.part")
        shutil.rmtree(staged, ignore_errors=True)
        staged.mkdir(parents=True)
        # Versions before the changelog and the sources: one that is committed meanwhile is then
        # either not there, or there with everything it needs.
        for name in ("versions", "README.md", "CHANGELOG.md", "sources"):
            path = self.folder / name
            if path.is_dir():
                shutil.copytree(path, staged / name, ignore=shutil.ignore_patterns(".*"))
            elif path.is_file():
                shutil.copy2(path, staged / name)
        seal.copy_without_keys(self.folder, staged)
        staged.replace(folder)
        return BenchmarkStore(folder)

    def expected_changelog(self) -> str:
        """What CHANGELOG.md must be, from the manifests."""
        return CHANGELOG_HEAD + "".join(
            changelog_line(self.manifest(version)) for version in self.versions()
        )


def check_name(name: str) -> str:
    """``name`` if a benchmark may be called that.

    Raises:
        BenchmarkError: it has a path in it, or characters that a folder's name should not have.
    """
    if not BENCHMARK_NAME.fullmatch(name):
        raise BenchmarkError(
            f"{name!r} is no benchmark name",
            fix="use lower-case letters, digits, '.', '-' and '_'; no path: "
            "the folder that holds benchmarks is given by --root",
        )
    return name
