"""DeepFact-Bench: sentences of research reports, with an agent's verdict and a person's.

Reads ``<split>.json`` (a list of sentence rows) with ``<split>_reports.json`` (reports by id), or
files that hold one report each with its ``sentences_info``. Layout:
https://github.com/kkkevinkkkkk/DeepFact. The label is the person's; the agent's is kept beside
it. Reads only; infers no label.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Mapping

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from deepfact.core.labels import DATA_SETS
from deepfact.errors import InputError
from deepfact.importers.base import Imported, SkippedRow
from deepfact.importers.published import (
    id_part,
    json_items,
    model_answer,
    named_items,
    note_repeated,
    published_files,
)
from deepfact.records import Annotation, Claim, Origin, Provenance, Source, Span
from deepfact.store.files import explain, parse_record, read_text

NAME = "DeepFact-Bench"
PERSON, AGENT = "deepfact-bench expert", "deepfact-bench agent"


class _Sentence(BaseModel):
    """A row; its text is there in the joined form only. Blank strings count as null."""

    model_config = ConfigDict(strict=True)
    report_id: str | int | None = None
    sentence_idx: str | int | None = None
    sentence: str | None = None
    relevance: str | int | None = None
    agent_verdict: str | None = None
    agent_reason: str | None = None
    agent_rationale: str | None = None
    human_verdict: str | None = None
    human_verdict_reason: str | None = None
    human_reason: str | None = None


class _Report(BaseModel):
    model_config = ConfigDict(strict=True)
    report_id: str | int | None = None
    topic: str | None = None
    question: str | None = None
    response: str = ""
    model: str | None = None
    sentences: list[str | dict[str, Any]] = Field(default_factory=list)
    sentences_info: list[dict[str, Any]] | None = None

    def text(self, position: int) -> str:
        """The sentence at a position; empty where there is none."""
        if not 0 <= position < len(self.sentences):
            return ""
        item = self.sentences[position]
        return item if isinstance(item, str) else str(item.get("sentence") or "")


@dataclass(slots=True)
class _Import:
    """The import in the making."""

    when: datetime
    out: Imported = field(default_factory=Imported)
    documents: dict[str, Source] = field(default_factory=dict)
    """By report id, once a claim of it is imported."""
    searched: dict[str, int] = field(default_factory=dict)
    """How far each report has been searched for its sentences."""
    seen: set[tuple[str, int]] = field(default_factory=set)
    rows: int = 0

    def skip(self, where: str, why: str) -> None:
        """List a row as skipped."""
        self.out.skipped.append(SkippedRow(where=where, why=why))


def read(
    path: Path, *, when: datetime, split: Literal["test", "val", "train"] = "test"
) -> Imported:
    """The annotated sentences of the reports; those that nobody annotated are listed as skipped.

    Args:
        path: the folder with ``<split>.json`` and ``<split>_reports.json``; or a file, or a
            folder of files, that hold one joined report each.
        when: date of the import, for the provenance of the annotations.
        split: which part, with the separate files.

    Raises:
        InputError: a file is missing or unreadable, or holds no row of the benchmark.
    """
    state = _Import(when)
    rows, reports = path / f"{split}.json", path / f"{split}_reports.json"
    if rows.is_file():
        if not reports.is_file():
            raise InputError("the file of the reports is missing", where=str(reports))
        _read_separate(state, rows, reports)
        files = [rows, reports]
    else:
        files = published_files(path, ["*.json"], data_set=NAME)
        for file in files:
            _read_joined(state, file)
    if not state.rows:
        raise InputError(f"no row of {NAME} is in it", where=str(path))
    state.out.sources = list({s.id: s for s in state.documents.values()}.values())
    _note(state, files)
    return state.out


def _read_separate(state: _Import, rows: Path, reports: Path) -> None:
    known: dict[str, _Report] = {}
    for name, raw in named_items(reports):
        known[name] = _checked(_Report, raw.cells, raw.where)
    for raw in json_items(rows):
        state.rows += 1
        try:
            row = _checked(_Sentence, raw.cells, raw.where)
        except InputError as error:
            state.skip(error.where, error.what)
            continue
        name = "" if row.report_id is None else str(row.report_id)
        if name not in known:
            state.skip(raw.where, f"there is no report {name!r}")
            continue
        position = _position(row.sentence_idx)
        if position is None:
            state.skip(raw.where, f"sentence_idx is {row.sentence_idx!r}, a number is needed")
            continue
        _add(state, row, name, known[name], position, raw.where)


def _read_joined(state: _Import, file: Path) -> None:
    cells: dict[str, Any] = _object(read_text(file), str(file))
    report = _checked(_Report, cells, str(file))
    if report.sentences_info is None:
        raise InputError("the report has no sentences_info", where=str(file))
    name = str(report.report_id if report.report_id is not None else file.stem)
    for position, info in enumerate(report.sentences_info):
        state.rows += 1
        where = f"{file}, sentence {position}"
        try:
            row = _checked(_Sentence, info, where)
        except InputError as error:
            state.skip(error.where, error.what)
            continue
        _add(state, row, name, report, position, where)


def _add(
    state: _Import, row: _Sentence, name: str, report: _Report, position: int, where: str
) -> None:
    text = (row.sentence or "").strip() or report.text(position).strip()
    if not text:
        state.skip(where, f"the report has no sentence at {position}")
        return
    if (name, position) in state.seen:
        state.skip(where, f"sentence {position} of {name} was given before")
        return
    state.seen.add((name, position))
    try:
        person = _annotation(
            row.human_verdict, row.human_verdict_reason or row.human_reason, PERSON, state.when
        )
        agent = _annotation(
            row.agent_verdict, row.agent_reason or row.agent_rationale, AGENT, state.when
        )
    except InputError as error:
        state.skip(where, error.what)
        return
    if person is None and agent is None:
        state.skip(where, "nobody annotated the sentence")
        return
    report_id = f"dfb-{id_part(name)}"
    topic = report.topic or report.question or ""
    if name not in state.documents:
        title = f"{report.model or 'a system'}'s report on: {topic}"
        state.documents[name] = model_answer(title, report.response)
    at = report.response.find(text, state.searched.get(name, 0))
    if at >= 0:
        state.searched[name] = at + len(text)
    claim = Claim(
        id=f"{report_id}-s{position + 1:03d}",
        text=text,
        context=f"From a report on: {topic}" if topic else "",
        origin=Origin(
            report=report_id,
            document=state.documents[name].id,
            sentence=position,
            span=Span(start=at, end=at + len(text)) if at >= 0 else None,
        ),
        kind=f"relevance-{row.relevance}" if row.relevance not in (None, "") else "",
    )
    if person is not None and agent is not None:
        # Kept in the label as published too, which a benchmark stores.
        both = f"human {person.original_label}; agent {agent.original_label}"
        person = person.model_copy(update={"original_label": both})
    state.out.claims.append((claim, person))
    if agent is not None:
        state.out.further[claim.id] = [agent]


def _annotation(
    word: str | None, reason: str | None, who: str, when: datetime
) -> Annotation | None:
    """A verdict as an annotation; None for a blank one."""
    if not (word or "").strip():
        return None
    published = str(word).strip()
    # Verdicts are written in any case; the table is in lower case.
    label = DATA_SETS["deepfact-bench"].get(published.lower())
    if label is None:
        raise InputError(f"unknown verdict {published!r}")
    return Annotation(
        label=label,
        rationale=(reason or "").strip(),
        provenance=Provenance(who=who, when=when),
        original_label=published,
    )


def _position(value: str | int | None) -> int | None:
    """A number, or a text that is one."""
    if isinstance(value, str):
        return int(value) if value.strip().isdecimal() else None
    return value


def _checked(model: type[Any], cells: Mapping[str, Any], where: str) -> Any:
    try:
        return model.model_validate(cells)
    except ValidationError as error:
        raise InputError(f"not of {NAME}: {explain(error)}", where=where) from None


def _object(text: str, where: str) -> dict[str, Any]:
    return parse_record(text, dict, where=where)


def _note(state: _Import, files: list[Path]) -> None:
    out = state.out
    shown = ", ".join(file.name for file in files[:5]) + (", ..." if len(files) > 5 else "")
    out.notes.append(
        f"{NAME}, {shown}. Licence: its repository says MIT in pyproject and has no licence file; "
        "ask its authors before publishing what is made of it."
    )
    counts: dict[str, int] = {}
    for _, annotation in out.claims:
        name = annotation.label.value if annotation else "unlabelled"
        counts[name] = counts.get(name, 0) + 1
    listed = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    out.notes.append(
        f"{state.rows} sentences: {len(out.claims)} imported, {len(out.skipped)} skipped with the "
        f"reason. The label is the person's (table 'deepfact-bench', in any case): {listed}."
    )
    labels = {claim.id: annotation.label for claim, annotation in out.claims if annotation}
    apart = sum(
        labels[claim_id] is not found.label
        for claim_id, all_found in out.further.items()
        for found in all_found
        if claim_id in labels
    )
    out.notes.append(
        f"{len(out.further)} claims have the agent's verdict too, {apart} of them another than "
        "the person's; both are in the label as published."
    )
    note_repeated(out)
