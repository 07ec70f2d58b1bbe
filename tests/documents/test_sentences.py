"""Where sentences end: the rules, offsets for any text, and time on hostile text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepfact.documents.sentences import sentence_spans


def split(text: str, marks: str = "") -> list[str]:
    found = [match.span() for match in re.finditer(marks, text)] if marks else []
    return [text[start:end] for start, end in sentence_spans(text, found)]


@pytest.mark.parametrize(
    "sentences",
    [
        ["It opened in 1898.", "It closed in 1931."],
        ["Dr. Smith et al. found 3.5 mg in Fig. 2 of the report.", "Then they left."],
        ["Firms such as Acme Inc. grew.", "Others, e.g. the U.S. mills, did not."],
        ["It was sold by Acme Inc.", "The buyer paid 3 million."],
        ["J. R. Smith wrote it.", "He died in 1940."],
        ["Was it so?", "Yes!", "It was."],
        ['He said "It closed."', "She agreed."],
        ["See https://example.org/a.b?c=1.2 for it.", "Next one."],
        ["It rose by 3.5.", "It fell by 2."],
        ["机器于1898年建成。", "它在1931年关闭；", "你知道吗？", "是的！"],
        ["工場は1931年に閉鎖された。", "その後、再開された。"],
        ["वह बंद हो गया।", "फिर खुला।"],
        ["The value is approx. 5 km wide.", "It is long."],
        ["No. 5 is the largest.", "The answer is no.", "It was wrong."],
        ["It was closed... and then sold.", "Later it burnt."],
    ],
)
def test_sentences_end_where_a_reader_ends_them(sentences: list[str]) -> None:
    between = "" if ord(sentences[0][0]) > 0x2000 else " "
    assert split(between.join(sentences)) == sentences


def test_a_numbered_item_is_not_a_sentence_of_its_own() -> None:
    assert split("1. The mill closed. It burnt.") == ["1. The mill closed.", "It burnt."]


def test_a_line_that_ends_in_a_colon_and_items_after_it_are_apart() -> None:
    assert split("It has two parts:\n- one is red\n- two is blue") == [
        "It has two parts:", "- one is red", "- two is blue",
    ]  # fmt: skip


def test_marks_behind_the_full_stop_go_with_the_sentence_before() -> None:
    marks = r"\[\d\]|(?<=\.)\d"
    assert split("It opened.[1][2] It closed. [3] It burnt.4 The end.", marks) == [
        "It opened.[1][2]", "It closed. [3]", "It burnt.4", "The end.",
    ]  # fmt: skip
    assert split("It opened. [1] says so too.", marks) == ["It opened.", "[1] says so too."]
    assert split("它建成。[1]它关闭。[2]", marks) == ["它建成。[1]", "它关闭。[2]"]
    assert split("In Cluster N.4 Some cells fire.", r"(?<=\.)\d") == [
        "In Cluster N.4", "Some cells fire.",
    ]  # fmt: skip


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200))
def test_any_text_is_covered_but_for_white_space(text: str) -> None:
    spans = sentence_spans(text)
    at = 0
    for start, end in spans:
        assert start >= at and end > start
        assert (
            not text[at:start]
            .strip("\ufeff \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029")
            .strip()
        )
        assert not text[start].isspace() and not text[end - 1].isspace()
        at = end
    assert not text[at:].strip("\ufeff").strip()


@pytest.mark.usefixtures("no_hang")
@pytest.mark.parametrize("piece", ["a. ", ". ", "A. b ", "。", "1. ", "?! ", "x" * 10, '."'])
def test_a_long_text_of_one_piece_is_split_in_seconds(piece: str) -> None:
    text = (piece * 500_000)[:500_000]
    assert "".join(text[start:end] for start, end in sentence_spans(text)).strip()
