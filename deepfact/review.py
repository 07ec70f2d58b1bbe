"""Cases that wait for a person: what the terminal, the audit page and file exchange show and take.

Shows blind cases only. A decision is in the run's journal, on disk, before `decide` or `hand_in`
returns. What is decided is never overwritten: it is withdrawn, by an event of its own and only
until the round goes on, and decided again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from deepfact.auditors.specs import panels_of, people
from deepfact.core.sitting import Sitting, sittings
from deepfact.core.standing import audit_closed, standing_adjudications, steps_taken
from deepfact.errors import InputError, ResultsExistError, did_you_mean
from deepfact.records import Adjudication, Case
from deepfact.round import who_decides
from deepfact.run_records import (
    Adjudicated,
    AuditorSpec,
    CaseOpened,
    JournalEvent,
    SavedSpec,
    Withdrawn,
)
from deepfact.running.run_state import Stage, stages_of
from deepfact.store.files import read_record
from deepfact.store.journal import Journal, now, read_events
from deepfact.transfer_records import TRANSFER

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Desk:
    """What one auditor has before them in the current round."""

    auditor: AuditorSpec
    round: int
    cases: tuple[Case, ...]
    """All that are theirs, decided or not, in the order of the docket."""
    made: Mapping[str, Adjudication]
    """Their standing decisions by case id."""
    closed: bool = False
    """The round has gone on from its decisions."""
    asks_kind: bool = False
    """A decision also says what ails the side decided against: in transfer runs."""

    @property
    def waiting(self) -> tuple[Case, ...]:
        """Their cases that are still to decide."""
        return tuple(case for case in self.cases if case.id not in self.made)

    @property
    def decided(self) -> int:
        """How many they have decided."""
        return len(self.made)


class Receipt(StrEnum):
    """What became of a decision, or of taking one back. All but ``kept`` changed nothing."""

    KEPT = "kept"
    """It is on disk."""
    AGAIN = "again"
    """The very same stood already: it was handed in twice."""
    STALE = "stale"
    """This auditor has decided or withdrawn in the meantime, in another window perhaps."""
    TAKEN = "taken"
    """Another auditor of a shared queue has decided the case."""
    CLOSED = "closed"
    """The round has gone on from its decisions."""
    NOT_YOURS = "not_yours"
    """No such case is before this auditor."""


def open_desk(folder: Path, auditor: str = "") -> Desk:
    """The cases of a run that are a person's.

    Args:
        folder: the run's.
        auditor: whose; may be left out when only one person audits.

    Raises:
        InputError: no run there, or no such person.
    """
    saved = read_record(folder / "spec.json", SavedSpec)
    return desk_of(saved, read_events(folder / "journal.jsonl"), auditor, where=str(folder))


def people_of(saved: SavedSpec, events: Sequence[JournalEvent]) -> tuple[AuditorSpec, ...]:
    """The people who audit the current round of a run, those on panels among them."""
    stage = _stage(saved, _round(events))
    return people(stage.auditors)


def desk_of(
    saved: SavedSpec, events: Sequence[JournalEvent], auditor: str = "", *, where: str = ""
) -> Desk:
    """As `open_desk`, from a spec and a journal that are read already."""
    number = _round(events)
    stage = _stage(saved, number)
    person = _person(people_of(saved, events), auditor, where)
    mine = [
        one
        for one in _sittings(stage, events, number)
        if one.seats(person.name)
        and (person.name in one.made or person.name in one.asked(stage.policy))
    ]
    made = {one.case.id: one.made[person.name] for one in mine if person.name in one.made}
    closed = audit_closed(events, number)
    asks_kind = saved.spec.challenger.kind == TRANSFER
    return Desk(person, number, tuple(one.case for one in mine), made, closed, asks_kind)


def source_ids(case: Case) -> tuple[str, ...]:
    """The sources of a case: those that the claim cites, then those that a side names. They are
    numbered in this order wherever a case is shown, so a case always has the same numbers."""
    ids = list(case.claim.cites)
    for side in (case.a, case.b):
        ids += [contradiction.source for contradiction in side.contradictions]
        ids += [evidence.source for evidence in side.evidence]
        ids += [note.source for note in side.qualifications if note.source]
    return tuple(dict.fromkeys(ids))


def decide(folder: Path, round_number: int, adjudication: Adjudication) -> None:
    """Keep a person's decision.

    Raises:
        InputError: nobody of that name has this case before them, or they have decided it already.
        ResultsExistError: another process is writing to the run right now.
    """
    receipt = hand_in(folder, round_number, adjudication)
    who, case_id = adjudication.auditor, adjudication.case_id
    if receipt is not Receipt.KEPT:
        raise InputError(why_not(receipt, who, case_id), where=str(folder))


def why_not(receipt: Receipt, auditor: str, case_id: str) -> str:
    """Why a decision was not kept, in a sentence without a full stop."""
    return {
        Receipt.KEPT: "it was kept",
        Receipt.AGAIN: f"{auditor} has decided case {case_id} already",
        Receipt.STALE: f"{auditor} has decided case {case_id} already",
        Receipt.TAKEN: f"another auditor has decided case {case_id} already",
        Receipt.CLOSED: "the round has gone on from its decisions",
        Receipt.NOT_YOURS: f"no case {case_id!r} waits for {auditor}",
    }[receipt]


def hand_in(
    folder: Path, round_number: int, adjudication: Adjudication, *, after: int | None = None
) -> Receipt:
    """Keep a person's decision, or say why not.

    Args:
        folder: the run's.
        round_number: the round that the case is of.
        adjudication: the decision; ``when`` is filled in.
        after: how many decisions and withdrawals of this auditor on this case the decision was
            made in sight of, see `deepfact.core.standing.steps_taken`; unchecked when None.

    Raises:
        InputError: the auditor is no person of this round.
        ResultsExistError: another process is writing to the run right now.
    """
    saved = read_record(folder / "spec.json", SavedSpec)
    with Journal(folder) as journal:
        return _hand_in(saved, journal, round_number, adjudication, after)


def hand_in_all(
    folder: Path, round_number: int, adjudications: Sequence[Adjudication]
) -> list[Receipt]:
    """As `hand_in`, for several decisions, one after the other."""
    saved = read_record(folder / "spec.json", SavedSpec)
    with Journal(folder) as journal:
        return [_hand_in(saved, journal, round_number, made, None) for made in adjudications]


def _hand_in(
    saved: SavedSpec,
    journal: Journal,
    round_number: int,
    adjudication: Adjudication,
    after: int | None,
) -> Receipt:
    made = (round_number, adjudication.case_id, adjudication.auditor)
    if refused := _refused(saved, journal, made):
        return refused
    stands = standing_adjudications(journal.events).get(made)
    if stands is not None:
        return Receipt.AGAIN if _same(stands, adjudication) else Receipt.STALE
    if after is not None and after != steps_taken(journal.events, made):
        return Receipt.STALE
    kept = adjudication.model_copy(update={"when": now()})
    journal.append(Adjudicated(at=now(), round=round_number, adjudication=kept))
    return Receipt.KEPT


def patiently(write: Callable[[], T], seconds: float) -> T:
    """What ``write`` returns, as soon as no other process is writing to the run.

    Raises:
        ResultsExistError: one still is after so many seconds.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            return write()
        except ResultsExistError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


