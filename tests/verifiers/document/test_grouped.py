"""Groups share calls and lose no claim, whatever a careless model does to its list of answers."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from document_kit import CLAIMS, LABELS, TABLE, WRONG, ask, claim, document, grouped, labels
from document_steps import StepJudge
from rule_following import passages_of

from deepfact.errors import ConfigError
from deepfact.model_records import Request
from deepfact.records import Claim, FailureReason
from deepfact.store.locate import load_version
from deepfact.verifiers.base import Context
from deepfact.verifiers.document.asking import share_of
from deepfact.verifiers.document.grouping import groups_of
from deepfact.verifiers.document.tracing import read_traces
from deepfact.verifiers.panel.verifier import ask_id

SHIPPED = Path(__file__).parents[3] / "benchmarks"
Answers = list[dict[str, Any]]


def omit(_: str, answers: Answers) -> Answers:
    return answers[:-1] if len(answers) > 1 else answers


def empty(_: str, answers: Answers) -> Answers:
    return [] if len(answers) > 1 else answers


def repeat(_: str, answers: Answers) -> Answers:
    return [*answers, answers[0]] if len(answers) > 1 else answers


def reorder(step: str, answers: Answers) -> Answers:
    return random.Random(step).sample(answers, len(answers))


def renumber(_: str, answers: Answers) -> Answers:
    if len(answers) == 1:
        return answers
    return [one | {"claim_id": str(at)} for at, one in enumerate(answers, 1)]


def shift(_: str, answers: Answers) -> Answers:
    """Every answer under the id of the next claim, as when a model skips one and goes on."""
    ids = [one["claim_id"] for one in answers]
    turned = ids[1:] + ids[:1]
    return [one | {"claim_id": name} for name, one in zip(turned, answers, strict=True)]


def reword(_: str, answers: Answers) -> Answers:
    if len(answers) == 1:
        return answers
    return [answers[0] | {"claim": answers[0]["claim"] + " Surely."}, *answers[1:]]


def invent(_: str, answers: Answers) -> Answers:
    return [*answers, answers[0] | {"claim_id": "c-0123456789ab"}]


CARELESS = [omit, empty, repeat, reorder, renumber, shift, reword, invent]


@pytest.mark.parametrize("spoil", CARELESS, ids=lambda one: one.__name__)
def test_no_claim_is_lost_and_none_gets_the_verdict_of_another(spoil: Any) -> None:
    """FIELD: kkkevinkkkkk/DeepFact: one omitted claim shifts every later verdict."""
    judge = StepJudge(TABLE, spoil)
    assert labels(ask(grouped(judge))) == LABELS
    alone = [step for step, count in judge.steps if count == 1 and step != "follow-up"]
    assert bool(alone) == (spoil not in (reorder, invent))


def test_only_the_claim_that_was_left_out_is_asked_again() -> None:
    judge = StepJudge(TABLE, lambda step, some: omit(step, some) if step == "verdict" else some)
    assert labels(ask(grouped(judge))) == LABELS
    assert [count for step, count in judge.steps if step == "verdict"] == [5, 1]


def test_a_claim_whose_answer_never_comes_fails_alone() -> None:
    """FIELD: promptfoo/promptfoo #9978: the missing ones counted as supported."""

    def never(_: str, answers: Answers) -> Answers:
        return [one for one in answers if one["claim"] != WRONG.text]

    outcomes = ask(grouped(StepJudge(TABLE, never)))
    expected = [*LABELS]
    expected[1] = "no_answer"
    assert labels(outcomes) == expected
    assert outcomes[1].detail == "document/plan: the answer leaves this claim out"


def test_a_call_that_fails_for_the_group_is_made_for_each_claim() -> None:
    """FIELD: promptfoo/promptfoo #9978: a judge that is cut off in the middle of a group."""

    class CutOff(StepJudge):
        async def complete(self, request: Request) -> Any:
            done = await super().complete(request)
            cut = self.steps[-1] == ("verdict", 5)
            return done.model_copy(update={"stop_reason": "max_tokens"}) if cut else done

    judge = CutOff(TABLE)
    assert labels(ask(grouped(judge))) == LABELS
    assert [count for step, count in judge.steps if step == "verdict"] == [5, 1, 1, 1, 1, 1]


def test_a_group_shares_what_it_costs_to_the_last_token(tmp_path: Path) -> None:
    judge = StepJudge(TABLE)
    outcomes = ask(grouped(judge, workspace=tmp_path))
    assert sum(one.usage.calls for one in outcomes) == judge.calls
    traces = read_traces(tmp_path / "traces.jsonl")
    assert {one.verifier for one in traces.values()} == {"grouped"}
    assert set(traces["m-1"].together_with) == {"m-2", "m-3", "m-4", "m-5"}
    shared = {
        (call.step, call.about, call.usage.input_tokens)
        for one in traces.values()
        for call in one.calls
    }
    assert sum(tokens for *_, tokens in shared) == sum(one.usage.input_tokens for one in outcomes)


