"""The round report as Markdown: complete, and data stays data."""

from __future__ import annotations

import re
from itertools import pairwise

from markdown_it import MarkdownIt

from deepfact.reports.round_report import render_markdown


def markdown_of(made, rounds: int = 1) -> str:
    return render_markdown(made.record(rounds), made.sources)


def parsed(text: str) -> list:
    return MarkdownIt("commonmark").enable("table").parse(text)


def test_every_rate_in_markdown_has_its_n_interval_and_unverified_count(factory):
    text = markdown_of(factory(), 2)
    rates = re.findall(r"\*\*(?:\d+\.\d\u00a0%|\d\.\d{3})\*\* (\([^)]*\))", text)
    assert len(rates) > 30 and text.count("\u00a0%**") <= len(rates)
    for words in rates:
        assert re.search(r"95 % interval .*; (\d+ of \d+|n = \d+); \d+ unverified\)$", words)


def test_markdown_tables_hold_together(any_made):
    made, rounds = any_made
    text = markdown_of(made, rounds)
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(widths) == 1, block
        assert re.fullmatch(r"\|(-+:?\|)+", block.splitlines()[1]), block
    rows = sum(line.startswith("|") for line in text.splitlines())
    tokens = [token.type for token in parsed(text)]
    assert tokens.count("tr_open") == rows - tokens.count("table_open")


def test_data_cannot_break_out_of_markdown(factory):
    made = factory(hostile=True)
    tokens = parsed(markdown_of(made, 2))
    inline = [child for token in tokens for child in token.children or ()]
    kinds = {token.type for token in tokens} | {child.type for child in inline}
    assert not kinds & {"html_block", "html_inline", "code_inline", "fence", "code_block", "image"}
    assert "link_open" not in kinds and "hr" not in kinds and "ordered_list_open" not in kinds
    headings = [after.content for token, after in pairwise(tokens) if token.type == "heading_open"]
    assert headings and not [heading for heading in headings if "script" in heading]


def test_markdown_links_web_addresses_only(factory):
    links = [
        child.attrs["href"]
        for token in parsed(markdown_of(factory()))
        for child in token.children or ()
        if child.type == "link_open"
    ]
    assert links and all(link.startswith("https://example.org/reports/") for link in links)
