"""A page of tables and plots, as HTML and as Markdown: what cross-audits and simulations report.

A study says what its figures are of, then shows them: words, tables, plots, provenance. Every cell
is plain text, made by whoever builds the page with all that a figure may not be shown without; the
templates escape it. The page asks nothing of the network.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from markupsafe import Markup

from deepfact.measure_records import Estimate
from deepfact.reports import plots, templating


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the first cell of each row heads it."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with its interval, in a plot; None where there is nothing to draw."""

    group: str
    series: str
    value: float | None
    low: float | None
    high: float | None
    words: str
    """The figure in words, for those who do not see the plot."""
    counted: str
    """What stands beneath the figure in the plot: its n, and what was unverified."""


@dataclass(frozen=True, slots=True)
class Plot:
    """Values with intervals on one scale, a row each."""

    title: str
    points: tuple[Interval, ...]
    change: bool = False
    """Differences in percentage points around zero, not shares."""


class Drawn(Protocol):
    """A plot of another kind, which draws itself."""

    @property
    def title(self) -> str:
        """What it shows."""
        ...

    def draw(self, ident: str) -> Markup:
        """The plot as SVG, with a title and a description in words; ``ident`` is unique in the
        page."""
        ...


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page."""

    ident: str
    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    plots: tuple[Plot | Drawn, ...] = ()


@dataclass(frozen=True, slots=True)
class Study:
    """A whole page."""

    kind: str
    """Such as ``cross-audit``."""
    name: str
    lede: str
    banners: tuple[str, ...]
    """What a reader must know first: that it is a simulation, that something is missing."""
    sections: tuple[Section, ...]
    facts: tuple[tuple[str, str], ...]
    """Provenance: name and value."""
    spec: str
    """The spec as JSON, without secrets."""
    deepfact: str


def render_html(study: Study) -> str:
    """The page as HTML that needs nothing beside it."""
    template = templating.html_environment().get_template("study.html.j2")
    return template.render(study=study, draw=draw)


def render_markdown(study: Study) -> str:
    """The page as Markdown."""
    text = templating.markdown_environment().get_template("study.md.j2").render(study=study)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def share_words(found: Estimate) -> str:
    """A share with its interval and n."""
    if found.value is None or found.low is None or found.high is None:
        return f"no interval (n = {found.n})"
    return (
        f"{templating.percent(found.value)} "
        f"[{templating.interval(found.low, found.high)}] (n = {found.n})"
    )


def change_words(found: Estimate) -> str:
    """A difference of shares in percentage points, with its interval and n."""
    if found.value is None or found.low is None or found.high is None:
        return f"no interval (n = {found.n})"
    low, high = points(found.low), points(found.high)
    return f"{points(found.value)} points [{low} to {high}] (n = {found.n})"


def points(share: float) -> str:
    """A difference of shares in percentage points: ``+4.2``."""
    return f"{100 * share:+.1f}".replace("-", "−")


# --- the plot ------------------------------------------------------------------------------


def draw(ident: str, plot: Plot | Drawn) -> Markup:
    """A plot that draws itself; or values with their intervals, one row each, on a scale of shares
    or around zero, where series differ by shape as well as by colour.

    Args:
        ident: unique in the page.
        plot: what to draw.
    """
    if not isinstance(plot, Plot):
        return plot.draw(ident)
    scale = _Scale.of(plot)
    series = list(dict.fromkeys(point.series for point in plot.points))
    parts: list[Markup] = []
    y = 14.0
    for index, name in enumerate(series):
        mark = plots.shape(index, scale.left, y - 4)
        parts += [mark, plots.element("text", name, x=scale.left + 12, y=y)]
        y += 18
    top, group = y, ""
    for point in plot.points:
        if point.group != group:
            y += 20
            title = plots.short_label(point.group, 60)
            parts.append(plots.element("text", title, class_="value", x=scale.left - 4, y=y))
            group = point.group
        y += 28
        parts += _row(point, series.index(point.series), scale, y, change=plot.change)
    bottom = y + 16
    told = "; ".join(f"{p.group}, {p.series}: {p.words}" for p in plot.points)
    grid = scale.grid(top + 4, bottom, change=plot.change)
    return plots.figure(ident, plot.title, f"{told}.", bottom + 24, [*grid, *parts])


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    high: float
    step: float
    left: float = 14.0
    right: float = plots.WIDTH - 146.0

    @classmethod
    def of(cls, plot: Plot) -> _Scale:
        if not plot.change:
            return cls(0.0, 1.0, 0.25)
        ends = [abs(end) for p in plot.points for end in (p.low, p.high) if end is not None]
        reach = max([0.05, *ends])
        step = next(one for one in (0.05, 0.1, 0.2, 0.5) if reach <= 2 * one or one == 0.5)
        most = step * max(1, -(-reach // step))
        return cls(-most, most, step)

    def x(self, value: float) -> float:
        inside = min(self.high, max(self.low, value))
        return self.left + (self.right - self.left) * (inside - self.low) / (self.high - self.low)

    def grid(self, top: float, bottom: float, *, change: bool) -> list[Markup]:
        drawn = []
        for tick in range(round((self.high - self.low) / self.step) + 1):
            value = self.low + tick * self.step
            zero = abs(value) < 1e-9
            x = self.x(value)
            words = "0" if change and zero else points(value).removesuffix(".0")
            words = words if change else f"{100 * value:.0f}\u00a0%"
            kind = "axis" if zero else "grid"
            line = plots.element("line", class_=kind, x1=x, x2=x, y1=top, y2=bottom)
            text = plots.element("text", words, x=x, y=bottom + 16, text_anchor="middle")
            drawn += [line, text]
        return drawn


def _row(point: Interval, at: int, scale: _Scale, y: float, *, change: bool) -> list[Markup]:
    if point.value is None or point.low is None or point.high is None:
        return [plots.element("text", point.words, class_="small", x=scale.left, y=y + 4)]
    figure = points(point.value) if change else templating.percent(point.value)
    line = plots.element(
        "line",
        class_=f"bar s{at % 4}",
        x1=scale.x(point.low),
        x2=scale.x(point.high),
        y1=y,
        y2=y,
    )
    beside = scale.right + 12
    words = plots.element("text", figure, class_="value", x=beside, y=y)
    counted = plots.element("text", point.counted, class_="small", x=beside, y=y + 11)
    return [line, plots.shape(at, scale.x(point.value), y), words, counted]
