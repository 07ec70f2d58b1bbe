"""Factcheck-Bench: claims of ChatGPT answers, judged by people against web snippets.

Reads ``factcheck-GPT-benchmark.jsonl`` (one answer on each line) and nothing beside it; the
``nc/`` folder, under a non-commercial licence, is never opened. Layout: Wang et al.,
"Factcheck-Bench", https://github.com/yuxiaw/Factcheck-GPT. Reads only; infers no label.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from deepfact.core.labels import from_data_set
from deepfact.errors import InputError
from deepfact.importers.base import Imported, SkippedRow, note_repeated_texts
from deepfact.importers.rows import json_objects
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
    Trust,
)
from deepfact.store.files import explain

FILE = "factcheck-GPT-benchmark.jsonl"
WHO = "factcheck-bench annotators"

_Stance = Literal["completely-support", "partially-support", "refute", "irrelevant"]

STANCES: dict[_Stance, Stance | None] = {
    "completely-support": Stance.SUPPORTS,
    "partially-support": Stance.CONTEXT,
    "refute": Stance.CONTRADICTS,
    "irrelevant": None,
}
"""``stance_claim_autoEvid`` -> the stance of our evidence. Partial support leaves a part of the
claim open, so it counts as context; an irrelevant snippet is a source that the claim cites but
no evidence."""

NOT_JUDGED = ("unknown", "NA")
"""Labels that say nothing where the claim was not worth checking: nobody judged it."""

_NO_RATIONALE = ("", "NA", "N/A")


class _Sentence(BaseModel):
    """The keys of a sentence that are read; its lists run parallel, one entry a claim."""

    model_config = ConfigDict(strict=True)
    text: str
    claims: list[Annotated[str, Field(min_length=1)]]
    claim_checkworthiness: list[str]
    human_evidence: list[str]
    auto_evidence: list[list[Annotated[str, Field(min_length=1)]]]
    auto_evidence_url: list[list[str]]
    stance_claim_autoEvid: list[list[_Stance]]  # noqa: N815 (the data set's own key)
    claims_factuality_label: list[bool | str]

    @model_validator(mode="after")
    def _parallel(self) -> Self:
        n = len(self.claims)
        for name in type(self).model_fields:
            value = getattr(self, name)
            if isinstance(value, list) and len(value) != n:
                raise ValueError(f"{name} has {len(value)} entries for {n} claims")
        for texts, urls, stances in zip(
            self.auto_evidence, self.auto_evidence_url, self.stance_claim_autoEvid, strict=True
        ):
            # Claims that were not worth checking have snippets without stances.
            if len(texts) != len(urls) or (stances and len(stances) != len(texts)):
                raise ValueError("snippets, their URLs and their stances are not as many")
        return self


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True)
    prompt: str
    response: str
    sentences: dict[str, _Sentence]


@dataclass(slots=True)
class _Import:
    """The import in the making."""

    when: datetime
    sources: dict[str, Source] = field(default_factory=dict)
    """By id, so that a snippet that repeats is one source."""
    out: Imported = field(default_factory=Imported)
    snippets: int = 0

    def keep(self, source: Source) -> Source:
        """Add a source unless it is there."""
        return self.sources.setdefault(source.id, source)


def read(path: Path, *, when: datetime) -> Imported:
    """The claims of Factcheck-Bench with their web snippets and the answers they stood in.

    A claim that was not worth checking and that nobody judged is skipped with that reason:
    ``inconclusive`` would say that somebody looked and could not tell.

    Args:
        path: the folder of the data set, or its main file.
        when: date of the import, for the provenance of the annotations.

    Raises:
        InputError: the file is missing, or a line is not what its format says.
    """
    file = path / FILE if path.is_dir() else path
    if not file.is_file():
        raise InputError(
            "no such file", where=str(file), fix=f"name the folder that holds {FILE}, or the file"
        )
    state = _Import(when)
    for number, row in enumerate(json_objects(file), start=1):
        try:
            answer = _Answer.model_validate(row.cells)
        except ValidationError as error:
            raise InputError(
                f"not an answer of Factcheck-Bench: {explain(error)}",
                where=row.where,
                fix=f"the file that is read is {FILE}",
            ) from None
        _add_answer(state, answer, f"fcb-a{number:02d}", row.where)
    state.out.sources = list(state.sources.values())
    _note(state, file)
    return state.out


def _add_answer(state: _Import, answer: _Answer, report: str, where: str) -> None:
    title = " ".join(answer.prompt.split())
    document = Source.create(
        title=f"ChatGPT's answer to: {title[:160]}",
        role=SourceRole.GENERATED,
        trust=Trust.UNKNOWN,
        text=answer.response,
    )
    searched = 0
    for index, sentence in enumerate(answer.sentences.values()):
        start = answer.response.find(sentence.text, searched) if sentence.text else -1
        span = None
        if start >= 0:
            searched = start + len(sentence.text)
            span = Span(start=start, end=searched)
        origin = Origin(report=report, document=document.id, sentence=index, span=span)
        for position in range(len(sentence.claims)):
            claim_id = f"{report}-s{index + 1}-c{position + 1}"
            if _add_claim(state, sentence, position, claim_id, origin, answer.prompt, where):
                state.keep(document)


def _add_claim(
    state: _Import,
    sentence: _Sentence,
    position: int,
    claim_id: str,
    origin: Origin,
    prompt: str,
    where: str,
) -> bool:
    """Import one claim, or list it as skipped; whether it was imported."""
    label = sentence.claims_factuality_label[position]
    # JSON's true and false stand beside the strings "NA" and "unknown" in one list.
    published = str(label).lower() if isinstance(label, bool) else label
    worth = sentence.claim_checkworthiness[position]
    place = f"{where} (claim {claim_id})"
    if worth != "factual" and published in NOT_JUDGED:
        state.out.skipped.append(
            SkippedRow(where=place, why=f"not worth checking ({worth}), so nobody judged it")
        )
        return False
    snippets = [
        state.keep(
            Source.create(
                title=url or "web snippet",
                url=url,
                role=SourceRole.SECONDARY,
                trust=Trust.UNKNOWN,
                text=text,
            )
        )
        for text, url in zip(
            sentence.auto_evidence[position], sentence.auto_evidence_url[position], strict=True
        )
    ]
    state.snippets += len(snippets)
    said = sentence.human_evidence[position]
    claim = Claim(
        id=claim_id,
        text=sentence.claims[position],
        context=f"From an answer to: {prompt}",
        origin=origin,
        cites=tuple(dict.fromkeys(snippet.id for snippet in snippets)),
    )
    annotation = Annotation(
        label=from_data_set("factcheck-bench", published, where=place),
        rationale="" if said.strip() in _NO_RATIONALE else said,
        evidence=_evidence(snippets, sentence.stance_claim_autoEvid[position]),
        provenance=Provenance(who=WHO, when=state.when),
        original_label=published,
    )
    state.out.claims.append((claim, annotation))
    return True


def _evidence(snippets: list[Source], stances: list[_Stance]) -> tuple[Evidence, ...]:
    """The snippets that bear on the claim, whole: the annotators marked no words in them."""
    found = {
        (snippet.id, stance): Evidence(
            source=snippet.id,
            quote=snippet.text,
            stance=stance,
            span=Span(start=0, end=len(snippet.text)),
        )
        for snippet, published in zip(snippets, stances, strict=False)
        if (stance := STANCES[published]) is not None
    }
    return tuple(found.values())


def _note(state: _Import, file: Path) -> None:
    """What a reader of the dataset card must know."""
    out = state.out
    distinct = len({s.id for s in out.sources if s.role is SourceRole.SECONDARY})
    spanless = sum(c.origin is None or c.origin.span is None for c, _ in out.claims)
    silent = sum(a is not None and not a.rationale for _, a in out.claims)
    out.notes += [
        f"Factcheck-Bench, {file.name}. Licence: Apache-2.0. The FELM rows (CC BY-NC-SA) are not "
        "read.",
        "Labels: true is supported, false is contradictory, unknown is inconclusive.",
        f"{len(out.claims)} claims imported, {len(out.skipped)} skipped: they were not worth "
        "checking and carry no judgement.",
        f"{state.snippets} web snippets are {distinct} distinct sources (text and URL); some are "
        "cut in mid-word. Their titles are their URLs: the data set gives none.",
        f"{spanless} claims stand in sentences that the answer does not hold word for word; they "
        "carry a sentence number and no span.",
        f"{silent} claims have no rationale: the annotators wrote none.",
        "Sources hold the snippets that a search found for the claim, not what annotators looked "
        "up themselves: that is named in the rationale only.",
    ]
    note_repeated_texts(out)
