"""WiCE: claims of Wikipedia against the web pages that they cite, down to sentences.

Reads the claim-level JSON Lines of https://github.com/ryokamoi/wice: as published, with the
``evidence`` sentences, or cut to the annotated ones (``supporting_text``). Reads only; infers no
label.
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
)

NAME = "WiCE"
WHO = "wice annotators"


class _Meta(BaseModel):
    model_config = ConfigDict(strict=True)
    id: Annotated[str, Field(min_length=1, max_length=190, pattern=r"^[^\s/\\]+$")]
    claim_title: str = ""
    claim_section: str = ""
    claim_context: str = ""


class _Row(BaseModel):
    model_config = ConfigDict(strict=True)
    label: Literal["supported", "partially_supported", "not_supported"]
    claim: str = Field(min_length=1)
    supporting_sentences: list[list[Annotated[int, Field(ge=0)]]]
    meta: _Meta
    evidence: list[str] | None = None
    supporting_text: dict[str, str] | None = None

    def sentences(self) -> dict[int, str]:
        """The sentences of the cited page that the file holds, by their number there."""
        if self.evidence is not None:
            return dict(enumerate(self.evidence))
        return {int(key): text for key, text in (self.supporting_text or {}).items()}


def read(
    path: Path, *, when: datetime, split: Literal["dev", "test", "train"] = "test"
) -> Imported:
    """The claims of one split with the sentences that the file holds of the pages they cite.

    Args:
        path: a file, or the folder that holds ``claim_<split>*.jsonl``.
        when: date of the import, for the provenance of the annotations.
        split: which claims, with a folder.

    Raises:
        InputError: no file, or no row is what the format says.
    """
    patterns = [f"claim_{split}*.jsonl", f"{split}.jsonl"]
    file = published_files(path, patterns, data_set=NAME)[0]
    out = Imported()
    sources: dict[str, Source] = {}
    seen: set[str] = set()
    cut = False
    for raw, row in good_rows(json_rows(file), _Row, out, data_set=NAME):
        place = f"{raw.where} (claim wice-{row.meta.id})"
        problem = _problem(row, seen)
        if problem:
            out.skipped.append(SkippedRow(where=place, why=problem))
            continue
        seen.add(row.meta.id)
        cut = cut or row.evidence is None
        _add(out, row, sources, when, place)
    out.sources = list(sources.values())
    _note(out, file, cut)
    return out


def _problem(row: _Row, seen: set[str]) -> str:
    """Why a row cannot be imported; empty when it can."""
    if row.meta.id in seen:
        return "the id was given before"
    if any(not key.isdecimal() for key in row.supporting_text or {}):
        return "supporting_text has a key that is no number of a sentence"
    there = row.sentences()
    lost = {index for group in row.supporting_sentences for index in group} - set(there)
    if lost:
        return f"supporting sentences that are not there: {', '.join(map(str, sorted(lost)))}"
    return ""


def _add(out: Imported, row: _Row, sources: dict[str, Source], when: datetime, place: str) -> None:
    there = {index: text for index, text in row.sentences().items() if text}
    spans, start = {}, 0
    for index, text in there.items():
        spans[index] = Span(start=start, end=start + len(text))
        start += len(text) + 1
    source = None
    if there:
        source = Source.create(
            title=f"Page cited by the article {row.meta.claim_title}",
            role=SourceRole.SECONDARY,
            text="\n".join(there.values()),
        )
        sources.setdefault(source.id, source)
    claim = Claim(
        id=f"wice-{row.meta.id}",
        text=row.claim,
        context=_context(row.meta),
        origin=Origin(report=f"wice-{id_part(row.meta.claim_title) or row.meta.id}"),
        cites=(source.id,) if source else (),
    )
    used = sorted({index for group in row.supporting_sentences for index in group} & set(there))
    stance = Stance.SUPPORTS if row.label == "supported" else Stance.CONTEXT
    annotation = Annotation(
        label=from_data_set("wice", row.label, where=place),
        rationale=_rationale(row, {index: n for n, index in enumerate(there, start=1)}),
        evidence=tuple(
            Evidence(source=source.id, quote=there[index], stance=stance, span=spans[index])
            for index in used
            if source
        ),
        provenance=Provenance(who=WHO, when=when),
        original_label=row.label,
    )
    out.claims.append((claim, annotation))


def _context(meta: _Meta) -> str:
    place = ", ".join(filter(None, (meta.claim_title, meta.claim_section.strip(" ."))))
    return "\n".join(filter(None, (f"Wikipedia: {place}" if place else "", meta.claim_context)))


def _rationale(row: _Row, numbers: dict[int, int]) -> str:
    """The alternative sets of sentences, each enough by itself, as sentences of our source."""
    sets = [sorted(numbers[i] for i in group if i in numbers) for group in row.supporting_sentences]
    distinct = list(dict.fromkeys(tuple(group) for group in sets if group))
    if not distinct:
        return "WiCE's annotators marked no sentence that supports a part of the claim."
    listed = "; ".join(", ".join(map(str, group)) for group in distinct)
    what = "the claim" if row.label == "supported" else "a part of the claim"
    return (
        f"WiCE's annotators: the page supports {what} with these sentences of the source (each "
        f"set alone): {listed}."
    )


def _note(out: Imported, file: Path, cut: bool) -> None:
    out.notes.append(
        f"{NAME}, {file.name}. Licence: annotations ODC-By; claims are Wikipedia's, CC BY-SA; "
        "pages come from Common Crawl, under its terms."
    )
    note_counts(out, "wice")
    out.notes.append(
        "Only supported is positive: a claim that is supported in part, or not, is inconclusive. "
        "Nobody was asked for contradictions, so read the scores of supported against the rest."
    )
    if cut:
        out.notes.append(
            "The file holds only the sentences that annotators marked, so a verifier reads the "
            "answer beside the question: retrieval cannot be measured on it."
        )
    note_repeated(out)
