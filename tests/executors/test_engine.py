"""The engine against a real server on loopback: faults, limits, budget, resume, replay."""

from __future__ import annotations

import asyncio
import time
from collections import Counter

import pytest
from messages_server import Faults, MessagesServer

from deepfact.errors import ConfigError, RunIncomplete
from deepfact.executors.engine import (
    Budget,
    BudgetSpent,
    Engine,
    Limits,
    Price,
    ReplayMissing,
)
from deepfact.model_records import Completion, Message, Request
from deepfact.providers.anthropic import AnthropicProvider
from deepfact.providers.base import CallFailed, ProviderRefused
from deepfact.providers.scripted import ScriptedProvider
from deepfact.records import FailureReason
from deepfact.store.responses import ResponseStore

FAST = Limits(concurrency=50, backoff=0.01, max_backoff=0.05)
PRICES = {"m": Price(input=1.0, output=10.0, cache_read=0.1)}


def request(number: int = 0, **fields) -> Request:
    turn = Message(role="user", content=f"claim {number}")
    return Request(**{"model": "m", "system": "judge", "messages": (turn,), **fields})


def ask_all(engine: Engine, requests, votes=(0,)):
    """Every answer or error, in order; the engine is closed."""

    async def run():
        async with engine:
            asks = [engine.ask(one, vote) for one in requests for vote in votes]
            return await asyncio.gather(*asks, return_exceptions=True)

    return asyncio.run(run())


def engine_for(server: MessagesServer, store: ResponseStore, limits=FAST, **options) -> Engine:
    return Engine(AnthropicProvider(base_url=server.url), store, limits, **options)


SHARES = {"429": 0.05, "429-after": 0.05, "529": 0.05, "malformed": 0.02}


def test_every_request_is_answered_under_faults(store):
    # 17 % of the 1,000 first requests fail, as does no later one: 1,170 is the least possible.
    faults = Faults(shares=SHARES, first=1000, retry_after=0.02)
    with MessagesServer(faults=faults, latency=0.002, keep=False) as server:
        answers = ask_all(engine_for(server, store), [request(n) for n in range(1000)])
    assert Counter(type(answer) for answer in answers) == {Completion: 1000}
    assert server.calls == 1170
    assert server.calls <= 1200
    assert len(store) == 1000


def test_no_request_is_wasted_when_retries_fail_too(store):
    faults = Faults(shares=SHARES, deck=100, retry_after=0.02)
    with MessagesServer(faults=faults, latency=0.002, keep=False) as server:
        engine = engine_for(server, store)
        answers = ask_all(engine, [request(n) for n in range(300)])
    assert Counter(type(answer) for answer in answers) == {Completion: 300}
    assert server.calls == 300 + sum(server.served[name] for name in SHARES)
    assert engine.usage.retries == server.calls - 300
    assert engine.usage.failed == 0


@pytest.mark.parametrize("fault", ["drop", "truncate", "500"])
def test_broken_connections_and_server_errors_are_tried_again(store, fault):
    with MessagesServer(faults=Faults(script=[fault])) as server:
        (answer,) = ask_all(engine_for(server, store), [request()])
    assert isinstance(answer, Completion)
    assert server.calls == 2


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("429", FailureReason.RATE_LIMITED),
        ("529", FailureReason.RATE_LIMITED),
        ("500", FailureReason.ERROR),
        ("drop", FailureReason.ERROR),
        ("malformed", FailureReason.UNREADABLE),
    ],
)
def test_when_all_calls_fail_all_are_abstentions(store, fault, reason):
    limits = FAST.model_copy(update={"attempts": 3})
    with MessagesServer(faults=Faults(always=fault)) as server:
        engine = engine_for(server, store, limits)
        answers = ask_all(engine, [request(n) for n in range(20)])
    assert [type(answer) for answer in answers] == [CallFailed] * 20
    assert {answer.reason for answer in answers} == {reason}
    assert server.calls == 60
    assert len(store) == 0
    assert engine.usage.failures == {reason: 20}


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("400", "rejects the request"),
        ("401", "API key"),
        ("403", "may not do this"),
        ("404", "does not know this model"),
    ],
)
def test_what_cannot_succeed_stops_the_run_at_once(store, fault, says):
    limits = FAST.model_copy(update={"concurrency": 4})
    with MessagesServer(faults=Faults(always=fault), latency=0.01) as server:
        answers = ask_all(engine_for(server, store, limits), [request(n) for n in range(100)])
    assert {type(answer) for answer in answers} == {ProviderRefused}
    assert server.calls <= 4  # those in flight; no retry, and nothing after the first answer
    assert answers[0].exit_code == 2
    assert says in str(answers[0])
    assert "'m'" in str(answers[0])


