"""How pages are rendered: the templates of this package, with the escaping of reports.

The environment is that of `deepfact.reports.templating`: every value passes through its
`html_escape`, which makes hidden characters visible, and no data is compiled as a template.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse

from deepfact.core.transfer import ANSWERS, NO_KIND, QUESTION
from deepfact.records import Adjudication, Decision
from deepfact.reports import templating
from deepfact.review import Desk

HERE = Path(__file__).parent

STATIC = {
    "report.css": (templating.TEMPLATES / "report.css", "text/css"),
    "audit.css": (HERE / "static" / "audit.css", "text/css"),
    "audit.js": (HERE / "static" / "audit.js", "text/javascript"),
    "reading.js": (HERE / "static" / "reading.js", "text/javascript"),
    "icon.svg": (HERE / "static" / "icon.svg", "image/svg+xml"),
}
"""The only files that are served, by name."""

WORDS = {
    Decision.A: "A is stronger",
    Decision.B: "B is stronger",
    Decision.NEITHER: "Neither",
    Decision.CANNOT_TELL: "Cannot tell",
}

LABELS = {
    "supported": "the sources back all of the claim",
    "contradictory": "a source disputes a part of it",
    "inconclusive": "the sources do not settle it",
}


@dataclass(frozen=True, slots=True)
class Pace:
    """How far an auditor is, and how fast."""

    done: int
    total: int
    median: float | None
    """Seconds a case, of those cases whose time is known; None below three."""

    @property
    def share(self) -> int:
        """Per cent done, rounded down."""
        return 100 * self.done // self.total if self.total else 100

    @property
    def left(self) -> str:
        """How long the rest may take, in words; empty when that is not known."""
        if self.median is None or self.done == self.total:
            return ""
        return duration(self.median * (self.total - self.done))


def pace(desk: Desk) -> Pace:
    """The pace of an auditor at their desk."""
    times = [made.seconds for made in desk.made.values() if made.seconds is not None]
    median = statistics.median(times) if len(times) >= 3 else None
    return Pace(desk.decided, len(desk.cases), median)


def duration(seconds: float) -> str:
    """A time in words: ``40 s``, ``5 min``, ``1 h 20 min``."""
    if seconds < 60:
        return f"{max(1, round(seconds))}\u00a0s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes}\u00a0min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}\u00a0h" + (f" {minutes}\u00a0min" if minutes else "")


def decision_words(made: Adjudication) -> str:
    """A decision in words, such as ``Neither: inconclusive``."""
    words = WORDS[made.decision]
    return f"{words}: {made.label}" if made.label else words


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The templates of this package, and those of reports that they use."""
    reports = templating.html_environment()
    loader = ChoiceLoader(
        [FileSystemLoader(HERE / "templates", encoding="utf-8"), reports.loader or ChoiceLoader([])]
    )
    return reports.overlay(loader=loader)


def page(name: str, *, status: int = 200, **shown: Any) -> HTMLResponse:
    """A page from its template.

    Args:
        name: of the template, without its ending.
        status: HTTP status.
        shown: what the template is given.
    """
    given = {
        "decision_words": decision_words,
        "duration": duration,
        "typed": typed,
        "words": WORDS,
        "labels": LABELS,
        "kinds": ANSWERS,
        "no_kind": NO_KIND,
        "kind_question": QUESTION,
        **shown,
    }
    text = environment().get_template(f"{name}.html.j2").render(given)
    return HTMLResponse(text.encode("utf-8", "replace"), status)


def typed(text: str) -> Markup:
    """What somebody typed, to go back into its field exactly as it was: escaped, and with hidden
    characters left as they are, since what the field holds is sent again."""
    return escape(text)


def first_words(text: str, most: int = 140) -> str:
    """The beginning of a text for a list, cut at a space."""
    if len(text) <= most:
        return text
    return text[:most].rsplit(" ", 1)[0] + " …"


def by_case(desk: Desk) -> Sequence[tuple[str, str, Adjudication | None]]:
    """Case id, first words of its claim and standing decision, in the order of the docket."""
    return [(case.id, first_words(case.claim.text), desk.made.get(case.id)) for case in desk.cases]
