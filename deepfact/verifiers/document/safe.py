"""Baseline ``safe``, in the style of SAFE: atomic facts, one search after another, one rating each.

After the method of Wei et al., "Long-form factuality in large language models" (2024), with
prompts of our own. Where it differs is in ``docs/document-verifier.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deepfact.records import Claim, Label, Stance
from deepfact.trace_records import TracedExtract
from deepfact.verifiers.document.facts import Fact, FactRun, FactVerifier


class SafeVerifier(FactVerifier):
    """Kind ``safe``: options as `FactVerifier`; up to three searches for each fact."""

    kind = "safe"
    STEPS = ("baseline/safe-split", "baseline/safe-query", "baseline/safe-rate")
    SEARCHES = (3, 10)

    async def split(self, run: FactRun) -> list[Fact]:
        """As `FactVerifier.split`."""
        return await run.split("baseline/safe-split")

    async def judge(self, run: FactRun, fact: Fact) -> None:
        """As `FactVerifier.judge`: search until there is enough, then rate."""
        for _ in range(self.searches):
            answer = await run.ask(
                "baseline/safe-query",
                fact.asked,
                sources=run.sources(fact),
                searches=run.searches(fact),
            )
            query = " ".join(answer["query"].split())
            if fact.queries and (answer["enough"] or not query):
                break
            if query in {one.text for one in fact.queries}:
                break
            await run.search(fact, query or fact.element.text)
        run.need_passages(fact)
        answer = await run.ask("baseline/safe-rate", fact.asked, sources=run.sources(fact))
        if not answer["relevant"]:
            run.item.note(f"not_relevant:{fact.element.id}")
            return
        quotes = run.extracts(fact, answer["evidence"])
        run.conclude(fact, {**answer, "label": _label(answer, quotes)}, quotes)

    def most_calls(self, claims: Sequence[Claim], _longest: int) -> int:
        """As `SteppedVerifier.most_calls`."""
        return min(self.calls, 1 + self.facts * (self.searches + 1)) * len(claims)


def _label(answer: Mapping[str, Any], quotes: Sequence[TracedExtract]) -> Label:
    """SAFE knows two ratings. What a passage disputes is told apart from what none settles."""
    if answer["label"] == "supported":
        return Label.SUPPORTED
    against = any(one.stance is Stance.CONTRADICTS for one in quotes)
    return Label.CONTRADICTORY if against and answer["disputed"].strip() else Label.INCONCLUSIVE
