"""The reliability plot: accuracy by confidence, as inline SVG. Geometry only.

A point is a bin of confidence, with Wilson's interval of its accuracy; the line from corner to
corner is where confidence is what it says. Marks, lines and words carry everything, so that it can
be read in grey; what it shows is told in words for those who do not see it.
"""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from deepfact.measure_records import Rate
from deepfact.reports import plots, templating

_TOP, _SIDE = 14.0, 300.0


@dataclass(frozen=True, slots=True)
class Point:
    """A bin of confidence that holds claims."""

    low: float
    high: float
    confidence: float
    """Mean of the highest probabilities in it."""
    accuracy: Rate

    @property
    def words(self) -> str:
        """The bin in words."""
        return (
            f"confidence {templating.percent(self.low)} to {templating.percent(self.high)}, "
            f"mean {templating.percent(self.confidence)}: right in "
            f"{templating.rate_words(self.accuracy)}"
        )


@dataclass(frozen=True, slots=True)
class ReliabilityPlot:
    """Accuracy by confidence."""

    title: str
    points: tuple[Point, ...]

    def draw(self, ident: str) -> Markup:
        """The plot as SVG.

        Args:
            ident: unique in the page.
        """
        parts = [*_grid(), *_diagonal()]
        path = " ".join(
            f"{_x(p.confidence):.1f},{_y(p.accuracy.value or 0):.1f}" for p in self.points
        )
        if len(self.points) > 1:
            parts.append(plots.element("polyline", class_="curve s0", points=path))
        for point in self.points:
            parts += _mark(point)
        told = "; ".join(point.words for point in self.points)
        return plots.figure(ident, self.title, f"{told}.", _TOP + _SIDE + 56, parts)


def _x(share: float) -> float:
    return plots.LEFT + _SIDE * share


def _y(share: float) -> float:
    return _TOP + _SIDE * (1 - share)


def _grid() -> list[Markup]:
    left, bottom = float(plots.LEFT), _TOP + _SIDE
    parts: list[Markup] = []
    for tick in (0, 25, 50, 75, 100):
        x, y, words = _x(tick / 100), _y(tick / 100), f"{tick}\u00a0%"
        kind = "axis" if tick == 0 else "grid"
        parts += [
            plots.element("line", class_=kind, x1=left, x2=left + _SIDE, y1=y, y2=y),
            plots.element("line", class_=kind, x1=x, x2=x, y1=_TOP, y2=bottom),
            plots.element("text", words, x=left - 6, y=y + 4, text_anchor="end"),
            plots.element("text", words, x=x, y=bottom + 16, text_anchor="middle"),
        ]
    under = left + _SIDE / 2
    words = "confidence (below each point: how many claims)"
    return [*parts, plots.element("text", words, x=under, y=bottom + 36, text_anchor="middle")]


def _diagonal() -> list[Markup]:
    beside = _x(1.0) + 8
    return [
        plots.element("line", class_="bar s2", x1=_x(0.0), y1=_y(0.0), x2=_x(1.0), y2=_y(1.0)),
        plots.element("text", "as sure", class_="small", x=beside, y=_y(1.0) + 4),
        plots.element("text", "as right", class_="small", x=beside, y=_y(1.0) + 15),
    ]


def _mark(point: Point) -> list[Markup]:
    rate = point.accuracy
    x, y, low, high = _x(point.confidence), _y(rate.value or 0.0), _y(rate.low), _y(rate.high)
    counted = min(low + 12, _TOP + _SIDE - 3)
    return [
        plots.element("line", class_="bar s0", x1=x, x2=x, y1=low, y2=high),
        plots.element("line", class_="bar s0", x1=x - 4, x2=x + 4, y1=low, y2=low),
        plots.element("line", class_="bar s0", x1=x - 4, x2=x + 4, y1=high, y2=high),
        plots.shape(0, x, y),
        plots.element("text", str(rate.n), class_="small", x=x + 7, y=counted),
    ]
