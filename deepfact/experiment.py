"""The A/B loop: the same claims under two or more verifiers, compared claim by claim.

`run_experiment` is the loop; what stands below it opens the run. Each outcome is in the
journal before it counts, and each answer in the response store before that, so a killed run
goes on where it stopped, pays for nothing twice, and ends with the same record.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from deepfact.core.compare import outcome_of
from deepfact.errors import ConfigError, InputError, ResultsExistError
from deepfact.executors.base import Executor
from deepfact.experiment_records import AbRecord, AbSpec, LabelsFrom
from deepfact.records import FailureReason, Outcome, canonical_json, sha256_of
from deepfact.reports.ab_report import write_ab_reports
from deepfact.run_records import ArmAnswered, RunStarted
from deepfact.running.ab_record import ab_record
from deepfact.running.arms import AnswersMissing, Arm, Outcomes, build_arms, run_arms
from deepfact.running.claim_set import ClaimSet, load_claims
from deepfact.running.code_state import code_state, note_resumed
from deepfact.running.run_state import Watcher
from deepfact.store.files import read_record, write_text
from deepfact.store.journal import Journal, now
from deepfact.store.response_exports import import_responses
from deepfact.store.responses import ResponseStore
from deepfact.telemetry import scope

__all__ = [
    "AnswersMissing", "Arm", "ClaimSet", "Outcomes", "build_arms", "load_claims", "outcome_of",
    "read_experiment", "run_arms", "run_experiment",
]  # fmt: skip

RESPONSES = "responses.sqlite"
"""The response store of a run, in its results folder."""

_PASSING = {
    FailureReason.ERROR, FailureReason.TIMEOUT, FailureReason.RATE_LIMITED,
    FailureReason.EXPIRED, FailureReason.BUDGET, FailureReason.NO_ANSWER,
}  # fmt: skip
"""Why an answer may be missing today and be there tomorrow."""


def run_experiment(
    spec: AbSpec,
    folder: Path,
    *,
    root: Path | None = None,
    replay: bool = False,
    retry_failed: bool = False,
    watch: Watcher = lambda _: None,
    executor: Executor | None = None,
) -> AbRecord:
    """Run an A/B spec, or go on with it.

    Args:
        spec: what to run.
        folder: the run's results folder; it is made, or holds an earlier start of this run.
        root: the folder that holds benchmarks.
        replay: never call out; answers come from the response store alone.
        retry_failed: ask again where an earlier start left a claim unverified for a reason that
            may have passed, such as a rate limit.
        watch: is told of progress.
        executor: where verifiers are asked; in this process when left out.

    Returns:
        The record, which is also in ``record.json`` with its reports.

    Raises:
        InputError: spec, claims or folder do not fit; nothing was asked.
        AnswersMissing: answers are missing or pending; run it again to go on.
    """
    with open_experiment(spec, folder, root) as run, scope("run", spec.name, loop="ab"):
        outcomes = run_arms(
            run.arms,
            run.claims,
            responses=run.responses,
            repeat=spec.repeat,
            seed=spec.seed,
            replay=replay,
            known=run.known(retry_failed),
            keep=run.keep,
            watch=watch,
            executor=executor,
        )
        record = ab_record(spec, run.claims, run.arms, outcomes, run.date)
        write_text(folder / "record.json", record.model_dump_json(indent=1) + "\n")
        write_ab_reports(record, folder, run.claims.sources, run.seconds())
        return record


@dataclass
class Experiment:
    """An A/B run in progress: what was opened for it."""

    spec: AbSpec
    claims: ClaimSet
    arms: list[Arm]
    responses: ResponseStore
    journal: Journal
    date: datetime = field(init=False)

    def keep(self, arm: str, repeat: int, outcome: Outcome, seconds: tuple[float, ...]) -> None:
        """Put an outcome in the journal."""
        self.journal.append(
            ArmAnswered(at=now(), arm=arm, repeat=repeat, outcome=outcome, seconds=seconds)
        )

    def known(self, retry_failed: bool) -> Outcomes:
        """The outcomes in the journal, the newest of each; with ``retry_failed`` without those
        that may come out otherwise today."""
        found: Outcomes = {}
        for event in self.journal.find(ArmAnswered):
            found.setdefault((event.arm, event.repeat), {})[event.outcome.claim_id] = event.outcome
        if retry_failed:
            for outcomes in found.values():
                for claim_id in [name for name, one in outcomes.items() if may_pass(one)]:
                    del outcomes[claim_id]
        return found

    def seconds(self) -> dict[str, list[float]]:
        """How long each live call took, by arm."""
        return seconds_of(self.journal.find(ArmAnswered))


def may_pass(outcome: Outcome) -> bool:
    """Whether an unverified claim may come out otherwise when it is asked about again."""
    if outcome.kind != "failure":
        return False
    reasons = {one.reason for one in outcome.abstentions} or {outcome.reason}
    return bool(reasons & _PASSING)


def seconds_of(events: list[ArmAnswered]) -> dict[str, list[float]]:
    """How long each live call took, by arm, as a journal has it."""
    found: dict[str, list[float]] = {}
    for event in events:
        found.setdefault(event.arm, []).extend(event.seconds)
    return found


@contextmanager
def open_experiment(spec: AbSpec, folder: Path, root: Path | None) -> Iterator[Experiment]:
    """The run in ``folder``: checked, locked, and with what its journal knows. Nothing is
    written before spec, claims, arms and folder are known to fit together."""
    claims = load_claims(spec, root)
    arms = build_arms(spec.verifiers())
    if claims.labels_from is LabelsFrom.NOWHERE and spec.gates.need_labels:
        raise ConfigError(
            f"the gate {spec.gates.need_labels[0]!r} needs labels, and the claims have none",
            where=claims.name,
            fix="take the gate away, or label the claims",
        )
    for export in spec.responses:
        if not Path(export).is_file():
            raise InputError("no such export of responses", where=export)
    check_folder(folder, spec)
    # Prompts and claims are files of their own: the same spec may mean another run tomorrow.
    prompts = [None if arm.prompt is None else arm.prompt.hash for arm in arms]
    spec_hash = sha256_of(canonical_json([spec.canonical(), prompts]))
    with ExitStack() as stack:
        journal = stack.enter_context(Journal(folder))
        started = journal.find(RunStarted)
        if started and (started[0].spec_hash, started[0].base_state) != (
            spec_hash,
            claims.state_hash,
        ):
            raise ResultsExistError(
                "this run was started with another prompt, or on other claims",
                where=str(folder),
                fix="give another folder with --out; stored answers can be taken along with "
                "`responses:`",
            )
        write_text(folder / "spec.json", spec.model_dump_json(indent=1) + "\n")
        responses = stack.enter_context(ResponseStore(folder / RESPONSES))
        for export in spec.responses:
            import_responses(responses, Path(export))
        run = Experiment(spec, claims, arms, responses, journal)
        if not started:
            started = [_begin(journal, spec_hash, claims)]
        else:
            note_resumed(journal)
        run.date = started[0].date
        yield run


def _begin(journal: Journal, spec_hash: str, claims: ClaimSet) -> RunStarted:
    event = RunStarted(
        at=now(),
        spec_hash=spec_hash,
        date=now().replace(hour=0, minute=0, second=0, microsecond=0),
        base_version=claims.version,
        base_state=claims.state_hash,
        code=code_state(),
    )
    journal.append(event)
    return event


def check_folder(folder: Path, spec: AbSpec) -> None:
    """Refuse a results folder that is not free and not this run's.

    Raises:
        ResultsExistError: it is a file, or holds something else.
    """
    fix = "give another folder with --out, or rename the run in its spec"
    if folder.exists() and not folder.is_dir():
        raise ResultsExistError("this is a file, not a folder", where=str(folder), fix=fix)
    if (folder / "spec.json").is_file():
        try:
            there = read_record(folder / "spec.json", AbSpec)
        except InputError:
            there = None
        # As it is stored: YAML reads some values, such as dates, that JSON keeps as text.
        if there is None or there.canonical() != spec.canonical():
            raise ResultsExistError(
                "this results folder holds a run of another spec", where=str(folder), fix=fix
            )
    elif folder.is_dir() and any(
        not one.name.startswith((".", "journal.jsonl", RESPONSES)) for one in folder.iterdir()
    ):
        raise ResultsExistError(
            "this folder exists and holds no run of this spec", where=str(folder), fix=fix
        )


def read_experiment(folder: Path) -> AbRecord:
    """The record of an A/B run.

    Raises:
        InputError: there is none in this folder.
    """
    return read_record(folder / "record.json", AbRecord)
