"""Blind cases as files that other programs edit, and their answers read back: CSV, JSON Lines,
Label Studio, Argilla.

Writes what an auditor may see and nothing else: a case's id, claim, positions and sources. Reads
rows one by one, each with its place, and believes none of what stands in them but the answer.
Whether an answer fits its case is for `deepfact.exchange` to say.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from deepfact.core.transfer import ANSWERS, QUESTION
from deepfact.errors import InputError, did_you_mean
from deepfact.importers.rows import BadRow, csv_rows, json_rows
from deepfact.records import Adjudication, Case, Position, Source
from deepfact.store.files import jsonl, read_text


class Format(StrEnum):
    """What is written and read."""

    CSV = "csv"
    JSONL = "jsonl"
    LABEL_STUDIO = "label-studio"
    ARGILLA = "argilla"


ANSWER = ("decision", "label", "rationale", "evidence", "notes")
"""The fields that people fill in."""

KIND = "divergence"
"""One more field to fill in, in transfer runs: see `deepfact.core.transfer.ANSWERS`."""

SHOWN = ("case", "auditor", "claim", "context", "position_a", "position_b", "sources")
"""The fields that they read."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A case as a row: all text."""

    shown: Mapping[str, str]
    answer: Mapping[str, str] = field(default_factory=dict)
    sources: Sequence[Mapping[str, str]] = ()
    asks_kind: bool = False
    """`KIND` is to be filled in as well."""

    @property
    def fields(self) -> tuple[str, ...]:
        """What is to be filled in."""
        return (*ANSWER, KIND) if self.asks_kind else ANSWER


@dataclass(frozen=True, slots=True)
class Answer:
    """What somebody filled in, as text, and where it stands."""

    where: str
    case: str
    auditor: str
    fields: Mapping[str, str]


# --- a case as a row ----------------------------------------------------------------------


def sheet(
    case: Case,
    auditor: str,
    sources: Sequence[tuple[int, str, Source | None]],
    made: Adjudication | None,
    *,
    asks_kind: bool = False,
) -> Sheet:
    """A case as a row.

    Args:
        case: the blind case.
        auditor: whose row it is.
        sources: number, id and card of each source of the case.
        made: the auditor's standing decision, to fill in.
        asks_kind: whether `KIND` is to be filled in, too.
    """
    numbers = {source_id: number for number, source_id, _ in sources}
    listed = [
        f"[{number}] {card.title}" + (f" ({card.url})" if card.url else "")
        for number, _, card in sources
        if card is not None
    ]
    shown = {
        "case": case.id,
        "auditor": auditor,
        "claim": case.claim.text,
        "context": case.claim.context,
        "position_a": _position(case.a, numbers),
        "position_b": _position(case.b, numbers),
        "sources": "\n".join(listed),
    }
    texts = [
        {"number": str(number), "title": card.title, "url": card.url, "text": card.text}
        for number, _, card in sources
        if card is not None
    ]
    answer = _answer(made, numbers) if made else {}
    if made and asks_kind:
        answer[KIND] = str(made.divergence or "none")
    return Sheet(shown, answer, texts, asks_kind)


def _position(position: Position, numbers: Mapping[str, int]) -> str:
    lines = [f"{position.label}: {position.rationale or 'no reason recorded'}"]
    lines += [
        f"disputes “{c.disputed}” [{numbers[c.source]}]: {_flat(c.quote)}"
        for c in position.contradictions
    ]
    lines += [f"{e.stance} [{numbers[e.source]}]: {_flat(e.quote)}" for e in position.evidence]
    lines += [
        f"qualification ({str(note.kind).replace('_', ' ')}): {note.text}"
        for note in position.qualifications
    ]
    return "\n".join(lines)


def _answer(made: Adjudication, numbers: Mapping[str, int]) -> dict[str, str]:
    evidence = [f"{e.stance} [{numbers[e.source]}]: {_flat(e.quote)}" for e in made.evidence]
    return {
        "decision": str(made.decision),
        "label": str(made.label or ""),
        "rationale": made.rationale,
        "evidence": "\n".join(evidence),
        "notes": made.notes,
    }


def _flat(quote: str) -> str:
    return " ".join(quote.split())


# --- writing ------------------------------------------------------------------------------


def write(sheets: Sequence[Sheet], kind: Format) -> bytes:
    """The bytes of a file that holds the rows."""
    writer = {
        Format.CSV: _csv,
        Format.JSONL: _jsonl,
        Format.LABEL_STUDIO: _label_studio,
        Format.ARGILLA: _argilla,
    }[kind]
    return writer(sheets)


_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")


