"""How windows become one answer."""

from __future__ import annotations

import pytest

from deepfact.records import Label
from deepfact.verifiers.nli.aggregate import aggregate, concluded

S, C, I = Label.SUPPORTED, Label.CONTRADICTORY, Label.INCONCLUSIVE  # noqa: E741


def three(s: float, c: float) -> dict[Label, float]:
    return {S: s, C: c, I: round(1 - s - c, 6)}


def test_the_window_that_says_most_decides():
    found = [three(0.1, 0.1), three(0.2, 0.7), three(0.6, 0.1)]
    assert aggregate(found, "strongest") == (three(0.2, 0.7), 1)


def test_the_window_that_supports_most_decides():
    found = [three(0.1, 0.1), three(0.2, 0.7), three(0.6, 0.1)]
    assert aggregate(found, "support") == (three(0.6, 0.1), 2)


def test_the_mean_of_all_decides_and_the_strongest_is_quoted():
    scores, at = aggregate([three(0.2, 0.2), three(0.4, 0.6)], "mean")
    assert scores == pytest.approx(three(0.3, 0.4)) and at == 1


def test_the_first_of_equal_windows_is_quoted():
    assert aggregate([three(0.5, 0), three(0, 0.5)], "strongest")[1] == 0


def test_two_classes_have_no_contradiction():
    found = [{S: 0.2, I: 0.8}, {S: 0.9, I: 0.1}]
    assert aggregate(found, "strongest") == ({S: 0.9, I: 0.1}, 1)


@pytest.mark.parametrize(
    ("scores", "threshold", "wanted"),
    [
        (three(0.4, 0.35), None, S),
        (three(0.4, 0.35), 0.4, C),  # at the threshold is not above it
        (three(0.4, 0.35), 0.39, S),
        ({S: 0.5, I: 0.5}, None, S),
        ({S: 0.7, I: 0.3}, 0.8, I),
        (three(0.3, 0.3), None, I),
    ],
)
def test_the_likeliest_label_or_supported_above_a_threshold(scores, threshold, wanted):
    assert concluded(scores, threshold) is wanted
