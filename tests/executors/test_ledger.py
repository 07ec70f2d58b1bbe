"""The ledger and a worker's side of it, in one process: no cluster is needed to see that limits,
budget and answers are kept for all workers together."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from deepfact.errors import ConfigError, InputError, IntegrityError, RunIncomplete
from deepfact.executors import ledger as module
from deepfact.executors.base import Bounds, build_executor, executor_kinds
from deepfact.executors.budget import Budget, BudgetSpent
from deepfact.executors.engine import Engine, Limits
from deepfact.executors.estimates import local_minutes, ray_minutes
from deepfact.executors.ledger import Ledger
from deepfact.executors.permits import Attempt, Ending
from deepfact.executors.pricing import Price
from deepfact.executors.ray.shards import MOST_LOSSES, Shards
from deepfact.executors.remote import RemoteAnswers, RemotePermits
from deepfact.executors.wire import error_of, error_text
from deepfact.model_records import Message, Request
from deepfact.providers.base import ProviderRefused
from deepfact.providers.scripted import ScriptedProvider
from deepfact.store.responses import ResponseStore

PRICE = Price(input=1000, output=1000)
ATTEMPT = Attempt(model="m", price=PRICE, input=60, output=40)


def request(number: int = 0) -> Request:
    return Request(model="m", messages=(Message(role="user", content=f"claim {number}"),))


def ledger(path: Path, *, remember: bool = False, **bounds: Any) -> Ledger:
    engines = {"e": Bounds(**bounds).canonical()}
    return Ledger(str(path / "responses.sqlite"), engines, remember=remember)


def calls_to(one: Ledger, log: list[str] | None = None) -> Any:
    """How messages travel here: at once."""

    async def call(method: str, *arguments: Any) -> Any:
        if log is not None:
            log.append(method)
        await asyncio.sleep(0)
        return await getattr(one, method)(*arguments)

    return call


def engine(one: Ledger, worker: str, provider: Any, log: list[str] | None = None) -> Engine:
    call = calls_to(one, log)
    return Engine(
        provider, RemoteAnswers(call), Limits(concurrency=8), prices={"m": PRICE},
        permits=RemotePermits(call, worker, "e"),
    )  # fmt: skip


def test_two_workers_share_answers_and_ask_once_each(tmp_path: Path) -> None:
    provider, log = ScriptedProvider.of(lambda asked: "yes", seconds=0.001), list[str]()

    async def go() -> list[str]:
        one = ledger(tmp_path, remember=True)
        async with engine(one, "w1", provider, log) as first:
            await asyncio.gather(*(first.ask(request(n)) for n in range(40)))
        async with engine(one, "w2", provider) as second:
            got = await asyncio.gather(*(second.ask(request(n)) for n in range(50)))
        assert second.usage.reused == 40 and second.usage.answered == 10
        assert {answer.text for answer in got} == {"yes"}
        used = await one.used(0)
        assert (await one.spent())["e"][0] == 50
        await one.close()
        return used

    used = asyncio.run(go())
    assert len(provider.requests) == 50
    # What can wait for each other goes together.
    assert log.count("get") < 40 and log.count("done") < 40
    with ResponseStore(tmp_path / "responses.sqlite", must_exist=True) as store:
        assert sorted(used) == [row.key for row in store.rows()]


def test_used_answers_are_told_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "USED_AT_ONCE", 3)
    provider = ScriptedProvider(answer="yes")

    async def go() -> None:
        one = ledger(tmp_path, remember=True)
        async with engine(one, "w", provider) as asking:
            await asyncio.gather(*(asking.ask(request(n)) for n in range(5)))
        assert [len(await one.used(begin)) for begin in (0, 3, 5)] == [3, 2, 0]
        await one.close()

    asyncio.run(go())


def test_no_more_calls_in_flight_than_the_limit_however_many_workers(tmp_path: Path) -> None:
    flying, most = 0, 0

    class Counting(ScriptedProvider):
        async def complete(self, request: Request) -> Any:
            nonlocal flying, most
            flying += 1
            most = max(most, flying)
            try:
                return await super().complete(request)
            finally:
                flying -= 1

    provider = Counting.of(lambda asked: "yes", seconds=0.002)

    async def go() -> None:
        one = ledger(tmp_path, limits=Limits(concurrency=3), budget=Budget(calls=30))
        engines = [engine(one, f"w{n}", provider) for n in range(4)]
        asks = [engines[n % 4].ask(request(n)) for n in range(60)]
        results = await asyncio.gather(*asks, return_exceptions=True)
        assert sum(isinstance(result, BudgetSpent) for result in results) == 30
        for each in engines:
            await each.aclose()
        await one.close()

    asyncio.run(go())
    assert most == 3 and len(provider.requests) == 30


def test_a_refusal_is_found_out_once(tmp_path: Path) -> None:
    refusing = ScriptedProvider.of(_refuse)

    async def go() -> None:
        one = ledger(tmp_path, limits=Limits(concurrency=2))
        first, second = engine(one, "w1", refusing), engine(one, "w2", refusing)
        asks = [each.ask(request(n)) for n in range(10) for each in (first, second)]
        results = await asyncio.gather(*asks, return_exceptions=True)
        assert {type(result) for result in results} == {ProviderRefused}
        assert (await one.spent())["e"][0] <= 2
        for each in (first, second):
            await each.aclose()
        await one.close()

    asyncio.run(go())
    assert len(refusing.requests) <= 2


def _refuse(asked: Request) -> str:
    raise ProviderRefused("there is no such model")


def test_a_lost_worker_gives_its_places_back_and_is_booked_at_the_most(tmp_path: Path) -> None:
    async def go() -> None:
        one = ledger(tmp_path, limits=Limits(concurrency=2), budget=Budget(usd=0.25))
        for name in ("a", "b"):
            assert await one.permit("w1", name, "e", ATTEMPT.canonical()) == ""
        waiting = asyncio.create_task(one.permit("w2", "c", "e", ATTEMPT.canonical()))
        late = asyncio.create_task(one.permit("w1", "d", "e", ATTEMPT.canonical()))
        await asyncio.sleep(0.01)
        assert not waiting.done()
        assert await one.lost("w1") == 2
        assert await waiting == "" and await late == ""
        calls, usd = (await one.spent())["e"]
        assert (calls, usd) == (3, pytest.approx(0.2))  # and "d" was never sent
        await one.done("w2", [("c", Ending(answered=True, usd=0.1).canonical())])
        await one.done("w1", [("a", Ending().canonical())])  # what a lost one says comes too late
        assert isinstance(
            error_of(await one.permit("w2", "e", "e", ATTEMPT.canonical())), BudgetSpent
        )
        assert await one.lost("w1") == 0
        await one.close()

    asyncio.run(go())


def test_a_permit_that_nobody_wants_any_more_is_not_counted(tmp_path: Path) -> None:
    async def go() -> None:
        one = ledger(tmp_path, limits=Limits(concurrency=1))
        permits = RemotePermits(calls_to(one), "w", "e")
        held = await permits.take(ATTEMPT)
        waiting = asyncio.create_task(permits.take(ATTEMPT))
        await asyncio.sleep(0.01)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        permits.ended(held, Ending(answered=True))
        permits.leave(held)
        await permits.aclose()
        assert (await one.spent())["e"][0] == 1
        again = await asyncio.wait_for(permits.take(ATTEMPT), 1)
        await one.unwanted("w", again.name)
        assert (await one.spent())["e"][0] == 1
        await one.close()

    asyncio.run(go())


def test_errors_of_the_store_come_to_who_asks(tmp_path: Path) -> None:
    provider = ScriptedProvider(answer="yes")

    async def go() -> None:
        one = ledger(tmp_path)
        async with engine(one, "w", provider) as asking:
            await asking.ask(request())
            one._store._writer.execute(  # type: ignore[union-attr]
                "UPDATE responses SET completion = substr(completion, 1, 9)"
            )
            with pytest.raises(IntegrityError, match="damaged"):
                await asking.ask(request())
        await one.close()
        none = Ledger("", {})
        with pytest.raises(ConfigError, match="needs a response store"):
            await none.put([("k", 0, request().canonical(), '{"text":"x","stop_reason":"e"}')])
        await none.lost("w")
        await none.close()

    asyncio.run(go())


def test_a_ledger_that_is_gone_leaves_the_run_incomplete() -> None:
    async def gone(method: str, *arguments: Any) -> Any:
        raise RunIncomplete("the process that keeps the answers was lost", fix="again")

    async def go() -> None:
        provider = ScriptedProvider(answer="yes")
        permits = RemotePermits(gone, "w", "e")
        async with Engine(provider, RemoteAnswers(gone), permits=permits) as asking:
            with pytest.raises(RunIncomplete, match="was lost"):
                await asking.ask(request())

    asyncio.run(go())


def test_errors_keep_their_kind_words_and_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret-of-this-test")
    for error in (
        BudgetSpent("spent", fix="more"), ProviderRefused("no"), InputError("x", where="file"),
    ):  # fmt: skip
        back = error_of(error_text(error))
        assert (type(back), str(back), back.exit_code) == (type(error), str(error), error.exit_code)

    class Own(InputError):
        def __init__(self) -> None:
            super().__init__("made otherwise")

    assert type(error_of(error_text(Own()))) is InputError
    said = error_text(ValueError("key sk-ant-secret-of-this-test was wrong"))
    assert "of-this-test" not in said and "ValueError" in str(error_of(said))


# --- shards --------------------------------------------------------------------------------


def test_shards_are_read_as_they_are_needed_and_lost_units_go_alone() -> None:
    read: list[str] = []

    def units() -> Any:
        for number in range(7):
            read.append(str(number))
            yield str(number)

    async def go() -> None:
        shards = Shards(3)
        stage = asyncio.create_task(shards.stage(units()))
        first = await shards.take(lambda: True)
        assert [unit.text for unit in first] == ["0", "1", "2"] and len(read) == 3
        assert await shards.take(lambda: False) == []
        await shards.over(first[1:])
        alone = [await shards.take(lambda: True) for _ in range(2)]
        assert [[unit.text for unit in shard] for shard in alone] == [["1"], ["2"]]
        await shards.over(alone[0][:0])
        rest = [await shards.take(lambda: True) for _ in range(2)]
        assert [len(shard) for shard in rest] == [3, 1]
        for _ in (*rest, alone[1]):
            assert not stage.done()
            await shards.over(())
        await asyncio.wait_for(stage, 1)
        waiting = asyncio.create_task(shards.take(lambda: True))
        await asyncio.sleep(0)
        await shards.close()
        assert await waiting == []

    asyncio.run(go())


def test_a_unit_that_costs_too_many_workers_is_named() -> None:
    async def go() -> None:
        shards = Shards(2)
        stage = asyncio.create_task(shards.stage(iter(["bad"])))
        for _ in range(MOST_LOSSES):
            await shards.over(await shards.take(lambda: True))
        with pytest.raises(RunIncomplete, match=r"4 workers were lost.*bad"):
            await shards.over(await shards.take(lambda: True))
        stage.cancel()

    asyncio.run(go())


# --- which executor ------------------------------------------------------------------------


def test_executors_are_named_and_checked() -> None:
    assert {"local", "ray"} <= set(executor_kinds())
    assert build_executor("local").remote is False
    with pytest.raises(ConfigError, match="did you mean 'ray'"):
        build_executor("rey")


def test_estimates() -> None:
    assert ray_minutes(0.0, 0, 4) == 0.0
    assert ray_minutes(60.0, 100, 4) == pytest.approx(60.25)  # limits hold for all together
    assert local_minutes(60.0, 100) == 60.0
    many = 60_000_000
    assert ray_minutes(1.0, many, 8) < local_minutes(1.0, many) / 7
