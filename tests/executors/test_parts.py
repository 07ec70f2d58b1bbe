"""The parts of the engine on their own, with a clock that stands still."""

from __future__ import annotations

import asyncio
import random

import pytest
from pydantic import ValidationError

from deepfact.errors import ConfigError
from deepfact.executors.budget import Account, Budget, BudgetSpent
from deepfact.executors.gate import Gate
from deepfact.executors.limits import Limits, backoff
from deepfact.executors.pace import Pace
from deepfact.executors.pricing import Price, PriceList
from deepfact.executors.progress import EngineUsage, Progress
from deepfact.model_records import Completion
from deepfact.providers.openai import OpenAIProvider


class StillClock:
    """Time passes only by sleeping."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


def gate(concurrency: int) -> tuple[Gate, StillClock]:
    clock = StillClock()
    return Gate(concurrency, clock=clock, sleep=clock.sleep), clock


# --- gate --------------------------------------------------------------------------------


def test_places_are_given_in_order_and_given_back():
    async def run() -> list[str]:
        doors, _ = gate(1)
        order: list[str] = []

        async def call(name: str) -> None:
            await doors.enter()
            order.append(name)
            await asyncio.sleep(0)
            doors.leave()

        await asyncio.gather(*[call(name) for name in "abc"])
        assert doors.in_flight == 0
        return order

    assert asyncio.run(run()) == ["a", "b", "c"]


def test_one_who_gives_up_waiting_takes_no_place():
    async def run() -> None:
        doors, _ = gate(1)
        await doors.enter()
        waiting = [asyncio.create_task(doors.enter()) for _ in range(2)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.sleep(0)
        doors.leave()
        await waiting[1]
        assert doors.in_flight == 1
        # Let in and cancelled in the same breath: the place goes back.
        third = asyncio.create_task(doors.enter())
        await asyncio.sleep(0)
        doors.leave()
        third.cancel()
        await asyncio.wait([third])
        assert doors.in_flight == 0

    asyncio.run(run())


def test_overload_cuts_once_a_round_trip_and_success_restores():
    async def run() -> None:
        doors, _ = gate(16)
        tickets = [await doors.enter() for _ in range(16)]
        for ticket in tickets:
            doors.overloaded(ticket, None)
        assert doors.bound == 12.0
        for _ in range(16):
            doors.leave()
        for _ in range(20):
            doors.overloaded(await doors.enter(), None)
            doors.leave()
        assert doors.bound == 1.0
        for _ in range(200):
            doors.succeeded()
        assert doors.bound == 16.0

    asyncio.run(run())


def test_two_overloads_in_a_row_hold_everybody_back():
    async def run() -> None:
        doors, clock = gate(4)
        ticket = await doors.enter()
        doors.overloaded(ticket, 30.0)
        await doors.enter()
        assert clock.now == 100.0  # one may be chance
        doors.overloaded(ticket, 30.0)
        await doors.enter()
        assert clock.now == 130.0

    asyncio.run(run())


# --- pace, backoff -----------------------------------------------------------------------


def test_a_pace_lets_a_burst_through_and_then_keeps_to_the_rate():
    clock = StillClock()
    pace = Pace(60.0, burst_seconds=2.0, clock=clock, sleep=clock.sleep)

    async def times() -> list[float]:
        found = []
        for _ in range(6):
            await pace.take(1)
            found.append(clock.now - 100.0)
        return found

    assert asyncio.run(times()) == [0.0, 0.0, 0.0, 1.0, 2.0, 3.0]


def test_an_estimate_is_set_right():
    clock = StillClock()
    pace = Pace(60.0, burst_seconds=0.0, clock=clock, sleep=clock.sleep)

    async def run() -> float:
        await pace.take(10)
        pace.settle(-8)
        await pace.take(1)
        return clock.now - 100.0

    assert asyncio.run(run()) == 2.0


def test_backoff_grows_has_jitter_and_a_ceiling_and_obeys_retry_after():
    limits = Limits(backoff=1.0, max_backoff=10.0)
    draw = random.Random(0)
    for attempt, span in [(1, 1.0), (2, 2.0), (4, 8.0), (9, 10.0), (60, 10.0)]:
        waits = {backoff(limits, attempt, None, draw) for _ in range(50)}
        assert len(waits) > 40
        assert span / 2 <= min(waits) <= max(waits) <= span
    assert 30.0 <= backoff(limits, 1, 30.0, draw) <= 31.0


@pytest.mark.parametrize("field", ["concurrency", "attempts", "timeout", "requests_per_minute"])
def test_limits_of_nothing_are_refused(field):
    with pytest.raises(ValidationError):
        Limits(**{field: 0})


# --- money -------------------------------------------------------------------------------


def test_an_account_in_calls():
    account = Account(Budget(calls=2))
    account.start("m", price=None)
    account.start("m", price=None)
    with pytest.raises(BudgetSpent, match="2 calls"):
        account.start("m", price=None)
    assert account.calls == 2


def test_an_account_in_dollars_counts_what_is_set_aside():
    price = Price(input=1, output=1)
    account = Account(Budget(usd=1.0))
    account.start("m", price=price, at_most=0.7)
    with pytest.raises(BudgetSpent):
        account.start("m", price=price, at_most=0.7)
    account.finish(0.2, answered=True, at_most=0.7)
    account.start("m", price=price, at_most=0.7)
    assert account.total == pytest.approx(0.2)


def test_a_dollar_budget_of_nothing_allows_nothing():
    with pytest.raises(BudgetSpent):
        Account(Budget(usd=0.0)).start("m", price=Price(input=1, output=1))


def test_a_dollar_budget_without_a_price_is_a_mistake():
    with pytest.raises(ConfigError, match="'mystery'"):
        Account(Budget(usd=1.0)).start("mystery", price=None)


ANSWER = Completion(
    text="x", input_tokens=1000, output_tokens=100, cache_read_tokens=500, cache_write_tokens=200
)


def test_a_price_counts_every_kind_of_token():
    price = Price(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)
    expected = (1000 * 3.0 + 100 * 15.0 + 500 * 0.3 + 200 * 3.75) / 1e6
    assert price.of(ANSWER) == pytest.approx(expected)
    assert Price(input=1.0, output=0.0).of(ANSWER) == pytest.approx(1700 / 1e6)


def test_listed_prices_include_caching_and_batches():
    live = PriceList(provider="anthropic").of("claude-sonnet-4-5")
    batch = PriceList(provider="anthropic", batch=True).of("claude-sonnet-4-5")
    assert live is not None
    assert batch is not None
    assert live.output > live.input > 0
    assert live.cache_read == pytest.approx(live.input / 10)
    assert live.cache_write == pytest.approx(live.input * 1.25)
    assert batch.input == pytest.approx(live.input / 2)


def test_an_override_wins_and_an_unlisted_model_has_no_price():
    mine = Price(input=1.0, output=2.0)
    prices = PriceList({"claude-sonnet-4-5": mine}, provider="anthropic")
    assert prices.of("claude-sonnet-4-5") is mine
    assert prices.of("a-model-of-my-own") is None
    assert prices.cost("a-model-of-my-own", ANSWER) is None


def test_a_model_on_this_machine_is_not_priced_by_its_name():
    local = OpenAIProvider(base_url="http://127.0.0.1:8080/v1")
    assert PriceList(provider=local.price_provider).of("gpt-4o") is None
    assert PriceList(provider=OpenAIProvider().price_provider).of("gpt-4o") is not None


# --- progress ----------------------------------------------------------------------------


def test_a_line_of_progress():
    line = Progress(
        done=120, failed=2, reused=20, total=1000, in_flight=9, rate=35.14, usd=0.416, eta=25.0
    ).line()
    assert line == "120/1000 done, 2 failed, 35.1/s, $0.42, 25 s to go"


def test_usage_as_a_record_counts_cached_tokens_as_input():
    usage = EngineUsage(calls=3, usd=None)
    usage.add(ANSWER)
    record = usage.record()
    assert (record.calls, record.input_tokens, record.output_tokens) == (3, 1700, 100)
    assert record.usd is None
