"""The baselines: the steps each is made of, its labels, and that a failure never becomes one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from document_kit import BUILT, CLAIMS, CLASH, SILENT, SOURCES, SURVEY, TABLE, WRONG, ask, labels
from document_steps import StepJudge

from deepfact.errors import ConfigError
from deepfact.model_records import Request
from deepfact.providers.base import CallFailed
from deepfact.records import FailureReason, Source
from deepfact.verifiers import verifier_kinds
from deepfact.verifiers.document.factcheck_gpt import FactCheckGptVerifier
from deepfact.verifiers.document.safe import SafeVerifier
from deepfact.verifiers.document.tracing import read_traces
from deepfact.verifiers.document.veriscore import VeriScoreVerifier

ALL = [SafeVerifier, VeriScoreVerifier, FactCheckGptVerifier]
FOLDER = Path(__file__).parents[3] / "deepfact" / "verifiers" / "document"
Answers = list[dict[str, Any]]


def steps(judge: StepJudge) -> list[str]:
    return [step.removeprefix("safe-").removeprefix("factcheck-gpt-") for step, _ in judge.steps]


@pytest.mark.parametrize("kind", ALL, ids=lambda one: one.kind)
def test_labels_and_reasons(kind: Any) -> None:
    outcomes = ask(kind("m", engine=StepJudge(TABLE)), [BUILT, WRONG, CLASH, SILENT])
    assert labels(outcomes) == ["supported", "contradictory", "inconclusive", "inconclusive"]
    assert outcomes[1].contradictions[0].disputed == "800 sacks"
    assert outcomes[1].contradictions[0].source == SURVEY.id
    assert outcomes[0].rule == "the worst label of its facts"
    assert all(one.rationale.startswith("E1: ") for one in outcomes)


def test_the_steps_of_each() -> None:
    used = {}
    for kind in ALL:
        judge = StepJudge(TABLE)
        ask(kind("m", engine=judge), [BUILT])
        used[kind.kind] = steps(judge)
    assert used == {
        "safe": ["split", "query", "query", "rate"],
        "veriscore": ["veriscore-extract", "veriscore-judge"],
        "factcheck-gpt": ["decompose", "checkworthy", "query", "stance", "verdict"],
    }


def test_safe_searches_again_while_it_has_not_enough_and_stops_at_its_bound() -> None:
    judge = StepJudge(TABLE)
    ask(SafeVerifier("m", engine=judge, searches=1), [SILENT])
    assert steps(judge) == ["split", "query", "rate"]

    def curious(step: str, answers: Answers) -> Answers:
        change = {"query": f"mill {len(judge.steps)}", "enough": False}
        return [one | change for one in answers] if step == "safe-query" else answers

    judge = StepJudge(TABLE, curious)
    ask(SafeVerifier("m", engine=judge, searches=4), [SILENT])
    assert steps(judge).count("query") == 4


@pytest.mark.parametrize("kind", ALL, ids=lambda one: one.kind)
def test_without_sources_there_is_no_verdict(kind: Any) -> None:
    """The originals count what no search settles as not supported; a missing source is no label."""
    assert labels(ask(kind("m", engine=StepJudge(TABLE)), [BUILT], {})) == ["no_source"]
    other = Source.create(title="Zebras", text="Zebras graze.")
    assert labels(ask(kind("m", engine=StepJudge(TABLE)), [BUILT], {other.id: other})) == [
        "no_source"
    ]


@pytest.mark.parametrize("kind", ALL, ids=lambda one: one.kind)
def test_every_step_that_fails_leaves_the_claim_without_a_verdict(kind: Any) -> None:
    for step in kind.STEPS:

        class Judge(StepJudge):
            def judge(self, request: Request) -> dict[str, Any]:
                answer = super().judge(request)
                if f"baseline/{self.steps[-1][0]}" == step:  # noqa: B023
                    raise CallFailed(FailureReason.RATE_LIMITED, "busy")
                return answer

        out = ask(kind("m", engine=Judge(TABLE)), [BUILT])[0]
        assert (out.kind, out.reason) == ("failure", FailureReason.RATE_LIMITED), step
        assert step in out.detail


@pytest.mark.parametrize("kind", ALL, ids=lambda one: one.kind)
def test_a_claim_without_a_fact_to_check_has_no_verdict(kind: Any) -> None:
    def nothing(step: str, answers: Answers) -> Answers:
        return [one | {"facts": []} if "facts" in one else one for one in answers]

    assert labels(ask(kind("m", engine=StepJudge(TABLE, nothing)), [BUILT])) == ["no_answer"]


def test_what_is_not_relevant_or_not_worth_checking_is_left_out_and_said() -> None:
    def beside(step: str, answers: Answers) -> Answers:
        change = {"safe-rate": {"relevant": False}, "factcheck-gpt-checkworthy": {
            "checkworthy": "opinion"}}  # fmt: skip
        return [one | change.get(step, {}) for one in answers]

    safe = ask(SafeVerifier("m", engine=StepJudge(TABLE, beside)), [BUILT])[0]
    assert (safe.reason, safe.flags) == (FailureReason.NO_ANSWER, ("not_relevant:E1",))
    gpt = ask(FactCheckGptVerifier("m", engine=StepJudge(TABLE, beside)), [BUILT])[0]
    assert (gpt.reason, gpt.flags) == (
        FailureReason.NO_ANSWER, ("not_checkworthy:E1:opinion",),
    )  # fmt: skip


def test_a_claim_gets_the_worst_label_of_its_facts() -> None:
    both = CLAIMS[0].model_copy(update={"text": f"{BUILT.text} {WRONG.text}"})

    class Judge(StepJudge):
        def _safe_split(self, claim: Any, page: str, request: Request) -> dict[str, Any]:
            return {"facts": [BUILT.text, WRONG.text]}

        _veriscore_extract = _factcheck_gpt_decompose = _safe_split

    for kind in ALL:
        out = ask(kind("m", engine=Judge(TABLE)), [both])[0]
        assert labels([out]) == ["contradictory"], kind.kind
        assert out.rationale.startswith("E2: "), kind.kind


@pytest.mark.parametrize("kind", ALL, ids=lambda one: one.kind)
def test_a_quote_that_is_not_there_supports_nothing(kind: Any) -> None:
    def forge(_: str, answers: Answers) -> Answers:
        for one in answers:
            for part in (*one.get("evidence", ()), *one.get("passages", ())):
                if isinstance(part, dict):
                    part["quote"] = "It was built in 1897, they say."
        return answers

    out = ask(kind("m", engine=StepJudge(TABLE, forge)), [BUILT])[0]
    assert labels([out]) != ["supported"]


def test_the_trace_tells_facts_searches_and_passages(tmp_path: Path) -> None:
    ask(VeriScoreVerifier("m", engine=StepJudge(TABLE), workspace=tmp_path), [WRONG])
    trace = read_traces(tmp_path / "traces.jsonl")["m-2"]
    assert trace.verifier == "veriscore"
    assert trace.elements[0].text == WRONG.text
    assert trace.queries[0].found[0] == SURVEY.id
    assert trace.extracts[0].quote == "Bran Mill ground 900 sacks in 1930."
    assert [one.step for one in trace.calls] == [
        "baseline/veriscore-extract", "baseline/veriscore-judge",
    ]  # fmt: skip
    assert SOURCES[trace.documents[0].source].title == trace.documents[0].title


def test_each_is_small_and_known() -> None:
    for name in ("safe", "veriscore", "factcheck_gpt"):
        assert len((FOLDER / f"{name}.py").read_text("utf-8").splitlines()) < 150
    assert {"document", "grouped", "safe", "veriscore", "factcheck-gpt"} <= set(verifier_kinds())


def test_options_that_cannot_be() -> None:
    with pytest.raises(ConfigError, match="'searches': 2 is not from 0 to 1"):
        VeriScoreVerifier("m", searches=2)
    with pytest.raises(ConfigError, match="'facts': 0"):
        SafeVerifier("m", facts=0)