def test_an_unknown_model_is_named(store):
    with MessagesServer(models={"other"}) as server:
        (answer,) = ask_all(engine_for(server, store), [request()])
    assert isinstance(answer, ProviderRefused)
    assert "'m'" in str(answer)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [("refusal", FailureReason.REFUSED), ("max_tokens", FailureReason.TRUNCATED)],
)
def test_a_refusal_or_a_cut_off_answer_abstains_and_is_paid_for_once(store, fault, reason):
    with MessagesServer(faults=Faults(always=fault)) as server:
        for _ in range(2):
            engine = engine_for(server, store)
            (answer,) = ask_all(engine, [request()])
            assert isinstance(answer, CallFailed)
            assert answer.reason is reason
            assert answer.completion is not None
            assert answer.completion.output_tokens == 20
            assert engine.usage.failures == {reason: 1}
    assert server.calls == 1


def test_a_slow_answer_times_out(store):
    limits = Limits(timeout=1.0, attempts=2, backoff=0.01)
    with MessagesServer(faults=Faults(always="slow", slow=3.0)) as server:
        (answer,) = ask_all(engine_for(server, store, limits), [request()])
    assert isinstance(answer, CallFailed)
    assert answer.reason is FailureReason.TIMEOUT
    assert server.calls == 2


def test_retry_after_is_obeyed(store):
    with MessagesServer(faults=Faults(script=["429-after"], retry_after=0.4)) as server:
        ask_all(engine_for(server, store), [request()])
    first, second = server.times
    assert second - first >= 0.4


def test_a_wait_that_is_too_long_is_given_up(store):
    limits = FAST.model_copy(update={"max_retry_after": 5.0})
    with MessagesServer(faults=Faults(always="429-after", retry_after=3600)) as server:
        (answer,) = ask_all(engine_for(server, store, limits), [request()])
    assert isinstance(answer, CallFailed)
    assert server.calls == 1


def test_the_bound_on_calls_in_flight_holds(store):
    limits = FAST.model_copy(update={"concurrency": 7})
    with MessagesServer(latency=0.01) as server:
        ask_all(engine_for(server, store, limits), [request(n) for n in range(60)])
    assert server.most_in_flight == 7


def test_an_overloaded_provider_is_asked_less(store):
    """A server that takes 5 calls at once: the bound comes down to about that."""
    limits = FAST.model_copy(update={"concurrency": 64, "attempts": 50})
    with MessagesServer(latency=0.01) as server:
        server.faults.next = lambda: "529" if server.in_flight > 5 else ""  # type: ignore
        answers = ask_all(engine_for(server, store, limits), [request(n) for n in range(300)])
    assert all(isinstance(answer, Completion) for answer in answers)
    # Without giving way, each of the 300 would fail some 64 / 5 times.
    assert server.served["529"] < 600


def test_a_used_up_quota_is_waited_for(store):
    from datetime import UTC, datetime, timedelta

    limits = FAST.model_copy(update={"concurrency": 1})
    with MessagesServer() as server:
        reset = datetime.now(UTC) + timedelta(seconds=1.2)
        server.reply_headers = {
            "anthropic-ratelimit-requests-remaining": "0",
            "anthropic-ratelimit-requests-reset": reset.isoformat(),
        }
        began = time.time()
        ask_all(engine_for(server, store, limits), [request(1), request(2)])
    assert server.times[1] - server.times[0] > 0.1
    assert time.time() >= began + 0.5


def sent_at(store, limits: Limits, count: int) -> list[float]:
    """When the engine sends so many requests; each answer uses 100 tokens in."""
    times: list[float] = []

    def answer(_: Request) -> Completion:
        times.append(time.monotonic())
        return Completion(text="yes", input_tokens=100)

    ask_all(Engine(ScriptedProvider.of(answer), store, limits), [request(n) for n in range(count)])
    return times


def test_the_rate_of_requests_holds(store):
    limits = FAST.model_copy(update={"requests_per_minute": 60 * 40.0})
    times = sent_at(store, limits, 80)
    assert len(times) == 80
    # 80 at 40 a second, of which one second's worth may come at once.
    assert times[-1] - times[0] >= 0.95


def test_the_rate_of_tokens_holds(store):
    # Estimates are far too low here, and are set right by what was used.
    limits = FAST.model_copy(update={"concurrency": 1, "input_tokens_per_minute": 60 * 1000.0})
    times = sent_at(store, limits, 22)
    assert times[-1] - times[0] >= 0.9


def test_a_budget_in_calls_is_never_passed(store):
    with MessagesServer(latency=0.002) as server:
        engine = engine_for(server, store, budget=Budget(calls=30))
        answers = ask_all(engine, [request(n) for n in range(100)])
        assert server.calls == 30
        assert Counter(type(answer) for answer in answers) == {Completion: 30, BudgetSpent: 70}
        spent = next(answer for answer in answers if isinstance(answer, BudgetSpent))
        assert spent.exit_code == 3
        assert spent.reason is FailureReason.BUDGET
        ask_all(engine_for(server, store), [request(n) for n in range(100)])
        assert server.calls == 100  # resumed: nothing is paid for twice


