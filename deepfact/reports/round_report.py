"""The report of a run of rounds, as one HTML page and as Markdown.

Both are made of the same view and the same record, hold no clock and ask nothing of the
network: the same record gives the same bytes. What data says is text, whatever it looks like.
"""

from __future__ import annotations

import re
from typing import Any, Mapping

from deepfact.measure_records import AuditStats
from deepfact.records import Label, Source, canonical_json, sha256_of
from deepfact.reports import fitting, plots, templating
from deepfact.reports.audit_view import measured
from deepfact.reports.summary import SIMULATED
from deepfact.reports.view import NO_REASON, ReportView, RoundView, texts_of
from deepfact.run_records import RoundRecord, RunRecord, ScoreSheet

SHADES = 8
"""Steps of shading in a confusion matrix; the style sheet has a class for each."""

_SECRET_NAME = re.compile(
    r"(^|[_-])(api[_-]?key|key|token|secret|password|passwd|authorization|bearer)$", re.IGNORECASE
)
_SECRET_URL = re.compile(r"://[^/\s@]+@")


def render_html(
    record: RunRecord, sources: Mapping[str, Source], stats: AuditStats | None = None
) -> str:
    """The report as one HTML page that needs nothing beside it.

    Args:
        record: the run, complete or pending.
        sources: the benchmark's sources by id; only those that are quoted are read.
        stats: what its auditors did, from its journal, where that is known.
    """
    whole = _html(ReportView(record, sources, stats))
    if fitting.size(whole) <= fitting.BYTES:
        return whole
    # What everything but the texts takes is known from a page with little text.
    for bare, least in ((False, fitting.READABLE), (True, fitting.SHORTEST)):
        texts = list(texts_of(record, bare=bare))
        short = _html(ReportView(record, sources, stats, limit=least, bare=bare))
        room = fitting.BYTES - fitting.size(short) + fitting.taken(texts, least)
        limit = fitting.longest(texts, room)
        if limit >= least:
            break
    return _html(ReportView(record, sources, stats, limit=limit, bare=bare))


def _html(view: ReportView) -> str:
    template = templating.html_environment().get_template("round.html.j2")
    return template.render(
        **_words(view), dots=_dots, shade=shade, coefficients=_coefficients,
        evolution=lambda: _evolution(view.record),
    )  # fmt: skip


def render_markdown(
    record: RunRecord, sources: Mapping[str, Source], stats: AuditStats | None = None
) -> str:
    """The report as Markdown (GitHub's dialect, for its tables), with every text in full.

    Args:
        record: the run, complete or pending.
        sources: the benchmark's sources by id; only those that are quoted are read.
        stats: what its auditors did, from its journal, where that is known.
    """
    view = ReportView(record, sources, stats)
    environment = templating.markdown_environment()
    text = environment.get_template("round.md.j2").render(**_words(view))
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def shade(count: int, row: tuple[int, ...]) -> int:
    """How dark a cell of a confusion matrix is: 0 for nothing, `SHADES` for its whole row."""
    total = sum(row)
    return 0 if not count else max(1, round(SHADES * count / total))


def strata_of(sheets: Mapping[str, ScoreSheet]) -> list[str]:
    """The strata that any of a verifier's score sheets has, sorted."""
    return sorted({name for sheet in sheets.values() for name in sheet.strata})


def _words(view: ReportView) -> dict[str, Any]:
    """What both templates are given."""
    return {
        "view": view,
        "record": view.record,
        "labels": [str(label) for label in Label],
        "no_reason": NO_REASON,
        "strata_of": strata_of,
        "measured": measured(view.record.rounds),
        "simulated_words": SIMULATED,
        "spec_hash": sha256_of(view.record.spec.canonical()),
        "spec_json": canonical_json(without_secrets(view.record.spec.model_dump(mode="json"))),
        "auditors_json": canonical_json(
            without_secrets([auditor.model_dump(mode="json") for auditor in view.record.auditors])
        ),
    }


def _dots(ident: str, view: RoundView) -> Any:
    """The dot plot of one round's accuracies."""
    points = [
        plots.Point(verifier, key, sheets[key].accuracy)
        for verifier, sheets in view.scores.items()
        for key in view.keys
        if key in sheets
    ]
    return plots.dots(ident, f"Accuracy in round {view.record.round}", points)


def _evolution(record: RunRecord) -> Any:
    """The evolution curve: versions, and auditors in the rounds between them."""
    auditors = [
        (number, score.auditor, score.microgold) for number, score in measured(record.rounds)
    ]
    changed = [done.base.version != done.result.version for done in record.rounds]
    # A round that changed nothing has no version after it to be drawn before.
    shown = auditors if all(changed) else []
    return plots.evolution("plot-evolution", record.microgold, shown)


def _coefficients(ident: str, round_: RoundRecord) -> Any:
    """Krippendorff's alpha of each group of a round's cases."""
    groups = round_.agreement.groups if round_.agreement else ()
    title = f"Krippendorff's alpha in round {round_.round}"
    return plots.coefficients(ident, title, [(group.of, group.alpha) for group in groups])


def without_secrets(value: Any) -> Any:
    """A spec without what must not leave the machine: values whose name says that they are a
    key, token or password, and user names and passwords in URLs."""
    if isinstance(value, dict):
        return {
            name: "[not shown]"
            if isinstance(item, str) and _SECRET_NAME.search(name)
            else without_secrets(item)
            for name, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [without_secrets(item) for item in value]
    return _SECRET_URL.sub("://[not shown]@", value) if isinstance(value, str) else value
