"""Stacked bars as inline SVG: the parts of a whole, each told by its pattern and by a letter.

Readable in grey and in print: no part is told by colour alone, or by colour at all. Geometry only;
what the parts are, and their counts, comes from whoever draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from deepfact.reports import plots

LEFT, RIGHT = 14.0, 60.0
BAR = 20.0
"""Height of a bar, in the plot's own units."""
ROOM = 16.0
"""Width from which on a part's letter stands inside it."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of every bar."""

    letter: str
    name: str
    pattern: str
    """One of `PATTERNS`."""


@dataclass(frozen=True, slots=True)
class StackedBar:
    """A bar: its parts' counts, in the order of the parts."""

    group: str
    """Bars of one group stand together under its name."""
    name: str
    counts: tuple[int, ...]
    words: str
    """The bar in words, for those who do not see the plot."""


PATTERNS = {
    "solid": (),
    "pale": (),
    "empty": (),
    "rising": ("M-2,2 l4,-4 M0,8 l8,-8 M6,10 l4,-4",),
    "falling": ("M-2,6 l4,4 M0,0 l8,8 M6,-2 l4,4",),
    "upright": ("M2,0 v8 M6,0 v8",),
    "level": ("M0,2 h8 M0,6 h8",),
    "grid": ("M0,4 h8 M4,0 v8",),
    "crossed": ("M0,8 l8,-8 M0,0 l8,8",),
    "dotted": ("M1,2 h2 M5,6 h2",),
}
"""Strokes of each pattern in a tile of 8 by 8. ``solid``, ``pale``, ``empty`` are plain fills."""

_PLAIN = {"solid": 0.72, "pale": 0.22, "empty": 0.0}


@dataclass(frozen=True, slots=True)
class StackedBars:
    """A plot of bars, each as long as the other: shares of its own whole."""

    title: str
    parts: tuple[Part, ...]
    bars: tuple[StackedBar, ...]

    def draw(self, ident: str) -> Markup:
        """The plot with its legend.

        Args:
            ident: unique in the page; patterns are named after it.
        """
        used = [at for at in range(len(self.parts)) if any(bar.counts[at] for bar in self.bars)]
        marks = [_pattern(ident, self.parts[at].pattern) for at in used]
        drawn: list[Markup] = [plots.element("defs", Markup("").join(filter(None, marks)))]
        y = 4.0
        for at in used:
            drawn += _legend(ident, self.parts[at], y)
            y += 18
        group = None
        for bar in self.bars:
            if bar.group != group:
                y += 22
                name = plots.short_label(bar.group, 60)
                drawn.append(plots.element("text", name, class_="value", x=LEFT - 4, y=y))
                group = bar.group
            y += 18
            name = plots.short_label(bar.name, 60)
            drawn.append(plots.element("text", name, x=LEFT, y=y))
            y += 6
            drawn += _bar(ident, self.parts, bar, y)
            y += BAR
        told = "; ".join(f"{bar.group}, {bar.name}: {bar.words}" for bar in self.bars)
        return plots.figure(ident, self.title, f"{told}.", y + 26, [*drawn, *_scale(y + 4)])


def _fill(ident: str, pattern: str) -> tuple[str, str]:
    """What a box is filled with, and how densely."""
    if pattern in _PLAIN:
        return "currentColor", f"{_PLAIN[pattern]}"
    return f"url(#{ident}-{pattern})", "1"


def _pattern(ident: str, pattern: str) -> Markup | None:
    if pattern in _PLAIN:
        return None
    strokes = Markup("").join(
        plots.element("path", d=path, fill="none", stroke="currentColor", stroke_width="1.2")
        for path in PATTERNS[pattern]
    )
    return plots.element(
        "pattern", strokes, id=f"{ident}-{pattern}", patternUnits="userSpaceOnUse",
        width="8", height="8",
    )  # fmt: skip


def _box(ident: str, pattern: str, x: float, y: float, width: float, height: float) -> Markup:
    fill, opacity = _fill(ident, pattern)
    return plots.element(
        "rect", x=x, y=y, width=width, height=height, stroke="currentColor", stroke_width="0.8",
        fill=fill, fill_opacity=opacity,
    )  # fmt: skip


def _legend(ident: str, part: Part, y: float) -> list[Markup]:
    words = f"{part.letter}  {part.name}"
    return [
        _box(ident, part.pattern, LEFT, y, 22.0, 12.0),
        plots.element("text", words, x=LEFT + 30, y=y + 10),
    ]


def _bar(ident: str, parts: Sequence[Part], bar: StackedBar, y: float) -> list[Markup]:
    whole = sum(bar.counts)
    found: list[Markup] = []
    x, length = LEFT, plots.WIDTH - LEFT - RIGHT
    for part, count in zip(parts, bar.counts, strict=True):
        width = length * count / whole if whole else 0.0
        if count:
            found.append(_box(ident, part.pattern, x, y, width, BAR))
        if count and width >= ROOM:
            # The page draws text of this class on a ground of its own, so no pattern hides it.
            letter = plots.element(
                "text", part.letter, class_="value", x=x + width / 2, y=y + 14,
                text_anchor="middle",
            )  # fmt: skip
            found.append(letter)
        x += width
    counted = plots.element("text", f"n = {whole}", class_="small", x=LEFT + length + 8, y=y + 14)
    return [*found, counted]


def _scale(y: float) -> list[Markup]:
    length = plots.WIDTH - LEFT - RIGHT
    return [
        plots.element(
            "text", f"{tick}\u00a0%", x=LEFT + length * tick / 100, y=y + 14, text_anchor="middle"
        )
        for tick in (0, 25, 50, 75, 100)
    ]
