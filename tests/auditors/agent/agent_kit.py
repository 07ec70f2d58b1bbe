"""A blind case, its sources, answers in due form and an engine that gives them out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from deepfact.auditors.agent import AgentAuditor
from deepfact.model_records import Completion, Request
from deepfact.records import (
    Adjudication,
    Case,
    Claim,
    Contradiction,
    Evidence,
    Label,
    Position,
    Qualification,
    QualificationKind,
    Source,
    SourceRole,
    Stance,
)
from deepfact.store.files import parse_record
from deepfact.verifiers.base import Context
from deepfact.verifiers.panel.verifier import ask_id

REPORT = Source.create(
    title="Varn harbour, annual report",
    text="The Varn ferry carried 48,200 passengers in 2031. From that year, children count.",
)
LETTER = Source.create(
    title="A letter to the board",
    text="Dear members. The second pier at Halden was refused in March. The Varn ferry carried "
    "61,700 passengers in 2032, after the bridge was closed.",
)
WRITTEN = Source.create(
    title="What a model wrote", role=SourceRole.GENERATED, text="The pier at Halden was approved."
)
CONTEXT = Context({one.id: one for one in (REPORT, LETTER, WRITTEN)})
CLAIM = Claim(
    id="microgold-7", text="The Varn ferry carried 61,700 passengers in 2031.",
    cites=(REPORT.id,), domain="canary-domain", context="From a report on harbours.",
)  # fmt: skip
QUOTE = "The Varn ferry carried 48,200 passengers in 2031."
FOR = Position(
    label=Label.SUPPORTED,
    rationale="The letter gives this figure.",
    evidence=(Evidence(source=REPORT.id, quote="carried 61,700", stance=Stance.SUPPORTS),),
    qualifications=(
        Qualification(
            kind=QualificationKind.METHOD_CHANGE, text="Children count.", source=REPORT.id
        ),
    ),
)
AGAINST = Position(
    label=Label.CONTRADICTORY,
    rationale="The annual report has another figure.",
    contradictions=(Contradiction(disputed="61,700", source=REPORT.id, quote=QUOTE),),
)
CASE = Case(id="r1-0042", claim=CLAIM, a=FOR, b=AGAINST)


def for_b(**changes: Any) -> dict[str, Any]:
    """A sound decision for the side that refutes."""
    return {
        "claim_id": ask_id(CLAIM),
        "claim": CLAIM.text,
        "queries": [],
        "rationale": "The annual report counts 48,200.",
        "contradiction": {"disputed": "61,700", "source": "S1", "quote": QUOTE},
        "evidence": [{"source": "S1", "quote": QUOTE, "stance": "contradicts"}],
        "label": "contradictory",
        "decision": "b",
    } | changes


def for_a(**changes: Any) -> dict[str, Any]:
    """A decision in due form for the side that supports."""
    quote = [{"source": "S1", "quote": QUOTE, "stance": "supports"}]
    plain = {"contradiction": None, "evidence": quote, "label": "supported", "decision": "a"}
    return for_b(**(plain | changes))


def unsure(**changes: Any) -> dict[str, Any]:
    """An answer that cannot tell."""
    plain = {"contradiction": None, "evidence": [], "label": None, "decision": "cannot_tell"}
    return for_b(**({"rationale": "Both read well."} | plain | changes))


def search(*queries: str) -> dict[str, Any]:
    """An answer that wants to search first."""
    return unsure(decision="search", queries=list(queries))


class Engine:
    """Answers by a function of the request and the vote; keeps what it was asked."""

    def __init__(self, *answers: Any, by: Callable[[Request, int], Any] | None = None) -> None:
        self._by = by or (lambda _, vote: answers[vote % 1000 % len(answers)])
        self.asked: list[tuple[int, Request]] = []

    async def ask(self, request: Request, vote: int = 0) -> Completion:
        self.asked.append((vote, request))
        await asyncio.sleep(0)
        answer = self._by(request, vote)
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, Completion):
            return answer
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return Completion(text=text, stop_reason="end_turn", input_tokens=100, output_tokens=10)

    @property
    def texts(self) -> list[str]:
        """All that was sent, whole."""
        return [request.canonical() for _, request in self.asked]


def agent(context: Context = CONTEXT, **options: Any) -> AgentAuditor:
    return AgentAuditor("judge", context, "m", {"kind": "anthropic"}, **options)


def judge(engine: Engine, case: Case = CASE, **options: Any) -> Adjudication:
    """The decision, after a round trip through its JSON: what a journal would hold."""
    auditor = agent(**options)
    auditor.use(engine)
    made = asyncio.run(auditor.adjudicate(case))
    assert parse_record(made.canonical(), Adjudication, where="test") == made
    return made
