"""What ``deepfact bench import`` does once its arguments are read: rows in, a version out.

Writes nothing before every row has been read and checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from deepfact.core.state import EMPTY, State
from deepfact.errors import BenchmarkError
from deepfact.importers import importer
from deepfact.importers.base import Imported, SkippedRow
from deepfact.records import Revision, RevisionKind
from deepfact.store.annotators import NAME as ANNOTATORS
from deepfact.store.annotators import add_annotators
from deepfact.store.benchmark import BenchmarkStore, check_name


@dataclass
class ImportSummary:
    """What an import did, or would do."""

    benchmark: str
    version: int | None
    """None for a dry run, and when there was nothing new."""
    added: int
    present: int
    """Claims that are there already, word for word."""
    sources: int
    labels: dict[str, int]
    skipped: list[SkippedRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    dry_run: bool = False
    annotations: int = 0
    """Labels of other annotators that were kept, and were not there before."""

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        skipped = [{"where": row.where, "why": row.why} for row in self.skipped]
        return {**self.__dict__, "skipped": skipped}

    def words(self) -> str:
        """For people: one paragraph."""
        labels = ", ".join(f"{count} {label}" for label, count in self.labels.items() if count)
        what = (
            f"{self.added} claims ({labels}), {self.sources} sources, "
            f"{len(self.skipped)} rows skipped, {self.present} claims there already"
        )
        if self.annotations:
            what += f", {self.annotations} labels of other annotators kept in {ANNOTATORS}"
        if self.dry_run:
            return f"dry run, nothing written: {self.benchmark} would get {what}"
        if self.version is None:
            return f"nothing new for {self.benchmark}: {what}"
        return f"made {self.benchmark}@{self.version}: {what}"


def import_data_set(
    format: str,
    path: Path,
    *,
    folder: Path,
    options: Mapping[str, Any],
    author: str,
    date: datetime,
    dry_run: bool,
) -> ImportSummary:
    """Read a data set and commit it as a version of the benchmark in ``folder``.

    Raises:
        InputError: anything is wrong with the data set or the benchmark; nothing was written.
    """
    check_name(folder.name)
    imported = importer(format)(path, when=date, **options)
    exists = (folder / "versions").is_dir()
    if not exists and folder.exists() and any(folder.iterdir()):
        raise BenchmarkError("this folder exists and holds no benchmark", where=str(folder))
    store = BenchmarkStore(folder) if exists else None
    numbers = store.versions() if store else []
    head = store.load(numbers[-1]) if store and numbers else None
    revisions, present = _additions(imported, head.state if head else EMPTY, author, date, path)
    if not imported.claims:
        raise BenchmarkError("there is not one claim in it", where=str(path))
    summary = ImportSummary(
        benchmark=folder.name,
        version=None,
        added=len(revisions),
        present=present,
        sources=len(imported.sources),
        labels=_labels(revisions),
        skipped=imported.skipped,
        notes=imported.notes,
        dry_run=dry_run,
    )
    if dry_run:
        return summary
    if not revisions:
        summary.annotations = _keep_annotators(folder, format, imported, author)
        return summary
    store = store or BenchmarkStore.create(folder, card=_card(folder.name, format, imported))
    made = store.commit(
        revisions,
        parent=numbers[-1] if numbers else None,
        author=author,
        date=date,
        note=f"Imported from {format}: {len(revisions)} claims",
        sources=imported.sources,
    )
    summary.version = made.manifest.version
    summary.annotations = _keep_annotators(folder, format, imported, author)
    return summary


def _keep_annotators(folder: Path, format: str, imported: Imported, author: str) -> int:
    """Keep other annotators' labels; an import that was killed before this is simply repeated."""
    why = f"other annotators' labels, imported from {format}"
    return add_annotators(folder, imported.further, who=author, why=why)


def _additions(
    imported: Imported, state: State, author: str, date: datetime, path: Path
) -> tuple[list[Revision], int]:
    """An ``add`` for each claim that is new; and how many are there already."""
    revisions, present = [], 0
    for claim, annotation in imported.claims:
        there = state.entries.get(claim.id)
        if there is not None and there.claim == claim:
            present += 1
            continue
        if there is not None:
            raise BenchmarkError(
                f"duplicate claim id {claim.id!r}: the benchmark has another claim of that id",
                where=str(path),
                fix="give the new claim another id, or revise the old one",
            )
        revisions.append(
            Revision(
                kind=RevisionKind.ADD,
                claim_id=claim.id,
                who=author,
                when=date,
                why=f"imported from {path.name}",
                claim=claim,
                annotation=annotation,
            )
        )
    return revisions, present


def _labels(revisions: list[Revision]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for revision in revisions:
        label = str(revision.annotation.label) if revision.annotation else "unlabelled"
        counts[label] = counts.get(label, 0) + 1
    return counts


def _card(name: str, format: str, imported: Imported) -> str:
    notes = "".join(f"- {text}\n" for text in imported.notes) or "- none\n"
    origin = f"From: {imported.origin}\n\n" if imported.origin else ""
    licence = imported.licence or "That of the data set it was imported from."
    return (
        f"# {name}\n\nImported with `deepfact bench import {format}`.\n\n{origin}"
        f"## Notes of the import\n\n{notes}\n"
        f"## Licence\n\n{licence}\n"
    )
