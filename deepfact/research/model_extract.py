"""Claims that a model takes out of a source, kept only where the source has their words.

The model is shown one source at a time, inside a fence, and nothing else. What it hands in is
checked on our side: a quote that is not in the stored text is no claim, and is told as such.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field, TypeAdapter, ValidationError

from deepfact.core.quotes import find_quote
from deepfact.model_records import Message, Request
from deepfact.prompts.fence import escape, unescape
from deepfact.records import FailureReason, Record, sha256_of
from deepfact.research.asking import ModelSpec, NoAnswer, ask_all, prompt_text
from deepfact.research_records import ClaimKind, ExtractedBy, ResearchClaim, SourceCard
from deepfact.store.files import explain
from deepfact.verifiers.panel.answers import UnreadableError, parse_object

SHOWN = 48_000
"""Characters of a source that a model is shown; a longer one is cut there, and that is told."""


class HandedIn(Record):
    """A claim as a model hands it in."""

    text: str = Field(min_length=1)
    quote: str = Field(min_length=1)
    subject: str = ""
    predicate: str = ""
    object: str = ""
    kind: ClaimKind = ClaimKind.OTHER
    conditions: dict[str, str] = {}
    caveat: str = ""
    confidence: float | None = Field(default=None, ge=0, le=1)


_CLAIMS: TypeAdapter[list[HandedIn]] = TypeAdapter(list[HandedIn])
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["claims"],
    "properties": {
        "claims": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["text", "quote"],
                "properties": {
                    **{
                        name: {"type": "string"}
                        for name in ("text", "quote", "subject", "predicate", "object", "caveat")
                    },
                    "kind": {"type": "string", "enum": [str(one) for one in ClaimKind]},
                    "conditions": {"type": "object", "additionalProperties": {"type": "string"}},
                    "confidence": {"type": "number"},
                },
            },
        }
    },
}


@dataclass
class Extracted:
    """What came of one card."""

    claims: list[ResearchClaim] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    """Claims that were handed in and not kept, with the reason."""
    failed: str = ""
    """Why there is no answer at all; empty when there is one."""
    cut: bool = False
    """The model was not shown the whole text."""


def extract_by_model(
    spec: ModelSpec, cards: Sequence[SourceCard], question: str, *, limit: int
) -> list[Extracted]:
    """What a model finds in each card, in the order of the cards.

    Args:
        spec: who is asked.
        cards: generated text is not asked about and gives nothing.
        question: what is asked.
        limit: most claims from one card.

    Raises:
        RunIncomplete: answers will come later.
        DeepFactError: no call can succeed; the spec does not fit.
    """
    asked = [card for card in cards if card.is_evidence]
    requests = [extract_request(spec, card, question, limit) for card in asked]
    answers = ask_all(spec, requests) if requests else []
    found = {
        card.source.id: _read(answer, card, limit)
        for card, answer in zip(asked, answers, strict=True)
    }
    return [found.get(card.source.id, Extracted()) for card in cards]


def extract_request(spec: ModelSpec, card: SourceCard, question: str, limit: int) -> Request:
    """What a model is asked about one card."""
    body = (
        f"Question: {escape(question)}\nAt most {limit} claims.\n\n"
        f"<source>\n{escape(card.source.text[:SHOWN])}\n</source>"
    )
    return Request(
        model=spec.model,
        system=prompt_text("extract_prompt.md"),
        messages=(Message(role="user", content=body),),
        max_tokens=spec.max_tokens,
        output_schema=SCHEMA,
    )


def _read(answer: str | NoAnswer, card: SourceCard, limit: int) -> Extracted:
    made = Extracted(cut=len(card.source.text) > SHOWN)
    try:
        if isinstance(answer, NoAnswer):
            raise answer
        handed = _CLAIMS.validate_python(parse_object(answer).get("claims"))
    except NoAnswer as failure:
        made.failed = str(failure)
        return made
    except (UnreadableError, ValidationError) as error:
        why = explain(error) if isinstance(error, ValidationError) else str(error)
        made.failed = f"{FailureReason.UNREADABLE}: {why}"
        return made
    for number, one in enumerate(handed):
        if number >= limit:
            made.rejected.append(f"beyond the bound of {limit}: {one.text}")
            continue
        claim = _claim(one, card)
        if claim is None:
            made.rejected.append(f"its quote is not in the source: {one.text}")
        else:
            made.claims.append(claim)
    return made


def _claim(one: HandedIn, card: SourceCard) -> ResearchClaim | None:
    """The claim with its span; None when the card does not have its quote."""
    text = card.source.text
    quote = one.quote if find_quote(one.quote, text) else unescape(one.quote)
    span = find_quote(quote, text)
    if span is None:
        return None
    fields = {name: unescape(v) if isinstance(v, str) else v for name, v in one if name != "quote"}
    fields["kind"] = one.kind
    place = f"{card.source.id} {span.start} {span.end} {fields['text']}"
    return ResearchClaim(
        **fields,
        id=f"c-{sha256_of(place)[7:19]}",
        card=card.source.id,
        quote=quote,
        span=span,
        extracted_by=ExtractedBy.PROVIDER,
    )
