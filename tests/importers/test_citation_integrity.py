"""Citation-Integrity: labels, passages, ids that are numbers here and strings there."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Callable

import pytest

from deepfact.errors import InputError
from deepfact.importers.base import Imported
from deepfact.importers.citation_integrity import read
from deepfact.records import Label, Stance

WHEN = datetime(2025, 1, 1, tzinfo=UTC)
CORPUS = [
    {"doc_id": 7, "title": "", "abstract": ["Ice floats.", "It is cold."]},
    {"doc_id": 8, "title": "", "abstract": ["Iron sinks."]},
    {"doc_id": 9, "title": "", "abstract": ["Nobody cites this."]},
]


def claim(number: int, evidence: Any, cited: list[Any]) -> dict[str, Any]:
    text = f"Claim {number} <|cit|>."
    return {"id": number, "claim": text, "evidence": evidence, "cited_doc_ids": cited}


def found(label: str, *sentences: int) -> dict[str, Any]:
    return {"sentences": list(sentences), "label": label}


@pytest.fixture
def folder(tmp_path: Path, write_rows: Callable[..., Path]) -> Callable[..., Path]:
    def make(*claims: dict[str, Any]) -> Path:
        write_rows("claims_test.jsonl", *claims)
        return write_rows("corpus.jsonl", *CORPUS).parent

    return make


def test_labels_and_passages(
    folder: Callable[..., Path], check_whole: Callable[[Imported, int], None]
) -> None:
    path = folder(
        claim(1, {"7": [found("SUPPORT", 1, 0)]}, [7]),
        claim(2, {"8": [found("REFUTE", 0)]}, ["8"]),
        claim(3, {}, [7]),
    )
    out = read(path, when=WHEN)
    check_whole(out, 3)
    annotations = [annotation for _, annotation in out.claims if annotation]
    assert [a.label for a in annotations] == [
        Label.SUPPORTED, Label.CONTRADICTORY, Label.INCONCLUSIVE,
    ]  # fmt: skip
    assert [a.original_label for a in annotations] == ["SUPPORT", "REFUTE", "no evidence"]
    assert [e.quote for e in annotations[0].evidence] == ["It is cold.", "Ice floats."]
    assert [e.stance for e in annotations[1].evidence] == [Stance.CONTRADICTS]
    assert not annotations[2].evidence
    assert out.claims[2][0].cites == out.claims[0][0].cites
    assert len(out.sources) == 2, "a document that no claim cites is not imported"
    assert out.claims[0][0].text == "Claim 1 <|cit|>."


def test_rows_that_cannot_be_imported_are_listed(
    folder: Callable[..., Path], check_whole: Callable[[Imported, int], None]
) -> None:
    path = folder(
        claim(1, {"7": [found("SUPPORT", 0)]}, [7]),
        claim(1, {}, [7]),
        claim(2, {"7": [found("SUPPORT", 0)], "8": [found("REFUTE", 0)]}, [7, 8]),
        claim(3, {"7": [found("SUPPORT", 5)]}, [7]),
        claim(4, {"7": [found("PERHAPS", 0)]}, [7]),
    )
    out = read(path, when=WHEN)
    check_whole(out, 5)
    why = [skip.why for skip in out.skipped]
    assert len(out.claims) == 1
    for said in ("given before", "different labels (REFUTE, SUPPORT)", "none at 5", "evidence.7"):
        assert any(said in reason for reason in why), (said, why)


def test_a_missing_document_is_named(folder: Callable[..., Path]) -> None:
    out = read(folder(claim(1, {"70": [found("SUPPORT", 0)]}, [70])), when=WHEN)
    assert out.claims[0][0].cites == ()
    assert any("does not hold: 1." in note for note in out.notes)


def test_missing_files(tmp_path: Path, folder: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match=r"claims_dev\.jsonl"):
        read(folder(claim(1, {}, [7])), when=WHEN, split="dev")
    with pytest.raises(InputError, match="from a folder"):
        read(tmp_path / "corpus.jsonl", when=WHEN)


@pytest.mark.data
@pytest.mark.parametrize(
    ("split", "rows", "counts"), [("dev", 316, (191, 101, 24)), ("test", 606, (386, 170, 50))]
)
def test_the_public_files(
    data_dir: Path,
    check_whole: Callable[[Imported, int], None],
    split: Any,
    rows: int,
    counts: tuple[int, ...],
) -> None:
    out = read(data_dir / "citation-integrity", when=WHEN, split=split)
    check_whole(out, rows)
    labels = Counter(annotation.label for _, annotation in out.claims if annotation)
    assert tuple(labels[label] for label in Label) == counts
    assert all(claim.cites for claim, _ in out.claims)
