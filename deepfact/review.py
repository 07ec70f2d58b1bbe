"""Cases that wait for a person: what the terminal and other front ends show and take.

Shows blind cases only. A decision is in the run's journal, on disk, before `decide` returns; a
case that the same auditor has decided is refused, never overwritten.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from deepfact.auditors.base import HUMAN
from deepfact.errors import InputError, did_you_mean
from deepfact.records import Adjudication, Case
from deepfact.round import assigned
from deepfact.run_records import Adjudicated, AuditorSpec, CaseOpened, SavedSpec
from deepfact.run_state import stages_of
from deepfact.store.files import read_record
from deepfact.store.journal import Journal, now, read_events


@dataclass(frozen=True, slots=True)
class Desk:
    """What one auditor has before them."""

    auditor: AuditorSpec
    round: int
    waiting: tuple[Case, ...]
    decided: int


def open_desk(folder: Path, auditor: str = "") -> Desk:
    """The cases of a run that wait for a person.

    Args:
        folder: the run's.
        auditor: whose; may be left out when only one person audits.

    Raises:
        InputError: no run there, or no such person.
    """
    saved = read_record(folder / "spec.json", SavedSpec)
    events = read_events(folder / "journal.jsonl")
    number = max((event.round for event in events if isinstance(event, CaseOpened)), default=1)
    stage = stages_of(saved.spec, saved.auditors)[number - 1]
    people = [spec for spec in stage.auditors if spec.kind == HUMAN]
    names = [spec.name for spec in people]
    if not people:
        raise InputError("no person audits this round", where=str(folder))
    if not auditor and len(people) > 1:
        raise InputError(
            "several people audit this round", where=str(folder),
            fix=f"say who you are with --auditor: {', '.join(names)}",
        )  # fmt: skip
    person = next((spec for spec in people if spec.name == (auditor or names[0])), None)
    if person is None:
        raise InputError(
            f"no person of this round is called {auditor!r}", where=str(folder),
            fix=did_you_mean(auditor, names),
        )  # fmt: skip
    cases = [e.case for e in events if isinstance(e, CaseOpened) and e.round == number]
    mine = [
        case
        for position, case in enumerate(cases)
        if person in assigned(stage.auditors, stage.policy, position)
    ]
    decided = {
        event.adjudication.case_id
        for event in events
        if isinstance(event, Adjudicated) and event.adjudication.auditor == person.name
    }
    waiting = tuple(case for case in mine if case.id not in decided)
    return Desk(person, number, waiting, len(mine) - len(waiting))


def decide(folder: Path, round_number: int, adjudication: Adjudication) -> None:
    """Keep a person's decision.

    Raises:
        InputError: this auditor has decided this case already.
        ResultsExistError: another process is writing to the run right now.
    """
    with Journal(folder) as journal:
        made = (adjudication.case_id, adjudication.auditor)
        for event in journal.find(Adjudicated):
            if (event.adjudication.case_id, event.adjudication.auditor) == made:
                raise InputError(
                    f"{adjudication.auditor} has decided case {adjudication.case_id} already",
                    where=str(folder),
                )
        event = Adjudicated(
            at=now(),
            round=round_number,
            adjudication=adjudication.model_copy(update={"when": now()}),
        )
        journal.append(event)
