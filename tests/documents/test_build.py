"""Segments tile the text, whatever it is; blocks are what they look like; time stays bounded."""

from __future__ import annotations

from typing import Any, Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from deepfact.documents.drafts import Given
from deepfact.documents.records import Segment, SegmentKind

Build = Callable[..., Any]
Join = Callable[[Any], str]

PIECES = st.sampled_from(
    ["# ", "## T\n", "- ", "1. ", "> ", "| a | b |\n", "|---|---|\n", "```\n", "    ", "\n",
     "\n\n", "\r\n", "\r", "\t", "[1]", "[^1]", "[^1]: x\n", "[a](http://b.c)", "[", "]", "(", ")",
     "**", "_", "`", "<sup>2</sup>", "<b>", "</p>", "<p>", "<li>", "<pre>", "<!--", "-->", "&amp;",
     "&#x41;", "\\", "http://a.b/c", "word.12 ", "A b. ", "\ufeff", "\u2028", "\x0c", "\x00",
     "参考文献：\n", "完。", "References\n", "[1] http://a.b\n", "---\n", "===\n", "é", "𝄞"]
)  # fmt: skip
TEXTS = st.one_of(
    st.lists(PIECES, max_size=40).map("".join),
    st.text(alphabet=st.characters(codec="utf-8"), max_size=120),
)


@settings(max_examples=250)
@given(text=TEXTS, form=st.sampled_from(["markdown", "html", "text", "page"]))
@example(text="*a\n\t- b. [1]", form="markdown")
@example(text="<a href='x'>b<p>c", form="html")
def test_segments_are_the_text_again(build: Build, text: str, form: str) -> None:
    record = build(text, form)
    assert "".join(text[one.start : one.end] for one in record.segments) == text
    for sentence in record.sentences:
        assert 0 <= sentence.span.start < sentence.span.end <= len(text)
    numbered = [one.sentence for one in record.segments if one.kind is SegmentKind.SENTENCE]
    assert numbered == [sentence.index for sentence in record.sentences]
    for marker in record.markers:
        assert text[marker.span.start : marker.span.end]
    for reference in record.references:
        assert reference.span.end <= len(text)


def test_what_each_part_of_a_report_is(build: Build, joined: Join) -> None:
    text = (
        "\ufeff# Mills\r\n\r\nThe *mill* opened in 1898. It is old.\r\n\r\n- It burnt `a.b` down. "
        "Then it fell.\r\n- It was sold.\r\n\r\n> It was said. So it is.\r\n\r\n| a | b [1] |\r\n"
        "|--|--|\r\n| c | d |\r\n\r\n```py\r\nx. Y = [1]\r\n```\r\n\r\n"
        "## References\r\n\r\n1. A https://b.c\r\n"
    )
    record = build(text)
    assert joined(record) == text
    shown = [
        (one.kind.value, text[one.start : one.end])
        for one in record.segments
        if one.kind not in (SegmentKind.SPACE, SegmentKind.MARKUP)
    ]
    assert shown == [
        ("heading", "Mills"), ("sentence", "The *mill* opened in 1898."),
        ("sentence", "It is old."), ("sentence", "It burnt `a.b` down."),
        ("sentence", "Then it fell."), ("sentence", "It was sold."),
        ("sentence", "It was said."), ("sentence", "So it is."),
        ("table", "| a | b [1] |"), ("table", "| c | d |"),
        ("code", "```py\r\nx. Y = [1]\r\n```\r\n"), ("heading", "References"),
        ("reference", "A https://b.c"),
    ]  # fmt: skip
    assert [one.text for one in record.sentences][:3] == [
        "The mill opened in 1898.", "It is old.", "It burnt a.b down.",
    ]  # fmt: skip
    assert [one.place.value for one in record.sentences] == [
        "paragraph", "paragraph", "list", "list", "list", "quote", "quote",
    ]  # fmt: skip
    assert record.sentences[0].section == ("Mills",) and record.title == "Mills"
    assert record.markers[0].sentence is None  # it stands in a table


def test_a_sentence_begins_behind_the_indentation_of_its_line(build: Build) -> None:
    text = "1. It opened.\n   It closed.\n\nOne line\\\nis broken here.\n"
    kept = [text[one.span.start : one.span.end] for one in build(text).sentences]
    assert kept == ["It opened.", "It closed.", "One line", "is broken here."]


