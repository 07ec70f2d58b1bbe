"""``bench verify``: re-derives every hash of a benchmark and names each file that is off.

Reads only. Unlike opening a version, it does not stop at the first problem. Manifests cover the
versions and their sources, the changelog covers the newest manifest, and ``checksums.json`` (see
`deepfact.store.seal`) covers everything else in the folder. Hashes tell damage and careless edits;
they are no signature: whoever rewrites every file to fit can only be found by comparing with a
copy, such as the state hash that somebody else has noted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from deepfact.core.state import State
from deepfact.errors import DeepFactError
from deepfact.records import KeyEntry, Manifest, sha256_of
from deepfact.store import seal
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import hash_file, read_jsonl, read_record, read_text
from deepfact.store.large import read_revisions
from deepfact.store.manifests import changelog_line, render_manifest, sources_of
from deepfact.store.rows import Rows
from deepfact.store.sources import render


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that is not what the hashes say, and how."""

    where: str
    what: str


def verify(store: BenchmarkStore) -> list[Problem]:
    """Every problem of a benchmark's files; empty when all is well."""
    problems: list[Problem] = []
    try:
        numbers = store.versions()
    except DeepFactError as error:
        return [Problem(error.where, error.what)]
    found = _Found(_children(store, numbers))
    for number in numbers:
        problems += _caught(_version_problems(store, number, found))
    problems += _verify_layout(store, numbers)
    problems += _verify_sources(store, found.sources)
    problems += _verify_keys(store, found.claims)
    problems += _caught(
        Problem(str(store.folder / name), what) for name, what in seal.complaints(store.folder)
    )
    return problems


@dataclass(slots=True)
class _Found:
    """What the versions checked so far hold."""

    waiting: Counter[int]
    """How many versions are still to be made from each."""
    states: dict[int, Rows] = field(default_factory=dict)
    """The states that others are still to be made from."""
    sources: set[str] = field(default_factory=set)
    claims: set[str] = field(default_factory=set)

    def base(self, parent: int | None) -> Rows | None:
        """Rows to go on from: no copy for the last that goes on from them, so that a long history
        takes no more memory than one version."""
        if parent is None:
            return Rows()
        self.waiting[parent] -= 1
        rows = self.states.get(parent)
        if rows is not None and self.waiting[parent]:
            return rows.copy()
        return self.states.pop(parent, None)


def _children(store: BenchmarkStore, numbers: list[int]) -> Counter[int]:
    """How many versions were made from each, as far as manifests can be read."""
    found: Counter[int] = Counter()
    for number in numbers:
        with suppress(DeepFactError):
            parent = read_record(store.version_folder(number) / "manifest.json", Manifest).parent
            found.update([parent] if parent is not None else [])
    return found


def _caught(check: Iterator[Problem]) -> list[Problem]:
    """The problems that a check finds, with the error that stopped it, if any, as the last."""
    found: list[Problem] = []
    try:
        for problem in check:
            found.append(problem)
    except DeepFactError as error:
        found.append(Problem(error.where, error.what))
    return found


