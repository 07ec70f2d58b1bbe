"""Marking quotes."""

from __future__ import annotations

from deepfact.reports.quotes import CONTEXT, Piece, merged, pieces


def test_spans_that_touch_are_joined():
    assert merged([(5, 9), (0, 3), (3, 4), (6, 7)]) == [(0, 4), (5, 9)]


def test_pieces_of_a_short_text_are_the_whole_text():
    cut = pieces("one two three", [(4, 7)], limit=100)
    assert cut == [Piece("one "), Piece("two", quoted=True), Piece(" three")]


def test_a_long_text_is_cut_around_its_quotes_and_accounts_for_every_character():
    text = "".join(chr(97 + i % 26) for i in range(9000))
    cut = pieces(text, [(3000, 3010), (3050, 3060), (8990, 9000)], limit=1000)
    assert sum(len(piece.text) + piece.left_out for piece in cut) == len(text)
    assert [piece.text for piece in cut if piece.quoted] == [
        text[3000:3010],
        text[3050:3060],
        text[8990:9000],
    ]
    assert cut[0].left_out == 3000 - CONTEXT


def test_a_long_text_without_a_quote_shows_its_beginning():
    cut = pieces("x" * 5000, [], limit=100)
    assert cut == [Piece("x" * CONTEXT), Piece("", left_out=5000 - CONTEXT)]
