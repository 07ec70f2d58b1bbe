"""What must hold of everything that an importer of a data set gives, as a fixture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable

import pytest

from deepfact.importers.base import Imported

CheckWhole = Callable[[Imported, int], None]
WriteRows = Callable[..., Path]


@pytest.fixture(scope="session")
def check_whole() -> CheckWhole:
    """Checks that each row is imported or listed, that ids resolve and spans are their text.

    Takes what an importer gave, and how many rows the files hold, counted by the test itself.
    """

    def check(out: Imported, rows: int) -> None:
        assert len(out.claims) + len(out.skipped) == rows
        assert all(skip.why and skip.where for skip in out.skipped)
        sources = {source.id: source for source in out.sources}
        assert len(sources) == len(out.sources), "a source is there twice"
        ids = [claim.id for claim, _ in out.claims]
        assert len(set(ids)) == len(ids), "a claim id is there twice"
        for claim, annotation in out.claims:
            assert set(claim.cites) <= set(sources)
            if claim.origin and claim.origin.document:
                text = sources[claim.origin.document].text
                span = claim.origin.span
                assert span is None or text[span.start : span.end] == claim.text
            for evidence in annotation.evidence if annotation else ():
                assert evidence.source in claim.cites
                assert evidence.span is not None
                quoted = sources[evidence.source].text[evidence.span.start : evidence.span.end]
                assert quoted == evidence.quote
        assert any("icence" in note for note in out.notes), "no licence in the notes"

    return check


@pytest.fixture
def write_rows(tmp_path: Path) -> WriteRows:
    """Writes objects as JSON Lines into the test's folder: ``write_rows("a.jsonl", row, ...)``."""

    def write(name: str, *rows: Any, end: str = "\n") -> Path:
        file = tmp_path / name
        text = "".join(json.dumps(row, ensure_ascii=False) + end for row in rows)
        file.write_text(text, encoding="utf-8", newline="")
        return file

    return write
