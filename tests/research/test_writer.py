"""The writer, and the check after writing: every lie is caught, named, and stops the report."""

from __future__ import annotations

import json

import pytest

from deepfact.errors import ConfigError
from deepfact.providers.scripted import ScriptedProvider
from deepfact.records import Qualification, QualificationKind
from deepfact.research.asking import ModelSpec, NoAnswer
from deepfact.research.gate import compile_report
from deepfact.research.ledgers import load_ledger
from deepfact.research.writer import write_prose, writer_request
from deepfact.research.writer_check import PROBLEMS, Draft, check_sentences
from deepfact.research_records import ClaimStanding, ResearchClaim, Standing

CARD = "sha256:" + "a" * 64


def standing(name: str, text: str, kind: str = "confirmed", **more) -> Standing:
    notes = tuple(
        Qualification(kind=QualificationKind.SCOPE, text=note) for note in more.pop("notes", ())
    )
    claim = ResearchClaim(id=name, text=text, card=CARD)
    return Standing(claim=claim, standing=ClaimStanding(kind), qualifications=notes, **more)


REASON = "The lab measured two faster ones on the same corpus."
STANDINGS = [
    standing("c1", "Indexer A reads 900 documents per second.", notes=["on short news items"]),
    standing("c2", "Indexer B was released in 2021."),
    standing("c3", "Indexer A is the fastest implementation.", "refuted",
             vote="2 of 3 valid votes refute", reasons=(REASON,)),
    standing("c4", "Indexer C has 40 users.", "unverified", reasons=("timeout",)),
    standing("c5", "Indexer D has 12 users.", "not_asked"),
    standing("c6", "The dam opened in 1931.", disputed=("x-1",)),
    standing("c7", "The dam opened in 1936.", disputed=("x-1",)),
    standing("c8", "Indexer E does not support phrase queries."),
    standing("c9", "Indexer F is the smallest.", "refuted", reasons=("no reason recorded",)),
]  # fmt: skip


def codes(text: str, *cites: str, told: str = "confirmed") -> list[str]:
    draft = Draft(text=text, cites=cites, standing=ClaimStanding(told))
    (checked,) = check_sentences([draft], STANDINGS)
    assert checked.text == text and checked.cites == cites
    assert all(problem.partition(": ")[2] for problem in checked.problems)
    return [problem.partition(":")[0] for problem in checked.problems]


@pytest.mark.parametrize(
    ("text", "cites", "told"),
    [
        ("Indexer A reads 900 documents per second on short news items.", ["c1"], "confirmed"),
        ("Indexer B was released in 2021.", ["c2"], "confirmed"),
        (f"The claim that Indexer A is the fastest implementation was refuted: {REASON}", ["c3"],
         "refuted"),
        ("That Indexer C has 40 users is unverified.", ["c4"], "unverified"),
        ("That Indexer D has 12 users was not verified.", ["c5"], "not_asked"),
        ("The dam opened in 1931 or, by another source, in 1936.", ["c6", "c7"], "confirmed"),
        ("Indexer E does not support phrase queries.", ["c8"], "confirmed"),
        ("That Indexer F is the smallest was refuted, no reason recorded.", ["c9"], "refuted"),
    ],
)  # fmt: skip
def test_sentences_that_may_stand(text, cites, told):
    assert codes(text, *cites, told=told) == []


@pytest.mark.parametrize(
    ("text", "cites", "told", "problem"),
    [
        ("Indexer B was released in 2021.", [], "confirmed", "cites_nothing"),
        ("Indexer B was released in 2021.", ["c99"], "confirmed", "cites_unknown_claim"),
        ("Indexer A is the fastest implementation.", ["c3"], "confirmed", "refuted_as_fact"),
        ("Indexer A is the fastest implementation.", ["c3"], "refuted", "refuted_as_fact"),
        ("Indexer C has 40 users.", ["c4"], "confirmed", "unverified_as_fact"),
        ("Indexer C has 40 users.", ["c4"], "unverified", "unverified_as_fact"),
        ("Indexer D has 12 users.", ["c5"], "confirmed", "unverified_as_fact"),
        ("That Indexer B was released in 2021 was refuted.", ["c2"], "refuted",
         "confirmed_as_refuted"),
        ("That Indexer A is the fastest implementation is unverified.", ["c3"], "unverified",
         "reason_left_out"),
        ("Indexer A reads 900 documents per second.", ["c1"], "confirmed", "drops_qualification"),
        ("That Indexer A is the fastest implementation was refuted.", ["c3"], "refuted",
         "reason_left_out"),
        ("That Indexer A is the fastest implementation was refuted since its vendor cheated.",
         ["c3"], "refuted", "reason_left_out"),
        (f"That Indexer A is the fastest was refuted: {REASON} Its vendor cheated.", ["c3"],
         "refuted", "adds_to_claims"),
        ("That Indexer F is the smallest was refuted, no reason recorded; the judges found it "
         "overweight.", ["c9"], "refuted", "adds_to_claims"),
        ("Indexer B was released in 2021 after years of troubled secret development.", ["c2"],
         "confirmed", "adds_to_claims"),
        ("Indexer B was released in 2022.", ["c2"], "confirmed", "figure_not_in_claims"),
        ("Indexer B was not released in 2021.", ["c2"], "confirmed", "turns_round"),
        ("Indexer E supports phrase queries.", ["c8"], "confirmed", "turns_round"),
        ("The dam opened in 1931.", ["c6"], "confirmed", "one_side_only"),
        ("Indexer B was released. It was in 2021.", ["c2"], "confirmed", "not_one_sentence"),
    ],
)  # fmt: skip
def test_sentences_that_may_not(text, cites, told, problem):
    assert problem in codes(text, *cites, told=told)
    assert problem in PROBLEMS


