"""Reads a run's folder, whatever kind of run it holds: its spec, journal, ledger and record.

Nothing is written, no lock is taken, and the journal is read line by line: a run in progress goes
on undisturbed, and the line that it is writing is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deepfact.errors import InputError, RecordError
from deepfact.experiment_records import AbRecord, AbSpec
from deepfact.regression_records import RegressRecord, RegressSpec
from deepfact.research.workflow import STAGES, ResearchSpec
from deepfact.research_records import ResearchReport
from deepfact.run_facts.counting import Counting
from deepfact.run_facts.records import RunFacts
from deepfact.run_facts.wording import spec_words
from deepfact.run_records import RunRecord, RunStarted, RunStatus, SavedSpec, VersionCommitted
from deepfact.store.files import parse_record, read_raw_lines, read_record, read_text
from deepfact.store.journal import EVENTS
from deepfact.store.ledger import read_ledger

SPEC, JOURNAL, RECORD = "spec.json", "journal.jsonl", "record.json"
Spec = SavedSpec | AbSpec | RegressSpec | ResearchSpec
_SPECS: tuple[tuple[type[Spec], set[str]], ...] = (
    (SavedSpec, {"spec", "auditors"}),
    (AbSpec, {"name", "arms"}),
    (RegressSpec, {"name", "verifier", "pins"}),
    (ResearchSpec, {"question", "sources"}),
)
"""Specs, and the keys by which each is known."""


def read_run_facts(folder: Path) -> RunFacts:
    """What is known of the run in a folder.

    Raises:
        InputError: there is no run, or of a kind that this deepfact does not know.
        RecordError: a file of it is broken; with the line.
    """
    spec = _read_spec(folder)
    if isinstance(spec, ResearchSpec):
        return _research(spec, folder)
    if isinstance(spec, RegressSpec):
        return _regress(spec, folder)
    kind, name, record = _kind(spec, folder)
    counting, committed = Counting(), False
    for event in _events(folder / JOURNAL):
        if counting.started is None and not isinstance(event, RunStarted):
            raise RecordError(
                f"the journal begins with {event.event!r} instead of 'run_started'",
                where=f"{folder / JOURNAL}, line 1",
                fix="is this another run's journal, or was its beginning cut off?",
            )
        committed |= isinstance(event, VersionCommitted)
        counting.event(event)
    state, written_by = _state(record, folder)
    if counting.started is None:
        state = "not begun"
    elif kind == "merge" and committed:  # a merge keeps no record
        state = "complete"
    missing = []
    if kind != "ab":
        missing.append("call latency: only A/B runs keep how long each call took")
    if counting.started is not None and counting.started.code is None:
        missing.append("version and revision: the run was begun by a deepfact that kept neither")
    return _facts(
        counting,
        kind=kind,
        name=name,
        folder=str(folder),
        state=state,
        spec=spec_words(spec),
        written_by=written_by,
        missing=tuple(missing),
    )


def _facts(counting: Counting, **known: Any) -> RunFacts:
    return RunFacts(
        **known,
        started=counting.started,
        resumed=tuple(counting.resumed),
        timing=counting.timing(),
        asked=counting.asked(),
        failures=counting.failures(),
        cost=counting.cost(),
    )


# --- which kind of run -------------------------------------------------------------------


def _read_spec(folder: Path) -> Spec:
    path = folder / SPEC
    if not folder.is_dir():
        what = "this is a file, not a run's folder" if folder.exists() else "no such folder"
        raise InputError(what, where=str(folder), fix="name a folder such as results/demo")
    if not path.is_file():
        raise InputError(
            "there is no run in this folder: it holds no spec.json",
            where=str(folder),
            fix="name the results folder of a round, ab, regress, research or transfer run",
        )
    try:
        data = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise RecordError(f"not JSON: {error}", where=str(path)) from None
    keys = set(data) if isinstance(data, dict) else set()
    for record, tell in _SPECS:
        if tell <= keys:
            return read_record(path, record)
    raise InputError(
        "this is the spec of no run that deepfact makes",
        where=str(path),
        fix="name the results folder of a round, ab, regress, research or transfer run",
    )


def _kind(spec: SavedSpec | AbSpec, folder: Path) -> tuple[str, str, Any]:
    """The kind of a run with a journal, its name, and the record that it ends with."""
    if isinstance(spec, AbSpec):
        return "ab", spec.name, AbRecord
    challenger = spec.spec.challenger.kind
    if challenger == "merge":
        return "merge", spec.spec.name, None
    if (folder / "transfer.json").is_file():
        from deepfact.transfer_records import TransferRecord

        return "transfer", spec.spec.name, TransferRecord
    return "round", spec.spec.name, RunRecord


def _state(record: Any, folder: Path) -> tuple[str, str]:
    """Where a run stands by its record, and which deepfact wrote that."""
    if record is None or not (folder / RECORD).is_file():
        return "not complete", ""
    read = read_record(folder / RECORD, record)
    status = getattr(read, "status", RunStatus.COMPLETE)
    return str(status), str(getattr(read, "deepfact", ""))


def _events(path: Path) -> Iterator[Any]:
    """The events of a journal, without a last line that is not whole."""
    if not path.is_file():
        return
    for number, _, line in read_raw_lines(path):
        if line.endswith(b"\n") and line.strip():
            yield parse_record(line, EVENTS, where=f"{path}, line {number}")


# --- runs without a journal --------------------------------------------------------------


def _regress(spec: RegressSpec, folder: Path) -> RunFacts:
    """A check keeps what it found, not how it came there."""
    state, written_by, missing = "not complete", "", []
    words = spec_words(spec)
    if (folder / RECORD).is_file():
        record = read_record(folder / RECORD, RegressRecord)
        state, written_by = str(record.status), record.deepfact
        for rates in record.rates[:1]:
            words["confirmed"] = f"{rates.confirmed.k} of {record.claims} claims"
            words["unverified"] = f"{rates.unverified.k} of {record.claims} claims"
        if record.shortage is not None:
            words["lacks"] = record.shortage.why
    missing.append("timings, failures and cost: a regression check keeps no journal")
    return _facts(
        Counting(),
        kind="regress",
        name=spec.name,
        folder=str(folder),
        state=state,
        spec=words,
        written_by=written_by,
        missing=tuple(missing),
    )


def _research(spec: ResearchSpec, folder: Path) -> RunFacts:
    """A research run's outcomes are in its ledger, which is dated as the run is."""
    counting, words = Counting(), spec_words(spec)
    done = [name for name in STAGES if any((folder / "stages").glob(f"*-{name}.json"))]
    words["stages done"] = ", ".join(done) or "none"
    if (folder / "ledger.jsonl").is_file():
        for outcome in read_ledger(folder).outcomes:
            counting.outcome("verifier", outcome.verifier or "verifier", outcome)
    state, written_by = "not complete", ""
    if len(done) == len(STAGES) and (folder / "report.json").is_file():
        report = read_record(folder / "report.json", ResearchReport)
        state, written_by = f"complete: {report.status}", report.deepfact
    return _facts(
        counting,
        kind="research",
        name=folder.name,
        folder=str(folder),
        state=state,
        spec=words,
        written_by=written_by,
        missing=("timings: a ledger is dated as the run is, and keeps no clock",),
    )
