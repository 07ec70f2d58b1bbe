"""What a plan says is what the run then does; what it cannot know it says it does not."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from deepfact.errors import ConfigError, InputError
from deepfact.experiment import RESPONSES
from deepfact.experiment_records import AbSpec
from deepfact.model_records import Completion
from deepfact.plan import Plan, plan_experiment, plan_round
from deepfact.run_records import RoundSpec
from deepfact.running.arms import build_arms
from deepfact.running.claim_set import load_claims
from deepfact.store.responses import ResponseStore

PRICES = {"m": {"input": 2.0, "output": 10.0}}


def spec(claims: int = 4, repeat: int = 1, **options: Any) -> AbSpec:
    base = {"provider": {"kind": "anthropic"}, "model": "m", "max_tokens": 1000}
    return AbSpec.model_validate(
        {
            "name": "planned", "benchmark": "small@1", "select": {"limit": claims},
            "repeat": repeat,
            "verifier": {"kind": "panel", "options": {**base, **options}},
            "arms": [
                {"name": "bundled", "options": {"prompt": "verifier/bundled/v1"}},
                {"name": "split", "options": {"prompt": "verifier/split/v1"}},
            ],
        }
    )  # fmt: skip


def plan(what: AbSpec, folder: str = "run", **options: Any) -> Plan:
    return plan_experiment(what, Path(folder), **options)


def requests_of(what: AbSpec) -> list[tuple[Any, int]]:
    claims = load_claims(what)
    return [
        one
        for arm in build_arms(what.verifiers())
        for claim in claims.claims
        for one in arm.prompted.requests(claim, claims.context)
    ]


def answer(what: AbSpec, count: int, tokens: int = 200) -> None:
    """Store answers to the first so many requests."""
    with ResponseStore(Path("run") / RESPONSES) as store:
        for request, vote in requests_of(what)[:count]:
            store.put(request, vote, Completion(text="x", output_tokens=tokens))


def test_calls_are_counted_by_arm_vote_and_repeat(desk: Path) -> None:
    assert plan(spec(4)).calls == 4 * 3 * 2
    assert plan(spec(4, repeat=5, votes=1, rule="single")).calls == 4 * 2 * 5
    assert not Path("run").exists()


def test_stored_answers_are_not_counted_again(desk: Path) -> None:
    what = spec(4)
    answer(what, 7)
    found = plan(what)
    assert found.calls == 24 - 7
    assert found.arms[0].answered == 7
    assert found.arms[0].output_from == "mean of the stored answers"
    assert found.arms[0].output_tokens == 5 * 200


def test_cost_is_tokens_times_price_and_without_answers_an_upper_bound(desk: Path) -> None:
    found = plan(spec(4, prices=PRICES))
    arm = found.arms[0]
    assert arm.output_tokens == 12 * 1000
    assert "at most" in arm.output_from
    characters = sum(
        len(request.system) + len(request.messages[0].content)
        for request, _ in requests_of(spec(4))[:12]
    )
    assert arm.input_tokens == pytest.approx(characters / 4, rel=0.1)
    assert arm.usd == pytest.approx((arm.input_tokens * 2 + arm.output_tokens * 10) / 1e6, rel=1e-3)
    assert found.usd == pytest.approx(sum(one.usd for one in found.arms))


def test_an_unknown_price_is_unknown_and_never_zero(desk: Path) -> None:
    found = plan(spec(2))
    assert found.usd is None
    assert found.usd_batched is None
    assert found.arms[0].unpriced == ("m",)


def test_batches_are_half_price_where_the_public_list_says_so(desk: Path) -> None:
    found = plan(spec(2, model="claude-sonnet-4-5"))
    assert 0 < found.usd_batched < found.usd


def test_time_is_set_by_the_tightest_limit(desk: Path) -> None:
    free = plan(spec(4, limits={"concurrency": 12}), seconds_per_call=10.0)
    assert free.minutes == pytest.approx(24 * 10 / 12 / 60)
    slow = plan(spec(4, limits={"concurrency": 12, "requests_per_minute": 2}))
    assert slow.minutes == pytest.approx(12)


def test_a_plan_fails_as_the_run_would(desk: Path) -> None:
    with pytest.raises(ConfigError, match="astrology"):
        plan(
            spec().model_copy(
                update={"select": spec().select.model_copy(update={"domains": ("astrology",)})}
            )
        )
    with pytest.raises(InputError, match="no such export"):
        plan(spec().model_copy(update={"responses": ("none.jsonl",)}))


def test_verifiers_of_rounds_can_be_planned(desk: Path) -> None:
    panel = {"kind": "panel", "options": {"provider": {"kind": "anthropic"}, "model": "m"}}
    what = RoundSpec.model_validate(
        {"name": "r", "benchmark": "small@1", "challenger": panel, "auditors": ["simulated-expert"]}
    )
    found = plan_round(what)
    assert found.calls == 60 * 3
    local = plan_round(
        what.model_copy(update={"challenger": RoundSpec.model_fields["challenger"].default})
    )
    assert local.calls == 0
    assert not local.arms[0].prompted


def test_nothing_is_asked(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("a plan opened an event loop")

    monkeypatch.setattr(asyncio, "run", never)
    assert plan(spec(3)).calls == 18
