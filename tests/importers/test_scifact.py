"""SciFact: labels, spans, missing documents; small made-up files and the public data."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deepfact.errors import InputError
from deepfact.importers.scifact import read
from deepfact.records import Label, SourceRole, Stance

WHEN = datetime(2025, 1, 1, tzinfo=UTC)

DOCS = [
    {
        "doc_id": 7,
        "title": "Ice",
        "abstract": ["Ice floats.\n", "It is cold."],
        "structured": False,
    },
    {"doc_id": 8, "title": "Iron", "abstract": ["Iron sinks."], "structured": False},
    {"doc_id": 9, "title": "Air", "abstract": ["Air is a gas."], "structured": False},
]


def claim(number: int, evidence: Any, cited: list[int], **more: Any) -> dict[str, Any]:
    return {"id": number, "claim": f"Claim {number}.", "evidence": evidence} | {
        "cited_doc_ids": cited,
        **more,
    }


def folder(tmp_path: Path, claims: list[dict[str, Any]], split: str = "dev") -> Path:
    for name, rows in ((f"claims_{split}.jsonl", claims), ("corpus_sample.jsonl", DOCS)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / name).write_text(text, encoding="utf-8", newline="\n")
    return tmp_path


def rationale(label: str, *sentences: int) -> dict[str, Any]:
    return {"sentences": list(sentences), "label": label}


def test_labels_evidence_and_rationale(tmp_path: Path) -> None:
    claims = [
        claim(1, {"7": [rationale("SUPPORT", 1), rationale("SUPPORT", 0)]}, [7, 7]),
        claim(2, {"8": [rationale("REFUTE", 0)]}, [7]),
        claim(3, {}, [7]),
        claim(4, {"7": []}, [7]),
    ]
    out = read(folder(tmp_path, claims), when=WHEN)
    annotations = [a for _, a in out.claims if a]
    assert [a.label for a in annotations] == [
        Label.SUPPORTED,
        Label.CONTRADICTORY,
        Label.INCONCLUSIVE,
        Label.INCONCLUSIVE,
    ]
    assert [a.original_label for a in annotations] == ["SUPPORT", "REFUTE"] + ["no evidence"] * 2
    texts = {source.id: source for source in out.sources}
    assert [e.quote for e in annotations[0].evidence] == ["Ice floats.\n", "It is cold."]
    assert annotations[1].evidence[0].stance is Stance.CONTRADICTS
    for evidence in annotations[0].evidence:
        assert evidence.span
        text = texts[evidence.source].text
        assert text[evidence.span.start : evidence.span.end] == evidence.quote
    assert '"Ice" supports the claim, sentences 1, 2' in annotations[0].rationale
    assert not annotations[2].evidence
    assert [texts[c].title for c in out.claims[0][0].cites] == ["Ice"]
    assert [texts[c].title for c in out.claims[1][0].cites] == ["Ice", "Iron"]
    assert {source.role for source in out.sources} == {SourceRole.PRIMARY}


def test_only_needed_sources_unless_all_are_asked_for(tmp_path: Path) -> None:
    path = folder(tmp_path, [claim(1, {}, [7])])
    assert [s.title for s in read(path, when=WHEN).sources] == ["Ice"]
    assert len(read(path, when=WHEN, corpus="all").sources) == 3


def test_missing_documents_are_reported_and_the_claim_keeps_its_label(tmp_path: Path) -> None:
    path = folder(tmp_path, [claim(1, {"99": [rationale("SUPPORT", 0)]}, [99]), claim(2, {}, [7])])
    out = read(path, when=WHEN)
    first, annotation = out.claims[0]
    assert annotation
    assert (first.cites, annotation.label, annotation.evidence) == ((), Label.SUPPORTED, ())
    assert "document 99 (not imported)" in annotation.rationale
    (note,) = [n for n in out.notes if "does not hold" in n]
    assert note.startswith("1 claims") and "scifact-1: 99" in note


def test_documents_that_disagree_leave_the_claim_out_with_a_reason(tmp_path: Path) -> None:
    both = {"7": [rationale("SUPPORT", 0)], "8": [rationale("CONTRADICT", 0)]}
    out = read(folder(tmp_path, [claim(1, both, [7, 8])]), when=WHEN)
    assert not out.claims
    assert "CONTRADICT, SUPPORT" in out.skipped[0].why


def test_no_evidence_key_is_unlabelled_and_not_inconclusive(tmp_path: Path) -> None:
    path = folder(tmp_path, [{"id": 1, "claim": "A."}], split="test")
    out = read(path, when=WHEN, split="test")
    assert out.claims[0][1] is None
    assert any("unlabelled" in note for note in out.notes)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (claim(1, {"7": [rationale("SUPPORT", 2)]}, [7]), "has 2 sentences, none at 2"),
        (claim(1, {"7": [rationale("SUPPORT", -1)]}, [7]), "none at -1"),
        (claim(1, {"7": [rationale("SUPPORTS", 0)]}, [7]), "label"),
        (claim(1, {"x7": []}, [7]), "no document id"),
        (claim(1, {}, [7], claim=""), "claim"),
        ({"id": "1", "claim": "A.", "evidence": {}}, "id"),
        (claim(2, {}, [7]), "given twice"),
    ],
)
def test_broken_rows_stop_the_import(tmp_path: Path, row: dict[str, Any], says: str) -> None:
    path = folder(tmp_path, [claim(2, {}, [7]), row])
    with pytest.raises(InputError, match=says) as caught:
        read(path, when=WHEN)
    assert "claims_dev.jsonl, line 2" in caught.value.where


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"claims_dev\.jsonl"):
        read(tmp_path, when=WHEN)
    with pytest.raises(InputError, match="from a folder"):
        read(tmp_path / "x", when=WHEN)


@pytest.mark.data
@pytest.mark.parametrize(
    ("split", "counts"),
    [("dev", (124, 64, 112)), ("train", (332, 173, 304)), ("test", (100, 100, 100))],
)
def test_public_data(data_dir: Path, split: Any, counts: tuple[int, int, int]) -> None:
    out = read(data_dir / "scifact", when=WHEN, split=split)
    found = Counter(a.label for _, a in out.claims if a)
    assert tuple(found[label] for label in Label) == counts
    assert not out.skipped
    texts = {source.id: source.text for source in out.sources}
    quotes = [e for _, a in out.claims if a for e in a.evidence]
    assert len(quotes) > 100
    for evidence in quotes:
        assert evidence.span
        assert texts[evidence.source][evidence.span.start : evidence.span.end] == evidence.quote
    assert any("does not hold" in n for n in out.notes) == (split == "train")
    assert all(c in texts for each, _ in out.claims for c in each.cites)


@pytest.mark.data
def test_public_corpus(data_dir: Path) -> None:
    assert len(read(data_dir / "scifact", when=WHEN).sources) == 283
    assert len(read(data_dir / "scifact", when=WHEN, corpus="all").sources) == 854
