"""Baseline ``veriscore``, in the style of VeriScore: verifiable claims only, one search for each.

After the method of Song et al., "VeriScore: Evaluating the factuality of verifiable claims in
long-form text generation" (2024), with prompts of our own. Where it differs is in
``docs/document-verifier.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

from deepfact.records import Claim
from deepfact.verifiers.document.facts import Fact, FactRun, FactVerifier


class VeriScoreVerifier(FactVerifier):
    """Kind ``veriscore``: options as `FactVerifier`; the fact itself is the only search."""

    kind = "veriscore"
    STEPS = ("baseline/veriscore-extract", "baseline/veriscore-judge")
    SEARCHES = (1, 1)

    async def split(self, run: FactRun) -> list[Fact]:
        """As `FactVerifier.split`."""
        return await run.split("baseline/veriscore-extract")

    async def judge(self, run: FactRun, fact: Fact) -> None:
        """As `FactVerifier.judge`: one search, one judgement."""
        await run.search(fact, fact.element.text)
        run.need_passages(fact)
        answer = await run.ask("baseline/veriscore-judge", fact.asked, sources=run.sources(fact))
        run.conclude(fact, answer, run.extracts(fact, answer["evidence"]))

    def most_calls(self, claims: Sequence[Claim], _longest: int) -> int:
        """As `SteppedVerifier.most_calls`."""
        return min(self.calls, 1 + self.facts) * len(claims)
