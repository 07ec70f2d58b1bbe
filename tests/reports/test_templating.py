"""Escaping at its one place."""

from __future__ import annotations

import pytest
from jinja2 import UndefinedError
from markdown_it import MarkdownIt
from markupsafe import Markup

from deepfact.reports.templating import (
    TEMPLATES,
    html_environment,
    html_escape,
    markdown_escape,
    rate_words,
    safe_href,
    visible,
)
from deepfact.run_records import Rate


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "a[U+202E]b"),
        ("a\x00b\x1b", "a[U+0000]b[U+001B]"),
        ("\ufeffa\u200b", "[U+FEFF]a[U+200B]"),
        ("\U000e0041", "[U+E0041]"),
        ("\ud800", "[U+D800]"),
        ("a\r\nb\rc", "a\nb[U+000D]c"),
        ("می\u200cخواهم, naïve, 漢字, 👩\u200d🔬", "می\u200cخواهم, naïve, 漢字, 👩\u200d🔬"),
    ],
)
def test_hidden_characters_become_visible(text, shown):
    assert visible(text) == shown
    visible(text).encode("utf-8")


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "//example.org",
        "https://",
        "http://[broken",
        "https://example.org/\u202egnp.exe",
        "https://example.org/ onclick=x",
        'https://example.org/"x',
        "java\nscript:x",
        "",
    ],
)
def test_only_plain_web_addresses_are_linked(url):
    assert safe_href(url) == ""


def test_a_web_address_is_linked():
    assert safe_href("https://example.org/a?b=c&d=é#e") == "https://example.org/a?b=c&d=é#e"
    assert safe_href("HTTP://example.org") == "HTTP://example.org"


@pytest.mark.parametrize("value", [None, {}, [], ()])
def test_nothing_but_text_and_numbers_is_printed(value):
    with pytest.raises(TypeError):
        html_escape(value)
    with pytest.raises(TypeError):
        markdown_escape(value)


def test_an_unknown_name_in_a_template_is_an_error():
    with pytest.raises(UndefinedError):
        html_environment().from_string("{{ nothing }}").render()


def test_markup_of_a_macro_is_left_alone():
    assert html_escape(Markup("<b>x</b>")) == "<b>x</b>"
    assert html_escape("<b>\"'") == "&lt;b&gt;&#34;&#39;"


@pytest.mark.parametrize(
    "text",
    [
        "a | b \\| c \\\\| d",
        "*a* _b_ **c** ~~d~~ `e` ``f``",
        "[a](http://x.example) ![b](c) <http://x.example> [d]: e",
        "<b>&amp; &#35; & # $x$ ^y^ {z} @someone www.example.org",
    ],
)
def test_markdown_reads_back_word_for_word(text):
    parser = MarkdownIt("commonmark").enable("table")
    for template in ("- {}", "| a |\n|---|\n| {} |", "### {}"):
        tokens = parser.parse(template.format(markdown_escape(text)))
        cells = [token for token in tokens if token.type == "inline"]
        kinds = {child.type for child in cells[-1].children}
        assert kinds <= {"text", "text_special"}
        assert "".join(child.content for child in cells[-1].children) == text


def test_a_rate_in_words_is_complete():
    rate = Rate(k=3, n=4, unverified=1, low=0.3, high=0.95, method="wilson")
    assert rate_words(rate) == (
        "75.0\u00a0% (3 of 4, 95 % interval 30.0–95.0\u00a0%, 1 unverified)"
    )
    empty = Rate(k=0, n=0, unverified=2, low=float("nan"), high=float("nan"), method="wilson")
    assert rate_words(empty) == "no rate (n = 0, 2 unverified)"


# --- colours -----------------------------------------------------------------------------


def colours(dark: bool) -> dict[str, str]:
    css = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    start = css.index("prefers-color-scheme: dark") if dark else 0
    block = css[css.index(":root", start) :].split("}", 1)[0]
    pairs = (item.split(":") for item in block.split("{")[1].split(";") if "--" in item)
    return {name.strip().removeprefix("--"): value.strip() for name, value in pairs}


def channels(colour: str) -> list[float]:
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def luminance(rgb: list[float]) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: list[float], two: list[float]) -> float:
    """WCAG 2 contrast ratio."""
    low, high = sorted((luminance(one), luminance(two)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_every_text_colour_has_contrast(dark):
    palette = {name: channels(value) for name, value in colours(dark).items()}
    assert len(palette) == 12
    for ground in ("paper", "raised", "warn"):
        for ink in ("ink", "soft", "accent", "good", "bad", "open"):
            assert contrast(palette[ink], palette[ground]) >= 4.5, (ink, ground)
    assert contrast(palette["ink"], palette["mark"]) >= 4.5
    darkest = [0.64 * s + 0.36 * p for s, p in zip(palette["shade"], palette["paper"], strict=True)]
    assert contrast(palette["ink"], darkest) >= 4.5