def _version_problems(store: BenchmarkStore, number: int, found: _Found) -> Iterator[Problem]:
    folder = store.version_folder(number)
    path = folder / "manifest.json"
    manifest = read_record(path, Manifest)
    if read_text(path) != render_manifest(manifest) or manifest.version != number:
        yield Problem(str(path), "not as deepfact wrote it")
    for made_from, expected in (
        (manifest.parent, manifest.parent_manifest),
        (manifest.merged, manifest.merged_manifest),
    ):
        if made_from is None:
            continue
        parent = store.version_folder(made_from) / "manifest.json"
        if not parent.is_file():
            yield Problem(str(parent), f"missing; version {number} was made from it")
        elif sha256_of(parent.read_bytes()) != expected:
            yield Problem(str(parent), f"not the manifest that version {number} was made from")
    path = folder / "revisions.jsonl"
    if hash_file(path) != manifest.revisions_hash:
        yield Problem(str(path), "does not match the hash in the manifest")
    for source in store.sources_added(number):
        found.sources.add(source)
        if source not in store.sources:
            yield Problem(str(store.sources.path(source)), f"missing; version {number} added it")
    rows = found.base(manifest.parent)
    if rows is None:
        yield Problem(str(folder), f"version {manifest.parent}, its parent, cannot be read")
        return
    count = 0
    rows.begin(path)
    for offset, line, revision in read_revisions(path):
        count += 1
        for source in sorted(sources_of(revision) - found.sources):
            yield Problem(str(path), f"claim {revision.claim_id!r} refers to unknown {source}")
        rows.add(revision, line, offset=offset, where=f"{path}, revision {count}")
    if count != manifest.revisions:
        yield Problem(str(path), f"{count} revisions, {manifest.revisions} declared")
    if found.waiting[number]:
        found.states[number] = rows
    found.claims.update(rows)
    state = State(rows)
    if state.state_hash != manifest.state_hash:
        yield Problem(str(folder / "manifest.json"), "the state hash is not that of the state")
    if state.counts() != manifest.counts:
        yield Problem(str(folder / "manifest.json"), "the counts are not those of the state")


def _verify_layout(store: BenchmarkStore, numbers: list[int]) -> list[Problem]:
    problems = []
    for path in sorted((store.folder / "versions").rglob("*")):
        inside = path.relative_to(store.folder / "versions").as_posix()
        if not re.fullmatch(r"[0-9]+(/(manifest\.json|revisions\.jsonl|sources\.txt))?", inside):
            problems.append(Problem(str(path), "does not belong here"))
    if numbers != list(range(1, len(numbers) + 1)):
        problems.append(Problem(str(store.folder / "versions"), f"numbers with gaps: {numbers}"))
    if not (store.folder / "CHANGELOG.md").is_file():
        problems.append(Problem(str(store.folder / "CHANGELOG.md"), "missing"))
    return problems + _caught(_changelog_problems(store))


def _changelog_problems(store: BenchmarkStore) -> Iterator[Problem]:
    path = store.folder / "CHANGELOG.md"
    if not path.is_file():
        return
    text = read_text(path)
    if text == store.expected_changelog():
        return
    yield Problem(str(path), "does not have one line for each version, as the manifests say")
    for number in store.versions():
        if changelog_line(store.manifest(number)) not in text:
            manifest = store.version_folder(number) / "manifest.json"
            yield Problem(str(manifest), f"not what {path.name} has a line for; one was changed")


def _verify_sources(store: BenchmarkStore, known: set[str]) -> list[Problem]:
    problems = []
    for path in sorted(store.sources.folder.rglob("*")):
        if path.is_dir():
            continue
        source_id = f"sha256:{path.stem}"
        if path != store.sources.path(source_id):
            problems.append(Problem(str(path), "does not belong here"))
            continue

        problems += _caught(_source_problems(store, source_id, known))
    return problems


def _source_problems(store: BenchmarkStore, source_id: str, known: set[str]) -> Iterator[Problem]:
    path = store.sources.path(source_id)
    if read_text(path) != render(store.sources[source_id]):
        yield Problem(str(path), "not as deepfact wrote it")
    if source_id not in known:
        yield Problem(str(path), "no version added this source")


def _verify_keys(store: BenchmarkStore, claims: set[str]) -> list[Problem]:
    problems = []
    for path in sorted((store.folder / "keys").glob("*.jsonl")):
        problems += _caught(_key_problems(path, claims))
    return problems


def _key_problems(path: Path, claims: set[str]) -> Iterator[Problem]:
    seen: set[str] = set()
    for entry in read_jsonl(path, KeyEntry):
        if entry.claim_id not in claims:
            yield Problem(str(path), f"no version has claim {entry.claim_id!r}")
        if entry.claim_id in seen:
            yield Problem(str(path), f"claim {entry.claim_id!r} stands twice")
        seen.add(entry.claim_id)
