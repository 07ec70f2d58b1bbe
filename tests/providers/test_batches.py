"""The Message Batches API over loopback: submit, poll, resume, collect in any order."""

from __future__ import annotations

import asyncio
import json
from collections import Counter

import pytest
from messages_server import Faults, MessagesServer

from deepfact.executors.engine import Budget, BudgetSpent, Engine, Price
from deepfact.model_records import Completion, Message, Request
from deepfact.providers.base import AnswerPending, ProviderRefused
from deepfact.providers.messages import custom_id
from deepfact.providers.registry import ProviderSpec, build_provider
from deepfact.records import FailureReason


def request(number: int) -> Request:
    return Request(model="m", messages=(Message(role="user", content=f"claim {number}"),))


def echo(body) -> str:
    return json.dumps({"echo": body["messages"][0]["content"]})


def engine_for(server, store, budget=None, prices=None, **options):
    quick = {"base_url": server.url, "poll_seconds": 0.02, "gather_seconds": 0.02}
    spec = ProviderSpec(kind="batches", options={**quick, **options})
    return Engine(build_provider(spec), store, budget=budget, prices=prices)


def run(engine, numbers, stop_after=None):
    """One run; ``stop_after`` abandons it after so many seconds, as a kill would."""

    async def ask():
        asks = [asyncio.ensure_future(engine.ask(request(number))) for number in numbers]
        if stop_after is None:
            async with engine:
                return await asyncio.gather(*asks, return_exceptions=True)
        await asyncio.sleep(stop_after)
        engine._provider.aclose = engine._provider._api.aclose  # a kill closes nothing properly
        await engine.aclose()
        for one in asks:
            one.cancel()
        return await asyncio.gather(*asks, return_exceptions=True)

    return asyncio.run(ask())


def test_a_batch_is_submitted_polled_and_collected_out_of_order(store):
    with MessagesServer(echo, batch_polls=3) as server:
        answers = run(engine_for(server, store), range(20))
        assert [json.loads(one.text)["echo"] for one in answers] == [
            f"claim {number}" for number in range(20)
        ]
        assert len(server.batches) == 1
        assert server.batches["msgbatch_0"]["polls"] >= 3
        assert store.count_batches() == 0
        assert run(engine_for(server, store), range(20)) == answers
        assert len(server.batches) == 1


def test_many_requests_are_split(store):
    with MessagesServer(echo) as server:
        answers = run(engine_for(server, store, most_requests=8), range(20))
        assert all(isinstance(one, Completion) for one in answers)
        assert sorted(len(one["requests"]) for one in server.batches.values()) == [4, 8, 8]


def test_a_killed_run_takes_up_its_batch(store):
    with MessagesServer(echo, batch_polls=10_000) as server:
        run(engine_for(server, store), range(5), stop_after=0.3)
        assert len(server.batches) == 1
        assert store.count_batches() == 1
        assert len(store) == 0
        server.batch_polls = 1
        # The resumed run also has two requests that are new.
        answers = run(engine_for(server, store), range(7))
        assert all(isinstance(one, Completion) for one in answers)
        assert [len(one["requests"]) for one in server.batches.values()] == [5, 2]
        assert store.count_batches() == 0


def test_without_waiting_the_run_is_pending(store):
    with MessagesServer(echo, batch_polls=2) as server:
        engine = engine_for(server, store, wait=False)
        answers = run(engine, range(3))
        assert [type(one) for one in answers] == [AnswerPending] * 3
        assert len(engine.pending) == 3
        assert store.count_batches() == 1
        answers = run(engine_for(server, store, wait=False), range(3))
        assert [type(one) for one in answers] == [Completion] * 3
        assert len(server.batches) == 1


def test_expired_errored_and_missing_entries_abstain_and_are_submitted_again(store):
    fates = dict(zip(range(4), ("expired", "errored", "canceled", "missing"), strict=True))
    by_id = {custom_id(request(number).key()): fate for number, fate in fates.items()}
    with MessagesServer(echo, batch_outcome=lambda one: by_id.get(one, "succeeded")) as server:
        answers = run(engine_for(server, store), range(6))
        assert [getattr(one, "reason", None) for one in answers] == [
            FailureReason.EXPIRED,
            FailureReason.ERROR,
            FailureReason.EXPIRED,
            FailureReason.NO_ANSWER,
            None,
            None,
        ]
        by_id.clear()
        answers = run(engine_for(server, store), range(6))
        assert all(isinstance(one, Completion) for one in answers)
        assert [len(one["requests"]) for one in server.batches.values()] == [6, 4]


def test_a_batch_that_is_gone_abstains_and_is_submitted_again(store):
    with MessagesServer(echo, batch_polls=10_000) as server:
        run(engine_for(server, store), range(2), stop_after=0.3)
        server.batches.clear()
        server.batch_polls = 1
        answers = run(engine_for(server, store), range(2))
        assert [one.reason for one in answers] == [FailureReason.EXPIRED] * 2
        assert all(isinstance(one, Completion) for one in run(engine_for(server, store), range(2)))


@pytest.mark.parametrize("fault", ["401", "400", "404"])
def test_a_submission_that_cannot_succeed_stops_the_run(store, fault):
    with MessagesServer(echo, faults=Faults(always=fault)) as server:
        answers = run(engine_for(server, store), range(5))
        assert {type(one) for one in answers} == {ProviderRefused}
        assert server.calls == 1


def test_a_busy_provider_is_asked_again(store):
    with MessagesServer(echo, faults=Faults(script=["429-after", "529"])) as server:
        answers = run(engine_for(server, store), range(3))
        assert all(isinstance(one, Completion) for one in answers)
        assert server.calls == 3


def test_a_budget_in_dollars_holds_for_what_is_submitted_at_once(store):
    prices = {"m": Price(input=0.0, output=1000.0)}  # 1,024 tokens at most: $1.024 each
    with MessagesServer(echo) as server:
        engine = engine_for(server, store, budget=Budget(usd=5.0), prices=prices)
        answers = run(engine, range(10))
        sent = sum(len(batch["requests"]) for batch in server.batches.values())
        assert sent == 4
        kinds = Counter(type(one) for one in answers)
        assert kinds == {Completion: 4, BudgetSpent: 6}
