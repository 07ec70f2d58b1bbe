"""JUnit XML and Markdown of a regression check: well-formed whatever is in the data."""

from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt

from deepfact.core import regress
from deepfact.core.compare import ALL, flips, groups_of, outcome_rates, paired_difference
from deepfact.experiment_records import AskedClaim
from deepfact.records import (
    Abstention,
    Claim,
    Contradiction,
    FailureReason,
    Grounds,
    Label,
    PanelOutcome,
    Qualification,
    QualificationKind,
    Verdict,
    VerificationFailure,
    Vote,
)
from deepfact.regression_records import Asking, BaselineHeader, RegressRecord, RegressSpec, Shortage
from deepfact.reports.junit import ANSWERS, render_junit
from deepfact.reports.regress_report import (
    cost_words,
    headline,
    outcome_lines,
    render_regress_markdown,
    report_lines,
)

HOSTILE = (
    "]]> <b>&amp; \x00\x08\x1b[31mred\x1b[0m \ufffe \u202eevil | `code` [link](http://x) # head"
)
HASH = f"sha256:{'0' * 64}"


def vote(index: int, refutes: bool, why: str) -> Vote:
    return Vote(
        index=index,
        label=Label.CONTRADICTORY if refutes else Label.SUPPORTED,
        refutes=refutes,
        grounds=Grounds.CONTRADICTION if refutes else Grounds.NONE,
        rationale=why,
        contradiction=Contradiction(disputed="1899", source=HASH, quote=why) if refutes else None,
        qualifications=(Qualification(kind=QualificationKind.SCOPE, text=why),),
    )


def verdict(name: str, refutes: bool, why: str) -> Verdict:
    return Verdict(
        claim_id=name,
        label=Label.CONTRADICTORY if refutes else Label.SUPPORTED,
        rationale=why,
        panel=PanelOutcome.REFUTED if refutes else PanelOutcome.CONFIRMED,
        votes=(vote(0, refutes, why), vote(1, refutes, why), vote(2, not refutes, "alone")),
        abstentions=(Abstention(index=3, reason=FailureReason.REFUSED, detail=why),),
    )


def record(now_refuted: int = 1, *, why: str = "because", short: bool = False, n: int = 3):
    """A check of n claims, the first ``now_refuted`` of which flipped; two pins."""
    spec = RegressSpec.model_validate(
        {
            "name": "check",
            "benchmark": "b@1",
            "note": why,
            "verifier": {"kind": "panel"},
            "pins": [
                {"claim": "c0", "must": "confirmed", "why": why},
                {"claim": f"c{n - 1}", "must": "confirmed"},
            ],
        }
    )
    claims = [
        AskedClaim(claim=Claim(id=f"c{i}", text=f"{why} {i}"), label=Label.SUPPORTED)
        for i in range(n)
    ]
    before = {one.claim.id: verdict(one.claim.id, False, why) for one in claims}
    now = {
        one.claim.id: verdict(one.claim.id, i < now_refuted, why) for i, one in enumerate(claims)
    }
    if short:
        del now["c0"]
    known = [one for one in claims if one.claim.id in now]
    turned = flips(known, before, now)
    pins = regress.check_pins(spec.pins, claims, before, now)
    rates = tuple(outcome_rates(group, members, now) for group, members in groups_of(known).items())
    difference = paired_difference("supported", known, before, now)
    gates = regress.check_gates(
        spec.gates, known, difference, turned, outcome_rates(ALL, known, now).unverified
    )
    worse = any(not gate.holds for gate in gates) or any(pin.holds is False for pin in pins)
    shortage = Shortage(claims=("c0",), why=why, calls=3, how="run it live")
    asking = Asking(kind="panel")
    return RegressRecord(
        name="check",
        status="incomplete" if short else "regressed" if worse else "passed",
        deepfact="0",
        spec=spec,
        claims_name="b@1",
        claims_hash=HASH,
        labels_from="version",
        baseline=BaselineHeader(
            name="check", deepfact="0", claims_name="b@1", claims_version=1, claims_hash=HASH,
            claims=n, asking=asking,
        ),
        asking=asking,
        claims=n,
        rates=() if short else rates,
        difference=None if short else difference,
        flips=regress.flipped(turned, known, before, now),
        gates=() if short else gates,
        pins=pins,
        shortage=shortage if short else None,
    )  # fmt: skip


def cases(text: str) -> dict[str, ET.Element]:
    return {case.get("name"): case for case in ET.fromstring(text).iter("testcase")}


def test_a_pass_has_one_case_for_each_pin_and_gate():
    text = render_junit(record(0))
    suite = ET.fromstring(text).find("testsuite")
    names = set(cases(text))
    assert {ANSWERS, "c0 must be confirmed", "c2 must be confirmed"} < names
    assert {"gate significance", "gate max_loss", "gate max_unverified_rate"} < names
    assert suite.get("tests") == str(len(names))
    assert (suite.get("failures"), suite.get("errors"), suite.get("skipped")) == ("0", "0", "0")
    assert not list(suite.iter("failure"))