def test_html_keeps_its_source_and_reads_its_text(build: Build, joined: Join) -> None:
    text = (
        "<!DOCTYPE html><html><head><title>Mills &amp; more</title><style>p{x:'. A'}</style></head>"
        "<body><nav>Home. About.</nav><h1>Mills</h1><script>var a='<p>No. Not this.</p>';</script>"
        "<p>The <b>mill</b> opened in 1898.<sup><a href='#r1'>[1]</a></sup> Caf&eacute;s came\n"
        "later <a href='https://example.org/x?a=1&amp;b=2'>there</a>.<br>A new line.</p>"
        "<table><tr><th>a</th><td>b</td></tr></table><pre>x. Y</pre>"
        "<h2>References</h2><ol><li id='r1'>Mill history https://example.org/a</li></ol></body></html>"
    )
    record = build(text, "html")
    assert joined(record) == text
    assert [one.text for one in record.sentences] == [
        "The mill opened in 1898.", "Cafés came later there.", "A new line.",
    ]  # fmt: skip
    kept = record.sentences[0].span
    assert text[kept.start : kept.end] == (
        "The <b>mill</b> opened in 1898.<sup><a href='#r1'>[1]</a></sup>"
    )
    assert record.references[record.sentences[0].references[0]].title == "Mill history"
    assert record.references[record.sentences[1].references[0]].url == (
        "https://example.org/x?a=1&b=2"
    )
    kinds = {one.kind.value for one in record.segments}
    assert kinds == {"markup", "space", "heading", "sentence", "table", "code", "reference"}
    assert (record.title, build("<title>T</title><p>It is so.", "html").title) == ("Mills", "T")


def test_a_page_is_read_over_its_line_ends(build: Build, joined: Join) -> None:
    text = (
        "1 Introduction\nThe mill was built in 1898 by the\nriver. It burnt down [1].\n"
        "References\n[1] Chronicle of the\nvalley. https://example.org/c\n\n"
        "\x0c\n2 The end\nIt closed."
    )
    record = build(text, "page")
    assert joined(record) == text
    assert [one.text for one in record.sentences] == [
        "The mill was built in 1898 by the river.", "It burnt down.", "It closed.",
    ]  # fmt: skip
    assert record.references[0].title == "Chronicle of the valley"


HOSTILE = {
    "quotes": (">" * 100_000, "markdown"), "brackets": ("[" * 100_000, "markdown"),
    "links": ("[a](" * 25_000, "markdown"), "images": ("![" * 50_000, "markdown"),
    "stars": ("*a **b " * 15_000, "markdown"), "lists": ("- " * 50_000, "markdown"),
    "ticks": ("".join("`" * n + " " for n in range(400)), "markdown"),
    "escapes": ("[a](" + "\\(x\\)" * 20_000, "markdown"), "tags": ("<a " * 50_000, "html"),
    "attributes": ('<a href="' * 12_000, "html"), "comments": ("<!--" * 25_000, "html"),
    "nested": ("<div>" * 20_000 + "It is so.", "html"), "marks": ("a [1]. " * 15_000, "markdown"),
    "names": ("(Smith and " * 9_000, "markdown"), "glued": ("aaa.1 " * 15_000, "text"),
    "urls": ("https://a.b/" + "(" * 100_000, "text"), "entities": ("&amp" * 25_000, "html"),
    "entries": ("References\n" + "[1] a\n" * 15_000 + "It is [1].", "markdown"),
}  # fmt: skip


@pytest.mark.usefixtures("no_hang")
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_seconds_not_minutes(name: str, joined: Join, build: Build) -> None:
    text, form = HOSTILE[name]
    assert joined(build(text, form)) == text


def test_published_sentences_take_the_place_of_ours(build: Build, joined: Join) -> None:
    text = "# T\n\nThe mill opened [1]. It closed.\n\n## References\n\n1. A https://b.c\n"
    sentences = (
        Given("The mill opened [1].", 4, "central", True), Given("Not there."), Given("It closed."),
    )  # fmt: skip
    record = build(text, given=sentences)
    assert joined(record) == text
    first, missing, last = record.sentences
    assert (first.relevance, first.why, first.verifiable) == (4, "central", True)
    assert first.references == (0,) and record.markers[0].sentence == 0
    assert missing.span.start == missing.span.end
    assert text[last.span.start : last.span.end] == "It closed." and last.relevance is None
    assert "1 of 3 published sentences are not in the text" in record.notes[0]


def test_a_record_whose_segments_do_not_tile_is_refused(build: Build) -> None:
    record = build("It is so. It was not.")
    holes = {**record.model_dump(), "segments": record.model_dump()["segments"][1:]}
    with pytest.raises(ValidationError, match="gap or overlap at character 0"):
        type(record).model_validate(holes)
    short = (Segment(kind=SegmentKind.SENTENCE, start=0, end=3),)
    with pytest.raises(ValidationError, match="end at character 3"):
        type(record).model_validate({**record.model_dump(), "segments": short})
