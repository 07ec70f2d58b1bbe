"""What the engine tells of its calls, against a real server on loopback that fails as planned."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from messages_server import Faults, MessagesServer

from deepfact import telemetry
from deepfact.executors.engine import Engine, Limits, Price
from deepfact.executors.local import run_verifier
from deepfact.model_records import Completion, Message, Request
from deepfact.providers.anthropic import AnthropicProvider
from deepfact.providers.base import CallFailed
from deepfact.records import FailureReason, Label, Verdict

FAST = Limits(concurrency=4, attempts=3, backoff=0.01, max_backoff=0.02)


class Remembers:
    """Keeps events, and calls that are over."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.calls: list[Any] = []
        self.claims: list[Any] = []

    def began(self, scope: Any, /) -> None:
        pass

    def ended(self, scope: Any, /) -> None:
        {"call": self.calls, "claim": self.claims}.get(scope.kind, []).append(scope)

    def told(self, event: Any, /) -> None:
        self.events.append(event)

    def close(self) -> None:
        pass

    def named(self, name: str) -> list[dict[str, Any]]:
        return [dict(one.fields) for one in self.events if one.name == name]


@pytest.fixture
def listener():
    telemetry.listen(listening := Remembers())
    yield listening
    telemetry.close()


def ask(store, faults: list[str], limits: Limits = FAST, **options: Any) -> Any:
    turn = Message(role="user", content="The mill was built in 1898.")
    request = Request(model="m", system="judge", messages=(turn,), max_tokens=77)

    async def run() -> Any:
        with MessagesServer(faults=Faults(script=faults)) as server:
            provider = AnthropicProvider(base_url=server.url)
            async with Engine(provider, store, limits, **options) as engine:
                with telemetry.scope("claim", "c1"):
                    try:
                        return await engine.ask(request)
                    except CallFailed as failure:
                        return failure

    return asyncio.run(run())


def test_an_answer_after_two_failures_is_one_call_with_three_attempts(store, listener) -> None:
    prices = {"m": Price(input=1.0, output=10.0, cache_read=0.1)}
    assert isinstance(ask(store, ["429", "500"], prices=prices), Completion)
    failed = listener.named("call_failed")
    assert [(one["reason"], one["status"], one["attempt"], one["of"]) for one in failed] == [
        ("rate_limited", 429, 1, 3),
        ("error", 500, 2, 3),
    ]
    assert all(0 < one["wait"] <= 0.02 and one["seconds"] > 0 for one in failed)
    (answered,) = listener.named("call_answered")
    assert (answered["attempt"], answered["usd"]) == (3, pytest.approx(305e-6))
    (call,) = listener.calls
    assert call.lineage == {"claim": "c1", "call": "m"} and call.error is None
    assert call.seconds >= sum(one["seconds"] + one["wait"] for one in failed)
    told = {name: value for name, value in call.fields.items() if value is not None}
    assert told == {
        "provider": "anthropic", "model": "m", "max_tokens": 77, "output_type": "text",
        "attempts": 3, "answered": True, "response_model": "m", "stop_reason": "end_turn",
        "input_tokens": 150, "output_tokens": 20, "cache_read": 50, "usd": answered["usd"],
    }  # fmt: skip
    assert "mill" not in repr([one.fields for one in listener.events])


def test_a_call_that_is_given_up_says_so(store, listener) -> None:
    found = ask(store, ["500"] * 3)
    assert isinstance(found, CallFailed)
    assert [one["wait"] is None for one in listener.named("call_failed")] == [False, False, True]
    assert listener.named("call_answered") == []
    (call,) = listener.calls
    assert call.error is found and "answered" not in call.fields


def test_an_answer_of_no_use_is_a_failed_call_that_was_answered(store, listener) -> None:
    assert ask(store, ["refusal"]).reason is FailureReason.REFUSED
    (failed,) = listener.named("call_failed")
    assert (failed["reason"], failed["answered"], failed["model"]) == ("refused", True, "m")
    (event,) = [one for one in listener.events if one.name == "call_failed"]
    assert event.lineage["claim"] == "c1"
    assert len(listener.named("call_answered")) == 1


def test_an_answer_from_the_store_is_no_call(store, listener) -> None:
    ask(store, [])
    listener.calls.clear()
    listener.events.clear()
    assert isinstance(ask(store, ["500"] * 9), Completion)
    assert listener.calls == listener.events == []


class Careful:
    """Supports some claims, breaks at others."""

    async def verify(self, claim: Any, context: Any) -> Verdict:
        if claim.id == "c2":
            raise TimeoutError("no answer")
        return Verdict(claim_id=claim.id, label=Label.SUPPORTED)


class Plain(Careful):
    """The same, without waiting."""

    def verify(self, claim: Any, context: Any) -> Verdict:  # type: ignore[override]
        return asyncio.run(super().verify(claim, context))


class Batch:
    """All at once; it forgets one."""

    def verify_all(self, claims: Any, context: Any) -> list[Verdict]:
        return [Verdict(claim_id=one.id, label=Label.SUPPORTED) for one in claims if one.id != "c2"]


class Grouped(Careful):
    """Claims in pairs."""

    def groups(self, claims: Any) -> list[Any]:
        return [claims[:2], claims[2:]]

    async def verify_group(self, claims: Any, context: Any) -> list[Verdict]:
        return [Verdict(claim_id=one.id, label=Label.SUPPORTED) for one in claims if one.id != "c2"]


@pytest.mark.parametrize(
    ("verifier", "reason", "scopes"),
    [
        (Careful(), "timeout", ["c0", "c1", "c2"]),
        (Plain(), "timeout", ["c0", "c1", "c2"]),
        (Batch(), "no_answer", []),
        (Grouped(), "no_answer", ["c0", "c2"]),
    ],
)
def test_every_claim_is_told_of_once_whatever_the_verifier(
    verifier, reason, scopes, make, listener
) -> None:
    claims = [make.claim(f"c{n}") for n in range(3)]
    with telemetry.scope("verifier", "v"):
        assert len(list(run_verifier(verifier, claims, None, name="v"))) == 3
    done = {one["claim"]: one for one in listener.named("claim_done")}
    assert len(listener.named("claim_done")) == 3
    assert (done["c0"]["outcome"], done["c0"]["label"]) == ("verdict", "supported")
    assert (done["c2"]["outcome"], done["c2"]["reason"]) == ("failure", reason)
    assert all(one.lineage["verifier"] == "v" for one in listener.events)
    assert sorted(one.name for one in listener.claims) == scopes
