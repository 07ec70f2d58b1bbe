"""Objects of claims: truths, quantities, periods and words, from the text that states them."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepfact.core.skeptic_values import Period, Quantity, Words, read_period, read_value, singular


@pytest.mark.parametrize(
    ("text", "truth"), [("yes", True), ("True", True), (" No. ", False), ("never", False)]
)
def test_truths(text, truth):
    assert read_value(text) is truth


@pytest.mark.parametrize("text", ["", "  ", "."])
def test_nothing_is_no_value(text):
    assert read_value(text) is None


@pytest.mark.parametrize(
    ("text", "low", "high", "dimension"),
    [
        ("12 ms", 0.012, 0.012, "time"),
        ("0.012 s", 0.0115, 0.0125, "time"),
        ("12%", 0.12, 0.12, ""),
        ("3.2 million", 3.15e6, 3.25e6, ""),
        ("3.2M", 3.15e6, 3.25e6, ""),
        ("3.2 M users", 3.15e6, 3.25e6, "user"),
        ("3,214,508", 3214508, 3214508, ""),
        ("10-20 ms", 0.010, 0.020, "time"),
        ("10 ms to 20 ms", 0.010, 0.020, "time"),
        ("between 1 and 2 million", 1e6, 2e6, ""),
        ("5 ± 0.2 ms", 0.0048, 0.0052, "time"),
        ("$3 million", 2.5e6, 3.5e6, "usd"),
        ("2,400 requests/s", 2400, 2400, "request/time"),
        ("40 requests per second", 40, 40, "request/time"),
        ("100 Mbps", 12.5e6, 12.5e6, "data/time"),
        ("5 mW", 0.005, 0.005, "power"),
        ("5 MW", 5e6, 5e6, "power"),
        ("50 µs", 50e-6, 50e-6, "time"),
        ("two", None, None, None),
        ("1.2.3", None, None, None),
        ("3 (see 4, 5, 6 and 7)", None, None, None),
    ],
)
def test_quantities_in_base_units(text, low, high, dimension):
    value = read_value(text)
    if low is None:
        assert isinstance(value, Words)
        return
    assert isinstance(value, Quantity)
    assert (value.low, value.high) == pytest.approx((low, high))
    assert value.dimension == dimension


def test_bounds_are_open_intervals():
    below, above = read_value("at most 5 s"), read_value("more than 3")
    assert isinstance(below, Quantity) and isinstance(above, Quantity)
    assert (below.low, below.high) == (float("-inf"), 5.0)
    assert (above.low, above.high) == (3.0, float("inf"))


def test_what_a_figure_is_of_is_kept():
    value = read_value("about 12 ms p99")
    assert isinstance(value, Quantity)
    assert value.approximate and value.of == {"p99"}


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2021", date(2021, 1, 1), date(2021, 12, 31)),
        ("in February 2024", date(2024, 2, 1), date(2024, 2, 29)),
        ("2021-03-05", date(2021, 3, 5), date(2021, 3, 5)),
        ("5th March 2021", date(2021, 3, 5), date(2021, 3, 5)),
        ("March 5, 2021", date(2021, 3, 5), date(2021, 3, 5)),
        ("Q3 2022", date(2022, 7, 1), date(2022, 9, 30)),
        ("2022-Q3", date(2022, 7, 1), date(2022, 9, 30)),
    ],
)
def test_periods(text, first, last):
    assert read_value(text) == Period(first, last)


@pytest.mark.parametrize(
    "text",
    ["3021", "2021-13", "2021-02-30", "March", "5 6 March 2021", "March 2021 2022", "Q3 3022",
     "5 March", "soon"],
)  # fmt: skip
def test_what_is_no_period(text):
    assert read_period(text) is None


def test_words_know_their_negation():
    assert read_value("not Rust") == Words(("rust",), negated=True)
    assert read_value("C++") == Words(("c++",))


@pytest.mark.parametrize(
    ("word", "one"),
    [("users", "user"), ("queries", "query"), ("boxes", "box"), ("status", "status"),
     ("gas", "gas"), ("class", "class"), ("latches", "latch")],
)  # fmt: skip
def test_singular(word, one):
    assert singular(word) == one


@given(st.text(max_size=60))
def test_any_text_is_read_without_an_error(text):
    read_value(text)


@given(st.integers(1, 999), st.sampled_from(["ms", "s", "MB", "kg", "%", "users"]))
def test_a_whole_number_with_a_unit_is_exact(number, unit):
    value = read_value(f"{number} {unit}")
    assert isinstance(value, Quantity) and value.low == value.high
