"""DeepFact-Bench: both forms of the files, verdicts in any case, two annotators kept."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Callable

import pytest

from deepfact.errors import InputError
from deepfact.importers.base import Imported
from deepfact.importers.deepfact_bench import read
from deepfact.records import Label

WHEN = datetime(2025, 1, 1, tzinfo=UTC)
SENTENCES = ["Ice floats.", "Iron floats.", "Hello.", "Snow is warm.", "Oil floats.", "  "]


def info(position: Any, human: str | None, agent: str | None, **more: Any) -> dict[str, Any]:
    return {"sentence_idx": position, "human_verdict": human, "agent_verdict": agent,
            "relevance": "4", "human_reason": "looked", **more}  # fmt: skip


ROWS = [
    info(0, "Supported", "contradictory", agent_rationale="no page says so"),
    info("1", "refuted", " "),
    info(2, "", None),
    info(3, "CONTRADICTORY", "contradictory"),
    info(4, None, "inconclusive"),
    info(5, "supported", None),
]


@pytest.fixture
def separate(tmp_path: Path) -> Callable[..., Path]:
    def write(*rows: dict[str, Any]) -> Path:
        sentences = [SENTENCES[0], *({"sentence": text} for text in SENTENCES[1:])]
        report = {
            "topic": "Ice",
            "response": " ".join(SENTENCES),
            "model": "m",
            "sentences": sentences,
        }
        rows = tuple({"report_id": "r 1", **row} for row in rows)
        (tmp_path / "test.json").write_text(json.dumps(rows), encoding="utf-8")
        (tmp_path / "test_reports.json").write_text(json.dumps({"r 1": report}), encoding="utf-8")
        return tmp_path

    return write


def labels(out: Imported) -> dict[str, Label | None]:
    return {claim.text: a.label if a else None for claim, a in out.claims}


def test_separate_files(
    separate: Callable[..., Path], check_whole: Callable[[Imported, int], None]
) -> None:
    out = read(separate(*ROWS), when=WHEN)
    check_whole(out, 6)
    assert labels(out) == {
        "Ice floats.": Label.SUPPORTED,
        "Iron floats.": Label.CONTRADICTORY,
        "Snow is warm.": Label.CONTRADICTORY,
        "Oil floats.": None,
    }
    why = [skip.why for skip in out.skipped]
    assert why == ["nobody annotated the sentence", "the report has no sentence at 5"]
    claim, annotation = out.claims[0]
    assert (claim.id, claim.kind) == ("dfb-r_1-s001", "relevance-4")
    assert annotation is not None
    assert annotation.rationale == "looked"
    assert all(c.origin and c.origin.span for c, _ in out.claims)


def test_both_annotators_are_kept(separate: Callable[..., Path]) -> None:
    out = read(separate(*ROWS), when=WHEN)
    assert out.claims[0][1] is not None
    assert out.claims[0][1].original_label == "human Supported; agent contradictory"
    assert out.claims[1][1] is not None
    assert out.claims[1][1].original_label == "refuted", "a blank is no verdict"
    [agent] = out.further["dfb-r_1-s001"]
    assert (agent.label, agent.rationale) == (Label.CONTRADICTORY, "no page says so")
    assert set(out.further) == {"dfb-r_1-s001", "dfb-r_1-s004", "dfb-r_1-s005"}
    assert any("3 claims have the agent's verdict too, 1 of them" in note for note in out.notes)


def test_joined_files_give_the_same(
    tmp_path: Path, separate: Callable[..., Path], check_whole: Callable[[Imported, int], None]
) -> None:
    apart = read(separate(*ROWS), when=WHEN)
    joined = {
        "report_id": "r 1", "question": "Ice", "response": " ".join(SENTENCES), "model": "m",
        "sentences_info": [{**row, "sentence": s} for row, s in zip(ROWS, SENTENCES, strict=True)],
    }  # fmt: skip
    folder = tmp_path / "joined"
    folder.mkdir()
    (folder / "r1.json").write_text(json.dumps(joined), encoding="utf-8")
    out = read(folder, when=WHEN)
    check_whole(out, 6)
    assert [c for c, _ in out.claims] == [c for c, _ in apart.claims]
    assert labels(read(folder / "r1.json", when=WHEN)) == labels(out)


def test_rows_that_cannot_be_imported_are_listed(
    separate: Callable[..., Path], check_whole: Callable[[Imported, int], None]
) -> None:
    rows = [ROWS[0], ROWS[0], info("x", "supported", None), info(1, "not supported", None),
            info(9, "supported", None), info(2, "supported", None, report_id="r2"),
            info(3, 7, None)]  # fmt: skip
    out = read(separate(*rows), when=WHEN)
    check_whole(out, 7)
    assert len(out.claims) == 1
    said = " ".join(skip.why for skip in out.skipped)
    for what in ("given before", "'x'", "unknown verdict 'not supported'", "no sentence at 9",
                 "no report 'r2'", "human_verdict"):  # fmt: skip
        assert what in said


def test_files_that_are_missing_or_others(tmp_path: Path, separate: Callable[..., Path]) -> None:
    folder = separate(*ROWS)
    (folder / "test_reports.json").unlink()
    with pytest.raises(InputError, match="file of the reports is missing"):
        read(folder, when=WHEN)
    (folder / "test.json").write_text('{"report_id": "r"}', encoding="utf-8")
    with pytest.raises(InputError, match="no sentences_info"):
        read(folder / "test.json", when=WHEN)