def withdraw(
    folder: Path, round_number: int, case_id: str, auditor: str, *, why: str, after: int
) -> Receipt:
    """Take a person's decision back, until the round goes on.

    Args:
        why: the reason they give.
        after: as for `hand_in`.

    Raises:
        InputError: the auditor is no person of this round.
        ResultsExistError: another process is writing to the run right now.
    """
    saved = read_record(folder / "spec.json", SavedSpec)
    with Journal(folder) as journal:
        made = (round_number, case_id, auditor)
        if refused := _refused(saved, journal, made):
            return refused
        stands = made in standing_adjudications(journal.events)
        if not stands or after != steps_taken(journal.events, made):
            return Receipt.STALE
        reason = why.strip() or "no reason recorded"
        event = Withdrawn(
            at=now(), round=round_number, case_id=case_id, auditor=auditor, why=reason
        )
        journal.append(event)
    return Receipt.KEPT


def _refused(saved: SavedSpec, journal: Journal, made: tuple[int, str, str]) -> Receipt | None:
    """Why nothing may be written about a case by an auditor, whatever it is."""
    number, case_id, auditor = made
    if audit_closed(journal.events, number):
        return Receipt.CLOSED
    desk = desk_of(saved, journal.events, auditor, where=str(journal.folder))
    if number != desk.round:
        return Receipt.NOT_YOURS
    if case_id in {case.id for case in desk.cases}:
        return None
    for one in _sittings(_stage(saved, number), journal.events, number):
        if one.case.id == case_id and one.seats(auditor):
            return Receipt.TAKEN
    return Receipt.NOT_YOURS


def _same(one: Adjudication, other: Adjudication) -> bool:
    apart = {"when": None, "seconds": None}
    return one.model_copy(update=apart) == other.model_copy(update=apart)


def _round(events: Sequence[JournalEvent]) -> int:
    return max((event.round for event in events if isinstance(event, CaseOpened)), default=1)


def _stage(saved: SavedSpec, number: int) -> Stage:
    return stages_of(saved.spec, saved.auditors)[number - 1]


def _sittings(stage: Stage, events: Sequence[JournalEvent], number: int) -> list[Sitting]:
    panels = panels_of(stage.auditors)
    return sittings(events, number, panels, lambda event, at: who_decides(event, at, stage))


def _person(people: Sequence[AuditorSpec], auditor: str, where: str) -> AuditorSpec:
    names = [spec.name for spec in people]
    if not people:
        raise InputError("no person audits this round", where=where)
    if not auditor and len(people) > 1:
        raise InputError(
            "several people audit this round", where=where,
            fix=f"say who you are with --auditor: {', '.join(names)}",
        )  # fmt: skip
    person = next((spec for spec in people if spec.name == (auditor or names[0])), None)
    if person is None:
        raise InputError(
            f"no person of this round is called {auditor!r}", where=where,
            fix=did_you_mean(auditor, names),
        )  # fmt: skip
    return person
