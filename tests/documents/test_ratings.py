"""The rules by which sentences are checkable and relevant."""

from __future__ import annotations

from typing import Any, Callable

import pytest

from deepfact.documents.ratings import relevances, verifiable


@pytest.mark.parametrize(
    ("sentence", "expected", "why"),
    [
        ("The mill was built in 1898.", True, "gives a figure or a date"),
        ("The owner of the mill was Anna Miller.", True, "asserts something of a name"),
        ("Most old mills are driven by the water of a river.", True, "asserts something"),
        ("磨坊建于一八九八年，位于河边。", True, "gives a figure or a date"),
        ("磨坊是由河水驱动的古老建筑。", True, "asserts something"),
        ("Who built the mill by the river?", False, "question"),
        ("The mill has three parts, which are:", False, "lead-in to a list"),
        ("Two old mills.", False, "too short"),
        (
            "Let me search for more about the mills of 1898.",
            False,
            "the author about their own work",
        ),
        ("I'll research the mills to produce a report.", False, "the author about their own work"),
        ("我需要继续搜索更多关于磨坊的信息。", False, "the author about their own work"),
        ("This report examines the history of mills.", False, "the report about itself"),
        ("Owners should keep the wheel clean and dry.", False, "advice"),
        ("Use the wheel with care at all times.", False, "advice"),
        ("A quiet place by the water and the trees.", False, "asserts nothing"),
    ],
)
def test_what_is_verifiable_and_by_which_rule(sentence: str, expected: bool, why: str) -> None:
    assert verifiable(sentence, cites=False) == (expected, why)


def test_a_citation_makes_a_statement_checkable_but_no_question() -> None:
    assert verifiable("Owners should keep the wheel clean.", cites=True) == (
        True, "cites a source",
    )  # fmt: skip
    assert verifiable("Who should keep the wheel clean?", cites=True)[0] is False


def test_relevance_is_the_share_of_the_question_that_a_sentence_has() -> None:
    ratings = relevances(
        "How do migratory birds navigate by the magnetic field?",
        ["Migratory birds navigate by the magnetic field.", "Birds have a magnetic sense.",
         "The weather was fine.", "The weather was cold."],
        ["", "", "", "Magnetic navigation of birds"],
        [False] * 4,
    )  # fmt: skip
    assert ratings[0] == 5 and ratings[2] == 1
    assert ratings[0] > ratings[1] > ratings[2]
    assert ratings[3] > ratings[2], "the heading above it counts"
    assert relevances("Birds?", ["No word of it."], [""], [True]) == [2]
    assert relevances("", ["It is so."], [""], [True]) == [None]
    assert (
        relevances("鸟类如何导航？", ["鸟类导航依靠磁场。", "天气很好。"], ["", ""], [False] * 2)[0]
        == 5
    )


def test_without_a_question_the_title_is_it(build: Callable[..., Any]) -> None:
    record = build("# Bird navigation\n\nBird navigation rests on the sun. The tea was cold.")
    assert record.sentences[0].relevance > record.sentences[1].relevance
    assert {sentence.rated_by for sentence in record.sentences} == {"rules"}
