"""Verdicts of any system: JSON Lines or CSV of claim id, label and optional rationale.

Nothing is dropped silently: rows about unknown claims, repeated rows and rows without a label
are kept track of. A claim that is answered twice with different labels has no verdict.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from pydantic import TypeAdapter

from deepfact.core.labels import DATA_SETS, lookup
from deepfact.errors import InputError, did_you_mean
from deepfact.importers.outcome_columns import Answers, answers_of
from deepfact.importers.rows import (
    BadRow,
    Row,
    block_lines,
    csv_rows,
    empty_file,
    json_row,
    json_rows,
)
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
AHEAD = 2
"""Blocks of lines that are read at the same time."""
_ID_COLUMNS = ("claim_id", "id")


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

    def again(self, claim_id: str, *, other: bool) -> None:
        """A claim has one more row, with an ``other`` label or the same."""
        self.duplicate.append(claim_id)
        if other:
            self.conflicting.append(claim_id)

    def name_each_once(self) -> None:
        """However many rows it has."""
        for ids in (self.extra, self.duplicate, self.conflicting):
            ids[:] = dict.fromkeys(ids)


@dataclass(slots=True)
class ReadVerdicts(Tally):
    """What a file of verdicts holds, measured against the claims that it should answer."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)


@dataclass(slots=True)
class ReadAnswers(Tally):
    """As `ReadVerdicts`, but of labels alone: what a million verdicts leave in memory."""

    answers: list[Label | None] = field(default_factory=list)
    """For each of the claims, in their order; None where there is no verdict."""
    scored: bool = False
    """Whether a row may have probabilities."""


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
    known = {claim.id for claim in claims}
    for claim_id, outcome in _rows(path, labels, encoding):
        if claim_id not in known:
            found.extra.append(claim_id)
        elif claim_id not in found.outcomes:
            found.outcomes[claim_id] = outcome
        else:
            found.again(claim_id, other=_label(found.outcomes[claim_id]) != _label(outcome))
    found.name_each_once()
    found.missing = [claim.id for claim in claims if claim.id not in found.outcomes]
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
    """The labels of a file of verdicts: read and checked as by `read_verdicts`, with the same
    errors, but many lines at a time where that is possible.

    Args:
        path: as for `read_verdicts`.
        claims: ids of what should be answered, each once.
        labels, encoding: as for `read_verdicts`.
    """
    if path.suffix.lower() == ".csv" or encoding.lower().replace("_", "-") != "utf-8":
        rows = [(claim_id, _label(outcome)) for claim_id, outcome in _rows(path, labels, encoding)]
        ids, given = [claim_id for claim_id, _ in rows], [label for _, label in rows]
        blocks = iter([Answers(ids, given, scored=True)])
    else:
        blocks = _blocks(path, labels)
    sorter = _Sorter(list(claims))
    scored = False
    for block in blocks:
        sorter.take(block.claim_ids, block.labels)
        scored = scored or block.scored
    found = sorter.finished()
    found.scored = scored
    return found


class _Sorter:
    """Puts answers beside the claims that they answer."""

    def __init__(self, claims: list[str]) -> None:
        self._claims = claims
        self._found = ReadAnswers(answers=[None] * len(claims))
        self._answered = bytearray(len(claims))
        self._next = 0
        """Where the next rows belong if they go on in the order of the claims."""

    def take(self, ids: list[str], given: list[Label | None]) -> None:
        """Rows: a claim id and an answer each."""
        here = slice(self._next, self._next + len(ids))
        if self._claims[here] == ids and not any(self._answered[here]):
            self._found.answers[here] = given
            self._answered[here] = b"\1" * len(ids)
            self._next = here.stop
            return
        for claim_id, label in zip(ids, given, strict=True):
            self._place(claim_id, label)

    def _place(self, claim_id: str, label: Label | None) -> None:
        found, place = self._found, self._places.get(claim_id)
        if place is None:
            found.extra.append(claim_id)
        elif self._answered[place]:
            found.again(claim_id, other=found.answers[place] != label)
        else:
            self._answered[place], found.answers[place] = 1, label
            self._next = place + 1

    @cached_property
    def _places(self) -> dict[str, int]:
        return {claim_id: place for place, claim_id in enumerate(self._claims)}

    def finished(self) -> ReadAnswers:
        """What was taken, when there is nothing more."""
        found = self._found
        found.name_each_once()
        for claim_id in found.conflicting:
            found.answers[self._places[claim_id]] = None
        if not all(self._answered):
            answered = zip(self._claims, self._answered, strict=True)
            found.missing = [claim_id for claim_id, is_answered in answered if not is_answered]
        return found


def _rows(path: Path, labels: str, encoding: str) -> Iterator[tuple[str, Outcome]]:
    """Claim id and outcome of each row of a file."""
    _check_table(labels)
    read = csv_rows if path.suffix.lower() == ".csv" else json_rows
    for row in read(path, encoding=encoding):
        if isinstance(row, BadRow):
            raise row.error
        yield _outcome(row, labels)


def _blocks(path: Path, labels: str) -> Iterator[Answers]:
    """The rows of JSON Lines in UTF-8, many at a time. Blocks of deepfact's own outcomes are read
    in bulk; any other, and whatever is wrong with one, line by line."""
    _check_table(labels)
    empty = True
    for first, block, found in _ahead(read_blocks(path)):
        if found is None:
            lines = list(_lines(path, first, block, labels))
            found = Answers(
                [claim_id for claim_id, _ in lines],
                [label for _, label in lines],
                scored=b'"score' in block,
            )
        empty = empty and not found.claim_ids
        yield found
    if empty:
        raise empty_file(path)


def _ahead(
    blocks: Iterable[tuple[int, bytes]],
) -> Iterator[tuple[int, bytes, Answers | None]]:
    """Each block with what it says, in order; those that come next are being read meanwhile, in
    threads, for most of the work is Arrow's, which needs no lock."""
    waiting: deque[tuple[int, bytes, Future[Answers | None]]] = deque()
    with ThreadPoolExecutor(AHEAD) as pool:
        for first, block in blocks:
            waiting.append((first, block, pool.submit(answers_of, block)))
            if len(waiting) > AHEAD:
                number, data, found = waiting.popleft()
                yield number, data, found.result()
        while waiting:
            number, data, found = waiting.popleft()
            yield number, data, found.result()


def _lines(path: Path, first: int, block: bytes, labels: str) -> Iterator[tuple[str, Label | None]]:
    """Claim id and label of each line of a block, whose first line has the number ``first``."""
    for where, line in block_lines(path, first, block):
        text = decode(line, where=where)
        if text.strip():
            claim_id, outcome = _outcome(json_row(text, where), labels)
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
