"""The rule, the record, the requests, and the errors of a run."""

from __future__ import annotations

import json

from panel_kit import (
    CLAIM,
    CONTEXT,
    GAAP,
    SOURCE,
    Engine,
    contradictory,
    run,
    supported,
    verdict,
)

from deepfact.core.challenge import why_inadmissible
from deepfact.prompts.library import load_prompt
from deepfact.providers.base import CallFailed
from deepfact.records import (
    Claim,
    FailureReason,
    Grounds,
    Label,
    PanelOutcome,
)
from deepfact.verifiers.panel import PanelVerifier
from deepfact.verifiers.panel.verifier import REASK, ask_id


def test_the_record_names_prompt_rule_model_and_cost() -> None:
    out = verdict(supported(), models=("m1", "m2"), votes=3)
    assert out.prompt == load_prompt("verifier/split/v1").ref
    assert out.rule.startswith("default: confirmed with at least 2")
    assert [vote.model for vote in out.votes] == ["m1", "m2", "m1"]
    assert (out.usage.calls, out.usage.input_tokens, out.usage.usd) == (3, 300, None)


def test_the_bundled_prompt_counts_a_caveat_as_a_refutation() -> None:
    answer = {
        "claim_id": ask_id(CLAIM),
        "claim": GAAP,
        "rationale": "A new standard heavily qualifies the figure.",
        "refuted": True,
        "grounds": "disputed_or_qualified",
        "evidence": [{"source": "S1", "quote": "a new revenue standard", "stance": "context"}],
    }
    out = verdict(answer, prompt="verifier/bundled/v1")
    assert (out.panel, out.label) == (PanelOutcome.REFUTED, Label.CONTRADICTORY)
    assert {vote.grounds for vote in out.votes} == {Grounds.DISPUTED_OR_QUALIFIED}
    assert "must name the part" in why_inadmissible(CLAIM, out, CONTEXT.sources)


def test_a_whole_fenced_answer_can_be_read() -> None:
    assert verdict("```json\n" + json.dumps(supported()) + "\n```").panel is PanelOutcome.CONFIRMED


def test_an_unreadable_answer_is_asked_for_again_a_bounded_number_of_times() -> None:
    engine = Engine("nonsense", again=supported())
    out = run(engine)
    assert out.panel is PanelOutcome.CONFIRMED
    assert sorted(vote for vote, _ in engine.asked) == [0, 1, 2, REASK, REASK + 1, REASK + 2]
    assert out.votes[0].usage.calls == 2
    never = Engine("nonsense", again=supported())
    assert run(never, reask=0).panel is PanelOutcome.UNVERIFIED
    assert len(never.asked) == 3


def test_early_stop_asks_no_more_than_it_takes() -> None:
    engine = Engine(supported(), supported(), contradictory())
    out = run(engine, early_stop=True)
    assert [vote for vote, _ in engine.asked] == [0, 1]
    assert (out.panel, out.flags) == (PanelOutcome.CONFIRMED, ("stopped_early:2 of 3",))
    split = Engine(supported(), contradictory(), contradictory())
    assert run(split, early_stop=True).panel is PanelOutcome.REFUTED
    assert len(split.asked) == 3


def test_early_stop_never_changes_the_outcome() -> None:
    pool = (supported(), contradictory(), CallFailed(FailureReason.TIMEOUT, "slow"))
    for a in pool:
        for b in pool:
            for c in pool:
                full = run(Engine(a, b, c))
                early = run(Engine(a, b, c), early_stop=True)
                assert full.panel is early.panel


def test_the_shared_part_comes_first_and_is_the_same_for_all_claims() -> None:
    panel = PanelVerifier("m")
    other = Claim(id="o", text="Revenue was 12.4 million.", cites=(SOURCE.id,))
    one, two = (panel.requests(claim, CONTEXT)[0][0] for claim in (CLAIM, other))
    assert one.system == two.system
    assert one.output_schema == two.output_schema
    assert GAAP not in one.system
    assert one.messages[0].content.index("<claim>") < one.messages[0].content.index("<sources>")


def test_personas_differ_in_the_prompt_and_are_kept() -> None:
    engine = Engine(supported())
    out = run(engine, personas=("You are an accountant.", "You are a lawyer."))
    assert [vote.persona for vote in out.votes] == [
        "You are an accountant.",
        "You are a lawyer.",
        "You are an accountant.",
    ]
    assert len({request.system for _, request in engine.asked}) == 2


def test_no_label_or_key_word_of_the_benchmark_reaches_the_request() -> None:
    request = PanelVerifier("m").requests(CLAIM, CONTEXT)[0][0]
    assert "fin-1" not in request.canonical()
    assert SOURCE.id not in request.canonical()
