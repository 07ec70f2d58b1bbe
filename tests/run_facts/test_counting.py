"""What journals add up to: times without pauses, failures by reason, costs, latency."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from deepfact.records import (
    Abstention,
    Adjudication,
    Decision,
    Deliberation,
    FailureReason,
    Usage,
    sha256_of,
)
from deepfact.run_facts.counting import Counting, latency
from deepfact.run_records import (
    Adjudicated,
    Answered,
    ArmAnswered,
    AuditClosed,
    CodeState,
    RunResumed,
    RunStarted,
)


class Clock:
    """Events at moments, in seconds since the start."""

    def __init__(self, make: Any) -> None:
        self.make, self.counting = make, Counting()
        state = sha256_of("s")
        self.counting.event(
            RunStarted(
                at=make.WHEN, spec_hash=state, date=make.WHEN, base_version=1, base_state=state,
                code=CodeState(deepfact="0.1.0", revision="abc", dirty=True),
            )
        )  # fmt: skip

    def at(self, seconds: float) -> Any:
        return self.make.WHEN + timedelta(seconds=seconds)

    def answered(self, seconds: float, outcome: Any, verifier: str = "v") -> None:
        self.counting.event(Answered(at=self.at(seconds), verifier=verifier, outcome=outcome))

    def resumed(self, seconds: float) -> None:
        self.counting.event(RunResumed(at=self.at(seconds), code=CodeState(deepfact="0.2.0")))


@pytest.fixture
def clock(make: Any) -> Clock:
    return Clock(make)


def test_active_time_leaves_pauses_and_the_nights_between_processes_out(clock, make) -> None:
    for number in range(10):
        clock.answered(1 + number, make.verdict(f"c{number}"))
    clock.resumed(5_000)
    for number in range(10):
        clock.answered(5_002 + 2 * number, make.verdict(f"d{number}"))
    clock.answered(50_020, make.verdict("late"))  # the laptop slept
    timing = clock.counting.timing()
    assert timing.active == timing.asking == 10 + 20
    assert (timing.pauses, timing.longest_pause, timing.pause_over) == (2, 45_000, 60)
    assert timing.per_second == pytest.approx(20 / 30)
    assert (timing.last - timing.first).total_seconds() == 50_020
    assert clock.counting.started.code.revision == "abc"
    assert [one.code.deepfact for one in clock.counting.resumed] == ["0.2.0"]


def test_a_slow_run_is_not_paused(clock, make) -> None:
    for number in range(1, 11):
        clock.answered(300 * number, make.verdict(f"c{number}"))
    timing = clock.counting.timing()
    assert (timing.active, timing.pauses, timing.pause_over) == (3000, 0, 6000)
    assert timing.per_second == pytest.approx(1 / 300)


def test_a_clock_that_goes_back_takes_no_time_away(clock, make) -> None:
    clock.answered(10, make.verdict("a"))
    clock.answered(4, make.verdict("b"))
    clock.answered(6, make.verdict("c"))
    timing = clock.counting.timing()
    assert timing.active == 12 and timing.last == clock.at(10)


def test_time_that_ends_in_no_outcome_is_active_but_no_asking(clock, make) -> None:
    clock.answered(2, make.verdict("a"))
    clock.counting.event(AuditClosed(at=clock.at(12), round=1))
    timing = clock.counting.timing()
    assert (timing.active, timing.asking, timing.per_second) == (12, 2, 0.5)


def test_nothing_was_asked(make) -> None:
    assert Counting().timing() is None and Counting().asked() == ()
    timing = Clock(make).counting.timing()
    assert (timing.active, timing.per_second) == (0, None)


def test_failures_by_reason_with_an_example_that_says_something(clock, make) -> None:
    def lost(detail: str) -> Abstention:
        return Abstention(index=0, reason=FailureReason.TIMEOUT, detail=detail)

    clock.answered(1, make.failure("c1", "timeout").model_copy(update={"detail": ""}))
    clock.answered(2, make.failure("c2", "timeout").model_copy(update={"detail": "x" * 900}))
    clock.answered(3, make.verdict("c3", abstentions=(lost("late"), lost("later"))))
    clock.answered(4, make.failure("c1", "refused"), verifier="w")
    rows = clock.counting.failures()
    assert [(r.name, r.lost, r.reason, r.count, r.example) for r in rows] == [
        ("v", "claim", "timeout", 2, "c2"),
        ("v", "vote", "timeout", 2, "c3"),
        ("w", "claim", "refused", 1, "c1"),
    ]
    assert (rows[0].detail, rows[1].detail) == ("x" * 500, "late")
    asked = clock.counting.asked()
    assert [(a.name, a.outcomes, a.failures, a.abstentions) for a in asked] == [
        ("v", 3, 2, 2),
        ("w", 1, 1, 0),
    ]


def arm(clock: Clock, seconds: float, outcome: Any, repeat: int = 0, *took: float) -> None:
    clock.counting.event(
        ArmAnswered(at=clock.at(seconds), arm="a", repeat=repeat, outcome=outcome, seconds=took)
    )


def test_the_newest_outcome_counts_and_what_earlier_ones_cost_was_spent(clock, make) -> None:
    paid = Usage(calls=2, input_tokens=10, output_tokens=5, usd=0.5)
    unknown = Usage(calls=3, input_tokens=1, output_tokens=1)
    arm(clock, 1, make.failure("c1").model_copy(update={"usage": paid}), 0, 1.0, 3.0)
    arm(clock, 2, make.verdict("c1", usage=unknown), 0, 2.0)
    arm(clock, 3, make.failure("c1"), 1)
    (one,) = clock.counting.asked()
    assert (one.role, one.outcomes, one.failures, one.per_second) == ("arm", 2, 1, None)
    assert one.cost == clock.counting.cost()
    spent = one.cost
    assert (spent.calls, spent.input_tokens, spent.usd, spent.unpriced) == (5, 11, 0.5, 3)
    assert one.latency.model_dump() == {"n": 3, "median": 2.0, "p95": 3.0}
    (row,) = clock.counting.failures()
    assert row.example == "c1 (repeat 2)"


def test_agents_that_decide_are_counted_with_what_they_cost(clock) -> None:
    lost = Abstention(index=1, reason=FailureReason.REFUSED, detail="no")
    thought = Deliberation(rule="r", count="c", abstentions=(lost,), usage=Usage(calls=4, usd=1.0))
    for number, deliberation in enumerate((thought, None)):
        made = Adjudication(
            case_id=f"k{number}", auditor="agent", decision=Decision.CANNOT_TELL, rationale="so",
            deliberation=deliberation,
        )  # fmt: skip
        clock.counting.event(Adjudicated(at=clock.at(number + 1), round=1, adjudication=made))
    (one,) = clock.counting.asked()
    assert (one.role, one.outcomes, one.abstentions, one.cost.usd) == ("auditor", 2, 1, 1.0)
    assert clock.counting.timing().asking == 0
    assert clock.counting.failures()[0].example == "k0 of round 1"


@pytest.mark.parametrize(
    ("seconds", "n", "median", "p95"),
    [([3.0], 1, 3.0, 3.0), ([float(n) for n in range(1, 101)], 100, 50.5, 95.0)],
)
def test_latency(seconds, n, median, p95) -> None:
    found = latency(seconds)
    assert (found.n, found.median, found.p95) == (n, median, p95)
    assert latency([]) is None
