"""AVeriTeC: the fourth label, dates, unanswerable questions, and a licence that is asked for."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Callable

import pytest

from deepfact.errors import InputError
from deepfact.importers.averitec import CONFLICTING, read
from deepfact.importers.base import Imported
from deepfact.records import Label, Stance

WHEN = datetime(2025, 1, 1, tzinfo=UTC)


def answer(text: str, kind: str = "Abstractive", **more: Any) -> dict[str, Any]:
    return {"answer": text, "answer_type": kind, "source_url": "https://a.example", **more}


def row(label: str, *answers: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "claim": "Ice floats.",
        "label": label,
        "justification": "Because.",
        "claim_date": "1-9-2020",
        "speaker": None,
        "questions": [{"question": "Does it?", "answers": list(answers)}],
        **more,
    }


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., Path]:
    def write(*rows: dict[str, Any]) -> Path:
        path = tmp_path / "dev.json"
        path.write_text(json.dumps(rows), encoding="utf-8")
        return path

    return write


def test_four_labels_onto_three(
    file: Callable[..., Path], check_whole: Callable[[Imported, int], None]
) -> None:
    words = ["Supported", "Refuted", "Not Enough Evidence", CONFLICTING]
    path = file(*map(row, words))
    out = read(path, when=WHEN)
    check_whole(out, 4)
    assert [a.label for _, a in out.claims if a] == [
        Label.SUPPORTED, Label.CONTRADICTORY, Label.INCONCLUSIVE, Label.INCONCLUSIVE,
    ]  # fmt: skip
    assert [a.original_label for _, a in out.claims if a] == words, "all four are kept"
    skipped = read(path, when=WHEN, conflicting="skip")
    check_whole(skipped, 4)
    assert [skip.why.startswith(CONFLICTING) for skip in skipped.skipped] == [True]
    # Ids count rows of the file, so that they are the same either way.
    assert [c.id for c, _ in skipped.claims] == [c.id for c, _ in out.claims][:3]


def test_answers_are_sources_and_the_unanswerable_gives_none(
    file: Callable[..., Path], check_whole: Callable[[Imported, int], None]
) -> None:
    yes = answer("Yes", "Boolean", boolean_explanation="It is lighter.")
    out = read(file(row("Supported", yes, answer("No answer could be found.", "Unanswerable"))),
               when=WHEN)  # fmt: skip
    check_whole(out, 1)
    assert [source.text for source in out.sources] == ["Yes\nIt is lighter."]
    [evidence] = [e for _, a in out.claims if a for e in a.evidence]
    assert evidence.stance is Stance.CONTEXT


def test_the_day_and_the_speaker_are_context(file: Callable[..., Path]) -> None:
    out = read(file(row("Refuted", speaker="Ada", location_ISO_code="CH")), when=WHEN)
    context = out.claims[0][0].context
    assert context == "Said by Ada. Claimed on 2020-09-01. Country: CH."


def test_unknown_labels_are_listed_and_duplicates_noted(
    file: Callable[..., Path], check_whole: Callable[[Imported, int], None]
) -> None:
    out = read(file(row("Supported"), row("supported"), row("Refuted")), when=WHEN)
    check_whole(out, 3)
    assert "label" in out.skipped[0].why
    assert any("1 claim texts occur more than once" in note for note in out.notes)


@pytest.mark.data
def test_the_public_file(data_dir: Path, check_whole: Callable[[Imported, int], None]) -> None:
    with pytest.raises(InputError, match="non-commercial"):
        read(data_dir / "averitec", when=WHEN)
    out = read(data_dir / "averitec" / "nc", when=WHEN)
    check_whole(out, 500)
    assert Counter(a.label for _, a in out.claims if a) == {
        Label.CONTRADICTORY: 305, Label.SUPPORTED: 122, Label.INCONCLUSIVE: 38 + 35,
    }  # fmt: skip
    assert any("NON-COMMERCIAL" in note for note in out.notes)
    assert len({claim.text for claim, _ in out.claims}) == 500 - 9
