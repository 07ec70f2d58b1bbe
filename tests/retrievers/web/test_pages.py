"""What a page says: main text, whatever the encoding; and addresses as they may be stored."""

from __future__ import annotations

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepfact.errors import MissingExtraError
from deepfact.retrievers.web.fetch import Fetched, FetchFailed
from deepfact.retrievers.web.pages import decoded, one_line, page_text
from deepfact.retrievers.web.urls import clean_url, domain_of

ARTICLE = (
    "<html><head><title>A mill &amp; more</title>{meta}</head><body>"
    "<nav><a href='/'>Home</a> <a href='/x'>Subscribe now</a></nav>"
    "<article><h1>A mill</h1><p>The mühle was built in 1898 by the town, as its records say.</p>"
    "<p>It closed in 1931 after the flood of that year, and was never opened again.</p></article>"
    "<footer>Copyright. Cookie settings.</footer></body></html>"
)


def page(body: bytes, kind: str = "text/html", charset: str = "") -> Fetched:
    return Fetched("https://example.org/mill", (), kind, charset, body)


@pytest.mark.parametrize(
    ("encoding", "stated", "meta"),
    [
        ("utf-8", "", ""),
        ("utf-8", "utf-8", ""),
        ("latin-1", "iso-8859-1", ""),
        ("latin-1", "utf-8", ""),  # it claims what it is not
        ("latin-1", "", "<meta charset='utf-8'>"),
        ("cp1252", "", ""),
        ("utf-8", "no-such-charset", ""),
        ("iso-8859-2", "", "<meta charset='iso-8859-2'>"),
        ("utf-16", "", ""),
    ],
)
def test_main_text_is_found_in_any_encoding(encoding, stated, meta) -> None:
    made = page_text(page(ARTICLE.format(meta=meta).encode(encoding), charset=stated))
    assert "The mühle was built in 1898" in made.text and "never opened again" in made.text
    assert "Subscribe" not in made.text and "Cookie" not in made.text
    assert made.title in ("A mill", "A mill & more")


@pytest.mark.parametrize(
    "body",
    [b"", b"<html></html>", b"<p>short</p>", b"\xff" * 300, b"<" * 5000, b"<div>" * 20000,
     b"%PDF-1.4 no", b"\0" * 500],
)  # fmt: skip
def test_a_page_without_text_is_a_failure_of_that_page(body) -> None:
    for kind in ("text/html", "application/pdf"):
        with pytest.raises(FetchFailed) as caught:
            page_text(page(body, kind))
        assert caught.value.reason == "text"


def test_a_pdf_is_read() -> None:
    pypdf = pytest.importorskip("pypdf")
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = pypdf.PdfWriter()
    sheet = writer.add_blank_page(200, 200)
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    fonts = DictionaryObject({NameObject("/F1"): font})
    sheet[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    stream = DecodedStreamObject()
    words = b"The mill was built in 1898 and closed in 1931."
    stream.set_data(b"BT /F1 9 Tf 5 100 Td (" + words + b") Tj ET")
    sheet[NameObject("/Contents")] = writer._add_object(stream)
    out = io.BytesIO()
    writer.write(out)
    made = page_text(page(out.getvalue(), "application/pdf"))
    assert words.decode() in made.text
    with pytest.raises(FetchFailed, match="cut off"):
        page_text(page(out.getvalue()[:200], "application/pdf"))


def test_plain_text_is_left_as_it_is() -> None:
    text = "Line one about the mill.\r\nLine two, with  two spaces and a tab\tin it.\n"
    assert page_text(page(text.encode(), "text/plain")).text == text


def test_without_the_extra_it_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    with pytest.raises(MissingExtraError, match=r"deepfact\[search\]"):
        page_text(page(b"<p>x</p>"))


def test_words_of_an_engine_become_plain() -> None:
    assert one_line("<strong>A</strong> &amp;\n  B &lt;script&gt;") == "A & B <script>"


@given(st.binary(max_size=200), st.sampled_from(["", "utf-8", "latin-1", "x-unknown", "utf-16"]))
def test_any_bytes_can_be_decoded(body, charset) -> None:
    assert isinstance(decoded(body, charset), str)


@pytest.mark.parametrize(
    ("url", "clean"),
    [
        ("https://Example.ORG/A?b=1#c", "https://example.org/A?b=1"),
        ("https://user:hunter2hunter2@example.org/", "https://example.org/"),
        ("https://example.org/a?api_key=abc123456789&q=mill", "https://example.org/a?q=mill"),
        ("https://example.org/a?X-Amz-Signature=ff&X-Amz-Date=1&page=2",
         "https://example.org/a?page=2"),
        ("https://example.org/a?access_token=t&sid=1", "https://example.org/a"),
        ("https://example.org/a?keyword=mill&monkey=1&author=x",
         "https://example.org/a?keyword=mill&monkey=1&author=x"),
        ("https://example.org", "https://example.org/"),
        ("https://bücher.example/weg/ü?q=ä", "https://xn--bcher-kva.example/weg/%C3%BC?q=%C3%A4"),
        ("http://[2001:db8::1]:8080/x", "http://[2001:db8::1]:8080/x"),
        ("https://example.org/a%20b?c=d%26e", "https://example.org/a%20b?c=d%26e"),
    ],
)  # fmt: skip
def test_addresses_are_stored_without_secrets(url, clean) -> None:
    assert clean_url(url) == clean
    assert clean_url(clean) == clean


def test_a_key_of_this_environment_is_in_no_address(monkeypatch) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", "tvly-verysecretkey")
    assert "verysecret" not in clean_url("https://example.org/tvly-verysecretkey/x")
    assert domain_of("https://Sub.Example.org:8080/x") == "sub.example.org"
