"""WiCE: only supported is positive, several supporting sets, two forms of the file."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Callable

import pytest

from deepfact.errors import InputError
from deepfact.importers.base import Imported
from deepfact.importers.wice import read
from deepfact.records import Label, Stance

WHEN = datetime(2025, 1, 1, tzinfo=UTC)


def row(number: int, label: str, sets: list[list[int]], **more: Any) -> dict[str, Any]:
    meta = {"id": f"test{number}", "claim_title": "Ice / Snow", "claim_section": "Use.",
            "claim_context": "It is cold."}  # fmt: skip
    return {"label": label, "supporting_sentences": sets, "claim": f"Claim {number}.",
            "meta": meta, **more}  # fmt: skip


def test_labels_sets_and_evidence(
    write_rows: Callable[..., Path], check_whole: Callable[[Imported, int], None]
) -> None:
    text = {"5": "Ice floats.", "9": "It is cold."}
    file = write_rows(
        "claim_test.jsonl",
        row(1, "supported", [[5], [9, 5], [5]], supporting_text=text),
        row(2, "partially_supported", [[9]], supporting_text=text),
        row(3, "not_supported", [[]], supporting_text={}),
    )
    out = read(file.parent, when=WHEN)
    check_whole(out, 3)
    annotations = [a for _, a in out.claims if a]
    assert [a.label for a in annotations] == [
        Label.SUPPORTED, Label.INCONCLUSIVE, Label.INCONCLUSIVE,
    ]  # fmt: skip
    assert annotations[0].rationale.endswith("(each set alone): 1; 1, 2.")
    assert [e.stance for e in annotations[0].evidence] == [Stance.SUPPORTS] * 2
    assert [e.quote for e in annotations[1].evidence] == ["It is cold."]
    assert annotations[1].evidence[0].stance is Stance.CONTEXT
    assert out.claims[2][0].cites == ()
    assert out.claims[0][0].report == "wice-Ice_Snow"
    assert out.claims[0][0].context == "Wikipedia: Ice / Snow, Use\nIt is cold."
    assert any("retrieval cannot be measured" in note for note in out.notes)


def test_the_form_as_published_with_whole_pages(
    write_rows: Callable[..., Path], check_whole: Callable[[Imported, int], None]
) -> None:
    page = ["Menu", "", "Ice floats."]
    file = write_rows("claim_dev.jsonl", row(1, "supported", [[2]], evidence=page))
    out = read(file.parent, when=WHEN, split="dev")
    check_whole(out, 1)
    assert out.sources[0].text == "Menu\nIce floats."
    assert [e.quote for _, a in out.claims if a for e in a.evidence] == ["Ice floats."]
    assert not any("retrieval" in note for note in out.notes)


def test_rows_that_cannot_be_imported_are_listed(
    write_rows: Callable[..., Path], check_whole: Callable[[Imported, int], None]
) -> None:
    file = write_rows(
        "claim_test.jsonl",
        row(1, "supported", [[5]], supporting_text={"5": "Ice."}),
        row(1, "supported", [[5]], supporting_text={"5": "Ice."}),
        row(2, "supported", [[5, 6]], supporting_text={"5": "Ice."}),
        row(3, "supported", [[5]], supporting_text={"five": "Ice."}),
        row(4, "Supported", [[]]),
    )
    out = read(file, when=WHEN)
    check_whole(out, 5)
    assert len(out.claims) == 1
    said = " ".join(skip.why for skip in out.skipped)
    for what in ("given before", "not there: 6", "no number", "label"):
        assert what in said


def test_a_split_that_is_not_there(write_rows: Callable[..., Path]) -> None:
    file = write_rows("claim_test.jsonl", row(1, "supported", [[]]))
    with pytest.raises(InputError, match="claim_dev"):
        read(file.parent, when=WHEN, split="dev")


@pytest.mark.data
@pytest.mark.parametrize(("split", "counts"), [("test", (22, 73, 5)), ("dev", (34, 54, 12))])
def test_the_public_files(
    data_dir: Path,
    check_whole: Callable[[Imported, int], None],
    split: Any,
    counts: tuple[int, int, int],
) -> None:
    out = read(data_dir / "wice", when=WHEN, split=split)
    check_whole(out, 100)
    words = Counter(a.original_label for _, a in out.claims if a)
    assert tuple(words[w] for w in ("supported", "partially_supported", "not_supported")) == counts
