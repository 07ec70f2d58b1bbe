"""FActScore: atomic facts of biographies by three systems, checked by people against Wikipedia.

Reads ``<system>.jsonl`` as released with https://github.com/shmsw25/FActScore. The articles are
not in the files, so claims have no sources. Reads only; infers no label.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Iterator, Literal

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
from deepfact.records import Annotation, Claim, Origin, Provenance, Source

NAME = "FActScore"
WHO = "factscore annotators"
IRRELEVANT = "IR"
SYSTEMS = ("InstructGPT", "ChatGPT", "PerplexityAI")


class _Fact(BaseModel):
    model_config = ConfigDict(strict=True)
    text: Annotated[str, Field(min_length=1)]


class _HumanFact(_Fact):
    label: Literal["S", "NS", "IR"]


class _Sentence(BaseModel):
    model_config = ConfigDict(strict=True)
    text: str = ""
    is_relevant: Annotated[bool, Field(alias="is-relevant")]
    by_model: Annotated[list[_Fact] | None, Field(alias="model-atomic-facts")] = None
    by_people: Annotated[list[_HumanFact] | None, Field(alias="human-atomic-facts")] = None


class _Row(BaseModel):
    model_config = ConfigDict(strict=True)
    input: str
    output: str
    topic: str
    annotations: list[_Sentence] | None


@dataclass(frozen=True, slots=True)
class Fact:
    """An atomic fact with the word that people gave it."""

    sentence: int
    """Of the response, from 0."""
    number: int
    """In the sentence, from 0."""
    text: str
    word: str
    """S, NS or IR. A fact of a sentence that is irrelevant as a whole is IR."""


@dataclass(frozen=True, slots=True)
class Response:
    """A system's answer and its facts; ``facts`` is None where the system declined to answer."""

    where: str
    report: str
    topic: str
    output: str
    facts: tuple[Fact, ...] | None


def responses(file: Path, out: Imported) -> Iterator[Response]:
    """The answers of one file; rows that are none are listed in ``out.skipped``.

    Raises:
        InputError: unreadable, or no row is what the format says.
    """
    system = id_part(file.stem)
    rows = good_rows(json_rows(file), _Row, out, data_set=NAME)
    for number, (raw, row) in enumerate(rows, start=1):
        facts = None if row.annotations is None else tuple(_facts(row.annotations))
        report = f"factscore-{system}-{number:03d}"
        yield Response(raw.where, report, row.topic, row.output, facts)


def _facts(sentences: list[_Sentence]) -> Iterator[Fact]:
    """People's facts; for a sentence that is irrelevant as a whole the model's facts, which
    nobody judged one by one, as irrelevant."""
    for index, sentence in enumerate(sentences):
        judged = [(fact.text, fact.label) for fact in sentence.by_people or ()]
        if not sentence.is_relevant:
            judged += [(fact.text, "IR") for fact in sentence.by_model or ()]
        for number, (text, word) in enumerate(judged):
            yield Fact(index, number, text, word)


def read(path: Path, *, when: datetime) -> Imported:
    """The facts that people found supported or not, each a claim.

    Irrelevant facts (IR) are skipped with that reason: nobody judged whether they are true. A
    response of a system that declined is one skipped row.

    Args:
        path: a file, or the folder that holds the systems' files.
        when: date of the import, for the provenance of the annotations.

    Raises:
        InputError: no file, or no row of one is what the format says.
    """
    files = published_files(path, [f"{name}.jsonl" for name in SYSTEMS], data_set=NAME)
    out = Imported()
    for file in files:
        for response in responses(file, out):
            _add(out, response, when)
    _note(out, files)
    return out


def _add(out: Imported, response: Response, when: datetime) -> None:
    if response.facts is None:
        why = f"the system declined to answer (biography of {response.topic})"
        out.skipped.append(SkippedRow(where=response.where, why=why))
        return
    document: Source | None = None
    for fact in response.facts:
        claim_id = f"{response.report}-s{fact.sentence + 1:02d}-f{fact.number + 1:02d}"
        place = f"{response.where} (claim {claim_id})"
        if fact.word == IRRELEVANT:
            why = "irrelevant to the prompt (IR), so nobody judged whether it is true"
            out.skipped.append(SkippedRow(where=place, why=why))
            continue
        if document is None:
            document = model_answer(f"Biography of {response.topic}", response.output)
            out.sources.append(document)
        claim = Claim(
            id=claim_id,
            text=fact.text,
            context=f"From a biography of {response.topic}",
            origin=Origin(report=response.report, document=document.id, sentence=fact.sentence),
        )
        annotation = Annotation(
            label=from_data_set("factscore", fact.word, where=place),
            provenance=Provenance(who=WHO, when=when),
            original_label=fact.word,
        )
        out.claims.append((claim, annotation))


def _note(out: Imported, files: list[Path]) -> None:
    # Two systems may give the same answer, word for word; it is one source.
    out.sources = list({source.id: source for source in out.sources}.values())
    out.notes.append(
        f"{NAME} human labels, {', '.join(file.name for file in files)}. Licence: MIT. NS says "
        "that Wikipedia does not support the fact, not that it contradicts it: read the scores of "
        "supported against the rest. The Wikipedia articles are not in the files, so no claim "
        "has a source."
    )
    note_counts(out, "factscore")
    note_repeated(out)
