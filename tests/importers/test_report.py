"""Imported reports as claims: their context, what they cite, and what is left out and why."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deepfact.documents.build import build_record
from deepfact.documents.drafts import Report
from deepfact.documents.records import Original, ReportRecord
from deepfact.errors import InputError
from deepfact.importers import importer
from deepfact.importers.base import Imported
from deepfact.records import SourceRole, sha256_of
from deepfact.store.files import write_text

WHEN = datetime(2026, 1, 2, tzinfo=UTC)
TEXT = (
    "# Mills\n\nLet me look. The mill was built in 1898 [1]. It closed in 1931 [1][2]. "
    "It fell [9].\n\n## References\n\n1. Mill history https://www.example.org/a/\n"
    "2. Chronicle https://example.org/b\n"
)


def record(report_id: str = "mills", text: str = TEXT) -> ReportRecord:
    original = Original(name="m.md", format="markdown", size=1, hash=sha256_of(text))
    report = Report(report_id, text, original, "markdown", question="When did the mill close?")
    return build_record(report)


def put(folder: Path, *records: ReportRecord) -> Path:
    for one in records:
        write_text(folder / f"{one.id}.report.json", one.canonical())
    return folder


def read(path: Path, **options: Any) -> Imported:
    return importer("report")(path, when=WHEN, **options)


def test_verifiable_sentences_become_unlabelled_claims(tmp_path: Path) -> None:
    out = read(put(tmp_path, record()))
    assert [(claim.id, claim.text, label) for claim, label in out.claims] == [
        ("mills-s002", "The mill was built in 1898.", None),
        ("mills-s003", "It closed in 1931.", None),
    ]
    claim = out.claims[1][0]
    assert claim.context.split("\n") == [
        "From a report on: When did the mill close?",
        "Section: Mills",
        "Before it: Let me look. The mill was built in 1898.",
        "It cites: Mill history, https://www.example.org/a/",
        "It cites: Chronicle, https://example.org/b",
    ]
    assert claim.origin is not None and claim.origin.span is not None
    span = claim.origin.span
    assert TEXT[span.start : span.end] == "It closed in 1931 [1][2]."
    assert claim.kind.startswith("relevance-") and claim.cites == ()
    (document,) = out.sources
    assert document.id == claim.origin.document and document.text == TEXT
    assert document.role is SourceRole.GENERATED
    assert [skip.why for skip in out.skipped] == ["not verifiable: too short"] * 2
    assert "1 citation markers of the reports are unresolved." in out.notes


def test_documents_whose_url_is_cited_become_source_cards(tmp_path: Path) -> None:
    rows = [
        {
            "id": "a",
            "url": "http://example.org/a#top",
            "text": "Built in 1898.",
            "title": "History",
        },
        {"id": "x", "url": "https://example.org/x", "text": "Not cited."},
    ]
    file = tmp_path / "docs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = read(put(tmp_path, record()), sources=file)
    cards = {card.id: card.title for card in out.sources if card.role is not SourceRole.GENERATED}
    assert list(cards.values()) == ["History"]
    assert [claim.cites for claim, _ in out.claims] == [tuple(cards), tuple(cards)]
    assert "1 of 2 given documents are cited by URL." in out.notes


def test_ids_and_relevance_choose(tmp_path: Path) -> None:
    put(tmp_path, record(), record("other", "The tea of the mill was cold in 1898."))
    assert {claim.report for claim, _ in read(tmp_path).claims} == {"mills", "other"}
    assert {claim.report for claim, _ in read(tmp_path, ids="other").claims} == {"other"}
    high = read(tmp_path, min_relevance=5)
    assert len(high.claims) < 3 and any("is below 5" in skip.why for skip in high.skipped)


def test_what_is_no_record_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no imported report"):
        read(tmp_path)
    (tmp_path / "a.report.json").write_text('{"id": "a"}')
    with pytest.raises(InputError, match=r"a\.report\.json: title: |Field required"):
        read(tmp_path)
    (tmp_path / "a.report.json").write_text('{"schema_version": 2}')
    with pytest.raises(InputError, match="newer than this deepfact knows"):
        read(tmp_path)


GOLDEN = Path(__file__).parents[1] / "golden" / "documents" / "ReportRecord.json"


def test_the_golden_record_parses_and_is_written_again_byte_for_byte() -> None:
    text = GOLDEN.read_text("utf-8")
    assert f"{ReportRecord.model_validate_json(text).canonical()}\n" == text
