"""ExpertQA: claims of system answers, judged by the experts who asked the questions.

Reads the JSON Lines files of https://github.com/chaitanyamalaviya/ExpertQA. Whether a claim is
true (``correctness``) and whether its citation backs it (``support``) are two axes; one of them
is the label, all are kept. Reads only; infers no label.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from deepfact.core.labels import from_data_set
from deepfact.errors import InputError
from deepfact.importers.base import Imported, SkippedRow
from deepfact.importers.published import (
    good_rows,
    model_answer,
    note_counts,
    note_repeated,
    published_files,
)
from deepfact.importers.rows import json_rows
from deepfact.records import (
    Annotation,
    Claim,
    Evidence,
    Origin,
    Provenance,
    Source,
    SourceRole,
    Span,
    Stance,
    sha256_of,
)
from deepfact.store.files import explain

NAME = "ExpertQA"

BOILERPLATE = frozenset({"This is Bing.", "References[9]:"})
"""What the splitting of answers took for claims and is none."""

STANCES = {"Complete": Stance.SUPPORTS, "Partial": Stance.CONTEXT, "Incomplete": Stance.CONTEXT}
"""``support`` -> the stance of the cited passages. Partial support leaves a part open; the other
words say that there is no passage, or that nobody judged it."""

_CITATION = re.compile(r"\[(?P<number>\d+)\]\s*(?P<url>\S+)(?:\s*\n\s*(?P<passage>.*))?", re.DOTALL)
_AXES = ("correctness", "support", "reliability", "informativeness", "worthiness")


class _Claim(BaseModel):
    model_config = ConfigDict(strict=True)
    claim_string: str = Field(min_length=1, pattern=r"\S")
    evidence: list[str] = []
    correctness: str | None = None
    support: str | None = None
    reliability: str | None = None
    informativeness: str | None = None
    worthiness: str | None = None
    reason_missing_support: str | None = None
    revised_claim: str | None = None


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True)
    answer_string: str
    claims: list[dict[str, Any]]
    annotator_id: str = ""


class _Row(BaseModel):
    model_config = ConfigDict(strict=True)
    question: str
    annotator_id: str = ""
    metadata: dict[str, Any] = {}
    answers: dict[str, _Answer]


@dataclass(slots=True)
class _Import:
    """The import in the making."""

    when: datetime
    axis: Literal["correctness", "support"]
    out: Imported = field(default_factory=Imported)
    sources: dict[str, Source] = field(default_factory=dict)
    bare: int = 0
    """Citations that are a URL without a passage."""
    places: dict[str, str] = field(default_factory=dict)
    """Where each answer was given first."""


def read(
    path: Path,
    *,
    when: datetime,
    label: Literal["correctness", "support"] = "correctness",
) -> Imported:
    """The claims of ExpertQA with the passages that the answers cite.

    Args:
        path: one file, such as ``rand_val.jsonl``, or a folder that holds exactly one. Splits
            overlap: an answer that is in two of them has the same claim ids in both.
        when: date of the import, for the provenance of the annotations.
        label: which axis is the label: is the claim true, or does its citation back it.

    Raises:
        InputError: no file or several, or no row is what the format says.
    """
    files = published_files(path, ["*.jsonl"], data_set=NAME)
    if len(files) > 1:
        raise InputError(
            f"{len(files)} files, and the splits of {NAME} overlap",
            where=str(path),
            fix=f"name one of {', '.join(file.name for file in files)}",
        )
    state = _Import(when, label)
    for raw, row in good_rows(json_rows(files[0]), _Row, state.out, data_set=NAME):
        for system, answer in row.answers.items():
            _add_answer(state, row, system, answer, raw.where)
    state.out.sources = list(state.sources.values())
    _note(state, files[0])
    return state.out


def _add_answer(state: _Import, row: _Row, system: str, answer: _Answer, where: str) -> None:
    text = "\n".join((row.question, system, answer.answer_string))
    report = f"expertqa-{sha256_of(text).removeprefix('sha256:')[:12]}"
    first = state.places.setdefault(report, where)
    if first != where:
        skip = SkippedRow(where=f"{where} ({system})", why=f"the answer was given before: {first}")
        state.out.skipped.append(skip)
        return
    document = model_answer(f"{system}'s answer to: {row.question}", answer.answer_string)
    searched = 0
    for number, cells in enumerate(answer.claims, start=1):
        claim_id = f"{report}-c{number:02d}"
        place = f"{where} (claim {claim_id})"
        try:
            found = _Claim.model_validate(cells)
        except ValidationError as error:
            state.out.skipped.append(SkippedRow(where=place, why=f"not a claim: {explain(error)}"))
            continue
        at = answer.answer_string.find(found.claim_string, searched)
        span = Span(start=at, end=at + len(found.claim_string)) if at >= 0 else None
        searched = span.end if span else searched
        origin = Origin(report=report, document=document.id, sentence=number - 1, span=span)
        who = answer.annotator_id or row.annotator_id
        if _add_claim(state, row, found, claim_id, origin, who, place):
            state.sources.setdefault(document.id, document)


def _add_claim(
    state: _Import, row: _Row, found: _Claim, claim_id: str, origin: Origin, who: str, place: str
) -> bool:
    if found.claim_string.strip() in BOILERPLATE:
        skip = SkippedRow(where=place, why=f"{found.claim_string!r} is boilerplate, no claim")
        state.out.skipped.append(skip)
        return False
    word = found.correctness if state.axis == "correctness" else found.support
    if state.axis == "support" and word == "N/A":
        skip = SkippedRow(where=place, why="support is N/A: the answer cites nothing to judge")
        state.out.skipped.append(skip)
        return False
    table = "expertqa" if state.axis == "correctness" else "expertqa-support"
    try:
        label = None if word is None else from_data_set(table, word)
    except InputError as error:
        state.out.skipped.append(SkippedRow(where=place, why=f"{error.what}; {error.fix}"))
        return False
    passages = _passages(state, found)
    claim = Claim(
        id=claim_id,
        text=found.claim_string,
        context=f"From an answer to: {row.question}",
        origin=origin,
        cites=tuple(passage.id for passage in passages),
        domain=str(row.metadata.get("field") or ""),
    )
    annotation = None
    if label is not None:
        annotation = Annotation(
            label=label,
            rationale=_rationale(found),
            evidence=_evidence(passages, found.support),
            provenance=Provenance(who=f"expertqa expert {who}".strip(), when=state.when),
            original_label=word or "",
        )
    state.out.claims.append((claim, annotation))
    return True


def _passages(state: _Import, found: _Claim) -> list[Source]:
    """The cited passages as sources, each once. A bare URL gives nothing that could be read."""
    passages = []
    for citation in found.evidence:
        match = _CITATION.fullmatch(citation.strip())
        url = match["url"] if match else ""
        text = ((match["passage"] or "") if match else citation).strip()
        if not text:
            state.bare += 1
            continue
        source = Source.create(
            title=url or "cited passage", url=url, role=SourceRole.SECONDARY, text=text
        )
        passages.append(state.sources.setdefault(source.id, source))
    return list({passage.id: passage for passage in passages}.values())


def _evidence(passages: list[Source], support: str | None) -> tuple[Evidence, ...]:
    """The passages, whole: the experts judged them together and marked no words."""
    stance = STANCES.get(support or "")
    if stance is None:
        return ()
    return tuple(
        Evidence(source=p.id, quote=p.text, stance=stance, span=Span(start=0, end=len(p.text)))
        for p in passages
    )


def _rationale(found: _Claim) -> str:
    """Every axis in the expert's words, why support is missing, and the claim as they put it."""
    axes = [f"{axis}: {getattr(found, axis)}" for axis in _AXES if getattr(found, axis)]
    said = [f"ExpertQA's expert said {'; '.join(axes)}."]
    if reason := (found.reason_missing_support or "").strip():
        said.append(f"Why support is missing: {reason}")
    revised = (found.revised_claim or "").strip()
    if revised and revised != found.claim_string.strip():
        said.append(f"Revised to: {revised}")
    return "\n".join(said)


def _note(state: _Import, file: Path) -> None:
    out = state.out
    out.notes.append(
        f"{NAME}, {file.name}. Licence: MIT. The label is the axis {state.axis!r}; all axes are "
        "in the rationale. One expert judged each claim, so there is no agreement to tell."
    )
    note_counts(out, "expertqa" if state.axis == "correctness" else "expertqa-support")
    alone = sum(not claim.cites for claim, _ in out.claims)
    spanless = sum(claim.origin is None or claim.origin.span is None for claim, _ in out.claims)
    out.notes.append(
        f"{alone} claims have no passage to read: they cite nothing, or bare URLs ({state.bare} "
        f"citations). {spanless} claims do not stand in the answer word for word and have no span. "
        "Citation markers such as [3] are a part of the claims."
    )
    note_repeated(out)
