"""Writes what the gate decided beside the ledger, and into it. Decides nothing."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from deepfact.records import sha256_of
from deepfact.reports.research_report import render_html, render_junit, render_markdown
from deepfact.research_records import ResearchReport
from deepfact.store.files import write_text
from deepfact.store.ledger import LedgerStore, read_lines
from deepfact.store.ledger_records import Reported, SkepticPassed

WHO = "deepfact research"


def write_report_files(report: ResearchReport, folder: Path) -> None:
    """``report.json``, ``report.md``, ``report.html`` and ``junit.xml`` in a folder."""
    write_text(folder / "report.json", report.model_dump_json(indent=1) + "\n")
    write_text(folder / "report.md", render_markdown(report))
    write_text(folder / "report.html", render_html(report))
    write_text(folder / "junit.xml", render_junit(report))


def record_report(store: LedgerStore, report: ResearchReport, when: datetime) -> None:
    """Write the report of a run and note it in the ledger, once for each state of it."""
    write_report_files(report, store.folder)
    noted = Reported(
        ledger=report.ledger_hash,
        status=report.status,
        markdown=sha256_of(render_markdown(report)),
    )
    record_skeptic(store, report, when)
    if noted not in [line.entry for line in read_lines(store.folder)]:
        store.add([noted], who=WHO, when=when)


def record_skeptic(store: LedgerStore, report: ResearchReport, when: datetime) -> None:
    """Note what the skeptic found in the ledger, once for each state of it."""
    passed = SkepticPassed(ledger=report.ledger_hash, result=report.skeptic)
    if passed not in [line.entry for line in read_lines(store.folder)]:
        store.add([passed], who=WHO, when=when)
