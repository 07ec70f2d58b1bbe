"""Verdicts of other systems: nothing is dropped silently, and nothing wrong becomes a label."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deepfact.core.metrics import score
from deepfact.errors import InputError
from deepfact.importers.verdicts import ReadVerdicts, read_verdicts
from deepfact.records import Claim, FailureReason, Label, Verdict, VerificationFailure

CLAIMS = [Claim(id=f"c{n}", text=f"Claim {n}.") for n in range(1, 6)]
KEY = {claim.id: Label.SUPPORTED for claim in CLAIMS}


def read(tmp_path: Path, text: str, name: str = "v.csv", **options: Any) -> ReadVerdicts:
    (tmp_path / name).write_bytes(text.encode(options.get("encoding", "utf-8")))
    return read_verdicts(tmp_path / name, CLAIMS, **options)


def test_missing_extra_duplicate_and_conflicting_ids_are_kept_track_of(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "claim_id,label,rationale\n"
        "c1,supported,plain\n"
        "c2,supported,\nc2,supported,\nc2,supported,\n"
        "c3,supported,\nc3,contradictory,\nc3,supported,\n"
        "c9,supported,\nc9,contradictory,\n",
    )
    assert found.missing == ["c4", "c5"]
    assert found.extra == ["c9"]
    assert found.duplicate == ["c2", "c3"]
    assert found.conflicting == ["c3"]
    labels = {o.claim_id: o.label for o in found.outcomes.values() if isinstance(o, Verdict)}
    assert labels == {"c1": "supported", "c2": "supported"}
    failure = found.outcomes["c3"]
    assert isinstance(failure, VerificationFailure)
    assert failure.reason is FailureReason.SELF_CONTRADICTION


@pytest.mark.parametrize("order", ["supported,", ",supported"])
def test_a_label_and_no_label_for_one_claim_conflict(tmp_path: Path, order: str) -> None:
    first, second = order.split(",")
    found = read(tmp_path, f"id,label\nc1,{first}\nc1,{second}\n")
    assert found.conflicting == ["c1"]
    assert not isinstance(found.outcomes["c1"], Verdict)


def test_a_missing_verdict_counts_as_wrong(tmp_path: Path) -> None:
    """Also where the claim is not supported, and saying nothing might pass for saying no."""
    found = read(tmp_path, "id,label\nc1,supported\nc2,\n")
    key = {**KEY, "c5": Label.CONTRADICTORY, "c2": Label.INCONCLUSIVE}
    sheet = score(key, found.outcomes, verifier="theirs", on="test", reports={})
    assert (sheet.n, sheet.unverified, sheet.missing) == (5, 4, 3)
    assert sheet.binary.k == sheet.accuracy.k == 1
    assert sheet.binary.n == sheet.accuracy.n == 5


def test_an_empty_label_is_no_answer_with_its_reason(tmp_path: Path) -> None:
    found = read(tmp_path, "id,label,rationale\nc1,,the site was down\nc2, ,\n")
    assert [o.detail for o in found.outcomes.values()] == ["the site was down", "no label"]
    assert found.missing == ["c3", "c4", "c5"]


def test_json_lines_with_null_labels_and_other_columns(tmp_path: Path) -> None:
    rows = [
        {"claim_id": "c1", "label": "contradictory", "rationale": "nein, 1898 — “falsch”", "x": 1},
        {"claim_id": "c2", "label": None},
    ]
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n"
    found = read(tmp_path, text, "v.jsonl")
    assert found.outcomes["c1"].rationale == "nein, 1898 — “falsch”"
    assert found.outcomes["c2"].reason is FailureReason.NO_ANSWER


def test_deepfacts_own_outcomes_come_back_as_they_were(tmp_path: Path) -> None:
    own = [
        Verdict(claim_id="c1", label=Label.SUPPORTED, verifier="local", rationale="r"),
        VerificationFailure(claim_id="c2", reason=FailureReason.TIMEOUT, detail="too long"),
    ]
    text = "".join(f"{outcome.canonical()}\n" for outcome in own)
    assert list(read(tmp_path, text, "v.jsonl").outcomes.values()) == own


@pytest.mark.parametrize(
    ("labels", "word", "label"),
    [("scifact", "SUPPORT", "supported"), ("scifact", "CONTRADICT", "contradictory"),
     ("deepfact", "inconclusive", "inconclusive")],
)  # fmt: skip
def test_label_words_of_other_data_sets(tmp_path: Path, labels: str, word: str, label: str) -> None:
    found = read(tmp_path, f"id,label\nc1,{word}\n", labels=labels)
    assert found.outcomes["c1"].label == label


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_a_spreadsheets_csv(tmp_path: Path, encoding: str) -> None:
    text = "claim_id,label,rationale\r\nc1,supported,Mühle\r\n"
    found = read(tmp_path, text, encoding=encoding)
    assert found.outcomes["c1"].rationale == "Mühle"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("id,label\n", "no rows"),
        ("id,verdict\nc1,supported\n", "claim_id and label are needed; there are: id, verdict"),
        ("claim,label\nc1,supported\n", "claim_id and label are needed"),
        ("id,label\nc1,Supported!\n", "'Supported!'"),
        ("id,label\nc1,not supported\n", "'not supported'"),
        ("id,label\n,supported\n", "no claim id"),
        ("id,label\nc1\n", "cells"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(InputError, match=r"v\.csv") as caught:
        read(tmp_path, text)
    assert said in str(caught.value)


def test_a_null_id_is_no_claims_id(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no claim id"):
        read(tmp_path, '{"id": null, "label": "supported"}\n', "v.jsonl")


def test_an_unknown_table_of_labels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'scifact'"):
        read(tmp_path, "id,label\nc1,x\n", labels="scifac")