def guarded(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula: an apostrophe goes before what it might."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def unguarded(cell: str) -> str:
    """The reverse of `guarded`."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell


def _csv(sheets: Sequence[Sheet]) -> bytes:
    """With a byte-order mark and CRLF, as spreadsheets expect."""
    buffer = io.StringIO(newline="")
    out = csv.writer(buffer, lineterminator="\r\n")
    columns = (*SHOWN, *(sheets[0].fields if sheets else ANSWER))
    out.writerow(columns)
    for row in sheets:
        cells = {**row.shown, **row.answer}
        out.writerow([guarded(cells.get(name, "")) for name in columns])
    return buffer.getvalue().encode("utf-8-sig")


def _jsonl(sheets: Sequence[Sheet]) -> bytes:
    lines = []
    for row in sheets:
        answer = {name: row.answer.get(name, "") for name in row.fields}
        data = {**row.shown, "sources": [dict(source) for source in row.sources], **answer}
        lines.append(json.dumps(data, ensure_ascii=False))
    return jsonl(lines).encode("utf-8")


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode("utf-8")


def _label_studio(sheets: Sequence[Sheet]) -> bytes:
    """Tasks as Label Studio imports them; decisions are annotations."""
    tasks: list[dict[str, Any]] = []
    for row in sheets:
        task: dict[str, Any] = {"data": {**row.shown, "texts": _texts(row)}}
        if row.answer:
            result = [
                _result(name, value)
                for name, value in row.answer.items()
                if value and name in row.fields
            ]
            task["annotations"] = [{"result": result}]
        tasks.append(task)
    return _json(tasks)


def _result(name: str, value: str) -> dict[str, Any]:
    kind = "choices" if name in ("decision", "label", KIND) else "textarea"
    held = {"choices": [value]} if kind == "choices" else {"text": [value]}
    return {"from_name": name, "to_name": "claim", "type": kind, "value": held}


def _argilla(sheets: Sequence[Sheet]) -> bytes:
    """Records as Argilla's ``records.from_json`` reads them. Decisions are suggestions: responses
    are tied to users of that server."""
    records = []
    for row in sheets:
        fields = {name: row.shown[name] for name in SHOWN if name not in ("case", "auditor")}
        records.append(
            {
                "id": row.shown["case"],
                "fields": {**fields, "sources": _texts(row)},
                "metadata": {"auditor": row.shown["auditor"]},
                "suggestions": {
                    name: {"value": value, "score": None, "agent": row.shown["auditor"]}
                    for name, value in row.answer.items()
                    if value
                },
                "responses": {},
                "vectors": {},
            }
        )
    return _json(records)


def _texts(row: Sheet) -> str:
    parts = [f"[{source['number']}] {source['title']}\n{source['text']}" for source in row.sources]
    return "\n\n".join(parts)


LABEL_STUDIO_CONFIG = """<View>
  <Header value="Claim"/>
  <Text name="claim" value="$claim"/>
  <Text name="context" value="$context"/>
  <Header value="Position A"/>
  <Text name="position_a" value="$position_a"/>
  <Header value="Position B"/>
  <Text name="position_b" value="$position_b"/>
  <Header value="Sources"/>
  <Text name="texts" value="$texts"/>
  <Header value="Which position do the sources bear out?"/>
  <Choices name="decision" toName="claim" choice="single-radio" required="true">
    <Choice value="a"/>
    <Choice value="b"/>
    <Choice value="neither"/>
    <Choice value="cannot_tell"/>
  </Choices>
  <Header value="With neither: the label that is right"/>
  <Choices name="label" toName="claim" choice="single-radio">
    <Choice value="supported"/>
    <Choice value="contradictory"/>
    <Choice value="inconclusive"/>
  </Choices>
  <Header value="Reason"/>
  <TextArea name="rationale" toName="claim" required="true" maxSubmissions="1"/>
  <Header value="Evidence, one line each, such as: supports [1]: words of the source"/>
  <TextArea name="evidence" toName="claim"/>
  <Header value="Notes"/>
  <TextArea name="notes" toName="claim"/>
</View>
"""
"""The labelling interface that goes with exported tasks."""


def label_studio_config(*, asks_kind: bool) -> str:
    """The interface, with one more question where `KIND` is asked for."""
    if not asks_kind:
        return LABEL_STUDIO_CONFIG
    choices = "".join(f'    <Choice value="{name}" hint="{words}"/>\n'
                      for name, words in ANSWERS.items())  # fmt: skip
    asked = (
        f'  <Header value="{QUESTION}"/>\n'
        f'  <Choices name="{KIND}" toName="claim" choice="single-radio" required="true">\n'
        f"{choices}  </Choices>\n"
    )
    reason = '  <Header value="Reason"/>\n'
    return LABEL_STUDIO_CONFIG.replace(reason, asked + reason)


# --- reading ------------------------------------------------------------------------------


def read(path: Path, kind: Format, *, encoding: str = "utf-8-sig") -> Iterator[Answer | InputError]:
    """The answers of a file, row by row; a row that cannot be read is its error.

    Raises:
        InputError: the file as a whole cannot be read.
    """
    if kind is Format.CSV:
        delimiter = _delimiter(path, encoding)
        return _rows(csv_rows(path, encoding=encoding, delimiter=delimiter), spreadsheet=True)
    if kind is Format.JSONL:
        return _rows(json_rows(path, encoding=encoding), spreadsheet=False)
    items = _json_list(path, encoding)
    reader = _from_label_studio if kind is Format.LABEL_STUDIO else _from_argilla
    return (reader(item, f"{path}, item {number}") for number, item in enumerate(items, 1))


def _delimiter(path: Path, encoding: str) -> str:
    """What separates the columns: spreadsheets take what the locale has in place of commas."""
    header = read_text(path, encoding=encoding).lstrip().partition("\n")[0]
    return max(",;\t", key=lambda mark: (header.count(mark), mark == ","))


def _rows(rows: Iterator[Any], *, spreadsheet: bool) -> Iterator[Answer | InputError]:
    for row in rows:
        if isinstance(row, BadRow):
            yield row.error
            continue
        cells = {
            str(name).strip().casefold().replace(" ", "_"): value
            for name, value in row.cells.items()
        }
        for needed in ("case", "decision", "rationale"):
            if needed not in cells:
                raise InputError(
                    f"there is no column {needed!r}", where=row.where,
                    fix=f"take an exported file and keep its column names; "
                    f"{did_you_mean(needed, cells)}",
                )  # fmt: skip
        held = ("case", *ANSWER, KIND)
        wrong = [name for name in held if not isinstance(cells.get(name, ""), str)]
        if wrong:
            yield InputError(f"{wrong[0]} is no text", where=row.where)
            continue
        text = {name: cells[name] for name in ("case", "auditor", *ANSWER, KIND) if name in cells}
        if spreadsheet:
            text = {name: unguarded(value) for name, value in text.items()}
        yield _answer_of(row.where, text)


def _answer_of(where: str, cells: Mapping[str, Any]) -> Answer:
    held = {name: str(cells.get(name, "")) for name in (*ANSWER, KIND)}
    fields = {name: text.replace("\r\n", "\n").strip() for name, text in held.items()}
    return Answer(where, str(cells["case"]).strip(), str(cells.get("auditor", "")).strip(), fields)


def _json_list(path: Path, encoding: str) -> list[Any]:
    try:
        items = json.loads(read_text(path, encoding=encoding))
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON: {error}", where=str(path)) from None
    if not isinstance(items, list):
        raise InputError("a JSON list is needed", where=str(path), fix="export it as JSON")
    return items


def _from_label_studio(task: Any, where: str) -> Answer | InputError:
    """The one annotation of a task. A task that nobody has answered is an empty answer."""
    try:
        case = task["data"]["case"]
        made = [each for each in task.get("annotations", []) if not each.get("was_cancelled")]
        if len(made) > 1:
            return InputError(
                f"{len(made)} annotations of case {case}", where=where,
                fix="import one person's answers at a time: leave the others' out",
            )  # fmt: skip
        cells = {"case": case, "auditor": task["data"].get("auditor", "")}
        for result in made[0]["result"] if made else []:
            held = result["value"].get("choices") or result["value"].get("text") or []
            lines = [held] if isinstance(held, str) else held
            cells[result["from_name"]] = "\n".join(lines)
        return _answer_of(where, cells)
    except (KeyError, TypeError, AttributeError):
        return InputError("this is no task of Label Studio's JSON export", where=where)


def _from_argilla(record: Any, where: str) -> Answer | InputError:
    """The responses of one user to a record."""
    try:
        responses = record.get("responses") or {}
        users = {each.get("user_id") for given in responses.values() for each in given}
        if len(users) > 1:
            return InputError(
                f"{len(users)} users answered case {record['id']}", where=where,
                fix="import one person's answers at a time: leave the others' out",
            )  # fmt: skip
        cells = {"case": record["id"], "auditor": record.get("metadata", {}).get("auditor", "")}
        cells |= {name: given[0]["value"] for name, given in responses.items() if given}
        return _answer_of(where, cells)
    except (KeyError, TypeError, AttributeError):
        return InputError("this is no record of Argilla's JSON export", where=where)
