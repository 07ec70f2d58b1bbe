"""Windows cover a source, overlap as asked, never exceed their size, and can be quoted."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepfact.records import Source
from deepfact.retrievers.base import Passage
from deepfact.retrievers.passages import passages
from deepfact.verifiers.nli.windows import picked, windows


def by_words(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


def cut(text: str, size: int, overlap: float = 0.0):
    source = Source.create(title="t", text=text)
    return source, windows(source, by_words(text), size=size, overlap=overlap)


FOUR = "One two three. Four five six. Seven eight nine. Ten eleven twelve."


def test_windows_hold_whole_sentences():
    _, found = cut(FOUR, size=8)
    assert [one.text for one in found] == [
        "One two three. Four five six.", "Seven eight nine. Ten eleven twelve.",
    ]  # fmt: skip
    assert [len(one.sentences) for one in found] == [2, 2]


def test_windows_overlap_by_the_last_sentences_of_the_one_before():
    _, found = cut(FOUR, size=8, overlap=0.5)
    assert [one.text for one in found] == [
        "One two three. Four five six.",
        "Four five six. Seven eight nine.",
        "Seven eight nine. Ten eleven twelve.",
    ]


def test_a_sentence_longer_than_a_window_is_read_in_pieces():
    source, found = cut("a b c d e f g.", size=3)
    assert [one.text for one in found] == ["a b c", "d e f", "g."]
    for one in found:
        (piece,) = one.sentences
        assert source.text[piece.span.start : piece.span.end] == one.text


def test_no_text_gives_no_window():
    assert cut("   ", size=8)[1] == []


@given(
    st.lists(st.text(alphabet="ab .\n", max_size=30), max_size=12).map("Word. ".join),
    st.integers(2, 12),
    st.floats(0, 0.9),
)
def test_nothing_is_left_out_and_no_window_is_too_long(text, size, overlap):
    source, found = cut(text, size, overlap)
    covered = set()
    for one in found:
        assert len(by_words(one.text)) <= size
        assert one.text in source.text
        for each in one.sentences:
            assert source.text[each.span.start : each.span.end] == each.text
            covered |= set(range(each.span.start, each.span.end))
    assert {at for at, char in enumerate(text) if not char.isspace()} <= covered
    starts = [one.sentences[0].span.start for one in found]
    assert starts == sorted(set(starts))  # each goes on


def test_picked_sentences_stand_in_the_order_of_their_sources():
    source = Source.create(title="t", text=FOUR)
    one, two, three, four = passages(source)
    other = Passage(source="sha256:" + "0" * 64, span=one.span, text="Other.")
    made = picked([four, other, two, three], lambda text: len(text.split()), size=7)
    assert made.text == "Four five six. Ten eleven twelve. Other."
    assert made.sentences == (two, four, other)


def test_the_best_sentence_is_in_even_if_it_is_too_long():
    (one, *_) = passages(Source.create(title="t", text=FOUR))
    assert picked([one], lambda _: 99, size=8).sentences == (one,)


@pytest.mark.parametrize("text", ["😀 😀 😀.", "文。文。"])
def test_characters_that_give_no_token_are_still_covered(text):
    source = Source.create(title="t", text=text)
    found = windows(source, [], size=4, overlap=0)
    assert "".join(one.text for one in found).replace(" ", "") == text.replace(" ", "")
