"""HaluEval, general part: ChatGPT's answers, and whether people found a hallucination in them.

Reads ``general_data.json`` of https://github.com/RUCAIBox/HaluEval, which is JSON Lines with
CRLF line ends whatever its name says. A claim is a whole answer; nothing is split, and there are
no sources. Reads only; infers no label.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from deepfact.core.labels import from_data_set
from deepfact.importers.base import Imported, SkippedRow
from deepfact.importers.published import (
    good_rows,
    id_part,
    model_answer,
    note_counts,
    note_repeated,
    published_files,
)
from deepfact.importers.rows import json_rows
from deepfact.records import Annotation, Claim, Origin, Provenance, Source, Span

NAME = "HaluEval"
WHO = "halueval annotators"


class _Row(BaseModel):
    model_config = ConfigDict(strict=True)
    ID: str | int
    user_query: str
    chatgpt_response: Annotated[str, Field(min_length=1, pattern=r"\S")]
    hallucination: Literal["yes", "no"]
    hallucination_spans: list[str] = []


def read(path: Path, *, when: datetime) -> Imported:
    """Each answer as one claim in the context of the query.

    Args:
        path: the file, or the folder that holds ``general_data*.json`` (or ``.jsonl``).
        when: date of the import, for the provenance of the annotations.

    Raises:
        InputError: no file, or no row is what the format says.
    """
    patterns = ["general_data*.json", "general_data*.jsonl"]
    file = published_files(path, patterns, data_set=NAME)[0]
    out = Imported()
    sources: dict[str, Source] = {}
    seen: set[str] = set()
    inexact = 0
    for raw, row in good_rows(json_rows(file), _Row, out, data_set=NAME):
        claim_id = f"halueval-{id_part(str(row.ID))}"
        place = f"{raw.where} (claim {claim_id})"
        if claim_id in seen:
            out.skipped.append(SkippedRow(where=place, why=f"the ID {row.ID} was given before"))
            continue
        seen.add(claim_id)
        inexact += sum(span not in row.chatgpt_response for span in row.hallucination_spans)
        document = model_answer(f"ChatGPT's answer to: {row.user_query}", row.chatgpt_response)
        sources.setdefault(document.id, document)
        origin = Origin(
            report=claim_id,
            document=document.id,
            span=Span(start=0, end=len(row.chatgpt_response)),
        )
        claim = Claim(
            id=claim_id,
            text=row.chatgpt_response,
            context=f"An answer to: {row.user_query}",
            origin=origin,
        )
        annotation = Annotation(
            label=from_data_set("halueval", row.hallucination, where=place),
            rationale=_rationale(row.hallucination_spans),
            provenance=Provenance(who=WHO, when=when),
            original_label=row.hallucination,
        )
        out.claims.append((claim, annotation))
    out.sources = list(sources.values())
    _note(out, file, inexact)
    return out


def _rationale(spans: list[str]) -> str:
    """What the annotators marked, word for word."""
    marked = "; ".join(f'"{span}"' for span in spans if span.strip())
    return f"HaluEval's annotators marked: {marked}" if marked else ""


def _note(out: Imported, file: Path, inexact: int) -> None:
    out.notes.append(
        f"{NAME}, {file.name}. Licence: MIT. A claim is a whole answer of ChatGPT, code and "
        "poems included, with the label of its worst part; there are no sources."
    )
    note_counts(out, "halueval")
    out.notes.append(
        "A hallucination is what is false or cannot be verified, so yes does not tell "
        "contradictory from inconclusive: read the scores of supported against the rest. "
        f"{inexact} marked spans are no exact part of the answer, so they are kept as text."
    )
    note_repeated(out)
