"""What the auditors of a run did, from its record and its journal: ``deepfact audit stats``.

Measures closed rounds only, and names single cases only when the whole run is complete: which
cases are controls or micro-gold must not show while somebody may still have to decide one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from deepfact.core.pace import paces, second_look, times_of
from deepfact.measure_records import AuditStats, RoundAudit
from deepfact.records import Label
from deepfact.run_records import CaseOpened, JournalEvent, RoundSpec, RunRecord, RunStatus
from deepfact.store.files import read_record
from deepfact.store.journal import read_events
from deepfact.store.locate import open_benchmark, run_benchmark, split_reference


def read_stats(folder: Path, root: Path | None = None) -> AuditStats:
    """What the auditors of the run in ``folder`` did.

    Args:
        folder: the run's results folder.
        root: folder that holds benchmarks.

    Raises:
        InputError: there is no record yet.
    """
    record = read_record(folder / "record.json", RunRecord)
    events = read_events(folder / "journal.jsonl")
    return stats_of(record, events, known_answers(record.spec, folder, root))


def stats_of(
    record: RunRecord, events: Sequence[JournalEvent], microgold: Mapping[str, Label]
) -> AuditStats:
    """What the auditors of a run did.

    Args:
        record: of the run, complete or pending.
        events: its journal.
        microgold: known label by claim id; empty where the key is not there.
    """
    times = times_of(events)
    complete = record.status is RunStatus.COMPLETE
    last = max((event.round for event in events if isinstance(event, CaseOpened)), default=0)
    return AuditStats(
        name=record.name,
        complete=complete,
        simulated=record.simulated,
        rounds=tuple(
            RoundAudit(
                round=done.round, auditors=done.auditors, agreement=done.agreement,
                bias=done.bias, weights=done.weights,
            )
            for done in record.rounds
        ),
        open_round=last if last > len(record.rounds) else None,
        pace=paces(times),
        second_look=second_look(record.rounds, times, microgold) if complete else (),
    )  # fmt: skip


def known_answers(spec: RoundSpec, folder: Path, root: Path | None = None) -> dict[str, Label]:
    """Known label of each micro-gold claim of a run's benchmark; empty where there is no key. A
    run that keeps a copy gets the key when it is complete; until then it is with the original."""
    key = run_benchmark(spec, folder, root).key("microgold")
    if not key and spec.commit_to == "run":
        key = open_benchmark(split_reference(spec.benchmark)[0], root).key("microgold")
    return {claim_id: entry.label for claim_id, entry in key.items()}
