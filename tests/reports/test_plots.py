"""Plots: well-formed, told in words, right in their geometry."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from deepfact.reports.plots import Point, coefficients, dots, element, evolution
from deepfact.run_records import Estimate, MicroGoldScore, Rate


def rate(value: float, n: int = 20) -> Rate:
    k = round(value * n)
    return Rate(k=k, n=n, unverified=1, low=value - 0.1, high=value + 0.1, method="wilson")


def parse(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def test_the_curve_rises_where_accuracy_rises():
    scores = [MicroGoldScore(of=f"version {i}", accuracy=rate(i / 5)) for i in (1, 3, 2)]
    svg = parse(evolution("p", scores))
    heights = [float(circle.get("cy")) for circle in svg.iter("circle")]
    assert heights[1] < heights[2] < heights[0]  # y grows downwards
    path = svg.find("polyline").get("points").split()
    assert [float(point.split(",")[1]) for point in path] == heights
    assert svg.find("title").text == "Micro-gold accuracy by version"
    assert "version 2: 40.0\u00a0% (8 of 20, 95 % interval" in svg.find("desc").text
    assert svg.get("aria-labelledby") == "p-t p-d" and svg.get("role") == "img"


def test_a_version_without_micro_gold_leaves_a_gap():
    empty = Rate(k=0, n=0, low=float("nan"), high=float("nan"), method="wilson")
    scores = [
        MicroGoldScore(of="version 1", accuracy=empty),
        MicroGoldScore(of="version 2", accuracy=rate(0.5)),
    ]
    svg = evolution("p", scores)
    assert "nan" not in svg and len(list(parse(svg).iter("circle"))) == 1
    assert "no rate (n = 0" in svg


@pytest.mark.parametrize("count", [1, 4, 40])
def test_a_value_is_printed_only_with_its_n_and_unverified_count(count):
    scores = [MicroGoldScore(of=f"version {i}", accuracy=rate(0.5)) for i in range(count)]
    texts = [text.text for text in parse(evolution("p", scores)).iter("text")]
    values, unverified = texts.count("50.0\u00a0%"), texts.count("1 unverified")
    assert values == unverified == (count if count < 6 else 0)
    assert texts.count("10 of 20") == values


def test_series_differ_by_shape_and_every_dot_has_its_n():
    points = [Point("v", series, rate(0.4 + i / 10)) for i, series in enumerate("abcd")]
    svg = parse(dots("p", "Accuracy", points))
    shapes = [node.tag for node in svg if "mark" in node.get("class", "")]
    assert shapes[:4] == ["circle", "rect", "polygon", "polygon"]
    corners = [node.get("points").count(",") for node in svg.iter("polygon")]
    assert set(corners) == {3, 4}
    texts = [text.text for text in svg.iter("text")]
    assert sum(text.endswith(", 1 unverified") for text in texts) == 4


def test_intervals_stay_on_the_scale():
    wide = Rate(k=1, n=1, low=-0.5, high=1.7, method="wald")
    svg = parse(dots("p", "Accuracy", [Point("v", "a", wide), Point("v", "b", rate(0.0))]))
    bars = [line for line in svg.iter("line") if "bar" in line.get("class", "")]
    grid = [float(line.get("x1")) for line in svg.iter("line") if line.get("class") == "grid"]
    assert bars and all(
        min(grid) <= float(bar.get(end)) <= max(grid) for bar in bars for end in ("x1", "x2")
    )


def test_names_are_escaped():
    svg = dots("p", "<b>", [Point('"><script>', "<i>\u202e", rate(0.5))])
    assert "<script>" not in svg and "<i>" not in svg and "\u202e" not in svg
    assert parse(svg).find("title").text == "<b>"
    assert element("text", "x", class_='a" onload="b') == (
        '<text class="a&#34; onload=&#34;b">x</text>'
    )


def test_auditors_stand_between_the_versions_with_marks_of_their_own():
    scores = [MicroGoldScore(of=f"version {i}", accuracy=rate(0.5)) for i in (1, 2, 3)]
    auditors = [(n, name, rate(0.8)) for n in (1, 2) for name in ("ann", "ben", "cleo", "dora")]
    svg = parse(evolution("p", scores, auditors))
    versions = [float(circle.get("cx")) for circle in svg.iter("circle")][1:]
    squares = [float(square.get("x")) + 4 for square in svg.iter("rect")][1:]
    assert versions[0] < squares[0] < versions[1] < squares[1] < versions[2]
    legend = [text.text for text in svg.iter("text")][:4]
    assert legend == ["versions of the benchmark", "ann", "ben", "cleo"]  # as many as have marks
    told = svg.find("desc").text
    assert "dora in round 2: 80.0\u00a0% (16 of 20" in told


def estimate(value: float | None, low: float | None, high: float | None) -> Estimate:
    return Estimate(value=value, n=12, low=low, high=high, method="bootstrap by case")


@pytest.mark.parametrize(
    ("value", "low", "high", "first"),
    [
        (0.5, 0.2, 0.8, "0"),
        (1.0, 1.0, 1.0, "0"),
        (0.1, -0.07, 0.3, "−0.25"),
        (-0.4, -0.9, 0.1, "−1"),
        (-0.6, -1.3, 0.1, "−1"),
    ],
)
def test_the_scale_of_coefficients_begins_at_chance_or_as_far_below_as_needed(
    value, low, high, first
):
    svg = parse(coefficients("p", "alpha", [("all cases", estimate(value, low, high))]))
    ticks = [text.text for text in svg.iter("text") if text.get("text-anchor") == "middle"]
    assert ticks[0] == first and ticks[-1] == "1"
    bars = [node for node in svg.iter("line") if "bar" in node.get("class")]
    assert 0 <= float(bars[0].get("x1")) <= float(bars[0].get("x2")) <= 440
    circle = svg.find("circle")
    assert float(bars[0].get("x1")) - 0.1 <= float(circle.get("cx"))
    assert "n = 12" in svg.find("desc").text and svg.get("role") == "img"


def test_a_coefficient_without_an_interval_has_no_mark():
    rows = [("one", estimate(0.4, None, None)), ("none", estimate(None, None, None))]
    svg = parse(coefficients("p", "alpha", rows))
    assert svg.find("circle") is None
    assert [text.text for text in svg.iter("text")].count(
        "no figure with an interval (n = 12)"
    ) == 2
