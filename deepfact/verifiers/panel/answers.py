"""Reading a model's answer: one JSON object of the prompt's schema, or it is unreadable.

Strict, and without any fallback on the wording: text that is not the object asked for is
never searched for a verdict. Pure.
"""

from __future__ import annotations

import json
import re
from typing import Any

from deepfact.core.vote_checks import (
    Answer,
    Disputed,
    Quoted,
    QuotedEvidence,
    QuotedQualification,
)
from deepfact.errors import ConfigError
from deepfact.prompts.library import Prompt
from deepfact.prompts.schema import why_not
from deepfact.records import Grounds, QualificationKind, Stance

_FENCED = re.compile(r"\A```(?:json)?[ \t]*\n(.*)\n```\Z", re.DOTALL)


class UnreadableError(ValueError):
    """An answer is not one JSON object of the schema asked for."""


def read_answer(text: str, prompt: Prompt) -> Answer:
    """The answer that a text holds.

    A fenced block is taken only when it is the entire answer.

    Raises:
        UnreadableError: with what is wrong, in words of ours that quote nothing.
    """
    data = parse_object(text)
    if problem := why_not(data, prompt.front.output_schema):
        raise UnreadableError(problem)
    rule = prompt.front.verdict
    if rule is None:
        raise ConfigError(f"{prompt.id} is no prompt of a verifier", where=str(prompt.path))
    word = _word(data.get(rule.field))
    if word not in rule.labels:
        raise UnreadableError(f"answer.{rule.field} is no verdict of this prompt")
    try:
        return Answer(
            claim_id=data["claim_id"],
            claim=data["claim"],
            label=rule.labels[word],
            refutes=word in rule.refuting,
            grounds=Grounds(data.get("grounds", "none")),
            rationale=data["rationale"],
            contradiction=_disputed(data.get("contradiction")),
            qualifications=tuple(map(_qualification, data.get("qualifications", ()))),
            evidence=tuple(map(_evidence, data.get("evidence", ()))),
            found=tuple(Quoted(one["source"], one["text"]) for one in data.get("found", ())),
            names_contradictions="contradiction" in prompt.front.output_schema["properties"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UnreadableError(f"a part of the answer is missing or unknown: {error}") from None


def parse_object(text: str) -> dict[str, Any]:
    """The JSON object that is the whole of ``text``.

    Raises:
        UnreadableError: anything else: prose around it, a key given twice, NaN, a list.
    """
    body = text.strip()
    if fenced := _FENCED.match(body):
        body = fenced.group(1)
    try:
        data = json.loads(body, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise UnreadableError(f"not one JSON object: {error.msg} at {error.pos}") from None
    except RecursionError:
        raise UnreadableError("not one JSON object: nested too deeply") from None
    if not isinstance(data, dict):
        raise UnreadableError("not one JSON object")
    if "\\u" in body:
        try:
            json.dumps(data, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise UnreadableError("an escape stands for half a character") from None
    return data


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise UnreadableError("a key is given twice")
    return data


def _no_constant(word: str) -> Any:
    raise UnreadableError(f"{word} is not JSON")


def _word(value: Any) -> str:
    """A verdict as the prompt's table writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else ""


def _disputed(data: dict[str, str] | None) -> Disputed | None:
    if data is None:
        return None
    return Disputed(source=data["source"], quote=data["quote"], disputed=data["disputed"])


def _qualification(data: dict[str, str]) -> QuotedQualification:
    if not data["text"].strip():
        raise ValueError("a qualification without text")
    return QuotedQualification(
        source=data.get("source", ""),
        quote=data.get("quote", ""),
        kind=QualificationKind(data["kind"]),
        text=data["text"],
    )


def _evidence(data: dict[str, str]) -> QuotedEvidence:
    return QuotedEvidence(data["source"], data["quote"], Stance(data["stance"]))
