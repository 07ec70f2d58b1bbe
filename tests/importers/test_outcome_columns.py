"""Outcomes in bulk: taken when every line is one, left to others when not."""

from __future__ import annotations

from typing import Any

import pytest

from deepfact.importers.outcome_columns import FIELDS, KINDS, _schema, answers_of
from deepfact.records import Label, canonical_json

HASH = f"sha256:{'0' * 64}"
QUOTE = {"source": HASH, "quote": "so it is", "stance": "supports"}


def line(**fields: Any) -> bytes:
    whole = {"claim_id": "c1", "kind": "verdict", "label": "supported", **fields}
    given = {name: value for name, value in whole.items() if value != "left out"}
    return canonical_json(given).encode() + b"\n"


def failure(**fields: Any) -> bytes:
    return line(**{"kind": "failure", "label": "left out", "reason": "timeout", **fields})


def test_every_field_of_an_outcome_has_a_column() -> None:
    """A field of a new type is to be thought of in `_type`, and `_may_be`."""
    assert set(_schema(frozenset(FIELDS)).names) == set(FIELDS)
    for name in set(KINDS["verdict"].model_fields) & set(KINDS["failure"].model_fields) - {"kind"}:
        fields = [kind.model_fields[name] for kind in KINDS.values()]
        assert fields[0].annotation == fields[1].annotation, name


def test_outcomes_have_no_rule_about_several_fields() -> None:
    """One would have to be applied here too; sorting the scores refuses nothing."""
    for kind in KINDS.values():
        rules = kind.__pydantic_decorators__
        assert not rules.model_validators
        assert set(rules.field_validators) <= {"_in_one_order"}


def test_labels_in_their_order_and_none_for_a_failure() -> None:
    block = line() + failure(claim_id="c2") + line(claim_id="c3", label="contradictory")
    found = answers_of(block)
    assert found is not None
    assert found.claim_ids == ["c1", "c2", "c3"]
    assert found.labels == [Label.SUPPORTED, None, Label.CONTRADICTORY]
    assert not found.scored
    assert answers_of(block.rstrip(b"\n")) == found


def test_failures_alone() -> None:
    found = answers_of(failure() + failure(claim_id="c2"))
    assert found is not None and found.labels == [None, None]


def test_what_a_later_line_has_and_the_first_has_not() -> None:
    scores = {"supported": 0.5, "contradictory": 0.25, "inconclusive": 0.25}
    found = answers_of(line() + line(claim_id="c2", scores=scores, usage={"calls": 1, "usd": 0.5}))
    assert found is not None and found.scored


@pytest.mark.parametrize(
    "wrong",
    [
        line(label="left out"),
        line(label="Supported"),
        line(label=None),
        line(reason="timeout"),
        failure(reason="left out"),
        failure(rationale="because"),
        line(kind="left out"),
        line(kind="opinion"),
        line(claim_id="c 1"),
        line(claim_id=1),
        line(schema_version=2),
        line(extra=1),
        line(evidence=[{**QUOTE, "quote": ""}]),
        line(evidence=[{**QUOTE, "source": "s"}]),
        line(evidence=[{**QUOTE, "span": {"start": 3, "end": 1}}]),
        line(evidence=[{**QUOTE, "page": 1}]),
        line(usage={"calls": -1}),
        line(usage={"usd": float("nan")}),
        line(scores={"supported": float("inf")}),
        line(votes=[{"index": 0, "label": "yes"}]),
        line(votes=[{"label": "supported"}]),
        line(flags=["a", None]),
        b'{"claim_id":"c1","kind":"verdict","label":"supported","label":"supported"}\n',
        b'{"claim_id":"c1","kind":"verdict","label":"supported"}{}\n',
        b'{"claim_id":"c1","kind":"verdict",\n"label":"supported"}\n',
        b'{"claim_id":"c1","kind":"verdict","label":"supported","rationale":"\xff"}\n',
        b"\n", b"", b"[1]\n", b" " + line(), line().replace(b"\n", b"\r\n"),
    ],
)  # fmt: skip
def test_a_block_with_one_line_that_is_no_outcome_is_left_to_others(wrong: bytes) -> None:
    assert answers_of(line() + line(claim_id="c2")) is not None
    for block in (wrong, line() + wrong, wrong + line(), line() + wrong + line(claim_id="c2")):
        assert answers_of(block) is None or wrong == b"" != block


def test_the_word_null_in_a_text_is_no_null() -> None:
    assert answers_of(line(rationale="the null hypothesis")) is not None


def test_a_span_that_is_in_order_and_votes_with_all_that_they_have() -> None:
    vote = {
        "index": 0, "label": "supported", "grounds": "none", "refutes": False,
        "evidence": [{**QUOTE, "span": {"start": 0, "end": 4}}], "usage": {"calls": 1, "usd": 0.1},
        "prompt": {"name": "p", "version": 1, "hash": HASH}, "flags": ["quote: not found"],
    }  # fmt: skip
    assert answers_of(line(votes=[vote], panel="confirmed", rule="majority of 1")) is not None
    assert answers_of(line(votes=[{**vote, "grounds": "mood"}], panel="confirmed")) is None