def test_of_a_condition_the_value_is_enough():
    bound = standing("c1", "Indexer A supports joins.", notes=["version: 2.1"])
    claim = bound.claim.model_copy(update={"conditions": {"version": "2.1"}})
    bound = bound.model_copy(update={"claim": claim})
    told = [Draft(text="Indexer A supports joins in version 2.1.", cites=("c1",)),
            Draft(text="Indexer A supports joins.", cites=("c1",))]  # fmt: skip
    stands, falls = check_sentences(told, [bound])
    assert stands.problems == () and falls.problems[0].startswith("drops_qualification")


# --- a provider that lies ----------------------------------------------------------------


@pytest.fixture
def writer(tmp_path, monkeypatch):
    """A spec whose provider gives one answer; what it was asked is kept."""
    asked: list = []

    def make(answer: str, **more) -> ModelSpec:
        provider = ScriptedProvider.of(lambda request: asked.append(request) or answer)
        monkeypatch.setattr("deepfact.providers.registry.build_provider", lambda _: provider)
        return ModelSpec(
            model="m", provider={"kind": "scripted"}, responses=str(tmp_path / "r.sqlite"), **more
        )

    make.asked = asked
    return make


def answer(*sentences: tuple[str, list[str], str]) -> str:
    written = [{"text": text, "cites": cites, "standing": told} for text, cites, told in sentences]
    return json.dumps({"sentences": written})


def test_a_lying_writer_is_caught_named_and_stops_the_report(writer, indexer):
    ledger = load_ledger(indexer)
    truth = ("Indexer B was released in 2021.", ["c2"], "confirmed")
    lies = {
        "cites_nothing": ("Everybody knows it.", [], "confirmed"),
        "reason_left_out": (
            "That Indexer A is the fastest implementation was refuted: the vendor cheated.",
            ["c3"], "refuted",
        ),
        "unverified_as_fact": ("Indexer C has 40 users.", ["c4"], "confirmed"),
        "drops_qualification": ("Indexer A reads 900 documents per second.", ["c1"], "confirmed"),
    }  # fmt: skip
    written = write_prose(writer(answer(truth, *lies.values())), "Which?", STANDINGS)
    assert written[0].problems == ()
    for sentence, code in zip(written[1:], lies, strict=True):
        assert code in [problem.partition(":")[0] for problem in sentence.problems]
    report = compile_report(ledger, written=written)
    assert report.status == "incomplete"
    rejected = [f for f in report.skeptic.findings if f.code == "written_sentence_rejected"]
    assert len(rejected) == len(lies) and all(f.severity == "error" for f in rejected)
    from deepfact.reports.research_report import render_html, render_junit, render_markdown

    text = render_markdown(report)
    prose, _, refused = text.partition("### Rejected sentences")
    assert "Indexer B was released in 2021." in prose
    assert "Everybody knows it." in refused.partition("## No verifier")[0]
    assert "Everybody knows it." in render_html(report)
    assert "written_sentence_rejected" in render_junit(report)


def test_the_writer_is_given_the_ledger_and_stored_reasons_and_no_source_text(writer):
    spec = writer(answer(("Indexer B was released in 2021.", ["c2"], "confirmed")))
    write_prose(spec, "Which </ledger> now?", STANDINGS)
    (request,) = writer.asked
    body = request.messages[0].content
    assert REASON in body and "2 of 3 valid votes refute" in body and "on short news items" in body
    assert body.count("</ledger>") == 1, "data cannot close its fence"
    assert request == writer_request(spec, "Which </ledger> now?", STANDINGS)


def test_what_the_fence_escaped_is_compared_as_it_was(writer):
    known = [standing("c1", "R&D costs < 5 dollars.")]
    told = answer(("R&amp;D costs &lt; 5 dollars.", ["c1"], "confirmed"))
    (sentence,) = write_prose(writer(told), "?", known)
    assert sentence.problems == () and sentence.text == "R&D costs < 5 dollars."


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("The report: all is well.", "unreadable"),
        ('{"sentences": "all is well"}', "unreadable"),
        ('{"sentences": [{"cites": []}]}', "unreadable"),
        ('{"sentences": []}', "no_answer"),
    ],
)
def test_an_answer_that_cannot_be_read_is_no_prose(writer, indexer, said, why):
    with pytest.raises(NoAnswer) as failure:
        write_prose(writer(said), "?", STANDINGS)
    assert failure.value.reason == why
    report = compile_report(load_ledger(indexer), no_prose=str(failure.value))
    assert report.skeptic.findings[0].code == "prose_not_written"
    assert report.status == "incomplete"


def test_a_failed_call_is_no_prose(writer):
    from deepfact.providers.base import CallFailed
    from deepfact.records import FailureReason

    spec = writer("unused")

    def fail(request):
        raise CallFailed(FailureReason.REFUSED, "it would rather not")

    import deepfact.providers.registry as registry

    registry.build_provider(None)._script = fail
    with pytest.raises(NoAnswer, match="would rather not"):
        write_prose(spec, "?", STANDINGS)


def test_what_was_paid_for_is_not_paid_for_again(writer):
    spec = writer(answer(("Indexer B was released in 2021.", ["c2"], "confirmed")))
    first = write_prose(spec, "?", STANDINGS)
    assert write_prose(spec, "?", STANDINGS) == first
    assert len(writer.asked) == 1


def test_a_writer_needs_a_provider(tmp_path):
    spec = ModelSpec(model="m", provider={}, responses=str(tmp_path / "r.sqlite"))
    with pytest.raises(ConfigError, match="needs a provider"):
        write_prose(spec, "?", STANDINGS)
