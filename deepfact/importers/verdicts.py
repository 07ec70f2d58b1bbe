"""Verdicts of any system: JSON Lines or CSV of claim id, label and optional rationale.

Nothing is dropped silently: rows about unknown claims, repeated rows and rows without a label
are kept track of. A claim that is answered twice with different labels has no verdict.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from deepfact.core.labels import DATA_SETS, lookup
from deepfact.errors import InputError, did_you_mean
from deepfact.importers.rows import BadRow, Row, csv_rows, json_rows
from deepfact.records import (
    Claim,
    FailureReason,
    Label,
    Outcome,
    Verdict,
    VerificationFailure,
    canonical_json,
)
from deepfact.store.files import parse_record

_OUTCOME: TypeAdapter[Outcome] = TypeAdapter(Outcome)
_ID_COLUMNS = ("claim_id", "id")


@dataclass(slots=True)
class ReadVerdicts:
    """What a file of verdicts holds, measured against the claims that it should answer."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    """Claims without a row."""
    extra: list[str] = field(default_factory=list)
    """Ids that are no claim of the benchmark; not scored."""
    duplicate: list[str] = field(default_factory=list)
    """Claims with more than one row. Equal labels count once."""
    conflicting: list[str] = field(default_factory=list)
    """Those of the duplicates whose labels differ; they have no verdict."""


def read_verdicts(
    path: Path, claims: list[Claim], *, labels: str = "deepfact", encoding: str = "utf-8"
) -> ReadVerdicts:
    """The verdicts of a file, by claim id.

    Args:
        path: ``.csv``, else JSON Lines. Columns ``claim_id`` (or ``id``), ``label`` (empty: no
            verdict), ``rationale``; or deepfact's own outcomes.
        claims: what should be answered.
        labels: whose label words they are, see `deepfact.core.labels.DATA_SETS`.
        encoding: of the file.

    Raises:
        InputError: unreadable, no id column, or an unknown label.
    """
    if labels not in DATA_SETS:
        raise InputError(f"no label table {labels!r}", fix=did_you_mean(labels, DATA_SETS))
    read = csv_rows if path.suffix.lower() == ".csv" else json_rows
    known = {claim.id for claim in claims}
    found = ReadVerdicts()
    for row in read(path, encoding=encoding):
        if isinstance(row, BadRow):
            raise row.error
        claim_id, outcome = _outcome(row, labels)
        earlier = found.outcomes.get(claim_id)
        if claim_id not in known:
            found.extra.append(claim_id)
        elif earlier is None:
            found.outcomes[claim_id] = outcome
        else:
            found.duplicate.append(claim_id)
            if _label(earlier) != _label(outcome):
                found.conflicting.append(claim_id)
    for ids in (found.extra, found.duplicate, found.conflicting):
        ids[:] = dict.fromkeys(ids)  # each once, however many rows it has
    for claim_id in found.conflicting:
        found.outcomes[claim_id] = VerificationFailure(
            claim_id=claim_id,
            reason=FailureReason.SELF_CONTRADICTION,
            detail="answered more than once, with different labels",
        )
    found.missing = [claim.id for claim in claims if claim.id not in found.outcomes]
    return found


def _outcome(row: Row, labels: str) -> tuple[str, Outcome]:
    """Claim id and outcome of a row."""
    data = row.cells
    if data.get("kind") in ("verdict", "failure"):
        outcome = parse_record(canonical_json(data), _OUTCOME, where=row.where)
        return outcome.claim_id, outcome
    column = next((name for name in _ID_COLUMNS if name in data), "")
    if not column or "label" not in data:
        raise InputError(
            f"the columns claim_id and label are needed; there are: {', '.join(data)}",
            where=row.where,
        )
    claim_id = "" if data[column] is None else str(data[column])
    published = str(data["label"] or "").strip()
    rationale = str(data.get("rationale") or "")
    try:
        if not published:
            return claim_id, VerificationFailure(
                claim_id=claim_id, reason=FailureReason.NO_ANSWER, detail=rationale or "no label"
            )
        label = lookup(
            DATA_SETS[labels], published, where=row.where, fix="or name another --labels"
        )
        return claim_id, Verdict(claim_id=claim_id, label=label, rationale=rationale)
    except ValueError as error:
        raise InputError(f"no claim id: {claim_id!r}", where=row.where) from error


def _label(outcome: Outcome) -> Label | None:
    return outcome.label if isinstance(outcome, Verdict) else None
