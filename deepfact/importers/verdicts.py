"""Verdicts of any system: JSON Lines or CSV of claim id, label and optional rationale.

Nothing is dropped silently: rows about unknown claims, repeated rows and rows without a label
are kept track of. A claim that is answered twice with different labels has no verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter

from deepfact.core.labels import DATA_SETS, lookup
from deepfact.errors import InputError, did_you_mean
from deepfact.importers.outcome_columns import claim_labels
from deepfact.importers.rows import BadRow, Row, csv_rows, empty_file, json_row, json_rows
from deepfact.records import (
    Claim,
    FailureReason,
    Label,
    Outcome,
    Verdict,
    VerificationFailure,
    canonical_json,
)
from deepfact.store.files import decode, parse_record, read_blocks

_OUTCOME: TypeAdapter[Outcome] = TypeAdapter(Outcome)
_ID_COLUMNS = ("claim_id", "id")
T = TypeVar("T")


@dataclass(slots=True)
class Tally:
    """How a file of verdicts fits the claims that it should answer."""

    missing: list[str] = field(default_factory=list)
    """Claims without a row."""
    extra: list[str] = field(default_factory=list)
    """Ids that are no claim of the benchmark; not scored."""
    duplicate: list[str] = field(default_factory=list)
    """Claims with more than one row. Equal labels count once."""
    conflicting: list[str] = field(default_factory=list)
    """Those of the duplicates whose labels differ; they have no verdict."""

    def finish(self, claims: Sequence[str], found: Container[str]) -> None:
        """Name the claims that were not found, and each other id once, however many rows it has."""
        for ids in (self.extra, self.duplicate, self.conflicting):
            ids[:] = dict.fromkeys(ids)
        self.missing = [claim_id for claim_id in claims if claim_id not in found]


@dataclass(slots=True)
class ReadVerdicts(Tally):
    """What a file of verdicts holds, measured against the claims that it should answer."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)


@dataclass(slots=True)
class ReadAnswers(Tally):
    """As `ReadVerdicts`, but of labels alone: what a million verdicts leave in memory."""

    answers: dict[str, Label | None] = field(default_factory=dict)
    """None where there is no verdict."""


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
    found = ReadVerdicts()
    rows = _rows(path, labels, encoding)
    ids = [claim.id for claim in claims]
    _gather(rows, set(ids), found.outcomes, found, _label)
    found.finish(ids, found.outcomes)
    for claim_id in found.conflicting:
        found.outcomes[claim_id] = VerificationFailure(
            claim_id=claim_id,
            reason=FailureReason.SELF_CONTRADICTION,
            detail="answered more than once, with different labels",
        )
    return found


def read_answers(
    path: Path, claims: Sequence[str], *, labels: str = "deepfact", encoding: str = "utf-8"
) -> ReadAnswers:
    """The labels of a file of verdicts, by claim id: read and checked as by `read_verdicts`, with
    the same errors, line by line.

    Args:
        path: as for `read_verdicts`.
        claims: ids of what should be answered.
        labels, encoding: as for `read_verdicts`.
    """
    found = ReadAnswers()
    known = set(claims)
    if path.suffix.lower() == ".csv" or encoding.lower().replace("_", "-") != "utf-8":
        rows = ((claim_id, _label(outcome)) for claim_id, outcome in _rows(path, labels, encoding))
        _gather(rows, known, found.answers, found, lambda label: label)
    else:
        for ids, given in _label_blocks(path, labels):
            new = dict(zip(ids, given, strict=True))
            if (
                len(new) == len(ids)
                and new.keys() <= known
                and new.keys().isdisjoint(found.answers.keys())
            ):
                found.answers |= new  # each of them once, as nearly always
            else:
                _gather(
                    zip(ids, given, strict=True), known, found.answers, found, lambda label: label
                )
    found.finish(claims, found.answers)
    found.answers |= dict.fromkeys(found.conflicting)
    return found


def _gather(
    rows: Iterable[tuple[str, T]],
    known: Set[str],
    found: dict[str, T],
    tally: Tally,
    label_of: Callable[[T], Label | None],
) -> None:
    """Put each known claim's first row into ``found``, and keep track of all others."""
    for claim_id, given in rows:
        if claim_id not in known:
            tally.extra.append(claim_id)
        elif claim_id not in found:
            found[claim_id] = given
        else:
            tally.duplicate.append(claim_id)
            if label_of(found[claim_id]) != label_of(given):
                tally.conflicting.append(claim_id)


def _rows(path: Path, labels: str, encoding: str) -> Iterator[tuple[str, Outcome]]:
    """Claim id and outcome of each row of a file."""
    _check_table(labels)
    read = csv_rows if path.suffix.lower() == ".csv" else json_rows
    for row in read(path, encoding=encoding):
        if isinstance(row, BadRow):
            raise row.error
        yield _outcome(row, labels)


def _label_blocks(path: Path, labels: str) -> Iterator[tuple[list[str], list[Label | None]]]:
    """Claim ids and labels of JSON Lines in UTF-8, many lines at a time. Blocks of deepfact's own
    outcomes are read in bulk; any other, and whatever is wrong with one, line by line."""
    _check_table(labels)
    empty = True
    for first, block in read_blocks(path):
        found = claim_labels(block)
        if found is None:
            lines = list(_lines(path, first, block, labels))
            found = [claim_id for claim_id, _ in lines], [label for _, label in lines]
        empty = empty and not found[0]
        yield found
    if empty:
        raise empty_file(path)


def _lines(path: Path, first: int, block: bytes, labels: str) -> Iterator[tuple[str, Label | None]]:
    """Claim id and label of each line of a block, whose first line has the number ``first``."""
    for number, line in enumerate(block.split(b"\n"), first):
        where = f"{path}, line {number}"
        text = decode(line, where=where)
        if text.strip():
            claim_id, outcome = _outcome(json_row(text.rstrip("\r"), where), labels)
            yield claim_id, _label(outcome)


def _check_table(labels: str) -> None:
    if labels not in DATA_SETS:
        raise InputError(f"no label table {labels!r}", fix=did_you_mean(labels, DATA_SETS))


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
