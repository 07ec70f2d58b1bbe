"""Verdicts of other systems: nothing is dropped silently, and nothing wrong becomes a label."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deepfact.core.metrics import answer_of, score
from deepfact.errors import InputError
from deepfact.importers import verdicts
from deepfact.importers.verdicts import ReadVerdicts, read_answers, read_verdicts
from deepfact.records import (
    Claim,
    FailureReason,
    Label,
    Verdict,
    VerificationFailure,
    canonical_json,
)

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


# --- labels alone, line by line -----------------------------------------------------------

SOURCE = f"sha256:{'0' * 64}"
outcome_lines = st.builds(
    lambda claim, label, fields: canonical_json(
        {"claim_id": claim, "kind": "verdict", "label": label, "schema_version": 1} | fields
    ),
    st.sampled_from(["c1", "c2", "c3", "c9", "", "c 1"]),
    st.sampled_from([*map(str, Label), "Supported", "true", None]),
    st.fixed_dictionaries(
        {},
        optional={
            "rationale": st.sampled_from(["", 'it says "no":', "ends in \\", "müde 🏭", 7]),
            "evidence": st.sampled_from(
                [
                    [],
                    [{"source": SOURCE, "quote": '"x": 1', "stance": "supports"}],
                    [{"source": "s", "quote": "q", "stance": "supports"}],
                    [
                        {
                            "source": SOURCE,
                            "quote": "q",
                            "stance": "context",
                            "span": {"start": 0, "end": 1},
                        }
                    ],
                ]
            ),
            "scores": st.sampled_from([{"supported": 0.5}, {"supported": math.nan}, {"x": 1}]),
            "usage": st.sampled_from([{"calls": 1}, {"usd": math.inf}, {"calls": -1}]),
            "extra": st.just(1),
        },
    ),
)
plain_lines = st.sampled_from(
    [
        '{"claim_id": "c1", "label": "supported"}',
        '{"id": "c2", "label": null, "rationale": "asleep"}',
        '{"claim_id":"c3","kind":"failure","reason":"timeout","schema_version":1}',
        '{"claim_id":"c3","kind":"failure","reason":"timeout","schema_version":9}',
        '{"claim_id":"c1","kind":"verdict","label":"supported","label":"inconclusive"}',
        '{"claim_id":"c1","kind":"verdict","label":"supported","rationale":"\\ud83d"}',
        '{"claim_id":"c1","kind":"verdict","label":"supported"',
        '{"claim_id" : "c1", "kind" : "verdict", "label" : "supported"}',
        "[1]", "", "   ", "null", "\u00a0",
    ]
)  # fmt: skip


def whatever(read: Callable[[], Any]) -> Any:
    """What reading gives, or the error it ends in."""
    try:
        return read()
    except InputError as error:
        return type(error), str(error)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(st.one_of(outcome_lines, plain_lines), max_size=6), change=st.integers(0, 999)
)
def test_labels_alone_are_those_of_the_verdicts_with_the_same_errors(
    tmp_path: Path, lines: list[str], change: int
) -> None:
    """Of well-formed lines, of wrong ones, and of lines with one byte changed."""
    data = bytearray("".join(f"{line}\n" for line in lines).encode("utf-8"))
    if data and change > 500:
        data[change % len(data)] = change % 256
    path = tmp_path / "v.jsonl"
    path.write_bytes(data)
    slow = whatever(lambda: read_verdicts(path, CLAIMS))
    fast = whatever(lambda: read_answers(path, [claim.id for claim in CLAIMS]))
    if isinstance(slow, ReadVerdicts):
        assert fast.answers == [answer_of(slow.outcomes.get(claim.id)) for claim in CLAIMS]
        for name in ("missing", "extra", "duplicate", "conflicting"):
            assert getattr(fast, name) == getattr(slow, name)
    else:
        assert fast == slow


def test_most_lines_are_read_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Those of a panel too, with votes, usage and prompts."""
    panel = Verdict(
        claim_id="c1", label="supported", panel="confirmed", usage={"calls": 3},
        votes=[
            {"index": n, "label": "supported", "usage": {"calls": 1, "usd": 0.1},
             "prompt": {"name": "p", "version": 1, "hash": SOURCE}}
            for n in range(3)
        ],
    )  # fmt: skip
    (tmp_path / "v.jsonl").write_text(panel.canonical() + "\n", "utf-8")
    monkeypatch.setattr(verdicts, "_outcome", None)
    found = read_answers(tmp_path / "v.jsonl", ["c1"])
    assert found.answers == ["supported"]


@pytest.mark.parametrize(
    ("name", "text", "encoding"),
    [("v.csv", "id,label\nc1,supported\n", "utf-8"),
     ("v.jsonl", '{"id": "c1", "label": "supported"}\n', "utf-16")],
)  # fmt: skip
def test_labels_alone_of_other_files(tmp_path: Path, name: str, text: str, encoding: str) -> None:
    (tmp_path / name).write_bytes(text.encode(encoding))
    found = read_answers(tmp_path / name, ["c1", "c2"], encoding=encoding)
    assert found.answers == [Label.SUPPORTED, None] and found.missing == ["c2"]


def test_labels_alone_of_an_empty_file_or_with_an_unknown_table(tmp_path: Path) -> None:
    (tmp_path / "v.jsonl").write_bytes(b"\n\n")
    with pytest.raises(InputError, match="the file is empty"):
        read_answers(tmp_path / "v.jsonl", ["c1"])
    with pytest.raises(InputError, match="no label table 'scifct'"):
        read_answers(tmp_path / "v.jsonl", ["c1"], labels="scifct")
