"""What ``deepfact report import`` does once its arguments are read: files in, records out.

Each file is read on its own: what is wrong with one is told, and the others are imported. Writes
only what was read and checked whole.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

from deepfact.documents.build import build_record
from deepfact.documents.drafts import Report
from deepfact.documents.files import Bounds, form_of, read_report
from deepfact.documents.records import ReportRecord
from deepfact.documents.report_json import read_json_reports, report_id
from deepfact.errors import InputError
from deepfact.importers.report import SUFFIX
from deepfact.store.files import read_record, write_many

JSON_FORMS = ("json", "jsonl")


@dataclass(slots=True)
class ImportedReport:
    """A report that was imported."""

    file: Path
    record: ReportRecord
    seconds: float
    """Time that it took, reading included."""
    annotated: bool = False
    """The file has people's or an agent's verdicts on its sentences."""


@dataclass(slots=True)
class FailedFile:
    """A file, or a report in one, that was not imported, and why."""

    file: Path
    error: InputError


@dataclass(slots=True)
class Outcome:
    """What came of all files."""

    done: list[ImportedReport] = field(default_factory=list)
    failed: list[FailedFile] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0 all imported, 1 some of them, 2 none."""
        if not self.failed:
            return 0
        return 1 if self.done else 2


def import_files(
    files: Sequence[Path],
    bounds: Bounds,
    *,
    question: str = "",
    told: Callable[[Path], None] = lambda _: None,
) -> Outcome:
    """Read every file.

    Args:
        files: Markdown, HTML, text, PDF, DOCX, JSON.
        bounds: size, time, and what the user says the files are.
        question: what the reports answer, where a file does not say it.
        told: called with each file before it is read.
    """
    out = Outcome()
    used: set[str] = set()
    named = set(files)
    for file in files:
        if file.suffix == ".json" and file.with_name(f"{file.stem}_reports.json") in named:
            continue  # its sentences are read with their reports
        told(file)
        began = time.perf_counter()
        try:
            for made in _reports(file, bounds):
                if isinstance(made, InputError):
                    out.failed.append(FailedFile(file, made))
                    continue
                if len(made.text) > bounds.characters:
                    out.failed.append(FailedFile(file, _too_long(made, bounds)))
                    continue
                report = _named(made, used, question)
                record = build_record(report)
                seconds = time.perf_counter() - began
                annotated = any(given.annotated for given in report.given)
                out.done.append(ImportedReport(file, record, seconds, annotated))
                began = time.perf_counter()
        except InputError as error:
            out.failed.append(FailedFile(file, error))
    return out


def _reports(file: Path, bounds: Bounds) -> Iterator[Report | InputError]:
    if form_of(file, bounds) in JSON_FORMS:
        yield from read_json_reports(file, bounds)
    else:
        yield read_report(file, bounds, id=report_id(file.stem))


def _too_long(report: Report, bounds: Bounds) -> InputError:
    length = len(report.text)
    return InputError(
        f"the text has {length:,} characters, more than {bounds.characters:,}",
        where=report.original.name,
        fix=f"if it is a report after all: --max-chars {length}",
    )


def _named(report: Report, used: set[str], question: str) -> Report:
    """The report under an id that no other of this import has."""
    from dataclasses import replace

    name, number = report.id, 2
    while name in used:
        name, number = f"{report.id}-{number}", number + 1
    used.add(name)
    return replace(report, id=name, question=report.question or question)


def write_records(records: Sequence[ReportRecord], folder: Path, *, replace: bool) -> list[Path]:
    """Write the records, each to a file of its own, all or none.

    Raises:
        InputError: another record is there under the id of one of them, and not ``replace``.
    """
    paths = [folder / f"{record.id}{SUFFIX}" for record in records]
    if not replace:
        for path, record in zip(paths, records, strict=True):
            if path.is_file() and read_record(path, ReportRecord) != record:
                raise InputError(
                    "another record of this report is there",
                    where=str(path),
                    fix="write to another folder with --out, or put it in its place: --replace",
                )
    write_many(
        (path, f"{record.canonical()}\n".encode())
        for path, record in zip(paths, records, strict=True)
    )
    return paths


def summary_of(one: ImportedReport) -> dict[str, Any]:
    """What is printed of a report."""
    record = one.record
    need = [marker for marker in record.markers if not marker.kind.carries_target]
    unresolved = [marker for marker in record.markers if marker.unresolved]
    resolved = len(need) - len(unresolved)
    return {
        "id": record.id,
        "file": str(one.file),
        "format": record.original.format,
        "characters": len(record.text),
        "segments": len(record.segments),
        "sentences": len(record.sentences),
        "verifiable": sum(sentence.verifiable for sentence in record.sentences),
        "references": sum(reference.listed for reference in record.references),
        "markers": len(need),
        "resolved": resolved,
        "share_resolved": round(resolved / len(need), 4) if need else None,
        "links": len(record.markers) - len(need),
        "unresolved": [
            {
                "text": marker.text,
                "line": record.text.count("\n", 0, marker.span.start) + 1,
                "start": marker.span.start,
                "why": marker.unresolved,
            }
            for marker in unresolved
        ],
        "notes": list(record.notes),
        "seconds": round(one.seconds, 3),
    }
