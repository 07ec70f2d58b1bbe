"""VeriScore: claims with search results and people's labels; and answers that it has verified.

Reads the files of https://github.com/Yixiao-Song/VeriScore: ``few_shot_examples.jsonl``, whose
labels are people's, and ``data_sample.jsonl``, whose verdicts are a model's and so become no
labels. Reads only; infers no label.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

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
from deepfact.importers.rows import BadRow, Row, json_rows
from deepfact.records import (
    Annotation,
    Claim,
    Origin,
    Provenance,
    Source,
    SourceRole,
    sha256_of,
)

NAME = "VeriScore"
WHO = "veriscore annotators"
NO_CLAIM = "No verifiable claim."
"""What stands in the place of the claims of a sentence that has none."""

_RESULT = re.compile(r"^Search result \d+\s*\n", re.MULTILINE)
_FIELD = re.compile(r"^(Title|Link|Content): ?", re.MULTILINE)


class _Example(BaseModel):
    model_config = ConfigDict(strict=True)
    claim: Annotated[str, Field(min_length=1)]
    search_result: str
    human_label: Literal["Supported.", "Contradicted.", "Inconclusive."]


class _Verified(BaseModel):
    model_config = ConfigDict(strict=True)
    claim: str
    search_results: str = ""
    verification_result: str | None = None


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True)
    question: str
    response: str
    model: str = ""
    claim_list: list[list[str]]
    claim_verification_result: list[_Verified] = []


@dataclass(slots=True)
class _Import:
    """The import in the making."""

    when: datetime
    out: Imported = field(default_factory=Imported)
    sources: dict[str, Source] = field(default_factory=dict)
    verdicts: dict[str, int] = field(default_factory=dict)
    """The model's, by word."""
    seen: set[str] = field(default_factory=set)

    def found(self, text: str) -> tuple[str, ...]:
        """Ids of the search results of a claim, each a source."""
        ids = []
        for source in search_results(text):
            ids.append(self.sources.setdefault(source.id, source).id)
        return tuple(dict.fromkeys(ids))


def read(path: Path, *, when: datetime) -> Imported:
    """The claims of every file of VeriScore that is there, with their search results.

    Args:
        path: a file, or the folder that holds ``few_shot_examples.jsonl``, ``data_sample.jsonl``
            or both.
        when: date of the import, for the provenance of the annotations.

    Raises:
        InputError: no file, or no row of one is what the formats say.
    """
    files = published_files(path, ["few_shot_examples.jsonl", "data_sample.jsonl"], data_set=NAME)
    state = _Import(when)
    for file in files:
        rows = list(json_rows(file))
        if _has(rows, "human_label"):
            for raw, example in good_rows(rows, _Example, state.out, data_set=NAME):
                _add_example(state, example, raw.where)
        elif _has(rows, "claim_list"):
            for raw, answer in good_rows(rows, _Answer, state.out, data_set=NAME):
                _add_answer(state, answer, raw.where)
        else:
            raise InputError(
                f"not a file of {NAME}: rows have neither human_label nor claim_list",
                where=str(file),
            )
    state.out.sources = list(state.sources.values())
    _note(state, files)
    return state.out


def search_results(text: str) -> list[Source]:
    """The results of a search that are stored as one text; the whole text where they cannot be
    told apart. Fields stand in any order; a result without content has its title to read."""
    blocks = [block for block in _RESULT.split(text) if block.strip()]
    results = []
    for block in blocks:
        parts = _FIELD.split(block)
        cells = {name: value.strip() for name, value in zip(parts[1::2], parts[2::2], strict=True)}
        body = cells.get("Content") or cells.get("Title") or block.strip()
        results.append(
            Source.create(
                title=cells.get("Title") or "search result",
                url=cells.get("Link", ""),
                role=SourceRole.SECONDARY,
                text=body,
            )
        )
    return results


def _has(rows: list[Row | BadRow], column: str) -> bool:
    return any(isinstance(row, Row) and column in row.cells for row in rows)


def _add_example(state: _Import, example: _Example, where: str) -> None:
    claim_id = f"veriscore-{sha256_of(example.claim).removeprefix('sha256:')[:12]}"
    if claim_id in state.seen:
        state.out.skipped.append(SkippedRow(where=where, why="the claim was given before"))
        return
    state.seen.add(claim_id)
    claim = Claim(id=claim_id, text=example.claim, cites=state.found(example.search_result))
    annotation = Annotation(
        label=from_data_set("veriscore", example.human_label, where=where),
        provenance=Provenance(who=WHO, when=state.when),
        original_label=example.human_label,
    )
    state.out.claims.append((claim, annotation))


def _add_answer(state: _Import, answer: _Answer, where: str) -> None:
    """The claims of an answer, in the order of its sentences, without labels."""
    key = "\n".join((answer.question, answer.model, answer.response))
    report = f"veriscore-{sha256_of(key).removeprefix('sha256:')[:12]}"
    document = model_answer(f"{answer.model}'s answer to: {answer.question}", answer.response)
    verified = {found.claim: found for found in answer.claim_verification_result}
    first: dict[str, str] = {}
    for index, claims in enumerate(answer.claim_list):
        for number, text in enumerate(claims, start=1):
            claim_id = f"{report}-s{index + 1:02d}-c{number:02d}"
            place = f"{where} (claim {claim_id})"
            if text.strip() in ("", NO_CLAIM):
                why = f"the sentence has no claim ({text!r})"
                state.out.skipped.append(SkippedRow(where=place, why=why))
                continue
            if text in first:
                why = f"the same claim as {first[text]} of the same answer"
                state.out.skipped.append(SkippedRow(where=place, why=why))
                continue
            first[text] = claim_id
            state.sources.setdefault(document.id, document)
            found = verified.get(text)
            word = (found.verification_result or "" if found else "") or "no verdict"
            state.verdicts[word] = state.verdicts.get(word, 0) + 1
            claim = Claim(
                id=claim_id,
                text=text,
                context=f"From an answer to: {answer.question}",
                origin=Origin(report=report, document=document.id, sentence=index),
                cites=state.found(found.search_results) if found else (),
            )
            state.out.claims.append((claim, None))


def _note(state: _Import, files: list[Path]) -> None:
    out = state.out
    out.notes.append(
        f"{NAME}, {', '.join(file.name for file in files)}. Licence: Apache-2.0. Sources are what "
        "a search shows of a page: title, link and some lines."
    )
    note_counts(out, "veriscore")
    if state.verdicts:
        listed = ", ".join(f"{word} {count}" for word, count in sorted(state.verdicts.items()))
        out.notes.append(
            f"Claims of answers are unlabelled: their stored verdicts ({listed}) are VeriScore's "
            "own, not people's."
        )
    note_repeated(out)
