"""Long texts: cut only when all together do not fit, the longest first, and the cut is told."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deepfact.reports import fitting
from deepfact.reports.round_report import render_html, render_markdown


def test_a_cut_says_how_much_is_left_out() -> None:
    assert fitting.fitted("12345678", 5) == "12345 [… 3 more]"
    assert fitting.fitted("12345", 5) == fitting.fitted("12345", None) == "12345"


@given(
    st.lists(st.text(max_size=200).map(lambda text: text * 3), max_size=20), st.integers(0, 9000)
)
def test_as_much_is_shown_as_there_is_room_for(texts: list[str], room: int) -> None:
    limit = fitting.longest(texts, room)
    assert limit >= fitting.SHORTEST
    if limit > fitting.SHORTEST:
        assert fitting.taken(texts, limit) <= room


def test_a_thousand_disputes_with_long_arguments_stay_under_three_megabytes(crowd):
    record, sources = crowd(1000, 3)
    html = render_html(record, sources)
    assert 2_000_000 < len(html.encode()) < 3_000_000
    assert "Long texts are cut." in html and "more]" in html
    for case in record.rounds[0].cases:  # shorter, and none of them gone
        assert f"<code>{case.claim.id}</code>" in html
    assert html.count("[… ") > 1000


def test_what_fits_is_shown_whole_and_markdown_always_is(crowd):
    record, sources = crowd(40, 2)
    html, text = render_html(record, sources), render_markdown(record, sources)
    assert "Long texts are cut." not in html and "more]" not in html
    for made in record.rounds[0].adjudications:
        assert made.rationale.strip() in html
        assert made.rationale.strip() in text


def test_markdown_of_many_disputes_leaves_nothing_out(crowd, monkeypatch):
    monkeypatch.setattr(fitting, "BYTES", 100_000)
    record, sources = crowd(40, 2)
    assert "Long texts are cut." in render_html(record, sources)
    text = render_markdown(record, sources)
    assert all(made.rationale.strip() in text for made in record.rounds[0].adjudications)
