"""Baseline ``factcheck-gpt``, in the style of FactCheck-GPT: decompose, keep what is worth
checking, find evidence, say where it stands, conclude.

After the method of Wang et al., "Factcheck-Bench: Fine-grained evaluation benchmark for automatic
fact-checkers" (2024), with prompts of our own. Where it differs is in
``docs/document-verifier.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

from deepfact.providers.base import CallFailed
from deepfact.records import Claim, FailureReason
from deepfact.verifiers.document import rules
from deepfact.verifiers.document.blocks import evidence_block
from deepfact.verifiers.document.facts import Fact, FactRun, FactVerifier


class FactCheckGptVerifier(FactVerifier):
    """Kind ``factcheck-gpt``: options as `FactVerifier`; up to two searches for each fact."""

    kind = "factcheck-gpt"
    STEPS = (
        "baseline/factcheck-gpt-decompose", "baseline/factcheck-gpt-checkworthy",
        "baseline/factcheck-gpt-query", "baseline/factcheck-gpt-stance",
        "baseline/factcheck-gpt-verdict",
    )  # fmt: skip
    SEARCHES = (2, 10)

    async def split(self, run: FactRun) -> list[Fact]:
        """As `FactVerifier.split`: the facts that are worth checking."""
        kept = []
        for fact in await run.split("baseline/factcheck-gpt-decompose"):
            answer = await run.ask("baseline/factcheck-gpt-checkworthy", fact.asked)
            if answer["checkworthy"] == "factual":
                kept.append(fact)
            else:
                run.item.note(f"not_checkworthy:{fact.element.id}:{answer['checkworthy']}")
        return kept

    async def judge(self, run: FactRun, fact: Fact) -> None:
        """As `FactVerifier.judge`."""
        answer = await run.ask(
            "baseline/factcheck-gpt-query", fact.asked, most_queries=str(self.searches)
        )
        for query in rules.queries_of(answer, self.searches) or [fact.element.text]:
            await run.search(fact, query)
        run.need_passages(fact)
        stance = await run.ask(
            "baseline/factcheck-gpt-stance", fact.asked, sources=run.sources(fact)
        )
        quotes = {one.id: one for one in run.extracts(fact, stance["passages"])}
        tags = {one.source: one.tag for one in run.item.documents.values()}
        sources = {one: run.source(one) for one in fact.passages}
        answer = await run.ask(
            "baseline/factcheck-gpt-verdict",
            fact.asked,
            evidence=evidence_block({run.item.asked.id: list(quotes.values())}, tags, sources),
        )
        if unknown := sorted(set(answer["evidence"]) - quotes.keys()):
            raise CallFailed(FailureReason.BAD_QUOTE, f"there is no passage {unknown[0][:40]!r}")
        rests_on = list(dict.fromkeys(answer["evidence"]))
        run.conclude(fact, answer, [quotes[one] for one in rests_on])

    def most_calls(self, claims: Sequence[Claim], _longest: int) -> int:
        """As `SteppedVerifier.most_calls`."""
        return min(self.calls, 1 + self.facts * 4) * len(claims)
