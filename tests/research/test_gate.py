"""The gate: the public fixture to the letter, failures, refutations, and what travels with them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from deepfact.records import (
    Abstention,
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
from deepfact.reports.research_report import render_html, render_junit, render_markdown
from deepfact.research.gate import NO_REASON, compile_report
from deepfact.research.ledgers import load_ledger
from deepfact.research.verify import verify_claims
from deepfact.research_records import Ledger, Method, Resolution, Thresholds

WHEN = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture
def ledger(indexer) -> Ledger:
    return load_ledger(indexer)


def resolved(ledger: Ledger, method: Method = Method.DIFFERENT_WORKLOAD) -> Ledger:
    name = compile_report(ledger).skeptic.contradictions[0].id
    decision = Resolution(
        contradiction=name, method=method, who="ada", when=WHEN, why="Short items, whole books."
    )
    return ledger.model_copy(update={"resolutions": (decision,)})


def test_the_public_fixture_to_the_letter(ledger):
    report = compile_report(ledger)
    assert report.status == "incomplete" and not report.skeptic.ok
    words = report.counts.words()
    assert [f"{name}: {words[name]}" for name in list(words)[:5]] == [
        "source cards: 2", "primary source cards: 2", "extracted claims: 2", "clusters: 1",
        "contradictions: 1",
    ]  # fmt: skip
    (contradiction,) = report.skeptic.contradictions
    assert contradiction.severity == "error"
    assert "claim-vendor" in contradiction.notes[0] and "claim-lab" in contradiction.notes[0]
    lines = [finding.line().partition(": x-")[0] for finding in report.skeptic.findings]
    assert lines == [
        "structured_claim_contradiction",
        "thin_source_corpus: linked_sources=2",
        "thin_primary_source_coverage: primary_cards=2",
        "measurement_claim_without_document_anchor: claims=2",
    ]


def test_both_sides_are_told_and_neither_picked(ledger):
    for text in (render_markdown(compile_report(ledger)), render_html(compile_report(ledger))):
        assert "Indexer A is the fastest implementation." in text
        assert "Indexer A is not the fastest implementation." in text
        assert "none is picked" in text


def test_a_recorded_decision_completes_the_report_and_stays_visible(ledger):
    report = compile_report(resolved(ledger))
    assert report.status == "complete"
    for text in (render_markdown(report), render_html(report)):
        assert "Short items, whole books." in text and "ada" in text
    for standing in report.standings:
        assert [q.text for q in standing.qualifications] == ["Short items, whole books."]
        assert standing.disputed == ()


def test_a_decision_does_not_help_while_another_error_is_left(ledger):
    failed = VerificationFailure(claim_id="claim-lab", reason=FailureReason.TIMEOUT)
    made = resolved(ledger).model_copy(update={"outcomes": (failed,)})
    assert compile_report(made).status == "incomplete"


def test_a_caveat_lets_the_report_stand_with_both_sides_disputed(ledger):
    report = compile_report(resolved(ledger, Method.CAVEAT))
    assert report.status == "complete"
    assert all(standing.disputed for standing in report.standings)


class Broken:
    """A verifier all of whose calls fail."""

    def verify(self, claim, context):
        raise ConnectionError("no route")


def test_all_calls_failing_is_unverified_and_incomplete_and_refutes_nothing(ledger):
    outcomes = tuple(verify_claims(resolved(ledger), Broken(), name="broken"))
    report = compile_report(resolved(ledger).model_copy(update={"outcomes": outcomes}))
    assert report.status == "incomplete"
    assert (report.counts.unverified, report.counts.refuted, report.counts.confirmed) == (2, 0, 0)
    assert all("no route" in standing.reasons[0] for standing in report.standings)
    text = render_markdown(report)
    assert "## Unverified" in text and "## Refuted" not in text


def panel(claim: str, *refutations: str, source: str) -> Verdict:
    votes = [
        Vote(index=at, label=Label.CONTRADICTORY, refutes=True, rationale=reason,
             grounds=Grounds.CONTRADICTION)
        for at, reason in enumerate(refutations)
    ]  # fmt: skip
    votes.append(Vote(index=8, label=Label.SUPPORTED, rationale="It is fine."))
    return Verdict(
        claim_id=claim, verifier="panel", label=Label.CONTRADICTORY, panel=PanelOutcome.REFUTED,
        rationale=refutations[0], votes=tuple(votes),
        abstentions=(Abstention(index=9, reason=FailureReason.TIMEOUT),),
        contradictions=(Contradiction(disputed="fastest", source=source, quote="not the fastest"),),
    )  # fmt: skip


def test_refuting_judges_are_quoted_word_for_word(ledger):
    source = ledger.cards[1].source.id
    verdict = panel("claim-vendor", "Two others finished *before* it.", "The lab says no.",
                    source=source)  # fmt: skip
    report = compile_report(ledger.model_copy(update={"outcomes": (verdict,)}))
    (refuted,) = report.of("refuted")
    assert refuted.vote == "2 of 3 valid votes refute, 1 abstained"
    assert refuted.reasons == ("Two others finished *before* it.", "The lab says no.")
    page = render_html(report)
    assert "Two others finished *before* it." in page and "not the fastest" in page
    assert "It is fine." not in page


def test_without_a_reason_it_says_so(ledger):
    source = ledger.cards[1].source.id
    verdict = panel("claim-vendor", "", " ", source=source)
    report = compile_report(ledger.model_copy(update={"outcomes": (verdict,)}))
    assert report.of("refuted")[0].reasons == (NO_REASON,)
    assert NO_REASON in render_markdown(report)


def test_every_qualification_travels(ledger):
    note = Qualification(kind=QualificationKind.LATER_DEVELOPMENT, text="A newer version exists.")
    verdict = Verdict(claim_id="claim-lab", label=Label.SUPPORTED, qualifications=(note,))
    first, second = ledger.claims
    second = second.model_copy(update={"caveat": "One corpus.", "conditions": {"cores": "8"}})
    made = resolved(ledger).model_copy(update={"outcomes": (verdict,), "claims": (first, second)})
    report = compile_report(made)
    told = [q.text for q in report.standings[1].qualifications]
    assert told == [
        "A newer version exists.", "One corpus.", "cores: 8", "Short items, whole books.",
    ]  # fmt: skip
    text = render_markdown(report)
    assert all(one.rstrip(".") in text for one in told)


def test_thresholds_are_in_the_record(ledger):
    report = compile_report(resolved(ledger), Thresholds(require_verification=True))
    assert report.status == "incomplete" and report.thresholds.require_verification


def test_claims_of_a_withdrawn_card_are_not_told_as_claims(ledger):
    found = compile_report(ledger).skeptic.contradictions[0]
    decision = Resolution(
        contradiction=found.id, method=Method.SOURCE_WITHDRAWN, who="ada", when=WHEN,
        why="Retracted.", withdrawn=found.cards[0],
    )  # fmt: skip
    report = compile_report(ledger.model_copy(update={"resolutions": (decision,)}))
    assert [one.claim.id for one in report.standings] == ["claim-lab"]
    assert "withdrawn" in render_markdown(report) and "Retracted." in render_html(report)


# --- rendering ---------------------------------------------------------------------------

HOSTILE = "<script>alert(1)</script> `code` | {{ 1234*4321 }} ]]> \x00\u202e [x](javascript:1)"


def test_data_is_never_markup(ledger):
    first, second = ledger.claims
    first = first.model_copy(update={"text": HOSTILE, "object": "yes", "subject": HOSTILE})
    second = second.model_copy(update={"subject": HOSTILE})
    report = compile_report(
        ledger.model_copy(update={"claims": (first, second), "question": HOSTILE})
    )
    page, text, junit = render_html(report), render_markdown(report), render_junit(report)
    assert "<script>alert" not in page + text and "5332114" not in page + text
    assert "\u202e" not in page + text + junit and "\x00" not in page + text + junit
    assert "](javascript" not in text


def test_junit_fails_what_is_an_error_and_tells_the_rest(ledger):
    from xml.etree import ElementTree

    suite = ElementTree.fromstring(render_junit(compile_report(ledger)))
    assert suite.get("failures") == "1"
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert failed == ["structured_claim_contradiction"]
    told = {case.get("name"): case.findtext("system-out") for case in suite}
    assert "linked_sources=2" in told["thin_source_corpus"]
    done = ElementTree.fromstring(render_junit(compile_report(resolved(ledger))))
    assert done.get("failures") == "0"
