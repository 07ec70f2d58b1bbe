"""Citation-Integrity: citing sentences of biomedical papers, against passages of the cited paper.

Reads a folder with ``claims_<split>.jsonl`` and a ``corpus*.jsonl``. Layout as SciFact's:
https://github.com/ScienceNLP-Lab/Citation-Integrity. Markers such as ``<|cit|>`` stand in the
claims for reference numbers and are kept. Reads only; infers no label.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from deepfact.core.labels import NO_EVIDENCE, from_data_set
from deepfact.errors import InputError
from deepfact.importers.base import Imported, SkippedRow
from deepfact.importers.published import good_rows, note_counts, note_repeated, published_files
from deepfact.importers.rows import json_rows
from deepfact.records import (
    Annotation,
    Claim,
    Evidence,
    Label,
    Provenance,
    Source,
    SourceRole,
    Span,
    Stance,
)

NAME = "Citation-Integrity"
WHO = "citation-integrity annotators"
MARKERS = ("<|cit|>", "<|multi_cit|>", "<|other_cit|>")

_STANCES = {Label.SUPPORTED: Stance.SUPPORTS, Label.CONTRADICTORY: Stance.CONTRADICTS}


class _Rationale(BaseModel):
    model_config = ConfigDict(strict=True)
    sentences: list[Annotated[int, Field(ge=0)]]
    label: Literal["SUPPORT", "REFUTE"]


class _ClaimRow(BaseModel):
    model_config = ConfigDict(strict=True)
    id: int
    claim: str = Field(min_length=1)
    evidence: dict[str, list[_Rationale]]
    cited_doc_ids: list[int | str] = []

    def documents(self) -> list[str]:
        """Document ids as text, cited first, each once: the files mix numbers and strings."""
        return list(dict.fromkeys([*map(str, self.cited_doc_ids), *self.evidence]))


class _DocumentRow(BaseModel):
    model_config = ConfigDict(strict=True)
    doc_id: int | str
    title: str = ""
    abstract: list[Annotated[str, Field(min_length=1)]] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class _Document:
    source: Source
    spans: tuple[Span, ...]
    """Of each passage, in the source's text."""


def read(
    path: Path, *, when: datetime, split: Literal["train", "dev", "test"] = "test"
) -> Imported:
    """The claims of one split with the passages of the papers that they cite.

    Args:
        path: the folder of the data set.
        when: date of the import, for the provenance of the annotations.
        split: which claims.

    Raises:
        InputError: a file is missing, or no row of one is what the format says.
    """
    if not path.is_dir():
        raise InputError(f"{NAME} is read from a folder", where=str(path))
    [claims_file] = published_files(path, [f"claims_{split}.jsonl"], data_set=NAME)
    out = Imported()
    rows = list(good_rows(json_rows(claims_file), _ClaimRow, out, data_set=NAME))
    wanted = {name for _, row in rows for name in row.documents()}
    documents: dict[str, _Document] = {}
    for corpus in published_files(path, ["corpus*.jsonl"], data_set=NAME):
        _read_documents(corpus, wanted, documents, out)
    out.sources = list({d.source.id: d.source for d in documents.values()}.values())
    seen: set[int] = set()
    for raw, row in rows:
        if row.id in seen:
            why = f"the claim id {row.id} was given before"
            out.skipped.append(SkippedRow(where=raw.where, why=why))
            continue
        seen.add(row.id)
        _add(out, row, f"citint-{split}-{row.id}", documents, raw.where, when)
    _note(out, [row for _, row in rows], documents, claims_file)
    return out


def _read_documents(
    path: Path, wanted: set[str], documents: dict[str, _Document], out: Imported
) -> None:
    for raw, row in good_rows(json_rows(path), _DocumentRow, out, data_set=f"{NAME}'s corpus"):
        name = str(row.doc_id)
        if name not in wanted:
            continue
        if name in documents:
            why = f"the document {name} was given before"
            out.skipped.append(SkippedRow(where=raw.where, why=why))
            continue
        spans, start = [], 0
        for passage in row.abstract:
            spans.append(Span(start=start, end=start + len(passage)))
            start += len(passage) + 1
        source = Source.create(
            title=row.title or f"cited paper {name}",
            role=SourceRole.PRIMARY,
            text="\n".join(row.abstract),
        )
        documents[name] = _Document(source, tuple(spans))


def _add(
    out: Imported,
    row: _ClaimRow,
    claim_id: str,
    documents: dict[str, _Document],
    where: str,
    when: datetime,
) -> None:
    place = f"{where} (claim {claim_id})"
    words = sorted({found.label for group in row.evidence.values() for found in group})
    if len(words) > 1:
        why = f"its documents carry different labels ({', '.join(words)}), the claim has none"
        out.skipped.append(SkippedRow(where=place, why=why))
        return
    word = words[0] if words else NO_EVIDENCE
    label = from_data_set("citation-integrity", word, where=place)
    evidence: dict[tuple[str, int], Evidence] = {}
    for name, group in row.evidence.items():
        document = documents.get(name)
        if document is None:
            continue
        for index in (index for found in group for index in found.sentences):
            if index >= len(document.spans):
                why = f"document {name} has {len(document.spans)} passages, none at {index}"
                out.skipped.append(SkippedRow(where=place, why=why))
                return
            span, text = document.spans[index], document.source.text
            evidence[name, index] = Evidence(
                source=document.source.id,
                quote=text[span.start : span.end],
                stance=_STANCES[label],
                span=span,
            )
    claim = Claim(
        id=claim_id,
        text=row.claim,
        cites=tuple(documents[name].source.id for name in row.documents() if name in documents),
        domain="biomedicine",
    )
    annotation = Annotation(
        label=label,
        evidence=tuple(evidence.values()),
        provenance=Provenance(who=WHO, when=when),
        original_label=word,
    )
    out.claims.append((claim, annotation))


def _note(
    out: Imported, rows: list[_ClaimRow], documents: dict[str, _Document], file: Path
) -> None:
    out.notes.append(
        f"{NAME}, {file.name}. Licence: MIT. Sources are bundles of passages of the cited paper, "
        "not the paper; they have no titles, so they are named by their numbers."
    )
    note_counts(out, "citation-integrity")
    marked = sum(any(marker in claim.text for marker in MARKERS) for claim, _ in out.claims)
    out.notes.append(
        f"{marked} claims hold markers ({', '.join(MARKERS)}) in the place of reference numbers: "
        "<|cit|> is the citation that is checked."
    )
    missing = [row.id for row in rows if any(name not in documents for name in row.documents())]
    if missing:
        out.notes.append(
            f"{len(missing)} claims cite documents that the corpus does not hold: "
            f"{', '.join(map(str, missing))}."
        )
    note_repeated(out)
