"""Quotes: found where they stand in the original text, whatever normalisation takes away.

Public reports: vellum #9 and stella #1426 (unmatched quotes dropped or matched in the model's
own prose), pulumi/docs #20349 (quotes that were never on the page).
"""

from __future__ import annotations

import unicodedata
from unicodedata import normalize

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from deepfact.core.quotes import contains_words, find_quote

# Marks, jamo, half-width kana, ligatures, white space, quotes, dashes and invisible characters.
ODD = "aeé\u0301\u0323\u0308 \n\t\u00a0\u200b\u00ad\ufb01ﾊﾞ\u1112\u1161\u11ab한“”’'\"-—…½"
texts = st.text(st.one_of(st.sampled_from(ODD), st.characters(codec="utf-8")), max_size=30)


def quoted(quote: str, text: str) -> str | None:
    span = find_quote(quote, text)
    return None if span is None else text[span.start : span.end]


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        ("in 1898", "Built in 1898.", "in 1898"),
        ("built  in\n1898", "It was built in 1898.", "built in 1898"),
        ("built in 1898", "It was built\n   in\u00a01898.", "built\n   in\u00a01898"),
        ('the "old" mill\'s', "the “old” mill’s wheel", "the “old” mill’s"),
        ("1898-1931", "open 1898–1931 only", "1898–1931"),
        ("cooperate", "to co\u00adoper\u200bate", "co\u00adoper\u200bate"),
        ("file", "a \ufb01le", "\ufb01le"),
        ("and so...", "and so…", "and so…"),
        ("  mill ", "the mill", "mill"),
        ("café", "the cafe\u0301 there", "cafe\u0301"),
        ("cafe\u0301", "the café there", "café"),
        ("한국", unicodedata.normalize("NFD", "in 한국."), unicodedata.normalize("NFD", "한국")),
        ("バス", "ﾊﾞｽ", "ﾊﾞｽ"),
    ],
)
def test_found_in_the_words_of_the_source(quote: str, text: str, found: str) -> None:
    assert quoted(quote, text) == found


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("in 1899", "Built in 1898."),
        ("built in 1898", "Built in 1898."),  # case counts
        ("1898", "18 98"),
        ("cafe", "the cafe\u0301 there"),  # not those letters
        ("cafe", "the café there"),
        ("", "anything"),
        (" ", "any thing"),
        ("\n\t", "any\n\tthing"),
        ("\u200b", "any\u200bthing"),
        ("mill", ""),
    ],
)
def test_not_found(quote: str, text: str) -> None:
    assert find_quote(quote, text) is None


def test_the_first_of_several_places_is_given() -> None:
    span = find_quote("mill", "a mill, a mill")
    assert span is not None
    assert (span.start, span.end) == (2, 6)


@given(texts, texts, texts)
def test_a_stretch_of_the_text_is_found_and_the_span_says_the_same(
    before: str, middle: str, after: str
) -> None:
    text = before + middle + after
    # An accent after a letter makes another letter of it: then the stretch is not there.
    apart = (normalize("NFC", part) for part in (before, middle, after))
    assume(normalize("NFC", text) == "".join(apart))
    found = quoted(middle, text)
    if found is None:
        assert not contains_words(middle, middle)  # nothing visible in it
    else:
        assert contains_words(middle, found)


@given(texts, st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
def test_a_normal_form_of_a_text_is_the_same_text(text: str, form: str) -> None:
    visible = contains_words(text, text)
    assert (find_quote(unicodedata.normalize(form, text), text) is not None) == visible


@given(texts, texts)
def test_a_span_lies_in_the_text_and_finds_itself_again(quote: str, text: str) -> None:
    span = find_quote(quote, text)
    if span is not None:
        assert 0 <= span.start < span.end <= len(text)
        assert find_quote(text[span.start : span.end], text) is not None


@pytest.mark.parametrize(
    ("part", "whole", "there"),
    [
        ("Built in", "it was built   IN 1898", True),
        ("in 1899", "built in 1898", False),
        ("", "built", False),
        (" ", "built in", False),
        ("STRASSE", "die Straße", True),
    ],
)
def test_words_in_a_claim(part: str, whole: str, there: bool) -> None:
    assert contains_words(part, whole) is there
