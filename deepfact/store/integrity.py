"""``bench verify``: re-derives every hash of a benchmark and names each file that is off.

Reads only. Unlike opening a version, it does not stop at the first problem. Manifests cover the
versions and their sources, the changelog covers the newest manifest, and ``checksums.json`` (see
`deepfact.store.seal`) covers everything else in the folder. Hashes tell damage and careless edits;
they are no signature: whoever rewrites every file to fit can only be found by comparing with a
copy, such as the state hash that somebody else has noted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from deepfact.core.state import EMPTY, State, apply
from deepfact.errors import DeepFactError
from deepfact.records import KeyEntry, Manifest, Revision, sha256_of
from deepfact.store import seal
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import read_jsonl, read_record, read_text
from deepfact.store.manifests import changelog_line, render_manifest, sources_of
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
    states: dict[int, State] = {}
    known: set[str] = set()
    for number in numbers:
        problems += _caught(_version_problems(store, number, states, known))
    problems += _verify_layout(store, numbers)
    problems += _verify_sources(store, known)
    problems += _verify_keys(store, states)
    problems += _caught(
        Problem(str(store.folder / name), what) for name, what in seal.complaints(store.folder)
    )
    return problems


def _caught(check: Iterator[Problem]) -> list[Problem]:
    """The problems that a check finds, with the error that stopped it, if any, as the last."""
    found: list[Problem] = []
    try:
        for problem in check:
            found.append(problem)
    except DeepFactError as error:
        found.append(Problem(error.where, error.what))
    return found


def _version_problems(
    store: BenchmarkStore, number: int, states: dict[int, State], known: set[str]
) -> Iterator[Problem]:
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
    text = read_text(path)
    if sha256_of(text) != manifest.revisions_hash:
        yield Problem(str(path), "does not match the hash in the manifest")
    for source in store.sources_added(number):
        known.add(source)
        if source not in store.sources:
            yield Problem(str(store.sources.path(source)), f"missing; version {number} added it")
    revisions = list(read_jsonl(path, Revision))
    if len(revisions) != manifest.revisions:
        yield Problem(str(path), f"{len(revisions)} revisions, {manifest.revisions} declared")
    for revision in revisions:
        for source in sorted(sources_of(revision) - known):
            yield Problem(str(path), f"claim {revision.claim_id!r} refers to unknown {source}")
    base = EMPTY if manifest.parent is None else states.get(manifest.parent)
    if base is None:
        yield Problem(str(folder), f"version {manifest.parent}, its parent, cannot be read")
        return
    state = apply(base, revisions, where=str(path))
    states[number] = state
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


def _verify_keys(store: BenchmarkStore, states: dict[int, State]) -> list[Problem]:
    claims = set().union(*(state.entries for state in states.values())) if states else set()
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