def test_what_fails_is_a_failure_with_its_reasons():
    made = record(1, why="the source says 1898")
    text = render_junit(made)
    found = cases(text)
    pin = found["c0 must be confirmed"].find("failure")
    assert pin.get("message") == "c0 must be confirmed, and is refuted"
    assert "votes 1, 2 against, contradiction: “the source says 1898”" in pin.text
    assert "vote 4 no vote, refused: “the source says 1898”" in pin.text
    assert found["c2 must be confirmed"].find("failure") is None
    gate = found["gate max_loss"].find("failure")
    assert "c0: confirmed -> refuted (label supported)" in gate.text
    suite = ET.fromstring(text).find("testsuite")
    assert suite.get("failures") == "2"
    assert "the source says 1898" in suite.find("system-out").text


def test_an_incomplete_check_has_errors_and_neither_passes_nor_failures_of_gates():
    text = render_junit(record(0, short=True))
    found = cases(text)
    assert "run it live" in found[ANSWERS].find("error").text
    assert found["c0 must be confirmed"].find("error") is not None
    assert found["c2 must be confirmed"].find("error") is None  # its own answers are all there
    gates = [case for name, case in found.items() if name.startswith("gate ")]
    assert len(gates) == 4
    assert all(case.find("error") is not None for case in gates)
    suite = ET.fromstring(text).find("testsuite")
    assert (suite.get("failures"), suite.get("errors")) == ("0", "6")


@pytest.mark.parametrize("short", [False, True])
def test_hostile_text_leaves_the_xml_well_formed(short):
    text = render_junit(record(1, why=HOSTILE, short=short))
    text.encode("utf-8")
    root = ET.fromstring(text)
    whole = "".join(root.itertext())
    assert "<b>&amp;" in whole
    assert "[U+202E]evil" in whole
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\u202e]", text)
    assert not list(root.iter("b"))


def test_hostile_text_cannot_break_out_of_the_markdown():
    text = render_regress_markdown(record(1, why=HOSTILE))
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    inline = [child for token in tokens for child in token.children or ()]
    kinds = {token.type for token in tokens} | {child.type for child in inline}
    assert not kinds & {"html_block", "html_inline", "code_inline", "fence", "link_open", "image"}
    headings = [
        token.content
        for before, token in itertools.pairwise(tokens)
        if before.type == "heading_open"
    ]
    assert headings == [
        "Regression check: check", "Gates", "Pinned claims", "Outcomes", "Flips",
        "c0: confirmed → refuted",
    ]  # fmt: skip
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1
    assert "\x1b" not in "\n".join(report_lines(record(1, why=HOSTILE)))


def test_every_rate_in_the_markdown_has_its_interval_n_and_unverified_count():
    text = render_regress_markdown(record(1))
    rates = re.findall(r"\*\*\d+\.\d\u00a0%\*\* (\([^)]*\))", text)
    assert len(rates) == text.count("\u00a0%**") >= 4
    for words in rates:
        assert re.search(r"95 % interval .*; \d+ of \d+; \d+ unverified\)$", words)


def test_the_markdown_says_what_the_status_is_and_what_it_leaves_out():
    assert "**Passed.**" in render_regress_markdown(record(0))
    worse = render_regress_markdown(record(2, n=40))
    assert "**Regressed.** 0 of 3 gates and 1 of 2 pins fail." in worse
    incomplete = render_regress_markdown(record(0, short=True))
    assert "**Incomplete: neither passed nor regressed.** 1 of 3 claims" in incomplete
    assert "Passed" not in incomplete
    many = record(30, n=40)
    short = render_regress_markdown(many, most=5)
    assert "25 further flips are in the full report." in short
    assert short.count("### c") == 5
    assert render_regress_markdown(many).count("### c") == 30


def test_the_headline_and_reasons_of_a_verifier_without_votes():
    assert headline(record(0)) == "check: passed; 3 claims; 0 flips"
    assert headline(record(1)) == "check: REGRESSED; 3 claims; 1 flip; 1 pin does not hold"
    assert "1 claims without all their answers" in headline(record(0, short=True))
    plain = Verdict(
        claim_id="c",
        label=Label.CONTRADICTORY,
        rationale="",
        contradictions=(Contradiction(disputed="1899", source=HASH, quote="built in 1898"),),
    )
    assert list(outcome_lines(plain)) == [
        "“no reason recorded”",
        "  disputed: “1899”; the source says “built in 1898”",
    ]
    failure = VerificationFailure(claim_id="c", reason=FailureReason.NO_SOURCE, detail="none here")
    assert list(outcome_lines(failure)) == ["no_source: “none here”"]


def test_cost_in_words():
    known = Shortage(
        claims=("c",), why="w", calls=1, input_tokens=100, output_tokens=10,
        output_from="mean of the stored answers", usd=0.125, usd_batched=0.0625, provider="p",
    )  # fmt: skip
    assert cost_words(known) == (
        "1 live call to p needed: about 100 input and 10 output tokens (mean of the stored "
        "answers); about $0.12, or $0.06 by the batch API"
    )
    unknown = known.model_copy(update={"usd": None, "usd_batched": None, "unpriced": ("m",)})
    assert "unknown price of m" in cost_words(unknown)
    assert "not known" in cost_words(known.model_copy(update={"input_tokens": 0, "calls": 4}))
