"""The arithmetic of the scaling model. No time is measured here."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from scaling_model import (
    CALIBRATION,
    CONSTANTS,
    PLANS,
    Constants,
    Plan,
    Prices,
    dollars,
    fitted,
    seconds,
    tables,
    throughput,
    turn,
)

MACHINE = Constants(cpu=0.002, hold=0.0, burst=0.5, startup=1.0, machine="made up")
DOCS = Path(__file__).parents[2] / "docs" / "scaling.md"


def test_one_call_at_a_time_takes_its_latency_and_its_work() -> None:
    assert throughput(MACHINE, 0.05, 1) == pytest.approx(1 / 0.052)


def test_throughput_grows_with_calls_in_flight_up_to_what_the_process_can_do() -> None:
    rates = [throughput(MACHINE, 0.05, count) for count in (1, 10, 100, 1000)]
    assert rates == sorted(rates)
    assert rates[1] < 10 / 0.052  # calls wait for each other
    assert rates[3] == pytest.approx(1 / MACHINE.cpu, rel=0.02)


def test_work_and_waiting_that_hide_each_other_take_the_longer_and_else_their_sum() -> None:
    hidden, apart = replace(MACHINE, burst=0.0), replace(MACHINE, burst=1.0)
    assert turn(hidden, 0.1, 50) == pytest.approx(0.102)
    assert turn(apart, 0.1, 50) == pytest.approx(0.2)


def test_the_constants_are_found_again_from_the_turns_that_they_give() -> None:
    known = Constants(cpu=0.0012, hold=0.008, burst=0.4, startup=0.0)
    turns = [turn(known, latency, count) for count, latency, _, _ in CALIBRATION]
    assert fitted(turns) == pytest.approx((0.0012, 0.008, 0.4), rel=0.01)


@pytest.mark.parametrize(
    ("change", "longer"),
    [
        ({"requests_a_minute": 60.0}, True),
        ({"failures": 0.5}, True),
        ({"latency": 20.0}, True),
        ({"workers": 4}, False),
        ({"concurrency": 400}, False),
    ],
)
def test_what_makes_a_run_longer(change: dict[str, float], longer: bool) -> None:
    plan = Plan("plain")
    before = seconds(MACHINE, plan, 100_000)
    assert (seconds(MACHINE, replace(plan, **change), 100_000) > before) is longer


def test_a_rate_limit_is_the_floor() -> None:
    plan = Plan("limited", workers=64, requests_a_minute=6000)
    assert seconds(MACHINE, plan, 600_000) == pytest.approx(6000 + MACHINE.startup)


def test_batches_take_whole_turns_and_half_the_price() -> None:
    plan = Plan("batches", batch_hours=24, batch_size=100_000, batches_at_once=10)
    assert seconds(MACHINE, plan, 1_000_000) == 24 * 3600
    assert seconds(MACHINE, plan, 1_000_001) == 48 * 3600
    live, prices = Plan("live"), Prices()
    assert dollars(plan, prices, 1000) == dollars(live, prices, 1000) / 2
    assert dollars(live, prices, 1_000_000) == pytest.approx(1500 * 3 + 300 * 15)


def test_the_page_holds_the_tables_of_the_committed_constants() -> None:
    constants = Constants(**json.loads(CONSTANTS.read_text(encoding="utf-8")))
    made = tables(constants)
    assert made.count("\n|") == len(PLANS) + 2
    assert made in DOCS.read_text(encoding="utf-8"), "run: python tests/perf/scaling_model.py"
