"""Claims from any file of rows (JSON Lines, CSV, ...), by a mapping of its columns to our fields.

All or nothing: the first row that is wrong stops the import with its place and a fix, unless
``skip_bad`` asks for such rows to be listed as skipped. What breaks the file as a whole always
stops it. Reads only; no label is guessed: see `deepfact.importers.mapping`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Iterable, TypeVar

from pydantic import ValidationError

from deepfact.errors import InputError, did_you_mean
from deepfact.importers.annotators import (
    UnknownLabel,
    all_unknown,
    further_annotations,
    label_of,
    note_annotators,
)
from deepfact.importers.base import Imported, SkippedRow, note_repeated_texts
from deepfact.importers.documents import Documents, inline_sources, string
from deepfact.importers.first_bytes import refuse_other_format
from deepfact.importers.mapping import Mapping
from deepfact.importers.rows import BadRow, Row, csv_rows, json_rows
from deepfact.records import Annotation, Claim, Origin, Provenance
from deepfact.store.files import explain
from deepfact.store.specs import read_yaml

T = TypeVar("T", Claim, Origin)


def read_jsonl(
    path: Path,
    *,
    when: datetime,
    mapping: Path | None = None,
    sources: Path | None = None,
    encoding: str = "utf-8",
    sources_encoding: str = "",
    skip_bad: bool = False,
) -> Imported:
    """The claims of a JSON Lines file.

    Args:
        path: the file, one JSON object on each line.
        when: date of the import, for the provenance of the annotations.
        mapping: a YAML file, see `deepfact.importers.mapping`; without one, columns have our
            names and labels are our words.
        sources: a second file (``.csv``, else JSON Lines) with ``id``, ``text``, and optionally
            ``title``, ``url``, ``role``, ``trust``, ``published``; claims cite these ids.
        encoding: of the file, such as ``utf-8-sig`` or ``cp1252``.
        sources_encoding: of the file of sources; the same when empty.
        skip_bad: list rows that are wrong as skipped, and import the others.

    Raises:
        InputError: a file or a row is wrong. Nothing is returned.
    """
    refuse_other_format(path, "JSON Lines")
    rows = json_rows(path, encoding=encoding)
    second = sources_encoding or encoding
    return read_rows(path, rows, when, read_mapping(mapping), sources, second, skip_bad)


def read_csv(
    path: Path,
    *,
    when: datetime,
    mapping: Path | None = None,
    sources: Path | None = None,
    encoding: str = "utf-8",
    sources_encoding: str = "",
    skip_bad: bool = False,
    delimiter: str = ",",
) -> Imported:
    """The claims of a CSV file with a header; arguments and errors as `read_jsonl`.

    Args:
        delimiter: one character between cells.
    """
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise InputError(f"{delimiter!r} cannot separate cells", fix="name one character, as ;")
    refuse_other_format(path, "CSV")
    rows = csv_rows(path, encoding=encoding, delimiter=delimiter)
    second = sources_encoding or encoding
    table = read_mapping(mapping)
    return read_rows(path, rows, when, table, sources, second, skip_bad, tabular=True)


@dataclass(slots=True)
class _Import:
    """The import in the making."""

    path: Path
    when: datetime
    mapping: Mapping
    documents: Documents
    skip_bad: bool
    out: Imported = field(default_factory=Imported)
    places: dict[str, str] = field(default_factory=dict)
    """Where each claim id was given first."""
    columns: dict[str, None] = field(default_factory=dict)
    """All columns seen, in order."""

    def bad(self, error: InputError, where: str) -> None:
        """Stop at a wrong row, or list it."""
        if not self.skip_bad:
            raise error
        why = error.what + (f" ({error.fix})" if error.fix else "")
        self.out.skipped.append(SkippedRow(where=error.where or where, why=why))


def read_mapping(path: Path | None) -> Mapping:
    """The mapping in a file, or that of files that have our names.

    Raises:
        ConfigError, InputError: it cannot be read.
    """
    return read_yaml(path, Mapping) if path else Mapping()


def read_rows(
    path: Path,
    rows: Iterable[Row | BadRow],
    when: datetime,
    mapping: Mapping,
    sources: Path | None,
    sources_encoding: str,
    skip_bad: bool,
    *,
    tabular: bool = False,
    columns: Iterable[str] = (),
) -> Imported:
    """The claims of rows, however they were stored.

    Args:
        path: what the rows are from, for names and errors.
        rows: read once, as they come.
        when: as `read_jsonl`.
        mapping: what their columns are.
        sources, sources_encoding, skip_bad: as `read_jsonl`.
        tabular: every row has all columns, so that the first one tells whether one is missing.
        columns: what columns there are, where that is known before the first row.

    Raises:
        InputError: as `read_jsonl`.
    """
    documents = Documents(constants=mapping.constants)
    state = _Import(path, when, mapping, documents, skip_bad)
    state.columns.update(dict.fromkeys(columns))
    wanted = wanted_columns(mapping)
    if state.columns:
        _refuse_missing(wanted, state.columns, str(path))
    if sources:
        documents.read(sources, encoding=sources_encoding, bad=state.bad)
    coming = iter(rows)
    for row in coming:
        if isinstance(row, BadRow):
            state.bad(row.error, row.error.where)
            continue
        if tabular and not state.columns:
            _refuse_missing(wanted, row.cells, row.where)
        state.columns.update(dict.fromkeys(row.cells))
        try:
            _add(state, row)
        except UnknownLabel as error:
            if not skip_bad:
                raise all_unknown(error, mapping, coming) from None
            state.bad(error, row.where)
        except InputError as error:
            state.bad(error, row.where)
    if state.columns:
        _refuse_missing(wanted, state.columns, str(path))
    state.out.sources = documents.all()
    state.out.licence, state.out.origin = mapping.licence, mapping.url
    _note(state)
    return state.out


def wanted_columns(mapping: Mapping) -> dict[str, str]:
    """The columns that must be in a file, and the field each is for: id, text, and all that the
    mapping names."""
    fields, inline = mapping.fields, mapping.sources
    wanted = {
        getattr(fields, name): name for name in sorted({"id", "text"} | fields.model_fields_set)
    }
    if inline and inline.field:
        wanted[inline.field] = "sources"
    elif inline:
        named = inline.model_fields_set - {"field"}
        wanted |= {getattr(inline, name): f"sources {name}" for name in sorted(named)}
    for one in mapping.annotators:
        wanted[one.label] = f"label of {one.who}"
        if one.rationale:
            wanted[one.rationale] = f"rationale of {one.who}"
    return wanted


def used_columns(mapping: Mapping) -> set[str]:
    """The columns that a mapping reads where they are there."""
    used = {getattr(mapping.fields, name) for name in type(mapping.fields).model_fields}
    if mapping.sources and mapping.sources.field:
        used.add(mapping.sources.field)
    elif mapping.sources:
        used |= {getattr(mapping.sources, name) for name in type(mapping.sources).model_fields}
    for one in mapping.annotators:
        used |= {one.label, one.rationale}
    return used


def _refuse_missing(wanted: dict[str, str], columns: Iterable[str], where: str) -> None:
    known = [repr(column)[1:-1] for column in columns]
    for column, name in wanted.items():
        if column not in columns:
            hint = did_you_mean(column, known)
            advice = "a mapping file says which column is which"
            raise InputError(
                f"no column {column!r} for the {name}",
                where=where,
                fix=f"{hint}; {advice}" if hint else advice,
            )


def _add(state: _Import, row: Row) -> None:
    """Import the claim of one row."""
    fields = state.mapping.fields
    _refuse_missing({fields.id: "id", fields.text: "text"}, row.cells, row.where)
    claim_id = _id(state, row)
    text = _cell(state, row, "text")
    if not text.strip():
        raise InputError("the claim has no text", where=row.where)
    cites = state.documents.cited(row.cells.get(state.mapping.fields.cites), row.where)
    inline = inline_sources(row, state.mapping)
    constants = state.mapping.constants
    claim = _built(
        Claim,
        row.where,
        id=claim_id,
        text=text,
        context=_cell(state, row, "context") or constants.context,
        origin=_origin(state, row),
        cites=tuple(dict.fromkeys([*cites, *(source.id for source in inline)])),
        domain=_cell(state, row, "domain") or constants.domain,
        subject=_cell(state, row, "subject"),
        predicate=_cell(state, row, "predicate"),
        object=_cell(state, row, "object"),
        kind=_cell(state, row, "kind") or constants.kind,
        private=_cell(state, row, "private").strip().lower() or False,
    )
    annotation = _annotation(state, row)
    further = further_annotations(row, state.mapping, state.when)
    # Only now, so that a row that is wrong leaves nothing behind.
    for source in inline:
        state.documents.keep(source)
    state.places[claim_id] = row.where
    state.out.claims.append((claim, annotation))
    if further:
        state.out.further[claim_id] = further


def _cell(state: _Import, row: Row, name: str) -> str:
    return string(row, getattr(state.mapping.fields, name))


def _id(state: _Import, row: Row) -> str:
    claim_id = _cell(state, row, "id")
    if not claim_id:
        raise InputError("the claim has no id", where=row.where, fix="every row needs its own")
    _refuse_odd("claim id", claim_id, row.where)
    if claim_id in state.places:
        raise InputError(
            f"the claim id {claim_id!r} is given twice",
            where=f"{row.where}, and before in {state.places[claim_id]}",
            fix="give each claim an id of its own",
        )
    return claim_id


def _refuse_odd(what: str, value: str, where: str) -> None:
    """An id becomes part of file names and of lines, so it has no separators or white space."""
    if any(c.isspace() or c in "/\\" or not c.isprintable() for c in value):
        raise InputError(
            f"the {what} {value!r} has white space, a path separator or a control character",
            where=where,
            fix="use letters, digits and - _ . : only",
        )
    if len(value) > 200:
        raise InputError(
            f"the {what} has {len(value)} characters, 200 is the most",
            where=where,
            fix="shorten it",
        )


def _origin(state: _Import, row: Row) -> Origin | None:
    report = _cell(state, row, "report") or state.mapping.constants.report or ""
    sentence = _cell(state, row, "sentence")
    if not report:
        if sentence:
            raise InputError(
                f"sentence {sentence!r} is of no report",
                where=row.where,
                fix="name the column of the report in the mapping, or a constant report",
            )
        return None
    _refuse_odd("report id", report, row.where)
    if sentence and not (sentence.isascii() and sentence.isdecimal() and len(sentence) < 10):
        raise InputError(
            f"sentence {sentence!r} is no position", where=row.where, fix="count from 0, as 3"
        )
    number = int(sentence) if sentence else None
    return _built(Origin, row.where, report=report, sentence=number)


def _annotation(state: _Import, row: Row) -> Annotation | None:
    """The label with its reason; None where the row has no label."""
    mapping = state.mapping
    published = _cell(state, row, "label")
    rationale = _cell(state, row, "rationale")
    label = label_of(mapping, published, row.where)
    if label is None:
        if rationale.strip():
            raise InputError(
                "the row has a rationale and no label",
                where=row.where,
                fix=f"labels are read from the column {mapping.fields.label!r}: is that the one?",
            )
        return None
    who = f"{mapping.data_set or state.path.stem} annotators"
    return Annotation(
        label=label,
        rationale=rationale,
        provenance=Provenance(who=who, when=state.when),
        original_label=published,
    )


def _built(record: type[T], where: str, **values: Any) -> T:
    try:
        return record(**values)
    except ValidationError as error:
        raise InputError(explain(error), where=where) from None


def _note(state: _Import) -> None:
    """What a reader of the dataset card must know."""
    out, mapping = state.out, state.mapping
    labels = ", ".join(f"{theirs!r} is {ours}" for theirs, ours in mapping.labels.items())
    loosely = ", in any case and with any spaces, - or _" if mapping.spelling == "loose" else ""
    out.notes.append(f"Imported from {state.path.name}. Labels{loosely}: {labels}.")
    unlabelled = sum(annotation is None for _, annotation in out.claims)
    if unlabelled:
        out.notes.append(f"{unlabelled} claims have no label in the file and are unlabelled.")
    if out.skipped:
        out.notes.append(f"{len(out.skipped)} rows were wrong and are not imported.")
    used = used_columns(mapping)
    left = [column for column in state.columns if column not in used]
    if left:
        out.notes.append(f"Columns not imported: {', '.join(map(repr, left))}.")
    note_repeated_texts(out)
    note_annotators(out)
