"""Windows cover a document without a gap; passages are checked against the whole of it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from document_kit import BUILT, HISTORY
from hypothesis import given
from hypothesis import strategies as st

from deepfact.records import Source
from deepfact.trace_records import TracedElement
from deepfact.verifiers.document.items import Asked, Document, Item
from deepfact.verifiers.document.reading import cut, extracts_of, windows_of


@given(st.text(alphabet="ab .\n", max_size=400), st.integers(min_value=20, max_value=120))
def test_every_character_is_in_a_window_and_none_is_too_long(text: str, characters: int) -> None:
    spans = cut(text, characters)
    assert spans[0].start == 0
    assert spans[-1].end == len(text)
    for one, other in pairwise(spans):
        assert one.start < other.start <= one.end
    assert all(one.end - one.start <= characters for one in spans)


def test_a_short_document_is_one_window_and_long_ones_say_that_there_is_more() -> None:
    whole = windows_of(Document("S1", HISTORY, "cited", (), 0), characters=1000, most=4)
    assert [one.text for one in whole] == [HISTORY.text]
    parts = windows_of(Document("S1", HISTORY, "cited", (), 0), characters=90, most=9)
    assert parts[0].text.endswith("[...]")
    assert parts[-1].text.startswith("[...]")
    assert parts[0].text.removesuffix("\n[...]").endswith(".")


def test_windows_in_which_a_search_hit_come_first() -> None:
    text = "".join(f"Sentence number {n} of many. " for n in range(100))
    source = Source.create(title="long", text=text)
    found = Document("S1", source, "benchmark", ("Sentence number 77 of many.",), 0)
    window = windows_of(found, characters=300, most=1)[0]
    assert "Sentence number 77 of many." in window.text
    assert window.of > 5


def item() -> Item:
    one = Item(BUILT, Asked("c-1", BUILT.text))
    one.elements = (TracedElement(id="E1", text="It was built in 1898."),)
    return one


def extract(quote: str, element: str = "E1") -> dict[str, str]:
    return {"element": element, "quote": quote, "stance": "supports", "says": ""}


@pytest.mark.parametrize(
    ("given_", "counted"),
    [
        (extract("Harrow Mill was built in 1898."), 1),
        (extract("Harrow  Mill was\nbuilt in 1898."), 1),
        (extract("Harrow Mill was built in 1899."), 0),
        (extract("Harrow Mill was built in 1898.", "E2"), 0),
        (extract(""), 0),
    ],
)
def test_what_counts(given_: dict[str, str], counted: int) -> None:
    made = extracts_of(item(), {"extracts": [given_]}, HISTORY, most=9)
    assert len(made) == 1
    assert sum(bool(one.id) for one in made) == counted


def test_a_quote_copied_out_of_the_fence_is_found_and_none_counts_twice() -> None:
    source = Source.create(title="odd", text="Sales < costs & rising.")
    given_ = [extract("Sales &lt; costs &amp; rising."), extract("Sales < costs & rising.")]
    made = extracts_of(item(), {"extracts": given_}, source, most=9)
    assert [one.quote for one in made] == ["Sales < costs & rising."]


def test_more_than_may_be_taken_is_said() -> None:
    one = item()
    made = extracts_of(
        one, {"extracts": [extract(w) for w in HISTORY.text.split()]}, HISTORY, most=3
    )
    assert len(made) == 3
    assert one.notes[0].startswith(f"extracts_left_out:{HISTORY.id}:")
