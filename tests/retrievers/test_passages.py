"""Sentence splitting: offsets are exact, and the usual traps do not split."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepfact.records import Source
from deepfact.retrievers.passages import LONGEST, passages, sentence_spans


def sentences(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rose 12.4 %. It fell.", ["It rose 12.4 %.", "It fell."]),
        ("Dr. J. Smith et al. agreed. Nobody else did.", 2),
        ("See Fig. 3 and No. 7. The answer is no. It stays.", 3),
        ("The U.S. market grew, e.g. in Ohio. Fine.", 2),
        ("A line that was\nwrapped by hand. Next.", 2),
        ("# Heading\nThe text.", ["# Heading", "The text."]),
        ("- first item\n- second item", ["- first item", "- second item"]),
        ("One paragraph\n\nAnother", ["One paragraph", "Another"]),
        ("They lack vitamin C. They recover.", 2),
        ('He said "Stop." Then he left.', 2),
        ("It took 38 ms. The second took 5 min. A third took 9 sec. Nothing else ran.", 4),
        ("On 5 May Ms. Lind waited at least 38 min. before noon.", 1),
        ("See 5 in Sec. Four of it.", 1),
        ("", []),
        (" \n\t ", []),
    ],
)
def test_traps(text: str, expected: list[str] | int) -> None:
    found = sentences(text)
    assert len(found) == expected if isinstance(expected, int) else found == expected


@given(st.text(alphabet=st.sampled_from("ab. \n!?\"'ÄB1,;:-#•(){}é。\u2028"), max_size=300))
def test_spans_are_exact_ordered_and_lose_nothing(text: str) -> None:
    spans = sentence_spans(text)
    ends = [0]
    for span in spans:
        assert span.start >= ends[-1]
        assert text[span.start : span.end] == text[span.start : span.end].strip() != ""
        ends.append(span.end)
    held = "".join("".join(text[s.start : s.end].split()) for s in spans)
    assert held == "".join(text.split())


@given(st.text(max_size=200))
def test_passages_quote_their_source(text: str) -> None:
    source = Source.create(title="t", text=text)
    for passage in passages(source):
        assert source.text[passage.span.start : passage.span.end] == passage.text


def test_a_text_without_stops_is_cut() -> None:
    assert all(len(s) <= LONGEST for s in sentences("word " * 1000))
    assert all(len(s) <= LONGEST for s in sentences("x" * 5000))
