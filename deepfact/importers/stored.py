"""Verdicts that are stored already: those of rounds and A/B runs, and files of any system's.

Only reads, and asks nobody anything. Verdicts come with the words of the claims they were about,
as far as the run kept them, so that an answer to other words is never scored as one to these.
What cannot be used is named, with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deepfact.errors import DeepFactError, InputError
from deepfact.experiment_records import AbRecord
from deepfact.importers.verdicts import read_verdicts
from deepfact.records import Claim, Outcome
from deepfact.run_records import Answered, RunRecord, RunStarted
from deepfact.store.benchmark import BenchmarkStore, BenchmarkVersion
from deepfact.store.files import parse_record, read_text
from deepfact.store.journal import read_events
from deepfact.store.locate import run_copy, split_reference


@dataclass(frozen=True, slots=True)
class StoredVerdicts:
    """One verifier's stored outcomes on a benchmark."""

    verifier: str
    where: str
    """The run's folder, or the file."""
    outcomes: Mapping[str, Outcome]
    """By claim id."""
    texts: Mapping[str, str]
    """The words that were asked about, by claim id, where somebody kept them."""

    def on(self, claims: Sequence[Claim]) -> tuple[dict[str, Outcome], list[str]]:
        """The outcomes that answer these claims, and the ids of those that answer other words."""
        answered: dict[str, Outcome] = {}
        reworded = []
        for claim in claims:
            outcome = self.outcomes.get(claim.id)
            if outcome is None:
                continue
            if self.texts.get(claim.id, claim.text) == claim.text:
                answered[claim.id] = outcome
            else:
                reworded.append(claim.id)
        return answered, reworded


@dataclass(frozen=True, slots=True)
class Subject:
    """The benchmark that verdicts are looked for."""

    name: str
    states: Mapping[str, Mapping[str, Claim]]
    """The claims of each version, retired ones too, by the version's state hash and claim id."""

    @property
    def claims(self) -> list[Claim]:
        """Every claim that any version has, once."""
        return list(
            {claim.id: claim for had in self.states.values() for claim in had.values()}.values()
        )

    @classmethod
    def of(cls, versions: Sequence[BenchmarkVersion]) -> Subject:
        """The benchmark of some versions of it."""
        return cls(
            versions[0].store.name,
            {
                version.manifest.state_hash: {
                    claim_id: entry.claim for claim_id, entry in version.state.entries.items()
                }
                for version in versions
            },
        )


@dataclass(slots=True)
class Stored:
    """What was found."""

    verdicts: list[StoredVerdicts] = field(default_factory=list)
    rounds: dict[str, RunRecord] = field(default_factory=dict)
    """Records of rounds, by the run's folder."""
    notes: list[str] = field(default_factory=list)
    """What was left out or is not known, and why."""


def scan(results: Path, subject: Subject) -> Stored:
    """The verdicts of all runs on a benchmark below a results folder; other runs are noted.

    Args:
        results: the folder; runs lie in it, or one folder deeper.
        subject: the benchmark.

    Raises:
        InputError: no such folder.
    """
    if not results.is_dir():
        raise InputError(
            "there is no results folder", where=str(results),
            fix="name the folder with --results, or files and runs with --verdicts",
        )  # fmt: skip
    stored = Stored()
    for path in sorted([*results.glob("*/record.json"), *results.glob("*/*/record.json")]):
        try:
            add(stored, path.parent, subject)
        except DeepFactError as error:
            stored.notes.append(f"left out: {error}".partition("\n")[0])
    return stored


def add(
    stored: Stored,
    path: Path,
    subject: Subject,
    *,
    labels: str = "deepfact",
    encoding: str = "utf-8",
) -> None:
    """Add the verdicts of a run's folder or of a file.

    Args:
        stored: what they are added to.
        path: a run's folder or its ``record.json``, else a file of verdicts.
        subject: the benchmark.
        labels: whose label words a file of verdicts uses.
        encoding: of a file of verdicts.

    Raises:
        InputError: no verdicts on this benchmark there, or none that can be read.
    """
    if path.is_dir() or path.name == "record.json":
        _add_run(stored, path if path.is_dir() else path.parent, subject)
        return
    read = read_verdicts(path, subject.claims, labels=labels, encoding=encoding)
    found = StoredVerdicts(path.stem, str(path), read.outcomes, {})
    stored.verdicts.append(found)
    for ids, words in (
        (read.extra, "verdicts on claims that no version has"),
        (read.conflicting, "claims are answered twice, differently, and count as unverified"),
    ):
        if ids:
            stored.notes.append(f"{path}: {len(ids)} {words}: {_some(ids)}")


