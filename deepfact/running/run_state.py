"""A run in progress: its spec filled in and checked, its folder locked, its journal read.

What `deepfact.round` needs before its first step and shares between its steps. Opening a run
changes nothing until spec, auditors, benchmark and folder are known to fit together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path

from deepfact.core.policy import why_unworkable
from deepfact.core.standing import audit_closed, standing_adjudications
from deepfact.errors import BenchmarkError, ConfigError, InputError, ResultsExistError
from deepfact.records import KeyEntry, Label, Outcome, canonical_json, sha256_of
from deepfact.run_records import (
    Answered,
    AuditorSpec,
    CaseOpened,
    ControlSpec,
    PolicySpec,
    RoundSpec,
    RunRecord,
    RunStarted,
    RunStatus,
    SavedSpec,
    VerifierSpec,
    VersionCommitted,
)
from deepfact.running.auditor_checks import check_auditors as check_auditors
from deepfact.running.auditor_checks import check_seats
from deepfact.running.code_state import code_state, note_resumed
from deepfact.running.strata import strata_of
from deepfact.store.benchmark import BenchmarkStore, BenchmarkVersion
from deepfact.store.files import read_record, write_text
from deepfact.store.journal import Journal, now, read_events
from deepfact.store.locate import open_benchmark, run_copy, split_reference
from deepfact.transfer_records import TRANSFER
from deepfact.verifiers.base import Context, build_verifier


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a step of a run has come."""

    step: str
    done: int
    total: int
    failed: int = 0
    calls: int = 0
    """Answers of a model so far; 0 for a verifier that asks none."""
    usd: float | None = None
    """What they cost in US dollars; None where a price is unknown."""


@dataclass
class Tally:
    """What outcomes add up to while they come."""

    failed: int = 0
    calls: int = 0
    usd: float | None = 0.0

    def take(self, outcome: Outcome) -> None:
        """Count an outcome."""
        self.failed += outcome.kind == "failure"
        self.calls += outcome.usage.calls
        if outcome.usage.calls:
            known = self.usd is not None and outcome.usage.usd is not None
            self.usd = (self.usd or 0.0) + (outcome.usage.usd or 0.0) if known else None

    def progress(self, step: str, done: int, total: int) -> Progress:
        """How far a step is."""
        return Progress(step, done, total, self.failed, self.calls, self.usd)


Watcher = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Stage:
    """One round's settings, with everything that its spec leaves out filled in."""

    challenger: VerifierSpec
    auditors: tuple[AuditorSpec, ...]
    policy: PolicySpec
    controls: ControlSpec


@dataclass
class Run:
    """A run in progress: what its steps share."""

    spec: RoundSpec
    auditors: tuple[AuditorSpec, ...]
    stages: list[Stage]
    journal: Journal
    store: BenchmarkStore
    base: BenchmarkVersion
    date: datetime
    watch: Watcher
    outcomes: dict[str, dict[str, Outcome]] = field(default_factory=dict)
    """By verifier name and claim id."""

    @cached_property
    def context(self) -> Context:
        """What verifiers may read. Rounds add no sources, so it is the same in all of them."""
        return Context(sources=self.base.sources)

    @cached_property
    def microgold(self) -> dict[str, KeyEntry]:
        """The micro-gold key, for measuring."""
        return self.store.key("microgold")

    @cached_property
    def microgold_labels(self) -> dict[str, Label]:
        """Known label of each micro-gold claim."""
        return {claim_id: entry.label for claim_id, entry in self.microgold.items()}

    @cached_property
    def strata(self) -> dict[str, tuple[str, ...]]:
        """The strata of each claim."""
        return dict(zip(self.base.state.columns.claim_ids, strata_of(self.base), strict=True))


@contextmanager
def open_run(
    spec: RoundSpec,
    folder: Path,
    auditors: Sequence[AuditorSpec],
    root: Path | None,
    watch: Watcher,
) -> Iterator[Run]:
    """The run in ``folder``: checked, locked, and with what its journal knows."""
    stages = checked_stages(spec, auditors)
    saved = SavedSpec(spec=spec, auditors=tuple(auditors))
    spec_hash = sha256_of(canonical_json([saved.canonical()]))
    name, number = split_reference(spec.benchmark)
    origin = open_benchmark(name, root)
    check_folder(folder, saved)
    base = origin.load(number)
    check_auditors(stages, base)
    with Journal(folder) as journal:
        check_folder(folder, saved)  # again: another process may have had it until now
        started = journal.find(RunStarted)
        if started and started[0].spec_hash != spec_hash:
            raise ResultsExistError(
                "the journal of this run was begun with another spec",
                where=str(folder / "spec.json"),
                fix="put the spec back as it was, or give another folder with --out",
            )
        if not started:
            write_text(folder / "spec.json", saved.model_dump_json(indent=1) + "\n")
            today = now().replace(hour=0, minute=0, second=0, microsecond=0)
            event = RunStarted(
                at=now(),
                spec_hash=spec_hash,
                date=spec.date or today,
                base_version=base.manifest.version,
                base_state=base.manifest.state_hash,
                code=code_state(),
            )
            journal.append(event)
            started = [event]
        else:
            note_resumed(journal)
        store = origin
        if spec.commit_to == "run":
            copy = run_copy(folder, origin.name)
            store = BenchmarkStore(copy) if copy.is_dir() else origin.fork(copy)
            # People work in this folder: the answers come to it when the run is complete.
            store.keys = origin.keys
        base = store.load(started[0].base_version)
        if base.manifest.state_hash != started[0].base_state:
            raise BenchmarkError(
                f"{base} is not the version that this run was started on", where=str(folder)
            )
        run = Run(spec, tuple(auditors), stages, journal, store, base, started[0].date, watch)
        for answered in journal.find(Answered):
            claims = run.outcomes.setdefault(answered.verifier, {})
            claims[answered.outcome.claim_id] = answered.outcome
        yield run


