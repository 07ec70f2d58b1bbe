"""Prose written by a model from the ledger alone, and handed to the check after writing.

The writer is shown claims, standings, stored reasons and qualifications: no source text, and
no say in the status. An answer that cannot be read is no prose, with that reason.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError

from deepfact.model_records import Message, Request
from deepfact.prompts.fence import escape, unescape
from deepfact.records import FailureReason
from deepfact.research.asking import ModelSpec, NoAnswer, ask_all, prompt_text
from deepfact.research.gate import compile_report
from deepfact.research.writer_check import Draft, check_sentences
from deepfact.research_records import (
    ClaimStanding,
    Ledger,
    ResearchReport,
    Standing,
    WrittenSentence,
)
from deepfact.store.files import explain
from deepfact.verifiers.panel.answers import UnreadableError, parse_object

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["sentences"],
    "properties": {
        "sentences": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["text", "cites", "standing"],
                "properties": {
                    "text": {"type": "string"},
                    "cites": {"type": "array", "items": {"type": "string"}},
                    "standing": {"type": "string", "enum": [str(one) for one in ClaimStanding]},
                },
            },
        }
    },
}
_DRAFTS: TypeAdapter[list[Draft]] = TypeAdapter(list[Draft])


def write_prose(
    spec: ModelSpec, question: str, standings: Sequence[Standing]
) -> list[WrittenSentence]:
    """The sentences that a model writes, each with what is wrong with it.

    Raises:
        NoAnswer: the call failed, or the answer cannot be read.
        DeepFactError: no call can succeed; the spec does not fit.
    """
    (answer,) = ask_all(spec, [writer_request(spec, question, standings)])
    if isinstance(answer, NoAnswer):
        raise answer
    try:
        drafts = _DRAFTS.validate_python(parse_object(answer).get("sentences"))
    except UnreadableError as error:
        raise NoAnswer(FailureReason.UNREADABLE, str(error)) from None
    except ValidationError as error:
        raise NoAnswer(FailureReason.UNREADABLE, explain(error)) from None
    if not drafts:
        raise NoAnswer(FailureReason.NO_ANSWER, "the writer wrote no sentence")
    # The model saw escaped text; what it copied is compared as the ledger has it.
    drafts = [one.model_copy(update={"text": unescape(one.text)}) for one in drafts]
    return check_sentences(drafts, standings)


def with_prose(spec: ModelSpec, ledger: Ledger, report: ResearchReport) -> ResearchReport:
    """A report again, with prose and what the check after writing says of it; errors as
    `write_prose`, but that no answer is told in the report."""
    try:
        written = write_prose(spec, ledger.question, report.standings)
    except NoAnswer as failure:
        return compile_report(ledger, report.thresholds, no_prose=str(failure))
    return compile_report(ledger, report.thresholds, written=written)


def writer_request(spec: ModelSpec, question: str, standings: Sequence[Standing]) -> Request:
    """What the writer is asked: the ledger as JSON, inside a fence that it cannot close."""
    ledger = {
        str(kind): [_told(s) for s in standings if s.standing is kind] for kind in ClaimStanding
    }
    data = escape(json.dumps({"question": question, **ledger}, ensure_ascii=False, indent=1))
    return Request(
        model=spec.model,
        system=prompt_text("writer_prompt.md"),
        messages=(Message(role="user", content=f"<ledger>\n{data}\n</ledger>"),),
        max_tokens=spec.max_tokens,
        output_schema=SCHEMA,
    )


def _told(one: Standing) -> dict[str, Any]:
    return {
        "id": one.claim.id,
        "claim": one.claim.text,
        "vote": one.vote,
        "reasons": list(one.reasons),
        "qualifications": [q.text for q in one.qualifications],
        "contradictions": list(one.disputed),
    }
