"""AVeriTeC: claims that fact-checkers looked into, with their questions, answers and verdicts.

Reads ``dev.json`` or ``train.json`` of https://github.com/MichSchli/AVeriTeC. Licence: CC BY-NC
4.0, so the file is read only when it or its folder is named. The pages are not in the file: a
source holds what the annotators wrote down of one. Reads only; infers no label.
"""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from deepfact.core.labels import from_data_set
from deepfact.importers.base import Imported, SkippedRow
from deepfact.importers.published import (
    good_rows,
    id_part,
    json_items,
    note_counts,
    note_repeated,
    published_files,
)
from deepfact.records import (
    Annotation,
    Claim,
    Evidence,
    Provenance,
    Source,
    SourceRole,
    Span,
    Stance,
)

NAME = "AVeriTeC"
WHO = "averitec annotators"
CONFLICTING = "Conflicting Evidence/Cherrypicking"
UNANSWERABLE = "Unanswerable"

_DATE = re.compile(r"(\d{1,2})-(\d{1,2})-(\d{4})")
"""Day, month and year, none of them padded."""


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True)
    answer: str
    answer_type: str = ""
    boolean_explanation: str | None = None
    source_url: str | None = None
    cached_source_url: str | None = None


class _Question(BaseModel):
    model_config = ConfigDict(strict=True)
    question: str
    answers: list[_Answer] = []


class _Row(BaseModel):
    model_config = ConfigDict(strict=True)
    claim: Annotated[str, Field(min_length=1)]
    label: Literal[
        "Supported", "Refuted", "Not Enough Evidence", "Conflicting Evidence/Cherrypicking"
    ]
    justification: str | None = None
    claim_date: str | None = None
    speaker: str | None = None
    reporting_source: str | None = None
    location_ISO_code: str | None = None  # noqa: N815 (the data set's own key)
    required_reannotation: bool = False
    questions: list[_Question] = []


def read(
    path: Path,
    *,
    when: datetime,
    split: Literal["dev", "train"] = "dev",
    conflicting: Literal["inconclusive", "skip"] = "inconclusive",
) -> Imported:
    """The claims of one split with the answers that annotators found.

    Args:
        path: the file, or the folder that holds ``<split>.json``. A folder ``nc`` inside is not
            entered: the licence forbids commercial use, so it has to be named.
        when: date of the import, for the provenance of the annotations.
        split: which claims, with a folder.
        conflicting: what becomes of the fourth label, which has no counterpart among three:
            inconclusive, or its claims are listed as skipped.

    Raises:
        InputError: no file, or no claim in it is what the format says.
    """
    file = published_files(path, [f"{split}.json"], data_set=NAME)[0]
    out = Imported()
    sources: dict[str, Source] = {}
    again = 0
    for number, (raw, row) in enumerate(
        good_rows(json_items(file), _Row, out, data_set=NAME), start=1
    ):
        claim_id = f"averitec-{id_part(file.stem)}-{number:04d}"
        if row.label == CONFLICTING and conflicting == "skip":
            why = f"{CONFLICTING} has no counterpart among three labels, and is to be skipped"
            out.skipped.append(SkippedRow(where=f"{raw.where} (claim {claim_id})", why=why))
            continue
        again += row.required_reannotation
        _add(out, row, claim_id, sources, raw.where, when)
    out.sources = list(sources.values())
    _note(out, file, again, conflicting)
    return out


def _add(
    out: Imported,
    row: _Row,
    claim_id: str,
    sources: dict[str, Source],
    where: str,
    when: datetime,
) -> None:
    found = [
        source
        for question in row.questions
        for answer in question.answers
        if (source := _source(question.question, answer)) is not None
    ]
    for source in found:
        sources.setdefault(source.id, source)
    ids = list(dict.fromkeys(source.id for source in found))
    claim = Claim(id=claim_id, text=row.claim, context=_context(row), cites=tuple(ids))
    annotation = Annotation(
        label=from_data_set("averitec", row.label, where=where),
        rationale=(row.justification or "").strip(),
        evidence=tuple(
            Evidence(
                source=source_id,
                quote=sources[source_id].text,
                stance=Stance.CONTEXT,
                span=Span(start=0, end=len(sources[source_id].text)),
            )
            for source_id in ids
        ),
        provenance=Provenance(who=WHO, when=when),
        original_label=row.label,
    )
    out.claims.append((claim, annotation))


def _source(question: str, answer: _Answer) -> Source | None:
    """What annotators wrote of a page; None where they found no answer."""
    said = [answer.answer.strip(), (answer.boolean_explanation or "").strip()]
    text = "\n".join(part for part in said if part)
    if not text or answer.answer_type == UNANSWERABLE:
        return None
    return Source.create(
        title=question.strip() or "question",
        url=answer.source_url or answer.cached_source_url or "",
        role=SourceRole.SECONDARY,
        text=text,
    )


def _context(row: _Row) -> str:
    """Who said it, where and when: what is true depends on the day."""
    said = []
    if row.speaker:
        said.append(f"Said by {row.speaker}.")
    if row.reporting_source:
        said.append(f"Reported by {row.reporting_source}.")
    if row.claim_date:
        match = _DATE.fullmatch(row.claim_date)
        day = f"{match[3]}-{int(match[2]):02d}-{int(match[1]):02d}" if match else row.claim_date
        said.append(f"Claimed on {day}.")
    if row.location_ISO_code:
        said.append(f"Country: {row.location_ISO_code}.")
    return " ".join(said)


def _note(out: Imported, file: Path, again: int, conflicting: str) -> None:
    out.notes.append(
        f"{NAME}, {file.name}. Licence: CC BY-NC 4.0, NON-COMMERCIAL use only; whoever publishes "
        "what is made of it is bound by that."
    )
    note_counts(out, "averitec")
    if conflicting == "inconclusive":
        out.notes.append(
            f"{CONFLICTING} counts as inconclusive: the evidence does not settle the claim. The "
            "published label is kept, so scores over four labels can be computed."
        )
    out.notes.append(
        "Sources hold what annotators wrote down of a page, not the page. They gave answers no "
        "stance, so all are context; questions without an answer (Unanswerable) give no source. "
        f"{again} claims carry the flag that they were annotated again."
    )
    note_repeated(out)