def check_folder(folder: Path, saved: SavedSpec) -> None:
    """Refuse a results folder that is not free and not this run's.

    Raises:
        ResultsExistError: it holds something else, or a run of another spec.
    """
    if folder.exists() and not folder.is_dir():
        raise ResultsExistError(
            "this is a file, not a folder", where=str(folder), fix="give a folder with --out"
        )
    if (folder / "spec.json").is_file():
        there = read_record(folder / "spec.json", SavedSpec)
        # As they are stored: YAML reads some values, such as dates, that JSON keeps as text.
        if there.canonical() != saved.canonical():
            raise ResultsExistError(
                "this results folder holds a run of another spec",
                where=str(folder),
                fix="give another folder with --out, or rename the run in its spec",
            )
    elif folder.is_dir() and not _only_begun(folder):
        raise ResultsExistError(
            "this folder exists and holds no run",
            where=str(folder),
            fix="give another folder with --out",
        )


def _only_begun(folder: Path) -> bool:
    """Whether nothing is there but what a run leaves that was killed before its first step."""
    for path in folder.iterdir():
        staged = path.name.startswith(".spec.json.") and path.suffix == ".part"
        empty = path.name == "journal.jsonl" and path.stat().st_size == 0
        if not (staged or empty or path.name == ".lock"):
            return False
    return True


def stages_of(spec: RoundSpec, auditors: Sequence[AuditorSpec]) -> list[Stage]:
    """The settings of each round, as the spec has them.

    Raises:
        InputError: not as many auditors as the spec names, in a ``spec.json`` that was edited.
    """
    declared = {auditor.name: auditor for auditor in auditors}
    names = auditor_names(spec)
    if len(names) != len(auditors):
        raise InputError(
            f"the spec names {len(names)} auditors, and {len(auditors)} are declared",
            where=f"run {spec.name!r}",
            fix="put the spec of the run back as it was",
        )
    by_reference = dict(zip(names, auditors, strict=True)) | declared
    return [
        Stage(
            challenger=stage.challenger or spec.challenger,
            auditors=tuple(by_reference[name] for name in stage.auditors or spec.auditors),
            policy=stage.policy or spec.policy,
            controls=stage.controls or spec.controls,
        )
        for stage in spec.rounds
    ]


def checked_stages(spec: RoundSpec, auditors: Sequence[AuditorSpec]) -> list[Stage]:
    """The settings of each round, checked as far as that costs nothing.

    Raises:
        ConfigError: a verifier that cannot be built, two with one name, or an auditor who would
            judge itself.
    """
    stages = stages_of(spec, auditors)
    names: dict[str, VerifierSpec] = {}
    for verifier in (*spec.scored, *(stage.challenger for stage in stages)):
        build_verifier(verifier)
        if names.setdefault(verifier.label, verifier) != verifier:
            raise ConfigError(
                f"two different verifiers are called {verifier.label!r}",
                fix="give each a `name` of its own",
            )
    for stage in stages:
        if problem := why_unworkable(stage.policy, [auditor.name for auditor in stage.auditors]):
            raise ConfigError(problem[0], fix=problem[1])
        check_seats(stage, spec.scored)
    return stages


def auditor_names(spec: RoundSpec) -> list[str]:
    """Every auditor that a spec names, in order, once each."""
    named = [*spec.auditors, *(name for stage in spec.rounds for name in stage.auditors or ())]
    return list(dict.fromkeys(named))


@dataclass(frozen=True, slots=True)
class StatusReport:
    """Where a run stands, as its journal has it."""

    name: str
    complete: bool
    round: int
    rounds: int
    answered: dict[str, int]
    """Outcomes so far by verifier."""
    cases: int
    """Of the current round."""
    decided: int

    def as_dict(self) -> dict[str, object]:
        """For ``--json``."""
        return {name: getattr(self, name) for name in self.__slots__}

    def lines(self) -> list[str]:
        """For people."""
        state = "complete" if self.complete else "not complete; go on with: deepfact round resume"
        lines = [f"{self.name}: {state}", f"  round {self.round} of {self.rounds}"]
        lines += [f"  {count} claims answered by {name}" for name, count in self.answered.items()]
        lines.append(f"  {self.decided} decisions on {self.cases} cases of round {self.round}")
        return lines


def run_status(folder: Path) -> StatusReport:
    """Where the run in ``folder`` stands. Reads only, so that it can look at a run in progress."""
    saved = read_record(folder / "spec.json", SavedSpec)
    events = read_events(folder / "journal.jsonl")
    number = max((event.round for event in events if isinstance(event, CaseOpened)), default=1)
    answered = Counter(event.verifier for event in events if isinstance(event, Answered))
    record = folder / "record.json"
    if saved.spec.challenger.kind == "merge":  # see `deepfact.merge_audit`; it keeps no record
        complete = any(isinstance(event, VersionCommitted) for event in events)
    elif saved.spec.challenger.kind == TRANSFER:  # its record is another one
        complete = record.is_file() and audit_closed(events, 1)
    else:
        complete = record.is_file() and read_record(record, RunRecord).status == RunStatus.COMPLETE
    return StatusReport(
        name=saved.spec.name,
        complete=complete,
        round=number,
        rounds=len(saved.spec.rounds),
        answered=dict(answered),
        cases=sum(isinstance(e, CaseOpened) and e.round == number for e in events),
        decided=sum(made[0] == number for made in standing_adjudications(events)),
    )
