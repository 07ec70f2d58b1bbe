"""ExpertQA: two axes, nulls, boilerplate, citations with and without a passage."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Callable

import pytest

from deepfact.errors import InputError
from deepfact.importers.base import Imported
from deepfact.importers.expertqa import read
from deepfact.records import Label, Stance

WHEN = datetime(2025, 1, 1, tzinfo=UTC)


def claim(text: str, **more: Any) -> dict[str, Any]:
    return {
        "claim_string": text,
        "evidence": ["[1] https://a.example/x\n\nIce floats on water.", "[2] https://b.example"],
        "support": "Complete",
        "reason_missing_support": "",
        "informativeness": "Very relevant",
        "worthiness": "Yes",
        "correctness": "Probably correct",
        "reliability": "Reliable",
        "revised_claim": text,
        "revised_evidence": None,
        **more,
    }


def row(*claims: dict[str, Any], question: str = "Does ice float?") -> dict[str, Any]:
    answer = {"answer_string": " ".join(c["claim_string"] for c in claims), "claims": claims}
    return {
        "question": question,
        "annotator_id": "A001",
        "metadata": {"field": "Physics", "question_type": "a|b"},
        "answers": {"gpt4": {**answer, "annotator_id": "A002"}},
    }


def test_labels_of_both_axes_and_every_axis_kept(
    write_rows: Callable[..., Path], check_whole: Callable[[Imported, int], None]
) -> None:
    claims = [
        claim("Ice floats [1]."),
        claim("Iron floats.", correctness="Likely incorrect", support="Missing", evidence=[]),
        claim("Oil floats.", correctness="Unsure", support="Partial", revised_claim="Oil may."),
        claim("Wood floats.", correctness="Definitely incorrect", support="N/A"),
    ]
    file = write_rows("a.jsonl", row(*claims))
    out = read(file, when=WHEN)
    check_whole(out, 4)
    annotations = [annotation for _, annotation in out.claims if annotation]
    assert [a.label for a in annotations] == [
        Label.SUPPORTED, Label.CONTRADICTORY, Label.INCONCLUSIVE, Label.CONTRADICTORY,
    ]  # fmt: skip
    assert annotations[0].original_label == "Probably correct"
    assert "support: Complete; reliability: Reliable" in annotations[0].rationale
    assert annotations[2].rationale.endswith("Revised to: Oil may.")
    assert annotations[0].provenance.who == "expertqa expert A002"
    stances = [[e.stance for e in a.evidence] for a in annotations]
    assert stances == [[Stance.SUPPORTS], [], [Stance.CONTEXT], []]
    assert out.claims[0][0].text == "Ice floats [1].", "citation markers are kept"

    by_support = read(file, when=WHEN, label="support")
    check_whole(by_support, 4)
    labels = [a.label for _, a in by_support.claims if a]
    assert labels == [Label.SUPPORTED, Label.INCONCLUSIVE, Label.INCONCLUSIVE]
    assert "N/A" in by_support.skipped[0].why


def test_null_is_unlabelled_and_boilerplate_is_skipped(
    write_rows: Callable[..., Path], check_whole: Callable[[Imported, int], None]
) -> None:
    file = write_rows("a.jsonl", row(claim("Ice.", correctness=None), claim("This is Bing.")))
    out = read(file, when=WHEN)
    check_whole(out, 2)
    assert out.claims[0][1] is None
    assert "boilerplate" in out.skipped[0].why


def test_bad_claims_and_repeated_answers_are_listed(write_rows: Callable[..., Path]) -> None:
    bad = row(claim("Ice."), {**claim("Snow."), "evidence": "one text"})
    out = read(write_rows("a.jsonl", bad, bad), when=WHEN)
    assert len(out.claims) == 1
    assert ["evidence" in out.skipped[0].why, "given before" in out.skipped[1].why] == [True, True]


def test_an_unknown_word_is_listed_and_never_guessed(write_rows: Callable[..., Path]) -> None:
    odd = claim("Ice.", correctness="Definitely corect")
    out = read(write_rows("a.jsonl", row(odd, claim("Snow."))), when=WHEN)
    assert [c.text for c, _ in out.claims] == ["Snow."]
    assert "did you mean 'Definitely correct'" in out.skipped[0].why


def test_splits_overlap_so_only_one_is_read(write_rows: Callable[..., Path]) -> None:
    first = write_rows("rand_val.jsonl", row(claim("Ice.")))
    second = write_rows("domain_val.jsonl", row(claim("Snow."), question="q"), row(claim("Ice.")))
    with pytest.raises(InputError, match="overlap"):
        read(first.parent, when=WHEN)
    same = {c.id for c, _ in read(first, when=WHEN).claims}
    assert same < {c.id for c, _ in read(second, when=WHEN).claims}, "same answer, same ids"


@pytest.mark.data
def test_the_public_file(data_dir: Path, check_whole: Callable[[Imported, int], None]) -> None:
    [file] = (data_dir / "expertqa").glob("*.jsonl")
    lines = file.read_text(encoding="utf-8").split("\n")
    published = [
        found["correctness"]
        for line in lines
        if line
        for answer in json.loads(line)["answers"].values()
        for found in answer["claims"]
    ]
    assert len(published) == 1237
    out = read(data_dir / "expertqa", when=WHEN)
    check_whole(out, 1237)
    words = Counter(a.original_label for _, a in out.claims if a)
    assert words["Definitely correct"] == 689
    assert sum(a is None for _, a in out.claims) == 5
    # Both pieces of boilerplate were published as Unsure.
    assert words["Unsure"] + 2 == Counter(published)["Unsure"] == 131
