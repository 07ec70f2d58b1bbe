"""Verdicts and decisions that lie in the folders of earlier runs, so that nobody is asked twice.

A verdict counts when the same verifier, options and all, gave it on the same claim, word for word.
A decision counts when the same auditor, options and all, decided between the same two positions on
the same claim, whichever of them was called A. Reads only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deepfact.core.standing import standing_adjudications
from deepfact.errors import InputError
from deepfact.records import Adjudication, Case, Decision, Outcome
from deepfact.run_records import (
    Answered,
    AuditorSpec,
    CaseOpened,
    RunStarted,
    SavedSpec,
    VerifierSpec,
)
from deepfact.store.benchmark import BenchmarkVersion
from deepfact.store.files import read_record
from deepfact.store.journal import read_events
from deepfact.store.locate import run_benchmark

Matter = tuple[str, frozenset[str]]
"""What a case is about: the claim, and the two positions in no order."""


Decided = tuple[Case, Adjudication, str]
"""A case, the decision on it, and the run's name."""


@dataclass
class Stored:
    """What earlier runs hold."""

    verdicts: dict[tuple[str, str], Outcome] = field(default_factory=dict)
    """By verifier (as canonical text) and claim (as canonical text)."""
    decisions: dict[tuple[str, Matter], tuple[Case, Adjudication, str]] = field(
        default_factory=dict
    )
    """By auditor (as canonical text) and matter."""

    def verdict(self, verifier: VerifierSpec, claim: str) -> Outcome | None:
        """A verifier's stored outcome on a claim."""
        return self.verdicts.get((verifier.canonical(), claim))

    def decision(self, auditor: AuditorSpec, case: Case) -> Adjudication | None:
        """An auditor's stored decision, as one on this case, with a note of where it is from."""
        found = self.decisions.get((auditor.canonical(), matter_of(case)))
        if found is None:
            return None
        there, made, run = found
        decision = made.decision
        if decision in (Decision.A, Decision.B) and there.a.canonical() != case.a.canonical():
            decision = Decision.B if decision is Decision.A else Decision.A
        note = f"stored decision of run {run}, case {there.id}"
        return made.model_copy(
            update={
                "case_id": case.id,
                "decision": decision,
                "notes": "\n".join(filter(None, [made.notes, note])),
            }
        )


def matter_of(case: Case) -> Matter:
    """What a case is about."""
    return case.claim.canonical(), frozenset((case.a.canonical(), case.b.canonical()))


def read_stored(folders: Sequence[Path], root: Path | None) -> Stored:
    """Everything that runs hold; a later folder wins.

    Raises:
        InputError: a folder holds no run, or its files cannot be read.
    """
    found = Stored()
    for folder in folders:
        if not (folder / "spec.json").is_file():
            raise InputError(
                "there is no run of rounds in this folder",
                where=str(folder),
                fix="name results folders of `deepfact round run` under `stored`",
            )
        saved = read_record(folder / "spec.json", SavedSpec)
        events = read_events(folder / "journal.jsonl")
        started = next((event for event in events if isinstance(event, RunStarted)), None)
        if started is None:
            raise InputError("the run of this folder has not begun", where=str(folder))
        base = _base(saved, folder, root, started)
        verifiers = {one.label: one.canonical() for one in _verifiers(saved)}
        claims = {claim.id: claim.canonical() for claim in base.claims}
        for event in events:
            if isinstance(event, Answered) and event.outcome.claim_id in claims:
                who, claim = verifiers.get(event.verifier, ""), claims[event.outcome.claim_id]
                found.verdicts[who, claim] = event.outcome
        cases = {(e.round, e.case.id): e.case for e in events if isinstance(e, CaseOpened)}
        auditors = {one.name: one.canonical() for one in saved.auditors}
        for (number, case_id, name), made in standing_adjudications(events).items():
            case = cases.get((number, case_id))
            if case is not None and name in auditors:
                found.decisions[auditors[name], matter_of(case)] = (case, made, saved.spec.name)
    return found


def _base(
    saved: SavedSpec, folder: Path, root: Path | None, started: RunStarted
) -> BenchmarkVersion:
    """The version that a run was started on."""
    return run_benchmark(saved.spec, folder, root).load(started.base_version)


def _verifiers(saved: SavedSpec) -> Iterator[VerifierSpec]:
    """Every verifier of a run, with all that may change its outcomes."""
    yield saved.spec.challenger
    yield from saved.spec.scored
    yield from (stage.challenger for stage in saved.spec.rounds if stage.challenger)
