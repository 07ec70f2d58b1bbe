"""Plots as inline SVG: no scripts, no fonts of their own, readable in grey and in the dark.

Series differ by shape as well as by colour; colours are the page's (``currentColor`` and CSS
classes). Each plot has a title and a description for those who do not see it; the table of
its figures stands beneath it in the report. Geometry only: no statistics are worked out here.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Callable, Sequence

from markupsafe import Markup

from deepfact.reports.templating import html_escape, percent, rate_words, signed
from deepfact.run_records import Estimate, MicroGoldScore, Rate

WIDTH = 440
"""Width of every plot in its own units; the page scales it."""
LEFT, RIGHT = 48, 14
SHAPES = 4
"""Marks that differ by shape."""


@dataclass(frozen=True, slots=True)
class Point:
    """One rate in a plot: its name, the series it belongs to, the rate."""

    name: str
    series: str
    rate: Rate


def element(tag: str, content: str | Markup = "", **attributes: str | float) -> Markup:
    """An SVG element. Content and attribute values are escaped unless they are markup;
    ``class_`` and ``stroke_width`` are written ``class`` and ``stroke-width``."""
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{html_escape(_short(value))}"'
        for name, value in attributes.items()
    )
    return Markup(f"<{tag}{written}>{html_escape(content)}</{tag}>")  # noqa: S704 -- escaped


def _short(value: str | float) -> str:
    """A coordinate with at most one decimal, so that equal plots are equal bytes."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def figure(ident: str, title: str, description: str, height: float, parts: list[Markup]) -> Markup:
    """A plot: its title and its description in words, for those who do not see it, and its parts.

    Args:
        ident: unique in the page.
        height: in the plot's own units.
    """
    body = Markup("").join(
        [
            element("title", title, id=f"{ident}-t"),
            element("desc", description, id=f"{ident}-d"),
            *parts,
        ]
    )
    labelled = f"{ident}-t {ident}-d"
    # viewBox is the one SVG attribute here with a capital letter.
    return element(
        "svg", body, viewBox=f"0 0 {WIDTH} {_short(height)}", role="img", aria_labelledby=labelled
    )


def shape(series: int, x: float, y: float) -> Markup:
    """The mark of a series: a shape of its own for each of the first four."""
    kind = f"mark s{series % SHAPES}"
    if series % 4 == 0:
        return element("circle", class_=kind, cx=x, cy=y, r=4.5)
    if series % 4 == 1:
        return element("rect", class_=kind, x=x - 4, y=y - 4, width=8.0, height=8.0)
    corners = (
        [(0, -5.5), (5.5, 4.5), (-5.5, 4.5)]
        if series % 4 == 2
        else [(0, -6), (6, 0), (0, 6), (-6, 0)]
    )
    points = " ".join(f"{_short(x + dx)},{_short(y + dy)}" for dx, dy in corners)
    return element("polygon", class_=kind, points=points)


def _text(words: str, kind: str, x: float, y: float, *, anchor: str = "start") -> Markup:
    return element("text", words, class_=kind, x=x, y=y, text_anchor=anchor)


def _clip(share: float) -> float:
    return min(1.0, max(0.0, share))


def short_label(name: str, room: int) -> str:
    """A name that fits under its tick: ``version 3`` is ``v3``, others are cut."""
    short = re.sub(r"^version (\d+)$", r"v\1", name)
    return short if len(short) <= room else f"{short[: room - 1]}…"


