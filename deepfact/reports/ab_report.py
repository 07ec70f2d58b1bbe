"""The report of an A/B run, as one HTML page and as Markdown.

Both are made of the same view and the same record and ask nothing of the network. Only the
latencies are not in the record: they come from the journal, and differ from run to run.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Mapping, Sequence

from deepfact.core.compare import ALL, fewest_significant
from deepfact.experiment_records import AbRecord, Comparison
from deepfact.records import Label, Source, canonical_json, sha256_of
from deepfact.reports import plots, templating
from deepfact.reports.ab_view import AbView
from deepfact.reports.round_report import without_secrets
from deepfact.reports.view import NO_REASON
from deepfact.store.files import write_text

Seconds = Mapping[str, Sequence[float]]


def write_ab_reports(
    record: AbRecord, folder: Path, sources: Mapping[str, Source], seconds: Seconds
) -> None:
    """``report.html`` and ``report.md`` of an A/B run, in its folder."""
    write_text(folder / "report.html", render_ab_html(record, sources, seconds))
    write_text(folder / "report.md", render_ab_markdown(record, sources, seconds))


def render_ab_html(record: AbRecord, sources: Mapping[str, Source], seconds: Seconds) -> str:
    """The report as one HTML page that needs nothing beside it.

    Args:
        record: the run.
        sources: by id; only those that are quoted are read.
        seconds: of each arm's live calls.
    """
    view = AbView(record, sources, seconds)
    template = templating.html_environment().get_template("ab.html.j2")
    return template.render(**_words(view), dots=_dots)


def render_ab_markdown(record: AbRecord, sources: Mapping[str, Source], seconds: Seconds) -> str:
    """The report as Markdown; arguments as `render_ab_html`."""
    view = AbView(record, sources, seconds)
    text = templating.markdown_environment().get_template("ab.md.j2").render(**_words(view))
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def points(share: float) -> str:
    """A difference of shares in percentage points: ``+42.1``."""
    return f"{100 * share:+.1f}".replace("-", "−")


def p_words(p: float) -> str:
    """A p-value as it is shown."""
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"


def usd(value: float | None) -> str:
    """What something cost."""
    return "unknown price" if value is None else f"${value:.4f}"


def headline(view: AbView, comparison: Comparison) -> str:
    """What a comparison comes to, in one sentence without judgement."""
    found = view.whole(comparison)
    gained, lost = found.only_other, found.only_first
    return (
        f"{comparison.other} confirms {found.both + gained} of {found.n} claims, "
        f"{comparison.first} {found.both + lost} of {found.n}: {gained} gained, {lost} lost."
    )


def _words(view: AbView) -> dict[str, Any]:
    record = view.record
    return {
        "view": view,
        "record": record,
        "all": ALL,
        "contradictory": str(Label.CONTRADICTORY),
        "no_reason": NO_REASON,
        "points": points,
        "p_words": p_words,
        "usd": usd,
        "headline": headline,
        "fewest": fewest_significant(),
        "spec_hash": sha256_of(record.spec.canonical()),
        "spec_json": canonical_json(without_secrets(record.spec.model_dump(mode="json"))),
    }


def _dots(ident: str, view: AbView) -> Any:
    """The dot plot of the confirmed rates, by group."""
    marks = [
        plots.Point(group, arm.arm, rates.confirmed)
        for group in view.groups
        for arm in view.record.arms
        if (rates := view.rates(arm, group)) is not None
    ]
    return plots.dots(ident, "Confirmed claims by arm", marks)
