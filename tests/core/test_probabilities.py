"""Calibration and thresholds of a verifier's probabilities against a benchmark's labels."""

from __future__ import annotations

import pytest

from deepfact.core.schemes.probabilities import (
    REST,
    THREE,
    at_threshold,
    calibrated,
    choose_threshold,
)
from deepfact.records import Label

S, C, I = Label.SUPPORTED, Label.CONTRADICTORY, Label.INCONCLUSIVE  # noqa: E741

KEY = {"a": S, "b": C, "c": I, "d": S}


def three(s: float, c: float) -> dict[Label, float]:
    return {S: s, C: c, I: 1 - s - c}


def test_three_labels_are_measured_as_such_and_as_two() -> None:
    scores = {"a": three(0.9, 0.05), "b": three(0.1, 0.8), "c": three(0.7, 0.1), "d": three(1, 0)}
    full, rest = calibrated(KEY, scores)
    assert (full.of, rest.of) == (THREE, REST)
    assert full.score.n == rest.score.n == 4
    assert full.score.values["accuracy"] == 0.75
    brier = (0.1**2 + 0.05**2 * 2) + (0.1**2 * 2 + 0.2**2) + (0.7**2 + 0.1**2 + 0.8**2)
    assert full.score.values["brier"] == pytest.approx(brier / 4)
    assert rest.score.values["brier"] == pytest.approx(2 * (0.1**2 + 0.1**2 + 0.7**2) / 4)
    assert sum(found.n for found in full.bins) == 4


def test_two_labels_are_measured_as_two_alone() -> None:
    (rest,) = calibrated(KEY, {"a": {S: 0.9, I: 0.1}, "b": {S: 0.2, I: 0.8}})
    assert rest.of == REST and rest.score.n == 2
    assert rest.score.left_out == {"no scores": 2}
    assert rest.score.values["accuracy"] == 1.0  # a contradiction is of the rest


def test_one_claim_of_two_labels_makes_all_of_them_two() -> None:
    found = calibrated(KEY, {"a": three(0.9, 0.05), "b": {S: 0.2, I: 0.8}})
    assert [one.of for one in found] == [REST]


def test_claims_without_probabilities_are_counted_in_three_labels_too() -> None:
    full, _ = calibrated(KEY, {"a": three(0.9, 0.05), "z": three(0.1, 0.1)})
    assert (full.score.n, full.score.left_out) == (1, {"no scores": 3})


def test_without_probabilities_there_is_nothing() -> None:
    assert calibrated(KEY, {}) == ()
    assert calibrated(KEY, {"z": three(0.5, 0.1)}) == ()


def test_probabilities_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="sum to"):
        calibrated(KEY, {"a": {S: 0.9, C: 0.9, I: 0.1}})


def test_a_threshold_is_chosen_on_one_key_and_applied_to_another() -> None:
    dev = {"a": {S: 0.4, I: 0.6}, "b": {S: 0.3, I: 0.7}, "c": {S: 0.1, I: 0.9}}
    value = choose_threshold(KEY, dev, by="f1")
    assert value == 0.3  # strictly above it
    found = at_threshold({"x": S, "y": I, "z": C}, {"x": {S: 0.31, I: 0.69}, "y": {S: 0.3, I: 0.7}},
                         value)  # fmt: skip
    assert found.threshold == 0.3 and found.score.n == 2
    assert found.score.values["f1"] == found.score.values["accuracy"] == 1.0
    assert found.score.left_out == {"no scores": 1}


def test_a_threshold_needs_probabilities() -> None:
    with pytest.raises(ValueError, match="no claim has probabilities"):
        at_threshold(KEY, {}, 0.5)
    with pytest.raises(ValueError, match="needs scores"):
        choose_threshold(KEY, {}, by="accuracy")
    assert at_threshold({"a": S}, {"a": {S: 1.0, I: 0.0}}, 0.5).score.left_out == {}
