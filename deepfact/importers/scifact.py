"""SciFact: scientific claims, the abstracts they cite, and rationale sentences.

Reads a folder with ``claims_<split>.jsonl`` and ``corpus.jsonl`` (or ``corpus_sample.jsonl``).
Layout: https://github.com/allenai/scifact/blob/master/doc/data.md. Document ids are strings in
``evidence`` and integers elsewhere; sentence indices are 0-based positions in the abstract.
Reads only; infers no label.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Mapping

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from deepfact.core.labels import NO_EVIDENCE, from_data_set
from deepfact.errors import InputError
from deepfact.importers.base import Imported, SkippedRow, note_repeated_texts
from deepfact.importers.rows import json_objects
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
    Trust,
)
from deepfact.store.files import explain

WHO = "scifact annotators"

CLAIM_FILES = {
    "dev": ("claims_dev.jsonl",),
    "train": ("claims_train.jsonl",),
    "test": ("claims_test_labelled.refute-names.jsonl", "claims_test.jsonl"),
}
"""Files that may hold a split, the first that is there is read. The official test file has no
``evidence``: its claims are unlabelled, which is not the same as an empty ``evidence``."""

CORPUS_FILES = ("corpus.jsonl", "corpus_sample.jsonl")

_STANCES = {
    Label.SUPPORTED: Stance.SUPPORTS,
    Label.CONTRADICTORY: Stance.CONTRADICTS,
}
_VERBS = {Label.SUPPORTED: "supports", Label.CONTRADICTORY: "contradicts"}


class _Rationale(BaseModel):
    """Sentences that suffice for the label, together. Only claims that have a label have one."""

    model_config = ConfigDict(extra="forbid", strict=True)
    sentences: list[int] = Field(min_length=1)
    label: Literal["SUPPORT", "CONTRADICT", "REFUTE"]


class _ClaimRow(BaseModel):
    model_config = ConfigDict(strict=True)
    id: int
    claim: str = Field(min_length=1)
    evidence: dict[str, list[_Rationale]] | None = None
    cited_doc_ids: list[int] = []

    def documents(self) -> list[int]:
        """Documents that are cited or hold evidence, cited first, each once."""
        evidence = (int(key) for key in self.evidence or {})
        return list(dict.fromkeys([*self.cited_doc_ids, *evidence]))

    def rationales(self) -> list[tuple[int, list[_Rationale]]]:
        """Documents with their rationales; one that has none is left out."""
        return [(int(key), found) for key, found in (self.evidence or {}).items() if found]


class _DocumentRow(BaseModel):
    model_config = ConfigDict(strict=True)
    doc_id: int
    title: str
    abstract: list[Annotated[str, Field(min_length=1)]]


@dataclass(frozen=True, slots=True)
class _Document:
    source: Source
    spans: tuple[Span, ...]
    """Of each sentence, in the source's text."""


def read(
    path: Path,
    *,
    when: datetime,
    split: Literal["dev", "train", "test"] = "dev",
    corpus: Literal["needed", "all"] = "needed",
) -> Imported:
    """The claims of one split of SciFact with the abstracts they need.

    Args:
        path: the folder of the data set.
        when: date of the import, for the provenance of the annotations.
        split: which claims.
        corpus: ``needed`` for the abstracts that claims cite or use as evidence, ``all`` for
            every abstract in the file (distractors for retrieval).

    Raises:
        InputError: a file is missing, or a row is not what SciFact's format says.
    """
    if not path.is_dir():
        raise InputError(
            "SciFact is read from a folder",
            where=str(path),
            fix="name the folder that holds claims_dev.jsonl and corpus.jsonl",
        )
    claims_file = _first(path, CLAIM_FILES[split])
    corpus_file = _first(path, CORPUS_FILES)
    rows = _claim_rows(claims_file)
    wanted = None if corpus == "all" else {d for _, row in rows for d in row.documents()}
    documents = _documents(corpus_file, wanted)
    out = Imported(sources=[document.source for document in documents.values()])
    for where, row in rows:
        _add(out, row, documents, where, when)
    _note(out, [row for _, row in rows], documents, claims_file, corpus_file)
    return out


def _first(folder: Path, names: tuple[str, ...]) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise InputError(
        f"the folder has no {' or '.join(names)}",
        where=str(folder),
        fix="name the folder that holds the claims and the corpus of SciFact",
    )


def _checked(model: type[Any], cells: Mapping[str, Any], where: str) -> Any:
    try:
        return model.model_validate(cells)
    except ValidationError as error:
        raise InputError(
            f"not a row of SciFact: {explain(error)}", where=where, fix="is it the right file?"
        ) from None


def _claim_rows(path: Path) -> list[tuple[str, _ClaimRow]]:
    rows: list[tuple[str, _ClaimRow]] = []
    seen: dict[int, str] = {}
    for raw in json_objects(path):
        row: _ClaimRow = _checked(_ClaimRow, raw.cells, raw.where)
        for key in row.evidence or {}:
            if not (key.isascii() and key.isdigit() and len(key) < 19):
                raise InputError(f"{key!r} in evidence is no document id", where=raw.where)
        if row.id in seen:
            raise InputError(
                f"the claim id {row.id} is given twice", where=f"{raw.where}, and {seen[row.id]}"
            )
        seen[row.id] = raw.where
        rows.append((raw.where, row))
    return rows


