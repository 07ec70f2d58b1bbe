"""A model rates the sentences of a report: checkable or not, and how relevant to its question.

Through the engine, so that every answer is kept and none is paid for twice. Ratings are matched by
the sentence's number; a sentence that the model left out, named twice or rated unreadably keeps
the rating by rules, and the record says so. Nothing is changed but ratings.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from deepfact.documents.records import ReportRecord, Sentence
from deepfact.errors import RunIncomplete
from deepfact.executors.engine import Engine, check_usable
from deepfact.model_records import Message, Request
from deepfact.prompts.fence import escape
from deepfact.prompts.library import SHIPPED
from deepfact.prompts.schema import why_not
from deepfact.providers.base import CallFailed
from deepfact.providers.registry import ProviderSpec, build_provider
from deepfact.records import Record, sha256_of
from deepfact.store.responses import ResponseStore

PROMPT = "rating/report-sentences/v1"
PER_REQUEST = 25
"""Sentences rated in one call."""
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["ratings"],
    "properties": {
        "ratings": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["sentence", "verifiable", "relevance", "reason"],
                "properties": {
                    "sentence": {"type": "string"},
                    "verifiable": {"type": "boolean"},
                    "relevance": {"type": "integer", "enum": [1, 2, 3, 4, 5]},
                    "reason": {"type": "string"},
                },
            },
        }
    },
}


class RaterSpec(Record):
    """A YAML file that names who rates: provider, model, and where answers are kept."""

    model: str = Field(min_length=1)
    provider: ProviderSpec
    responses: str = Field(min_length=1)
    """File of the response store."""
    max_tokens: int = Field(default=4096, ge=1)
    replay: bool = False
    """Take stored answers only; never call out."""


def rating_requests(spec: RaterSpec, report: ReportRecord) -> list[Request]:
    """What a model is asked about a report, some sentences at a time."""
    system = _prompt()
    question = escape(report.question or report.title or "(not known)")
    requests = []
    for first in range(0, len(report.sentences), PER_REQUEST):
        shown = "\n".join(
            f"S{sentence.index + 1}: {escape(sentence.text)}"
            for sentence in report.sentences[first : first + PER_REQUEST]
        )
        body = f"<question>\n{question}\n</question>\n\n<sentences>\n{shown}\n</sentences>"
        requests.append(
            Request(
                model=spec.model,
                system=system,
                messages=(Message(role="user", content=body),),
                max_tokens=spec.max_tokens,
                output_schema=SCHEMA,
            )
        )
    return requests


def rate_reports(spec: RaterSpec, reports: Sequence[ReportRecord]) -> list[ReportRecord]:
    """The reports with a model's ratings.

    Raises:
        RunIncomplete: answers come later; every request has been made.
        DeepFactError: no call can succeed, or the spec does not fit.
    """
    requests = [rating_requests(spec, report) for report in reports]
    answers = iter(asyncio.run(_ask(spec, [one for group in requests for one in group])))
    return [
        _rated(report, [next(answers) for _ in group], spec)
        for report, group in zip(reports, requests, strict=True)
    ]


async def _ask(spec: RaterSpec, requests: Sequence[Request]) -> list[str | CallFailed]:
    store = ResponseStore(Path(spec.responses))
    try:
        engine = Engine(build_provider(spec.provider), store, replay=spec.replay)
        async with engine:
            calls = (engine.ask(request) for request in requests)
            made = await asyncio.gather(*calls, return_exceptions=True)
    finally:
        store.close()
    answers: list[str | CallFailed] = []
    stopping: list[BaseException] = []
    for one in made:
        try:
            if isinstance(one, BaseException):
                raise one
            answers.append(check_usable(one).text)
        except CallFailed as failure:
            answers.append(failure)
        except Exception as error:
            stopping.append(error)
    # What stops a run is told before what only leaves it incomplete.
    stopping.sort(key=lambda error: isinstance(error, RunIncomplete))
    if stopping:
        raise stopping[0]
    return answers


def _rated(
    report: ReportRecord, answers: Sequence[str | CallFailed], spec: RaterSpec
) -> ReportRecord:
    ratings: dict[int, dict[str, Any]] = {}
    faults: dict[str, int] = {}
    by = f"{spec.model}, {PROMPT} {sha256_of(_prompt())[7:19]}"
    for number, answer in enumerate(answers):
        first = number * PER_REQUEST
        asked = report.sentences[first : first + PER_REQUEST]
        found, why = _read(answer, asked)
        ratings.update(found)
        if missing := len(asked) - len(found):
            faults[why] = faults.get(why, 0) + missing
    sentences = tuple(
        sentence.model_copy(update={**ratings[sentence.index], "rated_by": by})
        if sentence.index in ratings
        else sentence
        for sentence in report.sentences
    )
    notes = tuple(
        f"{count} sentences keep their rating by {report.sentences[0].rated_by}: {why}"
        for why, count in faults.items()
    )
    return report.model_copy(update={"sentences": sentences, "notes": (*report.notes, *notes)})


def _read(
    answer: str | CallFailed, asked: Sequence[Sentence]
) -> tuple[dict[int, dict[str, Any]], str]:
    """The ratings by sentence, and why there are not more."""
    if isinstance(answer, CallFailed):
        return {}, f"{answer.reason}: {answer.detail}"
    try:
        value = json.loads(_object(answer))
    except (ValueError, RecursionError):
        return {}, "the model's answer is no JSON"
    if problem := why_not(value, SCHEMA):
        return {}, f"the model's answer does not fit: {problem}"
    wanted = {f"S{sentence.index + 1}": sentence.index for sentence in asked}
    named = [rating["sentence"].strip() for rating in value["ratings"]]
    found = {
        wanted[name]: {
            "verifiable": rating["verifiable"],
            "relevance": rating["relevance"],
            "why": rating["reason"],
        }
        for name, rating in zip(named, value["ratings"], strict=True)
        if name in wanted and named.count(name) == 1
    }
    return found, "the model left them out, or rated them twice"


def _object(answer: str) -> str:
    """The answer from its first brace to its last: some models put words around it."""
    start, end = answer.find("{"), answer.rfind("}")
    return answer[start : end + 1] if 0 <= start < end else answer


def _prompt() -> str:
    return (SHIPPED / "rating" / "report-sentences.v1.md").read_text(encoding="utf-8")
