"""The A/B report: complete, harmless whatever the data says, and never a rate by itself."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest
from markdown_it import MarkdownIt

from deepfact.experiment_records import AbRecord, AbSpec, LabelsFrom
from deepfact.records import (
    Abstention,
    Claim,
    Contradiction,
    Evidence,
    FailureReason,
    Grounds,
    Label,
    Outcome,
    PanelOutcome,
    Qualification,
    Source,
    Stance,
    Usage,
    Verdict,
    VerificationFailure,
    Vote,
)
from deepfact.reports.ab_report import p_words, points, render_ab_html, render_ab_markdown
from deepfact.reports.ab_view import latency_of
from deepfact.running.ab_record import ab_record
from deepfact.running.arms import Arm
from deepfact.running.claim_set import ClaimSet

HOSTILE = (
    "<script>alert(1)</script> \u202edesrever\u202c | pipe | `code` [link](javascript:alert(3)) "
    "**bold**\n# heading\n</style></script> {{ 7919 * 7 }} {% raw %} \x1b[31m"
)
SOURCE = Source.create(title=f"Mill {HOSTILE}", text="The mill was built in 1898. It is old.")
DAY = datetime(2026, 3, 1, tzinfo=UTC)
QUOTE = "The mill was built in 1898."


def vote(n: int, refutes: bool, why: str = "as it says", **fields: Any) -> Vote:
    disputed = Contradiction(disputed="1899", source=SOURCE.id, quote=QUOTE) if refutes else None
    given: dict[str, Any] = {
        "label": Label.CONTRADICTORY if refutes else Label.SUPPORTED,
        "grounds": Grounds.CONTRADICTION if refutes else Grounds.NONE,
        "contradiction": disputed,
        "evidence": (Evidence(source=SOURCE.id, quote=QUOTE, stance=Stance.CONTEXT),),
    }
    return Vote(index=n, refutes=refutes, rationale=why, **{**given, **fields})


NOTE = Qualification(kind="scope", text=f"Only it {HOSTILE}", source=SOURCE.id, quote="It is old.")


def verdict(claim: str, refuted: bool, *votes: Vote, why: str = "", **fields: Any) -> Verdict:
    return Verdict(
        claim_id=claim,
        label=Label.CONTRADICTORY if refuted else Label.SUPPORTED,
        panel=PanelOutcome.REFUTED if refuted else PanelOutcome.CONFIRMED,
        rationale=why, votes=votes, usage=Usage(calls=3, input_tokens=10, output_tokens=5),
        **fields,
    )  # fmt: skip


def record(labelled: bool = True, **changes: Any) -> AbRecord:
    claims = tuple(
        Claim(id=f"c{n}", text=f"The mill, number {n}. {HOSTILE if n == 0 else ''}", context="Ctx")
        for n in range(4)
    )
    labels = {"c0": Label.SUPPORTED, "c1": Label.CONTRADICTORY, "c2": Label.SUPPORTED}
    there = ClaimSet(
        name="mills@1", state_hash="sha256:" + "0" * 64, claims=claims,
        labels=labels if labelled else {},
        qualified=frozenset({"c0"} if labelled else ()), sources={SOURCE.id: SOURCE},
        labels_from=LabelsFrom.VERSION if labelled else LabelsFrom.NOWHERE,
    )  # fmt: skip
    first: dict[str, Outcome] = {
        "c0": verdict("c0", True, vote(0, True, HOSTILE), vote(1, True, HOSTILE), vote(2, False)),
        "c1": verdict("c1", True, *(vote(n, True) for n in range(3)), why="wrong year"),
        "c2": verdict("c2", False, *(vote(n, False) for n in range(3)), why="right"),
        "c3": VerificationFailure(
            claim_id="c3", reason=FailureReason.TOO_FEW_VOTES, detail="0 of 3 votes are valid",
            panel=PanelOutcome.UNVERIFIED,
            abstentions=tuple(
                Abstention(index=n, reason=FailureReason.TIMEOUT, detail=HOSTILE) for n in range(3)
            ),
        ),
    }  # fmt: skip
    other: dict[str, Outcome] = {
        "c0": verdict("c0", False, *(vote(n, False, "") for n in range(3)), qualifications=(NOTE,)),
        "c1": verdict("c1", False, *(vote(n, False, "lax") for n in range(3)), why="lax"),
        "c2": first["c2"],
        "c3": first["c3"],
    }
    spec = AbSpec.model_validate(
        {
            "name": "mills", "benchmark": "mills@1", "note": HOSTILE,
            "verifier": {"kind": "panel", "options": {"api_key": "sk-ant-x", "model": HOSTILE}},
            "arms": [{"name": "one"}, {"name": "two", "options": {"x": 1}}], **changes,
        }
    )  # fmt: skip
    arms = [Arm(name, one, object()) for name, one in spec.verifiers().items()]  # type: ignore[arg-type]
    outcomes = {
        (name, n): found
        for name, found in (("one", first), ("two", other))
        for n in range(spec.repeat)
    }
    return ab_record(spec, there, arms, outcomes, DAY)


def html(what: AbRecord, seconds: dict[str, list[float]] | None = None) -> str:
    return render_ab_html(what, {SOURCE.id: SOURCE}, seconds or {})


def markdown(what: AbRecord, seconds: dict[str, list[float]] | None = None) -> str:
    return render_ab_markdown(what, {SOURCE.id: SOURCE}, seconds or {})


class Page(HTMLParser):
    """Tags, ids, the text, and the text of each rate."""

    VOID = {"meta", "link", "input", "br", "img"}

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.open: list[str] = []
        self.text, self.rates, self._depth = "", list[str](), 0
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.tags.append(tag)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if tag == "a" else []
        if tag not in self.VOID:
            self.open.append(tag)
        if found.get("class") == "rate":
            self.rates.append("")
            self._depth = len(self.open)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if len(self.open) < self._depth:
            self._depth = 0

    def handle_data(self, data):
        if self.open[-1:] not in (["style"], ["script"]):
            self.text += data
        if self._depth:
            self.rates[-1] += data


def test_both_arms_reasons_are_there_word_for_word_or_said_to_be_missing() -> None:
    text = Page(html(record())).text
    flips = text[text.index("Flipped claims") :]
    assert "wrong year" in flips
    assert "lax" in flips
    assert "no reason recorded" in flips
    assert "1 for, 2 against" in flips
    assert "grounds: contradiction" in flips
    assert "Disputed words: 1899" in flips
    assert "Qualification (scope)" in flips


def test_votes_that_say_the_same_are_shown_once_with_all_their_numbers() -> None:
    text = Page(html(record())).text
    assert "Votes 1, 2 (the same word for word)" in text
    assert "Votes 1, 2, 3 (the same word for word)" in text


def test_a_newly_confirmed_contradictory_claim_is_named() -> None:
    page = Page(html(record()))
    check = page.text[
        page.text.index("The loosening check") : page.text.index("Differences by group")
    ]
    assert "1 of 1 contradictory claims are newly confirmed: c1." in " ".join(check.split())
    assert "#flip-two-c1" in page.links
    assert "flip-two-c1" in page.ids
    assert "c1" in markdown(record())


def test_every_rate_has_its_n_interval_and_unverified_count() -> None:
    rates = Page(html(record())).rates
    assert len(rates) > 20
    for text in rates:
        assert "unverified" in text, text
        assert re.search(r"\d of \d|n = \d", text), text
        assert "95 % interval" in text or "n = 0" in text, text


def test_counts_add_up_on_the_page() -> None:
    text = Page(html(record())).text
    assert "1 + 2 + 1 = 4" in text
    assert "3 + 0 + 1 = 4" in text


def test_data_is_text_whatever_it_looks_like() -> None:
    made = html(record())
    page = Page(made)
    assert page.tags.count("script") == 1
    assert page.tags.count("style") == 1
    assert "<script>alert" not in made
    assert "\u202e" not in made
    assert "\x1b" not in made
    assert "7919 * 7" in made
    assert str(7919 * 7) not in made
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown(record()))
    assert not [one for one in tokens if one.type in ("html_block", "code_block", "fence")]
    headings = [after.content for one, after in pairwise(tokens) if one.type == "heading_open"]
    assert "heading" not in headings


def test_links_lead_somewhere_and_ids_are_unique() -> None:
    page = Page(html(record()))
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)


def test_a_secret_in_the_spec_is_not_shown() -> None:
    assert "sk-ant-x" not in html(record()) + markdown(record())


def test_without_labels_the_report_says_what_is_missing() -> None:
    for made in (Page(html(record(labelled=False))).text, markdown(record(labelled=False))):
        assert "no labels, so the loosening check is not shown" in made
        assert "contradictory claims are newly confirmed" not in made
        assert "McNemar" in made


def test_unlabelled_claims_among_labelled_ones_are_counted() -> None:
    assert "1 of 4 claims have no label" in markdown(record())


def test_repeats_and_gates_show_when_there_are_any() -> None:
    made = record(repeat=2, gates={"max_new_false_confirmations": 0})
    text = Page(html(made)).text
    assert "Everything was asked 2 times" in text
    assert "does not hold: max_new_false_confirmations of arm 'two': 1, at most 0" in text
    assert "A gate does not hold" in text
    assert not made.passed
    assert "A gate does not hold" not in Page(html(record())).text


def test_latency_is_shown_where_there_were_live_calls() -> None:
    made = markdown(record(), {"one": [1.0] * 19 + [9.0]})
    assert "median 1.00, 95 of 100 within 1.00 (n = 20)" in made
    assert "no live call" in made
    assert latency_of([]) is None
    assert latency_of([3.0, 1.0, 2.0]).slow == 3.0


def test_the_same_record_gives_the_same_bytes() -> None:
    what = record()
    assert html(what) == html(AbRecord.model_validate_json(what.model_dump_json()))
    assert markdown(what) == markdown(what)


@pytest.mark.parametrize(
    ("share", "words"), [(0.421, "+42.1"), (-0.03, "−3.0"), (0.0, "+0.0")]
)  # fmt: skip
def test_differences_have_a_sign(share: float, words: str) -> None:
    assert points(share) == words


def test_p_values_are_not_shown_as_zero() -> None:
    assert p_words(7e-15) == "p < 0.0001"
    assert p_words(0.0313) == "p = 0.0313"
