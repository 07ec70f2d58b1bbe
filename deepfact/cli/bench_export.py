"""What ``deepfact bench export`` writes: claims and sources in the columns that import reads."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from deepfact.core.state import Entry
from deepfact.errors import InputError
from deepfact.records import canonical_json
from deepfact.store.benchmark import BenchmarkVersion
from deepfact.store.files import writing

CLAIM_COLUMNS = (
    "id", "text", "label", "rationale", "context", "report", "sentence", "domain", "subject",
    "predicate", "object", "kind", "cites",
)  # fmt: skip
SOURCE_COLUMNS = ("id", "title", "url", "role", "trust", "published", "text")


def export_version(
    version: BenchmarkVersion, to: Path, sources: Path | None, *, force: bool
) -> str:
    """Write the claims, and the sources when asked for; says what was written.

    Raises:
        InputError: a file exists, or its ending is neither .jsonl nor .csv.
    """
    for path in filter(None, (to, sources)):
        if path.suffix not in (".jsonl", ".csv"):
            raise InputError(
                f"cannot tell the format from {path.suffix!r}", where=str(path),
                fix="end the file's name in .jsonl or .csv",
            )  # fmt: skip
        if path.exists() and not force:
            raise InputError("this file exists", where=str(path), fix="overwrite it with --force")
    written = _write(
        to,
        CLAIM_COLUMNS,
        (_claim_row(entry) for entry in version.state if not entry.claim.private),
    )
    said = f"wrote {written} claims of {version} to {to}"
    if private := version.manifest.counts.claims - written:
        said += f"; {private} private ones left out"
    if sources:
        cards = (card for card in version.sources.values() if card.role != "generated")
        rows = (card.model_dump(mode="json", include=set(SOURCE_COLUMNS)) for card in cards)
        said += f"; {_write(sources, SOURCE_COLUMNS, rows)} sources to {sources}"
    return said


def _claim_row(entry: Entry) -> dict[str, Any]:
    claim, annotation = entry.claim, entry.annotation
    origin = claim.origin
    return {
        "id": claim.id,
        "text": claim.text,
        "label": str(annotation.label) if annotation else "",
        "rationale": annotation.rationale if annotation else "",
        "context": claim.context,
        "report": origin.report if origin else "",
        "sentence": origin.sentence if origin and origin.sentence is not None else "",
        "domain": claim.domain,
        "subject": claim.subject,
        "predicate": claim.predicate,
        "object": claim.object,
        "kind": claim.kind,
        "cites": list(claim.cites),
    }


def _write(path: Path, columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> int:
    """Write rows one by one; says how many there were."""
    line = io.StringIO(newline="")
    writer = csv.DictWriter(line, columns, lineterminator="\n")
    written = 0
    with writing(path) as (file, _):
        if path.suffix == ".csv":
            writer.writeheader()
        for row in rows:
            written += 1
            if path.suffix == ".jsonl":
                kept = {key: value for key, value in row.items() if value not in ("", [])}
                line.write(f"{canonical_json(kept)}\n")
            else:
                writer.writerow({**row, "cites": ";".join(row["cites"])} if "cites" in row else row)
            file.write(line.getvalue().encode("utf-8"))
            line.seek(0)
            line.truncate()
        file.write(line.getvalue().encode("utf-8"))  # a header that no row followed
    return written
