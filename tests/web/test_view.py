"""How a case's texts are cut: nothing is lost, each stretch knows where it stands, and quotes are
marked where they are."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from deepfact.records import Case, Evidence, Origin, Position, Source, SourceRole, Span
from deepfact.reports.templating import visible
from deepfact.web.view import case_view, cut

SUPPORTED = Position(label="supported")
TEXTS = st.text(
    st.sampled_from("ab. A\n\r\t!\u202e\u200b😀é|-"), min_size=1, max_size=60
)  # what sentences, line ends and hidden characters are made of


@given(TEXTS, st.data())
def test_the_stretches_are_the_text_in_order(text: str, data: Any) -> None:
    ends = st.integers(0, len(text))
    spans = {
        f"a{n}": (min(pair), max(pair))
        for n, pair in enumerate(data.draw(st.lists(st.tuples(ends, ends), max_size=3)), 1)
    }
    sentences = cut(text, spans)
    stretches = [stretch for sentence in sentences for stretch in sentence.stretches]
    position = 0
    for stretch in stretches:
        assert stretch.at == position
        raw = text[stretch.at : stretch.at + stretch.raw]
        assert stretch.text == visible(raw)
        assert stretch.odd or stretch.text == raw
        covering = {name for name, (low, high) in spans.items() if low <= position < high}
        assert set(stretch.quotes) == covering
        position += stretch.raw
    assert position == len(text)
    begun = [name for stretch in stretches for name in stretch.begins]
    assert sorted(begun) == sorted(name for name, (low, high) in spans.items() if low < high)


def test_sentences_can_be_told_from_what_is_between(make: Any) -> None:
    one, gap, two = cut("It stood.  It fell.", {})
    assert (one.start, one.end, gap.between, two.start) == (0, 9, True, 11)


def position(make: Any, source: Source, *quotes: str) -> Position:
    return Position(label="supported", evidence=tuple(make.evidence(source, q) for q in quotes))


def test_sources_are_numbered_cited_first_and_quotes_found_or_said_to_be_missing(make: Any) -> None:
    cited, quoted = make.source(), make.source("Another text.")
    missing = Evidence(source="sha256:" + "1" * 64, quote="gone", stance="supports")
    case = Case(
        id="r1-0001", claim=make.claim(cites=(cited.id,)),
        a=position(make, quoted, "Another text", "not there"),
        b=Position(label="supported", evidence=(missing,)),
    )  # fmt: skip
    view = case_view(case, {cited.id: cited, quoted.id: quoted})
    assert [(text.number, text.id, text.cited) for text in view.sources] == [
        (1, cited.id, True), (2, quoted.id, False), (3, missing.source, False),
    ]  # fmt: skip
    first, second = view.sides[0].evidence
    assert (first.name, first.found, second.name, second.found) == ("a1", True, "a2", False)
    marked = [s for line in view.sources[1].sentences for s in line.stretches if s.quotes]
    assert [(s.text, s.quotes) for s in marked] == [("Another text", ("a1",))]
    assert view.sides[1].evidence[0].source.source is None


def test_the_claim_is_marked_in_its_report_by_its_span_or_else_by_its_words(make: Any) -> None:
    text = "One. Two. Three. The mill was built in 1898. Five. Six. Seven."
    report = Source.create(title="R", text=text, role=SourceRole.GENERATED)
    words = "The mill was built in 1898."
    start = text.index(words)
    for span in (Span(start=start, end=start + len(words)), None, Span(start=900, end=950)):
        claim = make.claim(origin=Origin(report="r", document=report.id, span=span))
        case = Case(
            id="x", claim=claim, a=Position(label="supported"), b=Position(label="supported")
        )
        view = case_view(case, {report.id: report})
        assert view.report is not None
        marked = [s.text for line in view.report.sentences for s in line.stretches if s.quotes]
        assert marked == [words]
        excerpt = "".join(s.text for line in view.report.excerpt for s in line.stretches)
        assert excerpt == "Two. Three. " + words + " Five. Six."
    gone = make.claim(text="Nowhere.", origin=Origin(report="r", document=report.id))
    case = Case(id="x", claim=gone, a=SUPPORTED, b=SUPPORTED)
    view = case_view(case, {report.id: report})
    assert view.report is not None and view.report.excerpt == []
    assert case_view(case, {}).report is None


def test_nothing_but_what_is_shown_leaves_a_claim(make: Any) -> None:
    claim = make.claim("mg-17", kind="microgold", domain="mills", subject="s", private=True)
    case = Case(id="x", claim=claim, a=SUPPORTED, b=SUPPORTED)
    assert "mg-17" not in repr(case_view(case, {})) and "microgold" not in repr(case_view(case, {}))
