"""Claims by rules: each is a stretch of the text, word for word, and nothing is guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepfact.records import Source, SourceRole
from deepfact.research.extract import extract_claims
from deepfact.research_records import SourceCard

TEXT = """# Indexer A

License: MIT
Latency: 12 ms

The median latency of Indexer A is 12 ms. Indexer A has a peak memory use of 2 GB. Indexer A was
released in March 2021. Indexer A does not support phrase queries.
Indexer A is not the fastest implementation. It is slow. Is Indexer A slow? Researchers believe
that Indexer A should be replaced. Indexer A will be rewritten next year by the same team.
Indexer A outperforms Indexer B on the public benchmark. The latency is not the same everywhere.
"""
QUESTION = "How fast is Indexer A, what is its latency, and which queries does it support?"


def card(text: str = TEXT, **fields) -> SourceCard:
    return SourceCard(source=Source.create(title="a.txt", text=text, **fields))


def parts(text: str = TEXT, name: str = "a.txt", question: str = QUESTION) -> set[tuple]:
    claims = extract_claims(card(text), question, name=name, limit=50)
    return {(c.subject, c.predicate, c.object, str(c.kind)) for c in claims}


@pytest.mark.parametrize(
    "expected",
    [
        ("Indexer A", "License", "MIT", "attribute"),
        ("Indexer A", "Latency", "12 ms", "measurement"),
        ("Indexer A", "median latency", "12 ms", "measurement"),
        ("Indexer A", "peak memory use", "2 GB", "measurement"),
        ("Indexer A", "released", "March 2021", "event"),
        ("Indexer A", "does not support", "phrase queries", "attribute"),
        ("Indexer A", "the fastest implementation", "no", "attribute"),
        ("", "", "", "opinion"),
        ("", "", "", "forecast"),
        ("", "", "", "benchmark"),
    ],
)
def test_plain_forms_are_taken_apart(expected):
    assert expected in parts()


def test_pronouns_and_questions_are_no_claims():
    texts = {claim.text for claim in extract_claims(card(), QUESTION, limit=50)}
    assert not any(text.startswith("It is slow") or "?" in text for text in texts)


def test_every_claim_is_in_the_text_at_its_span():
    for claim in extract_claims(card(), QUESTION, limit=50):
        assert claim.span is not None
        assert TEXT[claim.span.start : claim.span.end] == claim.quote
        assert claim.quote.strip()


def test_the_bound_keeps_those_that_share_most_with_the_question():
    claims = extract_claims(card(), "median latency of Indexer A", limit=1)
    assert [claim.predicate for claim in claims] == ["median latency"]
    assert extract_claims(card(), "dinosaurs", limit=9) == []
    assert len(extract_claims(card(), "?", limit=3)) == 3


@pytest.mark.parametrize("role", [SourceRole.GENERATED, SourceRole.MODEL_ANSWER])
def test_generated_text_gives_no_claims(role):
    assert extract_claims(card(role=role), QUESTION) == []


def test_tables_give_one_claim_a_cell():
    table = 'indexer,latency,license\n"Indexer A",12 ms,MIT\nIndexer B,,GPL\nbroken row\n'
    assert parts(table, "t.csv") == {
        ("Indexer A", "latency", "12 ms", "measurement"),
        ("Indexer A", "license", "MIT", "attribute"),
        ("Indexer B", "license", "GPL", "attribute"),
    }
    tabs = "indexer\tlatency\nIndexer A\t12 ms\n"
    assert parts(tabs, "t.TSV") == {("Indexer A", "latency", "12 ms", "measurement")}


def test_denied_objects_and_titles_as_subjects():
    assert ("Indexer A", "not mean latency", "12 ms", "measurement") in parts(
        "The mean latency of Indexer A is not 12 ms."
    )
    assert ("a", "Latency", "12 ms", "measurement") in parts("Latency: 12 ms\n")


@given(st.text(max_size=400))
def test_any_text_gives_claims_that_stand_in_it(text):
    for claim in extract_claims(card(text), "", limit=9):
        assert claim.span is not None and claim.quote
        assert text[claim.span.start : claim.span.end] == claim.quote