@pytest.mark.parametrize("total", [0, 1, 4, 5, 17])
def test_shares_add_up(total: int) -> None:
    from deepfact.records import Usage

    whole = Usage(calls=1, input_tokens=total, output_tokens=total + 2, usd=0.1)
    parts = [share_of(whole, 5, place) for place in range(5)]
    assert sum(one.calls for one in parts) == 1
    assert sum(one.input_tokens for one in parts) == total
    assert sum(one.output_tokens for one in parts) == total + 2
    assert sum(one.usd or 0 for one in parts) == pytest.approx(0.1)


# --- on the shipped benchmark ------------------------------------------------------------


@pytest.fixture(scope="module")
def mini() -> tuple[Any, Any, Any]:
    version = load_version("deepfact-mini@1", SHIPPED)
    key = version.store.key("author")
    return version.claims, Context(version.sources), passages_of(version.claims, key)


def test_groups_of_five_take_at_most_035_of_the_calls_on_the_shipped_benchmark(mini: Any) -> None:
    claims, context, table = mini
    used: dict[str, int] = {}
    found: dict[str, list[str]] = {}
    for make in (document, grouped):
        judge = StepJudge(table)
        outcomes = ask(make(judge), claims, context.sources)
        used[make.__name__], found[make.__name__] = judge.calls, labels(outcomes)
        assert all(one.kind == "verdict" for one in outcomes)
    assert used["grouped"] <= 0.35 * used["document"], used
    differ = [a for a, b in zip(found["document"], found["grouped"], strict=True) if a != b]
    assert len(differ) <= 2


@pytest.mark.parametrize("spoil", [omit, repeat, reorder, renumber, shift])
def test_no_claim_of_a_report_of_the_shipped_benchmark_is_lost(mini: Any, spoil: Any) -> None:
    claims, context, table = mini
    some = claims[:20]
    plain = labels(ask(grouped(StepJudge(table)), some, context.sources))
    careless = ask(grouped(StepJudge(table, spoil)), some, context.sources)
    assert labels(careless) == plain


# --- groups ------------------------------------------------------------------------------


def alone(name: str, text: str) -> Claim:
    return Claim(id=name, text=text)


def test_claims_of_a_report_go_together_in_its_order_and_evenly() -> None:
    claims = [claim(f"a-{n}", f"Claim {n} of A.", report="A") for n in (3, 1, 2, 6, 5, 4)]
    groups = groups_of(claims, 5, "report", ask_id)
    assert [[one.id for one in some] for some in groups] == [
        ["a-1", "a-2", "a-3"], ["a-4", "a-5", "a-6"],
    ]  # fmt: skip


def test_single_claims_go_with_those_like_them_and_others_stay_alone() -> None:
    claims = [
        alone("x", "Harrow Mill was built in 1898."),
        alone("y", "Zebras graze."),
        alone("z", "Harrow Mill closed in 1931."),
    ]
    groups = groups_of(claims, 5, "report", ask_id)
    assert [[one.id for one in some] for some in groups] == [["x", "z"], ["y"]]


def test_the_same_words_twice_are_never_in_one_group() -> None:
    twins = [claim(f"a-{n}", "The same words.", report="A") for n in (1, 2)]
    groups = groups_of(twins, 5, "report", ask_id)
    assert [len(some) for some in groups] == [1, 1]
    outcomes = ask(grouped(), [*twins, WRONG])
    assert [one.claim_id for one in outcomes] == ["a-1", "a-2", "m-2"]


@pytest.mark.parametrize("by", ["report", "similar"])
@pytest.mark.parametrize("size", [1, 3, 5])
def test_every_claim_is_in_exactly_one_group(mini: Any, by: str, size: int) -> None:
    claims = mini[0]
    groups = groups_of(claims, size, by, ask_id)
    assert sorted(one.id for some in groups for one in some) == sorted(one.id for one in claims)
    assert max(map(len, groups)) <= size


def test_options_that_cannot_be() -> None:
    with pytest.raises(ConfigError, match="'by'"):
        grouped(by="luck")
    with pytest.raises(ConfigError, match="'size': 0"):
        grouped(size=0)


def test_a_group_of_one_is_the_document_verifier() -> None:
    one, other = StepJudge(TABLE), StepJudge(TABLE)
    options = {"queries": 3, "candidates": 10, "documents": 4}
    assert ask(grouped(one, size=1, **options)) == ask(document(other, **options))
    assert one.steps == other.steps
    assert FailureReason.NO_ANSWER not in labels(ask(grouped(size=1)))
    assert len(CLAIMS) == 5
