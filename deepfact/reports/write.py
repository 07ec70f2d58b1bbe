"""Writes the reports of a run beside its record. Decides nothing about their content."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from deepfact.measure_records import AuditStats
from deepfact.records import Source
from deepfact.run_records import RunRecord
from deepfact.store.files import write_text


def write_reports(
    record: RunRecord,
    folder: Path,
    sources: Mapping[str, Source],
    stats: AuditStats | None = None,
) -> None:
    """``report.html`` and ``report.md`` of a run, in its folder."""
    from deepfact.reports.round_report import render_html, render_markdown

    write_text(folder / "report.html", render_html(record, sources, stats))
    write_text(folder / "report.md", render_markdown(record, sources, stats))
