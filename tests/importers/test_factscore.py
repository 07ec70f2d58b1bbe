"""FActScore: facts, irrelevant sentences, systems that declined."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Callable

import pytest

from deepfact.importers.base import Imported
from deepfact.importers.factscore import read, responses
from deepfact.records import Label

WHEN = datetime(2025, 1, 1, tzinfo=UTC)


def sentence(relevant: bool, human: list[tuple[str, str]] | None, *model: str) -> dict[str, Any]:
    return {
        "text": "a sentence",
        "is-relevant": relevant,
        "model-atomic-facts": [{"text": text} for text in model],
        "human-atomic-facts": human and [{"text": t, "label": word} for t, word in human],
    }


def row(topic: str, annotations: list[dict[str, Any]] | None) -> dict[str, Any]:
    return {"input": "q", "output": f"About {topic}.", "topic": topic, "cat": [],
            "annotations": annotations}  # fmt: skip


ROWS = [
    row("Ada", [
        sentence(True, [("Ada wrote.", "S"), ("Ada sang.", "NS"), ("Hello.", "IR")], "Ada wrote."),
        sentence(False, None, "I hope this helps.", "Ask me more."),
    ]),
    row("Bob", None),
    row("Cid", [sentence(True, [("Ada wrote.", "S")])]),
]  # fmt: skip


def test_facts_become_claims_and_irrelevant_ones_are_listed(
    write_rows: Callable[..., Path], check_whole: Callable[[Imported, int], None]
) -> None:
    out = read(write_rows("ChatGPT.jsonl", *ROWS), when=WHEN)
    check_whole(out, 7)
    assert [(claim.id, a and a.label) for claim, a in out.claims] == [
        ("factscore-ChatGPT-001-s01-f01", Label.SUPPORTED),
        ("factscore-ChatGPT-001-s01-f02", Label.INCONCLUSIVE),
        ("factscore-ChatGPT-003-s01-f01", Label.SUPPORTED),
    ]
    why = [skip.why for skip in out.skipped]
    assert sum("irrelevant" in reason for reason in why) == 3
    assert sum("declined" in reason for reason in why) == 1
    assert any("1 claim texts occur more than once" in note for note in out.notes)
    assert all(not claim.cites for claim, _ in out.claims)


def test_an_irrelevant_sentence_gives_its_model_facts_as_irrelevant(
    write_rows: Callable[..., Path],
) -> None:
    out = Imported()
    first, second, third = responses(write_rows("X.jsonl", *ROWS), out)
    assert [fact.word for fact in first.facts or ()] == ["S", "NS", "IR", "IR", "IR"]
    assert second.facts is None
    assert [fact.word for fact in third.facts or ()] == ["S"]
    assert not out.skipped


def test_a_label_of_another_set_is_a_listed_row(write_rows: Callable[..., Path]) -> None:
    bad = row("Dan", [sentence(True, [("Dan ran.", "Supported")])])
    out = read(write_rows("ChatGPT.jsonl", bad, ROWS[2]), when=WHEN)
    assert len(out.claims) == 1
    assert "human-atomic-facts" in out.skipped[0].why


@pytest.mark.data
def test_the_public_files(data_dir: Path, check_whole: Callable[[Imported, int], None]) -> None:
    published = {
        "InstructGPT": (2100, 1971, 655, 1),
        "ChatGPT": (3194, 1692, 540, 26),
        "PerplexityAI": (4812, 756, 320, 17),
    }
    for system, (s, ns, ir, declined) in published.items():
        file = data_dir / "factscore" / f"{system}.jsonl"
        facts = [r.facts for r in responses(file, Imported())]
        words = Counter(fact.word for found in facts for fact in found or ())
        assert (words["S"], words["NS"]) == (s, ns)
        # People's IR, and the model's facts of sentences that are irrelevant as a whole.
        assert words["IR"] >= ir
        assert facts.count(None) == declined
        check_whole(read(file, when=WHEN), words.total() + declined)
