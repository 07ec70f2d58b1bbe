"""Factcheck-Bench: every claim accounted for; snippets once; the answer is no evidence."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deepfact.errors import InputError
from deepfact.importers.factcheck_bench import FILE, read
from deepfact.records import Label, SourceRole, Stance

WHEN = datetime(2025, 1, 1, tzinfo=UTC)


def sentence(text: str, *claims: dict[str, Any]) -> dict[str, Any]:
    def column(name: str, default: Any) -> list[Any]:
        return [claim.get(name, default) for claim in claims]

    return {
        "text": text,
        "claims": column("text", "A claim."),
        "claim_checkworthiness": column("worth", "factual"),
        "human_evidence": column("human", "NA"),
        "auto_evidence": column("snippets", ["Snippet one.", "Snippet two."]),
        "auto_evidence_url": column("urls", ["https://a.example/", "https://b.example/"]),
        "stance_claim_autoEvid": column("stances", ["completely-support", "irrelevant"]),
        "claims_factuality_label": column("label", True),
        "revised_claims": ["one entry even where there are no claims"],
    }


def write(tmp_path: Path, *answers: dict[str, Any]) -> Path:
    text = "".join(json.dumps(answer) + "\n" for answer in answers)
    (tmp_path / FILE).write_text(text, encoding="utf-8", newline="\n")
    return tmp_path


def answer(response: str, *sentences: dict[str, Any]) -> dict[str, Any]:
    numbered = {f"sentence{n}": each for n, each in enumerate(sentences, start=1)}
    return {"prompt": "Why?", "response": response, "sentences": numbered}


def test_labels_rationales_and_stances(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        answer(
            "One. Two. One.",
            sentence("One.", {"label": True}),
            sentence("Twoo.", {"label": False, "human": "because", "stances": ["refute"] * 2}),
            sentence("None."),
            sentence("One.", {"label": "unknown", "stances": ["partially-support"] * 2}),
        ),
    )
    out = read(path, when=WHEN)
    annotations = [a for _, a in out.claims if a]
    assert [a.label for a in annotations] == list(Label)
    assert [a.original_label for a in annotations] == ["true", "false", "unknown"]
    assert [a.rationale for a in annotations] == ["", "because", ""]
    assert [[e.stance for e in a.evidence] for a in annotations] == [
        [Stance.SUPPORTS],
        [Stance.CONTRADICTS] * 2,
        [Stance.CONTEXT] * 2,
    ]
    origins = [c.origin for c, _ in out.claims]
    assert [o.sentence for o in origins if o] == [0, 1, 3]
    assert [o.span and o.span.start for o in origins if o] == [0, None, 10]
    generated = [s for s in out.sources if s.role is SourceRole.GENERATED]
    assert [s.text for s in generated] == ["One. Two. One."]
    assert all(generated[0].id not in c.cites for c, _ in out.claims)
    assert len(out.sources) == 3, "snippets that repeat are one source"


def test_unjudged_claims_are_skipped_with_the_reason(tmp_path: Path) -> None:
    claims = (
        {"label": "unknown", "worth": "opinion", "stances": []},
        {"label": "NA", "worth": "not_a_claim", "stances": []},
        {"label": False, "worth": "opinion"},
        {"label": "NA", "worth": "factual"},
    )
    out = read(write(tmp_path, answer("One.", sentence("One.", *claims))), when=WHEN)
    assert [a.label for _, a in out.claims if a] == [Label.CONTRADICTORY, Label.INCONCLUSIVE]
    assert [c.id for c, _ in out.claims] == ["fcb-a01-s1-c3", "fcb-a01-s1-c4"]
    assert ["opinion" in s.why for s in out.skipped] == [True, False]
    assert "fcb-a01-s1-c1" in out.skipped[0].where


@pytest.mark.parametrize(
    ("claim", "says"),
    [
        ({"label": "maybe"}, "unknown label 'maybe'"),
        ({"urls": ["https://a.example/"]}, "not as many"),
        ({"stances": ["supports", "refute"]}, "stance"),
        ({"text": ""}, "claims"),
    ],
)
def test_broken_answers_stop_the_import(tmp_path: Path, claim: dict[str, Any], says: str) -> None:
    path = write(tmp_path, answer("One.", sentence("One.")), answer("", sentence("One.", claim)))
    with pytest.raises(InputError, match=says) as caught:
        read(path, when=WHEN)
    assert "line 2" in caught.value.where


def test_lists_that_do_not_run_parallel_are_refused(tmp_path: Path) -> None:
    broken = sentence("One.", {}, {}) | {"human_evidence": ["NA"]}
    with pytest.raises(InputError, match="human_evidence has 1 entries for 2 claims"):
        read(write(tmp_path, answer("One.", broken)), when=WHEN)


def test_only_the_main_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "nc").mkdir()
    (tmp_path / "nc" / FILE).write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path, when=WHEN)


@pytest.mark.data
def test_public_data(data_dir: Path) -> None:
    out = read(data_dir / "factcheck-bench", when=WHEN)
    assert len(out.claims) + len(out.skipped) == 678
    assert len(out.skipped) == 17
    found = Counter(a.label for _, a in out.claims if a)
    assert tuple(found[label] for label in Label) == (472, 159, 30)
    texts = {source.id: source for source in out.sources}
    assert len(texts) == len(out.sources)
    assert len({claim.id for claim, _ in out.claims}) == 661
    for claim, annotation in out.claims:
        assert annotation and claim.origin and claim.origin.document
        assert all(texts[c].role is SourceRole.SECONDARY for c in claim.cites)
        document = texts[claim.origin.document]
        assert document.role is SourceRole.GENERATED
        assert {e.source for e in annotation.evidence} <= set(claim.cites)