def test_a_budget_in_dollars_is_passed_by_no_more_than_what_is_in_flight(store):
    each = (100 * 1.0 + 20 * 10.0 + 50 * 0.1) / 1e6
    limits = FAST.model_copy(update={"concurrency": 5})
    with MessagesServer(latency=0.002) as server:
        budget = Budget(usd=each * 20)
        engine = engine_for(server, store, limits, budget=budget, prices=PRICES)
        answers = ask_all(engine, [request(n) for n in range(100)])
    assert 20 <= server.calls <= 25
    assert engine.usage.usd == pytest.approx(each * server.calls)
    assert sum(isinstance(answer, BudgetSpent) for answer in answers) == 100 - server.calls


def test_a_budget_in_dollars_needs_a_price(store):
    with MessagesServer() as server:
        engine = engine_for(server, store, budget=Budget(usd=1.0))
        (answer,) = ask_all(engine, [request(model="no-such-model")])
    assert isinstance(answer, ConfigError)
    assert "no-such-model" in str(answer)
    assert server.calls == 0


def test_an_unknown_price_is_unknown(store):
    with MessagesServer() as server:
        engine = engine_for(server, store)
        ask_all(engine, [request(model="no-such-model")])
    assert engine.usage.usd is None
    assert "unknown price" in engine.now().line()


def test_a_rerun_asks_nothing_and_gets_the_same(store):
    requests = [request(n) for n in range(50)]
    with MessagesServer() as server:
        first = ask_all(engine_for(server, store), requests, votes=(0, 1))
        engine = engine_for(server, store)
        second = ask_all(engine, requests, votes=(0, 1))
    assert server.calls == 100
    assert first == second
    assert engine.usage.reused == 100
    assert engine.usage.usd == 0.0


def test_the_same_request_at_once_is_sent_once(store):
    with MessagesServer(latency=0.01) as server:
        answers = ask_all(engine_for(server, store), [request()] * 10)
    assert server.calls == 1
    assert len({answer.canonical() for answer in answers}) == 1


def test_another_model_prompt_schema_or_vote_is_another_key():
    base = request()
    keys = {
        base.key(),
        base.key(1),
        request(1).key(),
        request(model="n").key(),
        request(system="judge!").key(),
        request(output_schema={"type": "object"}).key(),
        request(temperature=0.0).key(),
    }
    assert len(keys) == 7


def test_replay_calls_nobody_and_names_what_is_missing(store):
    with MessagesServer() as server:
        ask_all(engine_for(server, store), [request(n) for n in range(5)])
        engine = engine_for(server, store, replay=True)
        answers = ask_all(engine, [request(n) for n in range(8)])
        assert server.calls == 5
    assert Counter(type(answer) for answer in answers) == {Completion: 5, ReplayMissing: 3}
    assert sorted(engine.missing) == sorted(request(n).key() for n in (5, 6, 7))
    with pytest.raises(RunIncomplete, match="3 answers are missing") as caught:
        engine.raise_if_incomplete()
    assert caught.value.exit_code == 3
    assert min(engine.missing) in str(caught.value)


def test_an_answer_is_stored_before_it_is_returned(store, tmp_path):
    async def run() -> None:
        async with Engine(ScriptedProvider(answer="yes"), store) as engine:
            await engine.ask(request())
            with ResponseStore(tmp_path / "responses.sqlite") as other:
                assert other.get(request().key()) is not None

    asyncio.run(run())


def test_a_third_partys_exception_costs_one_vote(store):
    provider = ScriptedProvider.of([ValueError("a bug"), "fine"])
    answers = ask_all(Engine(provider, store, Limits(concurrency=1)), [request(1), request(2)])
    assert isinstance(answers[0], CallFailed)
    assert answers[0].reason is FailureReason.ERROR
    assert "ValueError: a bug" in str(answers[0])
    assert answers[1].text == "fine"


def test_progress_counts_up_and_ends_at_the_total(store):
    seen = []
    provider = ScriptedProvider.of(lambda _: "yes")
    engine = Engine(provider, store, progress=seen.append, expected=20, prices=PRICES)
    ask_all(engine, [request(n) for n in range(20)])
    assert [one.done for one in seen] == list(range(1, 21))
    assert seen[-1].eta == 0.0
    assert seen[-1].line().startswith("20/20 done, 0 failed, ")


def test_asking_a_closed_engine_is_a_bug(store):
    engine = Engine(ScriptedProvider(answer="yes"), store)
    asyncio.run(engine.aclose())
    with pytest.raises(RuntimeError, match="closed"):
        asyncio.run(engine.ask(request()))