def _add_run(stored: Stored, folder: Path, subject: Subject) -> None:
    path = folder / "record.json"
    text = read_text(path)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    keys = data if isinstance(data, dict) else {}
    if "rounds" in keys:
        run = parse_record(text, RunRecord, where=str(path))
        _check_benchmark(run.spec.benchmark, subject.name, path)
        found = _of_round(run, folder, subject, stored)
        stored.rounds[str(folder)] = run
    elif "arms" in keys:
        ab = parse_record(text, AbRecord, where=str(path))
        _check_benchmark(ab.spec.benchmark, subject.name, path)
        found = _of_ab(ab, folder, stored)
    else:
        raise InputError("not the record of a round or of an A/B run", where=str(path))
    known = {claim.id for claim in subject.claims}
    for one in found:
        if unknown := [claim_id for claim_id in one.outcomes if claim_id not in known]:
            words = f"{len(unknown)} verdicts of {one.verifier} on claims that no version has"
            stored.notes.append(f"{folder}: {words}: {_some(unknown)}")
    stored.verdicts += found


def _check_benchmark(reference: str, name: str, path: Path) -> None:
    other = Path(split_reference(reference)[0]).name if reference else "files"
    if other != name:
        raise InputError(f"a run on {other}, not on {name}", where=str(path))


def _of_round(
    run: RunRecord, folder: Path, subject: Subject, stored: Stored
) -> list[StoredVerdicts]:
    """The challenger's outcomes from the record, and everybody's from the journal, which alone
    holds those of verifiers that were scored beside it."""
    outcomes: dict[str, dict[str, Outcome]] = {}
    bases = {(done.base.version, done.base.state_hash) for done in run.rounds}
    for done in run.rounds:
        for outcome in done.outcomes:
            outcomes.setdefault(done.challenger, {})[outcome.claim_id] = outcome
    for event in read_events(folder / "journal.jsonl"):
        if isinstance(event, Answered):
            outcomes.setdefault(event.verifier, {})[event.outcome.claim_id] = event.outcome
        elif isinstance(event, RunStarted):
            bases.add((event.base_version, event.base_state))
    if beside := {spec.label for spec in run.spec.scored} - set(outcomes):
        words = f"no journal, so no verdicts of {', '.join(sorted(beside))}"
        stored.notes.append(f"{folder}: {words}")
    texts = {case.claim.id: case.claim.text for done in run.rounds for case in done.cases}
    for version, state_hash in sorted(bases):
        texts |= _words_of(version, state_hash, folder, subject)
    asked = {claim_id for found in outcomes.values() for claim_id in found}
    if silent := sorted(asked - set(texts)):
        words = f"the words of {len(silent)} claims were not kept; taken to be today's"
        stored.notes.append(f"{folder}: {words}: {_some(silent)}")
    return [
        StoredVerdicts(verifier, str(folder), found, texts) for verifier, found in outcomes.items()
    ]


def _words_of(version: int, state_hash: str, folder: Path, subject: Subject) -> dict[str, str]:
    """The words of the claims of a version that a run was on: the benchmark has that version, or
    the run has a copy of it."""
    copy = run_copy(folder, subject.name)
    claims = subject.states.get(state_hash)
    if claims is None and (copy / "versions").is_dir():
        entries = BenchmarkStore(copy).load(version).state.entries
        claims = {claim_id: entry.claim for claim_id, entry in entries.items()}
    return {claim_id: claim.text for claim_id, claim in (claims or {}).items()}


def _of_ab(ab: AbRecord, folder: Path, stored: Stored) -> list[StoredVerdicts]:
    texts = {asked.claim.id: asked.claim.text for asked in ab.claims}
    if ab.spec.repeat > 1:
        words = f"{ab.spec.repeat} repeats; the first one of each arm is scored"
        stored.notes.append(f"{folder}: {words}")
    return [
        StoredVerdicts(
            arm.arm, str(folder), {outcome.claim_id: outcome for outcome in arm.outcomes[0]}, texts
        )
        for arm in ab.arms
        if arm.outcomes
    ]


def _some(ids: Collection[str]) -> str:
    shown = list(ids)[:5]
    return ", ".join(shown) + (", ..." if len(ids) > len(shown) else "")
