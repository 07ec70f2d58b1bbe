"""The verification report: every step can be read in it, and data is never markup."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepfact.records import (
    Claim,
    Contradiction,
    FailureReason,
    Label,
    Outcome,
    Usage,
    Verdict,
    VerificationFailure,
)
from deepfact.reports.trace_report import (
    CostRow,
    cost_ratio,
    render_html,
    render_markdown,
    trace_report,
)
from deepfact.store.files import parse_record
from deepfact.trace_records import Trace

GOLDEN = Path(__file__).parents[1] / "golden" / "traces" / "Trace.jsonl"
EVIL = "<script>alert(1)</script> [x](javascript:alert(1)) | {{ 7*1911 }}"


def traces() -> dict[str, Trace]:
    lines = GOLDEN.read_bytes().splitlines()
    found = [parse_record(line, Trace, where="golden") for line in lines]
    return {one.claim_id: one for one in found}


def outcome(trace: Trace) -> Outcome:
    usage = Usage(calls=2, input_tokens=100, output_tokens=10, usd=0.25)
    if trace.label is None:
        return VerificationFailure(
            claim_id=trace.claim_id, reason=FailureReason.NO_ANSWER, detail="left out", usage=usage
        )
    contradictions = tuple(
        Contradiction(disputed="wrong words", source=one.source, quote=one.quote)
        for one in trace.extracts[:1]
        if trace.label is Label.CONTRADICTORY
    )
    return Verdict(
        claim_id=trace.claim_id, label=trace.label, usage=usage, contradictions=contradictions,
        rationale="E1: because",
    )  # fmt: skip


def report(found: dict[str, Trace], text: str = "A claim.", **more: Any) -> Any:
    claims = [Claim(id=name, text=text, context=text) for name in found]
    outcomes = [outcome(one) for one in found.values()]
    return trace_report("document", "mills@1", claims, outcomes, found, **more)


RENDER = [render_html, render_markdown]


@pytest.mark.parametrize("render", RENDER, ids=["html", "md"])
def test_every_step_can_be_read(render: Any) -> None:
    text = render(report(traces()))
    for words in (
        "Plan", "Searches", "follow-up 1", "Documents", "Survey of Orvel 1932", "supports",
        "not in this document", "document/verdict", "rests on Q1", "Checked together with",
        "left out", "wrong words", "no verdict",
    ):  # fmt: skip
        assert words in text, words


@pytest.mark.parametrize("render", RENDER, ids=["html", "md"])
def test_data_is_text_whatever_it_looks_like(render: Any) -> None:
    found = {}
    for name, one in traces().items():
        elements = tuple(e.model_copy(update={"text": EVIL}) for e in one.elements)
        queries = tuple(e.model_copy(update={"text": EVIL}) for e in one.queries)
        extracts = tuple(e.model_copy(update={"quote": EVIL, "says": EVIL}) for e in one.extracts)
        documents = tuple(
            e.model_copy(update={"title": EVIL, "url": "javascript:alert(1)"})
            for e in one.documents
        )
        change = {"elements": elements, "queries": queries, "extracts": extracts}
        found[name] = one.model_copy(
            update={**change, "documents": documents, "notes": (EVIL,), "failure": EVIL}
        )
    text = render(report(found, EVIL))
    assert "<script>alert" not in text
    assert render is render_html or "](javascript" not in text
    assert 'href="javascript' not in text
    assert "13377" not in text


def test_an_outcome_without_a_trace_says_so() -> None:
    one = next(iter(traces().values()))
    claim = Claim(id=one.claim_id, text="A claim.")
    for render in RENDER:
        text = render(trace_report("local", "mills@1", [claim], [outcome(one)], {}))
        assert "No trace was kept" in text


def test_cost_is_compared_on_the_claims_that_both_were_asked_about() -> None:
    found = traces()
    first = next(iter(found))
    dear = Usage(calls=8, input_tokens=400, output_tokens=40, usd=1.0)
    other = Verdict(claim_id=first, label=Label.SUPPORTED, usage=dear, verifier="dear one")
    made = report(found, against=[other])
    assert [(row.name, row.claims, row.calls) for row in made.costs] == [
        ("document", 1, 2), ("dear one", 1, 8),
    ]  # fmt: skip
    assert made.ratio == ["× 0.25"] * 4
    assert "| the first to the second | | × 0.25 |" in render_markdown(made)


def test_a_price_that_is_not_known_is_said_to_be() -> None:
    free = CostRow.of("x", [Verdict(claim_id="c", label=Label.SUPPORTED, usage=Usage(calls=1))])
    nothing = CostRow.of("y", [])
    assert free.cells() == ["1.00", "0", "0", "unknown"]
    assert nothing.cells() == ["0.00", "0", "0", "unknown"]
    assert cost_ratio(free, nothing) == ["unknown"] * 4


def test_the_reports_are_made_of_the_record_alone() -> None:
    assert render_html(report(traces())) == render_html(report(traces()))
