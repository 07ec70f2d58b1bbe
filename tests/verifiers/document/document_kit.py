"""A small benchmark of mills, a judge for it, and short ways to ask a verifier."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from document_steps import StepJudge
from rule_following import Passage

from deepfact.executors.local import run_verifier
from deepfact.records import Claim, Origin, Outcome, Source, Span
from deepfact.verifiers.base import Context
from deepfact.verifiers.document import DocumentVerifier, GroupedVerifier

HISTORY = Source.create(
    title="The mills of Orvel: a history",
    url="https://mills.example/history",
    role="primary",
    text="Harrow Mill was built in 1898. It closed in 1931 after the flood. The surveyor Lindqvist "
    "found no damage to its wheel. Output is counted in sacks of the old measure.",
)
SURVEY = Source.create(
    title="Survey of Orvel 1932",
    text="Harrow Mill closed in 1932. Bran Mill ground 900 sacks in 1930.",
)
LEAFLET = Source.create(
    title="A leaflet of the museum", text="Bran Mill is open on Sundays. Harrow Mill has a cafe."
)
GENERATED = Source.create(
    title="The report", role="generated",
    text="On the mills. Harrow Mill was built in 1898. Bran Mill came later.",
)  # fmt: skip
SOURCES = {one.id: one for one in (HISTORY, SURVEY, LEAFLET, GENERATED)}
START = GENERATED.text.index("Harrow")


def claim(name: str, text: str, *cites: Source, report: str = "r", **more: Any) -> Claim:
    origin = Origin(report=report, sentence=int(name.rpartition("-")[2]), **more)
    return Claim(id=name, text=text, cites=tuple(one.id for one in cites), origin=origin)


BUILT = claim(
    "m-1", "Harrow Mill was built in 1898.", HISTORY,
    document=GENERATED.id, span=Span(start=START, end=START + 30),
)  # fmt: skip
WRONG = claim("m-2", "Bran Mill ground 800 sacks in 1930.", SURVEY)
CLASH = claim("m-3", "Harrow Mill closed in 1931.", HISTORY, SURVEY)
SILENT = claim("m-4", "Harrow Mill employed nine people.", HISTORY)
SAID = claim("m-5", "According to Berg, Harrow Mill kept its wheel undamaged.", HISTORY)
CLAIMS = [BUILT, WRONG, CLASH, SILENT, SAID]
LABELS = ["supported", "contradictory", "inconclusive", "inconclusive", "contradictory"]

TABLE = [
    Passage(BUILT.text, "Harrow Mill was built in 1898.", "supports"),
    Passage(
        BUILT.text, "Output is counted in sacks of the old measure.", "qualifies",
        kind="definition", text="Sacks are those of the old measure.",
    ),
    Passage(WRONG.text, "Bran Mill ground 900 sacks in 1930.", "disputes", disputed="800 sacks"),
    Passage(CLASH.text, "It closed in 1931 after the flood.", "supports"),
    Passage(CLASH.text, "Harrow Mill closed in 1932.", "disputes"),
    Passage(
        SAID.text, "The surveyor Lindqvist found no damage to its wheel.", "disputes",
        disputed="According to Berg",
    ),
]  # fmt: skip


def ask(verifier: Any, claims: Sequence[Claim] = CLAIMS, sources: Any = None) -> list[Outcome]:
    """Outcomes in the order of the claims, through the local executor."""
    context = Context(SOURCES if sources is None else sources)
    found = {one.claim_id: one for one in run_verifier(verifier, claims, context, name="v")}
    assert len(found) == len(claims)
    return [found[one.id] for one in claims]


def document(judge: Any = None, **options: Any) -> DocumentVerifier:
    return DocumentVerifier("m", engine=judge or StepJudge(TABLE), **options)


def grouped(judge: Any = None, **options: Any) -> GroupedVerifier:
    return GroupedVerifier("m", engine=judge or StepJudge(TABLE), **options)


def labels(outcomes: Sequence[Outcome]) -> list[str]:
    return [str(one.label) if one.kind == "verdict" else str(one.reason) for one in outcomes]


def run(coroutine: Any) -> Any:
    return asyncio.run(coroutine)
