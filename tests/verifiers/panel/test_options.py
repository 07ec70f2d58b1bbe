"""Errors that concern the run, options that cannot be, and what is never shown."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from panel_kit import (
    CLAIM,
    CONTEXT,
    GAAP,
    SOURCE,
    Engine,
    run,
    supported,
)

from deepfact import plugins
from deepfact.errors import ConfigError, RunIncomplete
from deepfact.prompts.library import load_prompt
from deepfact.providers.base import ProviderRefused
from deepfact.records import (
    FailureReason,
    Outcome,
    PanelOutcome,
    Source,
    SourceRole,
)
from deepfact.verifiers.base import Context
from deepfact.verifiers.panel import PanelVerifier


def test_a_refused_key_stops_the_run() -> None:
    with pytest.raises(ProviderRefused):
        run(Engine(ProviderRefused("bad key")))


def test_missing_answers_are_raised_after_every_vote_was_asked_for() -> None:
    engine = Engine(RunIncomplete("not stored"), supported(), supported())
    with pytest.raises(RunIncomplete):
        run(engine)
    assert len(engine.asked) == 3


def test_what_stops_the_run_comes_before_what_leaves_it_incomplete() -> None:
    with pytest.raises(ProviderRefused):
        run(Engine(RunIncomplete("not stored"), ProviderRefused("bad key"), supported()))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prompt": "verifier/spilt"}, "did you mean"),
        ({"votes": 0}, "'votes'"),
        ({"votes": 1}, "can never reach"),
        ({"rule": "majority?"}, "unknown panel rule"),
        ({"checks": {"quotes": "flag"}}, "did you mean 'quote'"),
        ({"checks": {"quote": "ignore"}}, "neither 'abstain' nor 'flag'"),
        ({"reask": -1}, "'reask'"),
        ({"source_chars": 10}, "source_chars"),
    ],
)
def test_options_that_cannot_be(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        PanelVerifier("m", **options)
    assert caught.value.exit_code == 2


def test_a_prompt_with_a_missing_variable_costs_no_call(tmp_path) -> None:
    text = load_prompt("verifier/split/v1").text
    path = tmp_path / "verifier" / "mine" / "v1.md"
    path.parent.mkdir(parents=True)
    text = text.replace("name: verifier/split", "name: verifier/mine")
    path.write_text(text.replace("{{sources}}", ""), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"\{\{sources\}\} is missing"):
        PanelVerifier("m", prompt="verifier/mine/v1", prompt_folder=str(tmp_path))


def test_without_engine_provider_or_store_the_message_says_what_to_write() -> None:
    for options, message in (
        ({}, "needs a provider"),
        ({"provider": {"kind": "scripted"}}, "needs a response store"),
        ({"provider": {"kind": "x", "option": {}}, "responses": "r.db"}, "unknown key 'option'"),
    ):
        with pytest.raises(ConfigError, match=message):
            asyncio.run(PanelVerifier("m", **options).verify(CLAIM, CONTEXT))


def test_an_engine_of_its_own_answers_through_the_response_store(tmp_path) -> None:
    options = {"answer": json.dumps(supported())}
    panel = PanelVerifier(
        "m",
        provider={"kind": "scripted", "options": options},
        responses=str(tmp_path / "responses.sqlite"),
    )

    async def both() -> Outcome:
        try:
            return await panel.verify(CLAIM, CONTEXT)
        finally:
            await panel.aclose()

    assert asyncio.run(both()).panel is PanelOutcome.CONFIRMED
    replay = PanelVerifier(
        "m",
        provider={"kind": "scripted", "options": {"answer": "never asked"}},
        responses=str(tmp_path / "responses.sqlite"),
        replay=True,
    )
    panel = replay
    assert asyncio.run(both()).panel is PanelOutcome.CONFIRMED


def test_a_claim_without_any_source_is_a_failure_and_costs_nothing() -> None:
    engine = Engine(supported())
    gone = CLAIM.model_copy(update={"cites": ("sha256:" + "0" * 64,)})
    out = run(engine, claim=gone, context=Context({}), search=0)
    assert (out.reason, engine.asked) == (FailureReason.NO_SOURCE, [])
    assert out.flags == (f"cited_source_missing:{gone.cites[0]}",)


def test_generated_text_is_never_shown() -> None:
    report = Source.create(title="Report", text=GAAP, role=SourceRole.GENERATED)
    claim = CLAIM.model_copy(update={"cites": (report.id, SOURCE.id)})
    panel = PanelVerifier("m")
    context = Context({SOURCE.id: SOURCE, report.id: report})
    content = panel.requests(claim, context)[0][0].messages[0].content
    assert content.count(GAAP) == 1  # the claim itself
    assert "S2" not in content


def test_a_spec_of_plain_yaml_values_makes_a_panel() -> None:
    """What a config holds: lists and mappings, no objects of ours."""
    options = {
        "model": "m",
        "provider": {"kind": "scripted", "options": {"answer": "x"}},
        "personas": ["You are an accountant."],
        "checks": {"coverage": "abstain"},
        "limits": {"concurrency": 4},
        "budget": {"calls": 10},
        "prices": {"m": {"input": 1.0, "output": 2.0}},
    }
    table = {"panel": "deepfact.verifiers.panel:PanelVerifier"}
    panel = plugins.build("deepfact.verifiers", table, "panel", options)
    assert isinstance(panel, PanelVerifier)
    with pytest.raises(ConfigError, match="did you mean 'personas'"):
        plugins.build("deepfact.verifiers", table, "panel", options | {"persona": []})
    with pytest.raises(ConfigError, match="'engine'"):
        plugins.build("deepfact.verifiers", table, "panel", options | {"engine": "fast"})
