"""Real reports: all are read, no character is lost, and their citations lead where others found."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest

from deepfact.documents.ratings import words_of
from deepfact.documents.references import same_url

pytestmark = pytest.mark.data
Build = Callable[..., Any]


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]


@pytest.fixture(scope="module")
def reports(data_dir: Path, build: Build) -> dict[tuple[str, str], Any]:
    """Every report of the folder, by file and id."""
    folder = data_dir / "deep-research-reports"
    files = [*sorted(folder.glob("*.jsonl")), *sorted((folder / "drb_fork").glob("*.jsonl"))]
    return {
        (file.name.partition(".")[0], str(row["id"])): build(row["article"], question=row["prompt"])
        for file in files
        for row in rows(file)
        if "article" in row
    }


def test_no_character_of_any_report_is_lost(
    reports: dict[Any, Any], joined: Callable[[Any], str]
) -> None:
    assert len([key for key in reports if key[0] != "fact_dls"]) == 91
    for record in reports.values():
        assert joined(record) == record.text
        assert 40 < len(record.sentences) < 500


UNRESOLVED = {("dls_science_03_17", "62"): 5}
"""Numbers that the report's own list does not have: [17] and [18] of 16 entries."""


def test_numbers_resolve_wherever_a_list_has_them(reports: dict[Any, Any]) -> None:
    total = 0
    for key, record in reports.items():
        numbered = [
            m for m in record.markers if m.kind in ("bracket", "footnote", "glued", "superscript")
        ]
        listed = {n for reference in record.references for n in reference.numbers}
        total += len(numbered)
        open_marks = [marker for marker in numbered if marker.unresolved]
        assert len(open_marks) == UNRESOLVED.get(key, 0), key
        for marker in open_marks:
            assert not set(marker.numbers) <= listed
    assert total > 4500


def test_ninety_thousand_characters_are_not_long(reports: dict[Any, Any], build: Build) -> None:
    longest = max((record.text for record in reports.values()), key=len)
    text = (longest + "\n\n" + longest[:10_000])[:90_000]
    began = time.process_time()
    build(text)
    assert time.process_time() - began < 2


# --- against what others found --------------------------------------------------------------


def agreement(record: Any, citations: list[dict[str, Any]]) -> Iterator[str]:
    """For each (statement, URL) that a model took out of a report: is the URL in our list, is the
    statement one of our sentences, and does that one (or its neighbours) cite the URL here?"""
    listed = {same_url(u) for r in record.references for u in (r.url, *r.further_urls) if u}
    bags = [set(words_of(sentence.text)) for sentence in record.sentences]
    for one in citations:
        url = same_url(one["url"])
        if not url:
            continue
        yield "all"
        if url in listed:
            yield "listed"
        words = set(words_of(one["fact"]))
        shares = [len(words & bag) / max(1, len(words)) for bag in bags]
        best = max(range(len(shares)), key=shares.__getitem__)
        if shares[best] < 0.6:
            continue
        yield "found"
        near = record.sentences[max(0, best - 1) : best + 2]
        urls = {same_url(record.references[p].url) for s in near for p in s.references}
        if url in urls:
            yield "same"


@pytest.mark.parametrize(
    ("file", "citations", "listed", "same"),
    [
        (
            "openai_science_03_17",
            "citations_openai_science_03_17.deduplicated.no-article",
            0.98,
            0.95,
        ),
        ("dls_science_03_17", "citations_dls_science_03_17.deduplicated.no-article", 1.0, 0.93),
        ("fact_dls", "fact_dls.validated.no-page-text", 0.98, 0.45),
    ],
)
def test_citations_lead_where_a_model_found_they_lead(
    reports: dict[Any, Any], data_dir: Path, file: str, citations: str, listed: float, same: float
) -> None:
    """The third file's reports have no marks at all but one: there a statement is tied to a URL
    by what it says, which no resolution of marks can find."""
    folder = data_dir / "deep-research-reports" / "drb_fork"
    counts: Counter[str] = Counter()
    for row in rows(folder / f"{citations}.jsonl"):
        counts.update(agreement(reports[file, str(row["id"])], row["citations"]))
    assert counts["all"] > 200
    assert counts["listed"] / counts["all"] >= listed, counts
    assert counts["same"] / counts["found"] >= same, counts


SHAPES: dict[str, Callable[[int, str, str], str]] = {
    "[n] author, title": lambda n, t, a: f"[{n}] {a} (2020). {t}. https://example.org/{n}\n",
    "n. title, accessed": lambda n, t, a: f"{n}. {t}, accessed April 24, 2025, https://example.org/{n}\n",
    "n. [title](url)": lambda n, t, a: f"{n}. [{t}](https://example.org/{n}) (background)\n",
    "- [n] title: url": lambda n, t, a: f"- [{n}] {t}: https://example.org/{n}\n",
    "[n] url - title": lambda n, t, a: f"[{n}] https://example.org/{n} - {t}\n",
    "[^n]: title": lambda n, t, a: f"[^{n}]: {t}. https://example.org/{n}\n",
    "* title — url": lambda n, t, a: f"* {t} — https://example.org/{n}\n",
    "table": lambda n, t, a: ("| # | Title | URL |\n|---|---|---|\n" if n == 1 else "")
    + f"| {n} | {t} | https://example.org/{n} |\n",
    "Chinese date": lambda n, t, a: f"{n}. {t}, 檢索日期：4月 24, 2025， https://example.org/{n}\n",
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_gold_bibliographies_are_read_back_from_every_shape(
    data_dir: Path, build: Build, shape: str
) -> None:
    """The titles of ReportBench's reference lists, written as reports write them."""
    files = sorted((data_dir / "reportbench" / "gt_references").glob("*.jsonl"))
    count = 0
    for file in files:
        gold = [(" ".join(row["title"].split()), row["author"] or "N. N.") for row in rows(file)]
        mark = "[^{}]" if shape.startswith("[^") else "[{}]"
        body = " ".join(f"Work {mark.format(n)} is so." for n in range(1, len(gold) + 1))
        entries = "".join(SHAPES[shape](n, t, a) for n, (t, a) in enumerate(gold, 1))
        record = build(f"# Survey\n\n{body}\n\n## References\n\n{entries}")
        by_number = {n: entry for entry in record.references for n in entry.numbers}
        for number, (title, _) in enumerate(gold, 1):
            entry = by_number[number]
            assert entry.url == f"https://example.org/{number}"
            if "author" in shape:
                assert title.rstrip(".") in entry.title
            else:
                assert entry.title.rstrip(".") == title.rstrip(".")
            count += 1
        assert not any(marker.unresolved for marker in record.markers)
        assert len(record.sentences) == len(gold)
    assert count == 221