def evolution(
    ident: str,
    scores: Sequence[MicroGoldScore],
    auditors: Sequence[tuple[int, str, Rate]] = (),
) -> Markup:
    """Micro-gold accuracy by version, with interval bars, and of auditors between the versions.

    Args:
        ident: unique in the page.
        scores: one per version, oldest first. A rate of n = 0 leaves a gap.
        auditors: round from 1, name and rate, drawn between the versions before and after the
            round. Only as many auditors as there are marks beside that of the versions are drawn;
            the table has all.
    """
    names = list(dict.fromkeys(name for _, name, _ in auditors))[: SHAPES - 1]
    top = 16.0 + 18 * (len(names) + 1 if names else 0)
    bottom = top + 180
    step = (WIDTH - LEFT - RIGHT) / max(1, len(scores))

    def y_of(share: float) -> float:
        return bottom - (bottom - top) * _clip(share)

    parts: list[Markup] = []
    for index, name in enumerate(["versions of the benchmark", *names] if names else ()):
        at = 12.0 + 18 * index
        parts += [shape(index, LEFT, at - 4), element("text", name, x=LEFT + 12, y=at)]
    for tick in (0, 25, 50, 75, 100):
        y = y_of(tick / 100)
        kind = "axis" if tick == 0 else "grid"
        parts.append(element("line", class_=kind, x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y))
        parts.append(element("text", f"{tick}\u00a0%", x=LEFT - 6, y=y + 4, text_anchor="end"))
    drawn: list[tuple[float, float]] = []
    marks: list[Markup] = []
    room = max(3, int(step / 7))
    # A figure stands in the plot only where there is room for its n and unverified as well.
    figures = step >= (150 if names else 70)
    for index, score in enumerate(scores):
        name, rate = score.of, score.accuracy
        x = LEFT + step * (index + 0.5)
        label = short_label(name, room)
        parts.append(element("text", label, x=x, y=bottom + 20, text_anchor="middle"))
        if rate.value is None:
            continue
        y = y_of(rate.value)
        drawn.append((x, y))
        marks += _upright(0, x, rate, y_of)
        if figures:
            marks.append(element("text", percent(rate.value), class_="value", x=x + 9, y=y + 14))
            for line, words in enumerate(
                (f"{rate.k} of {rate.n}", f"{rate.unverified} unverified")
            ):
                place = bottom + 33 + 12 * line
                marks.append(_text(words, "small", x, place, anchor="middle"))
    for number, name, rate in auditors:
        if name in names and rate.value is not None and number < len(scores):
            beside = step * min(0.14, 0.5 / len(names)) * (names.index(name) - (len(names) - 1) / 2)
            marks += _upright(names.index(name) + 1, LEFT + step * number + beside, rate, y_of)
    path = " ".join(f"{_short(x)},{_short(y)}" for x, y in drawn)
    if len(drawn) > 1:
        parts.append(element("polyline", class_="curve s0", points=path))
    told = "; ".join(
        [f"{score.of}: {rate_words(score.accuracy)}" for score in scores]
        + [f"{name} in round {number}: {rate_words(rate)}" for number, name, rate in auditors]
    )
    title = "Micro-gold accuracy by version"
    return figure(ident, title, f"{told}.", bottom + (56 if figures else 30), parts + marks)


def _upright(series: int, x: float, rate: Rate, y_of: Callable[[float], float]) -> list[Markup]:
    """A rate as a mark on an upright interval bar."""
    kind, low, high = f"bar s{series % SHAPES}", y_of(rate.low), y_of(rate.high)
    return [
        element("line", class_=kind, x1=x, x2=x, y1=low, y2=high),
        element("line", class_=kind, x1=x - 5, x2=x + 5, y1=low, y2=low),
        element("line", class_=kind, x1=x - 5, x2=x + 5, y1=high, y2=high),
        shape(series, x, y_of(rate.value or 0.0)),
    ]


