"""Prose written by a model from the ledger alone, and handed to the check after writing.

The writer is shown claims, standings, stored reasons and qualifications: no source text, and
no say in the status. An answer that cannot be read is no prose, with that reason.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, TypeAdapter, ValidationError

from deepfact.model_records import Message, Request
from deepfact.prompts.fence import escape, unescape
from deepfact.providers.base import CallFailed
from deepfact.records import FailureReason, Record
from deepfact.research.writer_check import Draft, check_sentences
from deepfact.research_records import ClaimStanding, Standing, WrittenSentence
from deepfact.store.files import explain
from deepfact.verifiers.panel.answers import UnreadableError, parse_object
from deepfact.verifiers.panel.engine import OwnEngine

PROMPT = Path(__file__).parent / "writer_prompt.md"

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


class WriterSpec(Record):
    """A YAML file that names who writes: provider, model, and where answers are kept."""

    model: str = Field(min_length=1)
    provider: dict[str, Any]
    """``kind`` and ``options``."""
    responses: str = Field(min_length=1)
    """File of the response store: what was paid for once is not paid for again."""
    max_tokens: int = Field(default=4096, ge=1)
    replay: bool = False


class NoProse(Exception):
    """No prose came about, with the reason."""

    def __init__(self, reason: FailureReason, detail: str) -> None:
        self.reason, self.detail = reason, detail
        super().__init__(f"{reason}: {detail}")


def write_prose(
    spec: WriterSpec, question: str, standings: Sequence[Standing]
) -> list[WrittenSentence]:
    """The sentences that a model writes, each with what is wrong with it.

    Raises:
        NoProse: the call failed, or the answer cannot be read.
        DeepFactError: no call can succeed; the spec does not fit.
    """
    engine = OwnEngine(spec.provider, spec.responses, replay=spec.replay)
    request = writer_request(spec, question, standings)

    async def ask() -> str:
        try:
            return (await engine.open().ask(request)).text
        finally:
            await engine.aclose()

    try:
        text = asyncio.run(ask())
    except CallFailed as failure:
        raise NoProse(failure.reason, failure.detail) from None
    try:
        drafts = _DRAFTS.validate_python(parse_object(text).get("sentences"))
    except UnreadableError as error:
        raise NoProse(FailureReason.UNREADABLE, str(error)) from None
    except ValidationError as error:
        raise NoProse(FailureReason.UNREADABLE, explain(error)) from None
    if not drafts:
        raise NoProse(FailureReason.NO_ANSWER, "the writer wrote no sentence")
    # The model saw escaped text; what it copied is compared as the ledger has it.
    drafts = [one.model_copy(update={"text": unescape(one.text)}) for one in drafts]
    return check_sentences(drafts, standings)


def writer_request(spec: WriterSpec, question: str, standings: Sequence[Standing]) -> Request:
    """What the writer is asked: the ledger as JSON, inside a fence that it cannot close."""
    ledger = {
        str(kind): [_told(s) for s in standings if s.standing is kind] for kind in ClaimStanding
    }
    data = escape(json.dumps({"question": question, **ledger}, ensure_ascii=False, indent=1))
    return Request(
        model=spec.model,
        system=PROMPT.read_text(encoding="utf-8"),
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
