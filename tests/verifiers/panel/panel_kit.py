"""A claim, its sources, answers in due form and an engine that gives them out."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from deepfact.model_records import Completion, Request
from deepfact.records import (
    Claim,
    Outcome,
    Source,
    Verdict,
    VerificationFailure,
)
from deepfact.store.files import parse_record
from deepfact.verifiers.base import Context
from deepfact.verifiers.panel import PanelVerifier
from deepfact.verifiers.panel.verifier import REASK, ask_id

GAAP = "Second-quarter EPS was $1.24 under GAAP."
SOURCE = Source.create(
    title="Halvorsen Optics, second quarter",
    text="GAAP diluted EPS was $1.24. Non-GAAP diluted EPS was $1.61.\nThe GAAP figure reflects "
    "a new revenue standard adopted this year. Revenue was 12.4 million.",
)
OTHER = Source.create(title="Another company", text="Otherwise, Marrow Ltd closed its plant.")
CLAIM = Claim(id="fin-1", text=GAAP, cites=(SOURCE.id,))
CONTEXT = Context({SOURCE.id: SOURCE, OTHER.id: OTHER})


def supported(about: Claim = CLAIM, **changes: Any) -> dict[str, Any]:
    """A sound answer of the split prompt."""
    return {
        "claim_id": ask_id(about),
        "claim": about.text,
        "rationale": "The source gives this figure.",
        "contradiction": None,
        "qualifications": [],
        "found": [{"text": "$1.24", "source": "S1"}],
        "evidence": [{"source": "S1", "quote": "GAAP diluted EPS was $1.24", "stance": "supports"}],
        "label": "supported",
        "grounds": "none",
    } | changes


def contradictory(**changes: Any) -> dict[str, Any]:
    """A refutation in due form (its quote is there, whatever it is worth)."""
    quote = "Non-GAAP diluted EPS was $1.61"
    return (
        supported(
            rationale="The source gives another figure.",
            contradiction={"disputed": "$1.24", "source": "S1", "quote": quote},
            evidence=[{"source": "S1", "quote": quote, "stance": "contradicts"}],
            label="contradictory",
            grounds="contradiction",
        )
        | changes
    )


def inconclusive(**changes: Any) -> dict[str, Any]:
    """An answer that finds nothing that settles the claim."""
    return (
        supported(evidence=[], found=[], label="inconclusive", grounds="not_supported_by_quote")
        | changes
    )


class Engine:
    """Gives out one prepared answer per vote number; repeats have answers of their own."""

    def __init__(self, *answers: Any, again: Any = None) -> None:
        self.answers, self.again = answers, again
        self.asked: list[tuple[int, Request]] = []

    async def ask(self, request: Request, vote: int = 0) -> Completion:
        self.asked.append((vote, request))
        await asyncio.sleep(0)
        answer = self.again if vote >= REASK else self.answers[vote % len(self.answers)]
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, Completion):
            return answer
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return Completion(text=text, stop_reason="end_turn", input_tokens=100, output_tokens=10)


def run(
    engine: Engine, claim: Claim = CLAIM, context: Context = CONTEXT, **options: Any
) -> Outcome:
    """The outcome, after a round trip through its JSON: what a journal would hold."""
    panel = PanelVerifier("m", engine=engine, **options)
    outcome = asyncio.run(panel.verify(claim, context))
    again = parse_record(outcome.canonical(), type(outcome), where="test")
    assert again == outcome
    return outcome


def verdict(*answers: Any, **options: Any) -> Verdict:
    outcome = run(Engine(*answers), **options)
    assert isinstance(outcome, Verdict)
    return outcome


def failure(*answers: Any, **options: Any) -> VerificationFailure:
    outcome = run(Engine(*answers), **options)
    assert isinstance(outcome, VerificationFailure)
    return outcome
