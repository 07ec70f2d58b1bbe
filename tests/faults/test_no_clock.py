"""A clock that goes back, or stands still: order is that of the lines, never that of the times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from deepfact import review
from deepfact.records import Adjudication, Decision
from deepfact.review import decide, open_desk, withdraw
from deepfact.round import resume, run_rounds
from deepfact.run_records import AuditorSpec, RoundSpec, RunStatus, VerifierSpec
from deepfact.running.run_state import run_status
from deepfact.store import journal as journals
from deepfact.store.journal import read_events
from deepfact.store.ledger import LedgerStore, read_ledger, read_lines
from deepfact.store.ledger_records import QuestionSet

RUN = Path("run")


class Backwards:
    """A clock that shows a day less at each look."""

    def __init__(self) -> None:
        self.time = datetime(2026, 6, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.time -= timedelta(days=1)
        return self.time


@pytest.fixture
def backwards(monkeypatch: pytest.MonkeyPatch) -> Backwards:
    from deepfact import round as rounds
    from deepfact.running import code_state, hearing, run_state

    clock = Backwards()
    for module in (journals, review, rounds, code_state, hearing, run_state):
        monkeypatch.setattr(module, "now", clock)
    return clock


def test_a_round_under_a_clock_that_goes_back_ends_as_under_any_other(
    desk: Path, backwards: Backwards
) -> None:
    spec = RoundSpec(
        name="trial", benchmark="small@1", challenger=VerifierSpec(kind="quoting"),
        auditors=("ada",), commit_to="run", date=datetime(2026, 1, 5, tzinfo=UTC),
    )  # fmt: skip
    person = (AuditorSpec(name="ada", kind="human"),)
    begun = run_rounds(spec, RUN, auditors=person)
    assert begun.status is RunStatus.PENDING
    cases = open_desk(RUN, "ada").waiting
    for case in cases:
        made = Adjudication(
            case_id=case.id, auditor="ada", decision=Decision.A, rationale=f"because of {case.id}"
        )
        decide(RUN, 1, made)
    # The last word counts, although its time is the earliest of all.
    withdraw(RUN, 1, cases[0].id, "ada", why="a slip", after=1)
    assert [case.id for case in open_desk(RUN, "ada").waiting] == [cases[0].id]
    last = Adjudication(
        case_id=cases[0].id, auditor="ada", decision=Decision.B, rationale="after all"
    )
    decide(RUN, 1, last)
    desk_now = open_desk(RUN, "ada")
    assert desk_now.made[cases[0].id].rationale == "after all"
    assert resume(RUN).status is RunStatus.COMPLETE
    assert run_status(RUN).complete
    times = [event.at for event in read_events(RUN / "journal.jsonl")]
    assert len(times) > 60
    assert max(times[1:]) < times[0], "every line is older than the first"


def test_a_ledger_keeps_the_order_in_which_things_were_said(tmp_path: Path) -> None:
    clock = Backwards()
    with LedgerStore(tmp_path) as store:
        for question in ("first", "second", "last"):
            store.add([QuestionSet(question=question)], who="a", when=clock())
    assert read_ledger(tmp_path).question == "last"
    assert [line.number for line in read_lines(tmp_path)] == [1, 2, 3]


def test_a_version_may_be_older_than_its_parent(tmp_path: Path, make: Any) -> None:
    store = make.store(tmp_path / "small")
    store.commit(
        [make.relabel("c1")], parent=1, author="a", date=make.WHEN - timedelta(days=900), note="n"
    )
    assert store.versions() == [1, 2] == [store.manifest(n).version for n in (1, 2)]
    assert [number for number, _ in store.history("c1", 2)] == [1, 2]
