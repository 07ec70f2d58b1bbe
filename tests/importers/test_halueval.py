"""HaluEval: whole answers, CRLF, spans that are no exact part of the answer."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Callable

import pytest

from deepfact.importers.base import Imported
from deepfact.importers.halueval import read
from deepfact.records import Label

WHEN = datetime(2025, 1, 1, tzinfo=UTC)


def row(number: int, word: str, *spans: str) -> dict[str, Any]:
    return {"ID": str(number), "user_query": "q", "chatgpt_response": f"Answer {number}.",
            "hallucination": word, "hallucination_spans": list(spans)}  # fmt: skip


def test_answers_are_claims(
    write_rows: Callable[..., Path], check_whole: Callable[[Imported, int], None]
) -> None:
    rows = [row(1, "no"), row(2, "yes", "Answer", "Incomplete"), row(2, "no"), row(3, "maybe")]
    out = read(write_rows("general_data.json", *rows, end="\r\n"), when=WHEN)
    check_whole(out, 4)
    assert [(c.id, c.text, a and a.label) for c, a in out.claims] == [
        ("halueval-1", "Answer 1.", Label.SUPPORTED),
        ("halueval-2", "Answer 2.", Label.CONTRADICTORY),
    ]
    annotation = out.claims[1][1]
    assert annotation is not None
    assert annotation.rationale == 'HaluEval\'s annotators marked: "Answer"; "Incomplete"'
    assert any("1 marked spans are no exact part" in note for note in out.notes)


@pytest.mark.data
def test_the_public_file(data_dir: Path, check_whole: Callable[[Imported, int], None]) -> None:
    out = read(data_dir / "halueval", when=WHEN)
    check_whole(out, 400)
    assert Counter(a.original_label for _, a in out.claims if a) == {"no": 343, "yes": 57}
    assert any("11 marked spans" in note for note in out.notes)