def dots(ident: str, title: str, points: Sequence[Point]) -> Markup:
    """Rates as dots with their intervals on one scale from 0 to 100 %, one row each.

    Args:
        ident: unique in the page.
        title: what the rates are.
        points: rows top to bottom; each series has a shape of its own, and rows of one name
            stand together under that name.
    """
    left, right = 14, 158
    series = list(dict.fromkeys(point.series for point in points))
    parts: list[Markup] = []
    y = 14.0

    def x_of(share: float) -> float:
        return left + (WIDTH - left - right) * _clip(share)

    for index, name in enumerate(series):
        parts += [shape(index, left, y - 4), element("text", name, x=left + 12, y=y)]
        y += 18
    top, group = y, ""
    for point in points:
        if point.name != group:
            y += 20
            parts.append(
                element("text", short_label(point.name, 60), class_="value", x=left - 4, y=y)
            )
            group = point.name
        y += 28
        at = series.index(point.series)
        if point.rate.value is None:
            parts.append(
                element(
                    "text", f"no rate (n = 0, {point.rate.unverified} unverified)", x=left, y=y + 4
                )
            )
            continue
        low, high = x_of(point.rate.low), x_of(point.rate.high)
        parts += [
            element("line", class_=f"bar s{at % 4}", x1=low, x2=high, y1=y, y2=y),
            shape(at, x_of(point.rate.value), y),
            _text(percent(point.rate.value), "value", WIDTH - right + 22, y),
            _text(
                f"{point.rate.k} of {point.rate.n}, {point.rate.unverified} unverified",
                "small",
                WIDTH - right + 22,
                y + 11,
            ),
        ]
    bottom, scale = y + 16, []
    for tick in (0, 25, 50, 75, 100):
        x = x_of(tick / 100)
        scale.append(element("line", class_="grid", x1=x, x2=x, y1=top + 4, y2=bottom))
        scale.append(element("text", f"{tick}\u00a0%", x=x, y=bottom + 16, text_anchor="middle"))
    told = "; ".join(f"{p.name}, {p.series}: {rate_words(p.rate)}" for p in points)
    return figure(ident, title, f"{told}.", bottom + 24, scale + parts)


def coefficients(ident: str, title: str, rows: Sequence[tuple[str, Estimate]]) -> Markup:
    """Coefficients of agreement with their intervals, one row each, on a scale that ends at 1 and
    begins at 0, or as far below as an interval reaches; 0 is agreement by chance.

    Args:
        ident: unique in the page.
        title: which coefficient it is.
        rows: name and estimate, top to bottom. Without an interval a row says so and has no mark.
    """
    left, right = 22.0, 178.0
    least = min([0.0, *(min(e.low or 0.0, e.value or 0.0) for _, e in rows)])
    lowest = max(-1.0, 0.25 * math.floor(least / 0.25))

    def x_of(value: float) -> float:
        share = (value - lowest) / (1 - lowest)
        return left + (WIDTH - left - right) * _clip(share)

    parts: list[Markup] = []
    y, told = 4.0, []
    for name, estimate in rows:
        y += 18
        parts.append(_text(short_label(name, 60), "value", 4.0, y))
        y += 16
        if estimate.value is None or estimate.low is None or estimate.high is None:
            words = f"no figure with an interval (n = {estimate.n})"
            parts.append(element("text", words, x=left, y=y + 4))
        else:
            low, high, at = x_of(estimate.low), x_of(estimate.high), x_of(estimate.value)
            ends = f"[{signed(estimate.low)}, {signed(estimate.high)}]"
            words = f"{signed(estimate.value)} {ends}"
            parts += [
                element("line", class_="bar s0", x1=low, x2=high, y1=y, y2=y),
                element("line", class_="bar s0", x1=low, x2=low, y1=y - 4, y2=y + 4),
                element("line", class_="bar s0", x1=high, x2=high, y1=y - 4, y2=y + 4),
                shape(0, at, y),
                _text(words, "value", WIDTH - right + 14, y + 1),
                _text(f"n = {estimate.n}", "small", WIDTH - right + 14, y + 12),
            ]
            words = f"{words}, n = {estimate.n}"
        told.append(f"{name}: {words}")
        y += 6
    bottom, scale = y + 12, []
    for step in range(round(lowest / 0.25), 5):
        x, kind = x_of(step * 0.25), "grid" if step else "axis"
        scale.append(element("line", class_=kind, x1=x, x2=x, y1=6, y2=bottom))
        words = f"{step * 0.25:g}".replace("-", "−")
        scale.append(element("text", words, x=x, y=bottom + 16, text_anchor="middle"))
    return figure(ident, title, f"{'; '.join(told)}.", bottom + 24, scale + parts)
