"""VeriScore: people's labels with their full stop; a model's verdicts become no labels."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Callable

import pytest

from deepfact.errors import InputError
from deepfact.importers.base import Imported
from deepfact.importers.veriscore import read, search_results
from deepfact.records import Label

WHEN = datetime(2025, 1, 1, tzinfo=UTC)
RESULTS = (
    "Search result 1\nTitle: Ice\nContent: Ice floats.\nLink: https://a.example/x\n\n"
    "Search result 2\nTitle: Snow: a survey\nLink: https://b.example\nContent: \n"
)


def example(claim: str, label: str) -> dict[str, Any]:
    return {"claim": claim, "search_result": RESULTS, "human_label": label}


def answer(*claims: list[str]) -> dict[str, Any]:
    verified = [
        {"claim": text, "search_results": RESULTS, "verification_result": "unsupported"}
        for text in dict.fromkeys(t for found in claims for t in found)
    ]
    return {"question": "q", "response": "r", "model": "m", "claim_list": list(claims),
            "claim_verification_result": verified}  # fmt: skip


def test_results_are_told_apart_whatever_the_order_of_fields() -> None:
    first, second = search_results(RESULTS)
    assert (first.title, first.url, first.text) == ("Ice", "https://a.example/x", "Ice floats.")
    assert (second.title, second.url) == ("Snow: a survey", "https://b.example")
    assert second.text == "Snow: a survey", "a result without content has its title to read"
    assert [source.text for source in search_results("plain text")] == ["plain text"]
    assert search_results("") == []


def test_peoples_labels(
    write_rows: Callable[..., Path], check_whole: Callable[[Imported, int], None]
) -> None:
    rows = [example("A.", "Supported."), example("B.", "Contradicted."),
            example("C.", "Inconclusive."), example("A.", "Supported."),
            example("D.", "Supported")]  # fmt: skip
    out = read(write_rows("few_shot_examples.jsonl", *rows), when=WHEN)
    check_whole(out, 5)
    assert [a.label for _, a in out.claims if a] == list(Label)
    why = [skip.why for skip in out.skipped]
    assert "human_label" in why[0] or "human_label" in why[1]
    assert any("given before" in reason for reason in why)


def test_a_models_verdicts_are_no_labels(
    write_rows: Callable[..., Path], check_whole: Callable[[Imported, int], None]
) -> None:
    found = answer(["No verifiable claim."], ["A.", "B."], ["A."])
    out = read(write_rows("data_sample.jsonl", found), when=WHEN)
    check_whole(out, 4)
    assert [(claim.text, a) for claim, a in out.claims] == [("A.", None), ("B.", None)]
    assert len(out.claims[0][0].cites) == 2
    assert any("unsupported 2" in note for note in out.notes)
    assert ["no claim" in out.skipped[0].why, "the same claim" in out.skipped[1].why] == [True] * 2


def test_another_file_is_an_error(write_rows: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match="neither human_label nor claim_list"):
        read(write_rows("few_shot_examples.jsonl", {"claim": "A."}), when=WHEN)


@pytest.mark.data
def test_the_public_files(data_dir: Path, check_whole: Callable[[Imported, int], None]) -> None:
    out = read(data_dir / "veriscore", when=WHEN)
    check_whole(out, 9 + 39)
    assert Counter(a.label for _, a in out.claims if a) == dict.fromkeys(Label, 3)
    assert sum(a is None for _, a in out.claims) == 25
    assert any("supported 24, unsupported 1" in note for note in out.notes)
