"""Which decisions stand: the newest of each auditor on each case, unless it was withdrawn."""

from __future__ import annotations

from datetime import UTC, datetime

from deepfact.core.standing import audit_closed, standing_adjudications, steps_taken
from deepfact.records import Adjudication, Decision
from deepfact.run_records import Adjudicated, AuditClosed, RunStarted, VersionCommitted, Withdrawn

AT = datetime(2026, 1, 2, tzinfo=UTC)
HASH = "sha256:" + "0" * 64


def made(case_id: str, who: str, why: str = "seen", round_number: int = 1) -> Adjudicated:
    decision = Adjudication(case_id=case_id, auditor=who, decision=Decision.A, rationale=why)
    return Adjudicated(at=AT, round=round_number, adjudication=decision)


def withdrawn(case_id: str, who: str) -> Withdrawn:
    return Withdrawn(at=AT, round=1, case_id=case_id, auditor=who)


def test_a_withdrawn_decision_does_not_stand_and_a_new_one_does() -> None:
    start = RunStarted(at=AT, spec_hash=HASH, date=AT, base_version=1, base_state=HASH)
    events = [start, made("x", "ada"), made("x", "ben"), made("y", "ada", round_number=2)]
    assert list(standing_adjudications(events)) == [
        (1, "x", "ada"), (1, "x", "ben"), (2, "y", "ada"),
    ]  # fmt: skip
    events.append(withdrawn("x", "ada"))
    assert (1, "x", "ada") not in standing_adjudications(events)
    assert (1, "x", "ben") in standing_adjudications(events)
    events.append(made("x", "ada", "seen again"))
    assert standing_adjudications(events)[1, "x", "ada"].rationale == "seen again"


def test_withdrawing_what_was_never_decided_changes_nothing() -> None:
    assert standing_adjudications([withdrawn("x", "ada")]) == {}


def test_steps_count_decisions_and_withdrawals_of_one_auditor_on_one_case() -> None:
    events = [made("x", "ada"), made("x", "ben"), withdrawn("x", "ada"), made("y", "ada")]
    assert steps_taken(events, (1, "x", "ada")) == 2
    assert steps_taken(events, (1, "x", "ben")) == 1
    assert steps_taken(events, (2, "x", "ada")) == 0


def test_a_round_is_closed_by_going_on_from_its_decisions() -> None:
    assert not audit_closed([made("x", "ada")], 1)
    closed = AuditClosed(at=AT, round=1)
    assert audit_closed([closed], 1) and not audit_closed([closed], 2)
    older = VersionCommitted(at=AT, round=1, version=2, state_hash=HASH)
    assert audit_closed([older], 1)
