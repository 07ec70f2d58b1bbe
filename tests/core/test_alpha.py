"""Krippendorff's alpha: the published examples, its definition, and the form for many draws."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepfact.core.alpha import alpha_of, coincidences, nominal_alpha

UNITS = st.lists(
    st.lists(st.integers(0, 3), min_size=3, max_size=3).filter(lambda row: sum(row) > 1),
    min_size=1,
    max_size=12,
)


def by_definition(counts: list[list[int]]) -> float | None:
    """1 - observed / expected disagreement, by going through every ordered pair of labels."""
    labels = [[c for c, count in enumerate(row) for _ in range(count)] for row in counts]
    everything = [label for unit in labels for label in unit]
    n = len(everything)
    expected = sum(a != b for a, b in permutations(everything, 2)) / (n * (n - 1))
    if not expected:
        return None
    observed = sum(
        sum(a != b for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in labels
    )
    return 1 - observed / n / expected


def test_two_observers_and_two_labels_as_published() -> None:
    """Computing Krippendorff's Alpha-Reliability, 2011, section A: alpha 0.095."""
    pairs = zip("0100000000", "1110010100", strict=True)
    counts = [[pair.count("0"), pair.count("1")] for pair in pairs]
    assert nominal_alpha(counts) == pytest.approx(0.095, abs=0.0005)


def test_four_observers_and_missing_labels_as_published() -> None:
    """The same, section C: four observers, twelve units, labels 1 to 5, some missing; alpha 0.743
    (the last unit has one label and cannot be compared)."""
    observers = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
    counts = [
        [column.count(label) for label in "12345"]
        for column in zip(*observers, strict=True)
        if sum(label != "." for label in column) > 1
    ]
    assert nominal_alpha(counts) == pytest.approx(0.743, abs=0.0005)


@given(UNITS)
def test_it_is_one_less_observed_over_expected_disagreement(counts: list[list[int]]) -> None:
    expected = by_definition(counts)
    found = nominal_alpha(counts)
    assert (found is None) == (expected is None)
    if found is not None:
        assert found == pytest.approx(expected)


@given(UNITS)
def test_many_draws_at_once_give_the_same(counts: list[list[int]]) -> None:
    matrix = np.sum([coincidences(row) for row in counts], axis=0)
    many = alpha_of(np.array([matrix, 2 * matrix]))
    one = nominal_alpha(counts)
    assert np.isnan(many[0]) if one is None else many[0] == pytest.approx(one)