def _documents(path: Path, wanted: set[int] | None) -> dict[int, _Document]:
    documents: dict[int, _Document] = {}
    seen: set[int] = set()
    for raw in json_objects(path):
        row: _DocumentRow = _checked(_DocumentRow, raw.cells, raw.where)
        if row.doc_id in seen:
            raise InputError(f"the document {row.doc_id} is given twice", where=raw.where)
        seen.add(row.doc_id)
        if wanted is None or row.doc_id in wanted:
            documents[row.doc_id] = _document(row)
    return documents


def _document(row: _DocumentRow) -> _Document:
    """The abstract as a source: its sentences, unchanged, with one space between them."""
    spans, start = [], 0
    for sentence in row.abstract:
        spans.append(Span(start=start, end=start + len(sentence)))
        start += len(sentence) + 1
    source = Source.create(
        title=row.title,
        role=SourceRole.PRIMARY,
        trust=Trust.UNKNOWN,
        text=" ".join(row.abstract),
        url=f"https://api.semanticscholar.org/CorpusID:{row.doc_id}",
    )
    return _Document(source, tuple(spans))


def _add(
    out: Imported, row: _ClaimRow, documents: Mapping[int, _Document], where: str, when: datetime
) -> None:
    published: list[str] = sorted({r.label for _, found in row.rationales() for r in found})
    labels = {from_data_set("scifact", word, where=where) for word in published or [NO_EVIDENCE]}
    if len(labels) > 1:
        out.skipped.append(
            SkippedRow(
                where=f"{where} (claim {row.id})",
                why=f"its documents carry different labels ({', '.join(published)}); "
                "SciFact labels pairs of claim and document, and has none for the claim",
            )
        )
        return
    claim = Claim(
        id=f"scifact-{row.id}",
        text=row.claim,
        cites=tuple(documents[d].source.id for d in row.documents() if d in documents),
        domain="biomedicine",
    )
    if row.evidence is None:
        out.claims.append((claim, None))
        return
    label = labels.pop()
    annotation = Annotation(
        label=label,
        rationale=_rationale(row, label, documents),
        evidence=_evidence(row, label, documents, where),
        provenance=Provenance(who=WHO, when=when),
        original_label=", ".join(published) or NO_EVIDENCE,
    )
    out.claims.append((claim, annotation))


def _sentences(rationales: list[_Rationale]) -> list[int]:
    return sorted({index for rationale in rationales for index in rationale.sentences})


def _evidence(
    row: _ClaimRow, label: Label, documents: Mapping[int, _Document], where: str
) -> tuple[Evidence, ...]:
    """One piece of evidence for each rationale sentence whose document is in the corpus."""
    found = []
    for key, rationales in row.rationales():
        document = documents.get(key)
        if document is None:
            continue
        for index in _sentences(rationales):
            if not 0 <= index < len(document.spans):
                raise InputError(
                    f"document {key} has {len(document.spans)} sentences, none at {index}",
                    where=where,
                )
            span, text = document.spans[index], document.source.text
            found.append(
                Evidence(
                    source=document.source.id,
                    quote=text[span.start : span.end],
                    stance=_STANCES[label],
                    span=span,
                )
            )
    return tuple(found)


def _rationale(row: _ClaimRow, label: Label, documents: Mapping[int, _Document]) -> str:
    """What the data set says, in a sentence for each document. Sentences count from 1."""
    if not row.rationales():
        n = len(row.cited_doc_ids)
        return (
            "SciFact's annotators marked no evidence for or against the claim in the "
            f"{'abstract it cites' if n == 1 else f'{n} abstracts it cites'}."
        )
    said = []
    for key, rationales in row.rationales():
        document = documents.get(key)
        name = f'"{document.source.title}"' if document else f"document {key} (not imported)"
        places = [str(index + 1) for index in _sentences(rationales)]
        word = "sentence" if len(places) == 1 else "sentences"
        said.append(
            f"SciFact's annotators: the abstract of {name} {_VERBS[label]} the claim, "
            f"{word} {', '.join(places)}."
        )
    return "\n".join(said)


def _note(
    out: Imported,
    rows: list[_ClaimRow],
    documents: Mapping[int, _Document],
    claims_file: Path,
    corpus_file: Path,
) -> None:
    """What a reader of the dataset card must know of these claims and this corpus."""
    out.notes.append(
        f"SciFact, {claims_file.name} and {corpus_file.name}. Claims and evidence annotations: "
        "CC BY 4.0; abstracts (S2ORC): ODC-By 1.0."
    )
    out.notes.append(
        "Labels: SUPPORT is supported; CONTRADICT or REFUTE is contradictory; an empty evidence "
        "is inconclusive (no evidence in the cited abstracts, which is no statement about the "
        "world)."
    )
    if claims_file.name in CLAIM_FILES["test"]:
        out.notes.append(
            "SciFact's test labels were held back for its leaderboard: use this split to check "
            "scores, not to tune a verifier."
        )
    missing = {row.id: [d for d in row.documents() if d not in documents] for row in rows}
    missing = {claim: lost for claim, lost in missing.items() if lost}
    if missing:
        alone = sum(
            len(lost) == len(row.documents()) for row in rows if (lost := missing.get(row.id))
        )
        listed = "; ".join(f"scifact-{c}: {', '.join(map(str, d))}" for c, d in missing.items())
        out.notes.append(
            f"{len(missing)} claims cite documents that {corpus_file.name} does not hold; "
            f"{alone} of them are left with no source at all. They keep their published label. "
            f"Claim and missing documents: {listed}."
        )
    unlabelled = sum(row.evidence is None for row in rows)
    if unlabelled:
        out.notes.append(f"{unlabelled} claims are unlabelled: the file publishes no evidence.")
    note_repeated_texts(out)
