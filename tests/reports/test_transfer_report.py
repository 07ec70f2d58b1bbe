"""The report of a transfer run: stacked bars that need no colour, and nothing without its n."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deepfact.core.transfer import PARTS
from deepfact.reports.stacked import PATTERNS, Part, StackedBar, StackedBars
from deepfact.reports.study import render_html, render_markdown
from deepfact.reports.transfer_report import _LETTERS, SIMULATED, page_of
from deepfact.transfer import run_transfer
from deepfact.transfer_records import TransferRecord, TransferSpec

SVG = re.compile(r"<svg.*?</svg>", re.DOTALL)


@pytest.fixture
def record(desk: Path) -> TransferRecord:
    from deepfact.auditors import read_auditors

    spec = TransferSpec.model_validate({
        "name": "<b>trial", "auditors": ["simulated-expert"],
        "verifiers": [{"kind": "quoting"}, {"kind": "failing"}],
        "data_sets": [{"name": "mini", "benchmark": "small@1", "sample": 20}],
        "date": "2026-01-05T00:00:00Z",
    })  # fmt: skip
    declared = read_auditors(spec.auditors, Path("auditors"))
    return run_transfer(spec, Path("run"), auditors=declared)


def test_a_report_says_everything_in_both_forms(record: TransferRecord) -> None:
    page = page_of(record)
    html, markdown = render_html(page), render_markdown(page)
    for text in (html, markdown):
        assert "likely model error" in text and "20 unverified" in text
        assert SIMULATED.split(".")[0] in text
    assert "<b>trial" not in html
    reasons = {ruling.reason for ruling in record.rulings}
    assert all(reason.split("] ")[1] in html for reason in reasons)
    rows = [line for line in markdown.splitlines() if line.startswith("| t-")]
    assert len(rows) == len(record.cases)
    rates = re.findall(r"\| +\d+\.\d.%[^|]*", markdown)
    assert rates and all("of" in rate and "interval" in rate and "unverified" in rate
                         for rate in rates)  # fmt: skip


def test_bars_are_told_apart_without_colour_and_in_words(record: TransferRecord) -> None:
    html = render_html(page_of(record))
    drawing = next(m[0] for m in SVG.finditer(html) if "What becomes" in m[0])
    root = ET.fromstring(drawing)
    told = root.find("desc").text  # type: ignore[union-attr]
    assert told is not None and "mini, failing: unverified 20 of 20" in told
    colours = {one.get("fill") for one in root.iter() if one.get("fill")}
    assert all(c in ("currentColor", "none") or c.startswith("url(#") for c in colours if c)
    used = re.findall(r"url\(#([\w-]+)\)", drawing)
    assert set(used) <= {one.get("id") for one in root.iter("pattern")}


def test_every_part_has_a_letter_and_a_pattern_of_its_own() -> None:
    assert set(_LETTERS) == set(PARTS)
    letters, patterns = zip(*_LETTERS.values(), strict=True)
    assert len(set(letters)) == len(set(patterns)) == len(PARTS)
    assert set(patterns) == set(PATTERNS)


def test_widths_are_shares_and_nothing_is_drawn_of_nothing() -> None:
    parts = tuple(
        Part(letter, f"part {letter}", name)
        for letter, name in zip("ABC", ("solid", "rising", "dotted"), strict=True)
    )
    plot = StackedBars("t", parts, (StackedBar("g", "<v>", (3, 1, 0), "3 and 1"),
                                    StackedBar("g", "none", (0, 0, 0), "nothing")))  # fmt: skip
    root = ET.fromstring(str(plot.draw("p")))
    widths = [float(one.get("width", 0)) for one in root.iter("rect") if one.get("height") == "20"]
    assert len(widths) == 2 and widths[0] == pytest.approx(3 * widths[1], abs=0.2)
    texts = [one.text for one in root.iter("text")]
    assert "<v>" in texts and "C  part C" not in texts and "n = 0" in texts


def test_a_part_shown_pending_is_said(
    desk: Path, record: TransferRecord, make: Callable[..., Any]
) -> None:
    waiting = record.model_copy(update={"waiting": (record.cases[0].id,), "simulated": False})
    banners = page_of(waiting).banners
    assert len(banners) == 1 and "wait for a decision" in banners[0]
