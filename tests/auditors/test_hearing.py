"""How a round asks auditors of any make: plain or coroutines, one after another or at once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from deepfact.auditors.policy import PolicyAuditor
from deepfact.errors import DeepFactError, RunIncomplete
from deepfact.records import Adjudication, Case
from deepfact.round import run_rounds
from deepfact.run_records import AuditorSpec, RoundSpec, RunRecord, RunStatus, VerifierSpec

PLAIN = PolicyAuditor.adjudicate


def run() -> RunRecord:
    spec = RoundSpec(
        name="trial", benchmark="small@1", challenger=VerifierSpec(kind="quoting"),
        auditors=("expert",), seed=5, commit_to="run", date="2026-01-05T00:00:00Z",
    )  # fmt: skip
    return run_rounds(spec, Path("run"), auditors=(AuditorSpec(name="expert", kind="policy"),))


def made(record: RunRecord) -> dict[str, Adjudication]:
    assert record.status is RunStatus.COMPLETE
    return {one.case_id: one for one in record.rounds[0].adjudications}


def test_a_coroutine_is_asked_about_many_cases_at_once_and_decides_the_same(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, most = 0, 0

    async def adjudicate(self: PolicyAuditor, case: Case) -> Adjudication:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.001)
        now -= 1
        return PLAIN(self, case)

    plain = made(run())
    (desk / "run").rename(desk / "plain")
    monkeypatch.setattr(PolicyAuditor, "adjudicate", adjudicate)
    assert made(run()) == plain
    assert 1 < most <= 8


def test_a_plain_function_may_hand_back_a_coroutine(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def later(self: PolicyAuditor, case: Case) -> Adjudication:
        return PLAIN(self, case)

    monkeypatch.setattr(PolicyAuditor, "adjudicate", lambda self, case: later(self, case))
    assert len(made(run())) > 20


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("side A", "'expert' returned str, not an adjudication"),
        (ZeroDivisionError("nothing left"), "'expert' failed: ZeroDivisionError: nothing left"),
        (DeepFactError("the judge is ill"), "the judge is ill"),
    ],
)
def test_one_that_breaks_stops_the_run_and_is_asked_again(
    desk: Path, monkeypatch: pytest.MonkeyPatch, waits: bool, answer: Any, words: str
) -> None:
    asked: list[str] = []

    def plain(self: PolicyAuditor, case: Case) -> Any:
        asked.append(case.id)
        if len(asked) == 6:
            if isinstance(answer, Exception):
                raise answer
            return answer
        return PLAIN(self, case)

    async def coroutine(self: PolicyAuditor, case: Case) -> Any:
        await asyncio.sleep(0)
        return plain(self, case)

    monkeypatch.setattr(PolicyAuditor, "adjudicate", coroutine if waits else plain)
    with pytest.raises(DeepFactError, match=words):
        run()
    first = len(set(asked))
    assert len(made(run())) > first
    assert len(asked) - len(set(asked)) <= (8 if waits else 1)


def test_what_is_still_owed_holds_nobody_else_up(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def adjudicate(self: PolicyAuditor, case: Case) -> Adjudication:
        asked.append(case.id)
        if len(asked) < 4:
            raise RunIncomplete("the batch is not back", fix="come back later")
        return PLAIN(self, case)

    monkeypatch.setattr(PolicyAuditor, "adjudicate", adjudicate)
    with pytest.raises(RunIncomplete, match=r"3 of \d+ decisions of agents are not there yet"):
        run()
    cases = len(asked)
    assert len(made(run())) == cases and len(asked) == cases + 3
