"""A transfer run being opened: its spec checked, its folder locked, its data sets as they were.

Nothing is written before spec, auditors, data sets and folder are known to fit together. Known
answers, which simulated auditors decide by, never lie in the folder that people work in.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from deepfact.core.policy import why_unworkable
from deepfact.errors import BenchmarkError, ConfigError, ResultsExistError
from deepfact.records import Outcome, canonical_json, sha256_of
from deepfact.run_records import (
    AuditorSpec,
    ControlSpec,
    RoundSpec,
    RunStarted,
    SavedSpec,
    VerifierSpec,
)
from deepfact.running.auditor_checks import check_auditors, check_seats
from deepfact.running.code_state import code_state, note_resumed
from deepfact.running.run_state import Run, Stage, Watcher
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import read_record, write_text
from deepfact.store.journal import Journal, now
from deepfact.store.locate import run_copy
from deepfact.transfer.data import BENCHMARK, DataSet, put_together, read_data_sets
from deepfact.transfer_records import TRANSFER, DataSetRef, SavedTransfer, TransferSpec
from deepfact.verifiers.base import build_verifier

FILE = "transfer.json"
Pair = tuple[str, str]
"""Data set and verifier, by their names."""


@dataclass
class Transfer:
    """A transfer run in progress."""

    saved: SavedTransfer
    data_sets: tuple[DataSet, ...]
    run: Run
    """Its benchmark holds the sampled claims of all data sets."""
    outcomes: dict[Pair, dict[str, Outcome]] = field(default_factory=dict)
    """By data set and verifier, then by the data set's claim id."""


@contextmanager
def open_transfer(
    spec: TransferSpec,
    folder: Path,
    auditors: Sequence[AuditorSpec],
    root: Path | None,
    watch: Watcher,
) -> Iterator[Transfer]:
    """The run in ``folder``: checked, locked, and with what its journal knows."""
    stage = checked_stage(spec, auditors)
    began = check_folder(folder, spec, auditors)
    today = now().replace(hour=0, minute=0, second=0, microsecond=0)
    when = began.date if began else spec.date or today
    data_sets = read_data_sets(spec, when, root)
    saved = SavedTransfer(
        spec=spec, auditors=tuple(auditors), date=when, data_sets=tuple(d.ref for d in data_sets)
    )
    if began:
        check_unchanged(began.data_sets, data_sets, folder)
    with tempfile.TemporaryDirectory() as scratch:
        # Known answers stay here: people work in the run's folder.
        whole = put_together(data_sets, Path(scratch) / BENCHMARK, when)
        check_auditors([stage], whole)
        with Journal(folder) as journal:
            check_folder(folder, spec, auditors)  # again: another process may have had it
            copy = run_copy(folder, BENCHMARK)
            if not (copy / "versions").is_dir():
                whole.store.fork(copy)
            round_spec = _begin(saved, journal, whole.manifest.state_hash)
            base = BenchmarkStore(copy).load(1)
            if base.manifest.state_hash != whole.manifest.state_hash:
                raise BenchmarkError(
                    "the claims in this folder are not those of its data sets", where=str(folder)
                )
            run = Run(
                round_spec, tuple(auditors), [stage], journal, whole.store, base, when, watch
            )  # fmt: skip
            yield Transfer(saved, data_sets, run)


def checked_stage(spec: TransferSpec, auditors: Sequence[AuditorSpec]) -> Stage:
    """The audit's settings, checked as far as that costs nothing.

    Raises:
        ConfigError: a verifier that cannot be built, or an auditor who would judge itself.
    """
    for verifier in spec.verifiers:
        build_verifier(verifier)
    if problem := why_unworkable(spec.policy, [auditor.name for auditor in auditors]):
        raise ConfigError(problem[0], fix=problem[1])
    none = ControlSpec(agreed=0, microgold=0)
    for verifier in spec.verifiers:
        check_seats(Stage(verifier, tuple(auditors), spec.policy, none), ())
    return Stage(VerifierSpec(kind=TRANSFER), tuple(auditors), spec.policy, none)


def check_folder(
    folder: Path, spec: TransferSpec, auditors: Sequence[AuditorSpec]
) -> SavedTransfer | None:
    """What the folder holds of this run; None when it has not begun.

    Raises:
        ResultsExistError: it holds something else.
    """
    if folder.exists() and not folder.is_dir():
        raise ResultsExistError(
            "this is a file, not a folder", where=str(folder), fix="give a folder with --out"
        )
    if (folder / FILE).is_file():
        there = read_record(folder / FILE, SavedTransfer)
        asked = there.model_copy(update={"spec": spec, "auditors": tuple(auditors)})
        if there.canonical() != asked.canonical():
            raise ResultsExistError(
                "this results folder holds a transfer of another spec", where=str(folder),
                fix="give another folder with --out, or rename the run in its spec",
            )  # fmt: skip
        return there
    begun = {".lock", "journal.jsonl", "benchmarks"}  # what a run leaves that was killed at once
    if folder.is_dir() and any(
        one.name not in begun and one.suffix != ".part" for one in folder.iterdir()
    ):
        raise ResultsExistError(
            "this folder exists and holds no transfer", where=str(folder),
            fix="give another folder with --out",
        )  # fmt: skip
    return None


def check_unchanged(
    began: Sequence[DataSetRef], data_sets: Sequence[DataSet], folder: Path
) -> None:
    """Refuse data sets that are not what they were when the run began.

    Raises:
        BenchmarkError: one is not.
    """
    for before, after in zip(began, data_sets, strict=True):
        if before.fingerprint != after.ref.fingerprint:
            raise BenchmarkError(
                f"the data set {before.name!r} is not what it was when this run began",
                where=str(folder),
                fix="put its files back, or start anew in another folder with --out",
            )


def saved_round(spec: TransferSpec, date: datetime) -> RoundSpec:
    """The run as a round's spec, by which `deepfact.review` finds its people and sources."""
    return RoundSpec(
        name=spec.name,
        benchmark=f"{BENCHMARK}@1",
        challenger=VerifierSpec(kind=TRANSFER),
        auditors=spec.auditors,
        policy=spec.policy,
        controls=ControlSpec(agreed=0, microgold=0),
        seed=spec.seed,
        commit_to="run",
        date=date,
    )


def _begin(saved: SavedTransfer, journal: Journal, state: str) -> RoundSpec:
    """Write what is not written yet of the run's beginning."""
    round_spec = saved_round(saved.spec, saved.date)
    if not journal.find(RunStarted):
        known = SavedSpec(spec=round_spec, auditors=saved.auditors)
        write_text(journal.folder / "spec.json", known.model_dump_json(indent=1) + "\n")
        write_text(journal.folder / FILE, saved.model_dump_json(indent=1) + "\n")
        journal.append(
            RunStarted(
                at=now(),
                spec_hash=sha256_of(canonical_json([saved.canonical()])),
                date=saved.date,
                base_version=1,
                base_state=state,
                code=code_state(),
            )
        )
    else:
        note_resumed(journal)
    return round_spec
