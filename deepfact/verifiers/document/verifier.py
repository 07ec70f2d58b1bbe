"""Kinds ``document`` and ``grouped``: the same pipeline for one claim, or for several together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deepfact.errors import ConfigError, did_you_mean
from deepfact.executors.budget import Budget
from deepfact.executors.limits import Limits
from deepfact.executors.pricing import Price
from deepfact.model_records import Request
from deepfact.records import Claim, Outcome, Verdict, VerificationFailure
from deepfact.retrievers.registry import RetrieverSpec
from deepfact.verifiers.base import Context
from deepfact.verifiers.document.base import SteppedVerifier, check_numbers, items_of
from deepfact.verifiers.document.blocks import claims_block
from deepfact.verifiers.document.grouping import BY, groups_of
from deepfact.verifiers.document.items import Item
from deepfact.verifiers.document.pipeline import STEPS, Bounds, Pipeline
from deepfact.verifiers.document.reading import OVERLAP
from deepfact.verifiers.document.tracing import trace_of
from deepfact.verifiers.panel.asking import Asks
from deepfact.verifiers.panel.verifier import ask_id


class DocumentVerifier(SteppedVerifier):
    """Kind ``document``: reads documents for one claim at a time, and judges its elements.

    Args:
        model: and the other options that are not named here: as `SteppedVerifier`.
        queries: searches of the plan, and of each follow-up.
        passages: that each search brings.
        candidates: documents that a round of searches brings into question.
        documents: documents read in a round; as many as the claim cites, when these are more.
        rounds: follow-ups while an element is not covered.
        document_chars: characters of a document that are read at once; a longer one is read in
            windows.
        windows: stretches of one document that are read.
        calls: the most calls for a claim; repeats of unreadable answers are not counted.
    """

    kind = "document"

    def __init__(
        self,
        model: str,
        provider: dict[str, Any] | None = None,
        prompts: dict[str, str] | None = None,
        retriever: RetrieverSpec | None = None,
        queries: int = 3,
        passages: int = 10,
        candidates: int = 10,
        documents: int = 4,
        rounds: int = 2,
        document_chars: int = 24_000,
        windows: int = 4,
        calls: int = 24,
        max_tokens: int = 2048,
        temperature: float | None = None,
        reask: int = 1,
        prompt_folder: str = "",
        responses: str = "",
        traces: str = "",
        limits: Limits | None = None,
        budget: Budget | None = None,
        prices: dict[str, Price] | None = None,
        replay: bool = False,
        engine: Asks | None = None,
        workspace: Path | None = None,
    ) -> None:
        super().__init__(
            STEPS, model, provider, prompts, retriever, max_tokens, temperature, reask,
            prompt_folder, responses, traces, limits, budget, prices, replay, engine, workspace,
        )  # fmt: skip
        check_numbers(
            queries=(queries, 1, 10), passages=(passages, 1, 100), candidates=(candidates, 1, 100),
            documents=(documents, 1, 50), rounds=(rounds, 0, 10), windows=(windows, 1, 100),
            document_chars=(document_chars, 1000, 10**7), calls=(calls, 4, 1000),
        )  # fmt: skip
        self.bounds = Bounds(
            queries, passages, candidates, documents, rounds, document_chars, windows, calls
        )

    async def verify(self, claim: Claim, context: Context) -> Verdict | VerificationFailure:
        """The verdict on one claim, on the worst of its elements.

        Raises:
            RunIncomplete: an answer or a search is missing; asking again later goes on.
            DeepFactError: no call of this run can succeed.
        """
        return (await self._together([claim], context))[0]

    async def _together(self, claims: Sequence[Claim], context: Context) -> list[Outcome]:
        self.finder.open(context)  # a retriever that cannot be must not cost a call
        items = items_of(claims, context)
        run = Pipeline(self.asking, self.finder, self.bounds, items, context)
        outcomes = await run.run()
        self.traces.keep(
            [
                trace_of(item, outcome, run.account, items, self.kind)
                for item, outcome in zip(items, outcomes, strict=True)
            ]
        )
        return outcomes

    # --- plans ---------------------------------------------------------------------------

    def most_calls(self, claims: Sequence[Claim], longest: int) -> int:
        """As `SteppedVerifier.most_calls`: all steps of all rounds, every document read in as many
        windows as the longest needs; or the bound that is set."""
        one = self.bounds
        step = one.window - min(OVERLAP, one.window // 4)
        windows = min(one.windows, max(1, -(-longest // step)))
        cited = len({source for claim in claims for source in claim.cites})
        first = max(one.documents, cited) - one.documents
        readings = (one.documents * (one.rounds + 1) + first) * windows
        together = 2 + (one.rounds + 1) + readings + one.rounds
        return min(one.calls * len(claims), together)

    def first_request(self, items: Sequence[Item]) -> Request:
        """As `SteppedVerifier.first_request`."""
        values = {
            "claims": claims_block([item.asked for item in items]),
            "most_queries": str(self.bounds.queries),
        }
        return self.asking.request("document/plan", values, len(items))

    def largest_request(self, items: Sequence[Item], longest: int) -> Request:
        """As `SteppedVerifier.largest_request`: a whole window of a document."""
        values = {
            "claims": claims_block([item.asked for item in items]),
            "sources": "x" * min(self.bounds.window, longest),
        }
        return self.asking.request("document/read", values, len(items))


class GroupedVerifier(DocumentVerifier):
    """Kind ``grouped``: several related claims share searches, readings and calls.

    Args:
        size: claims in a group at most.
        by: ``report`` (claims of a report in their order, others by likeness) or ``similar``.
        model: and the others: as `DocumentVerifier`; what bounds a round holds for the group.
    """

    kind = "grouped"

    def __init__(
        self,
        model: str,
        provider: dict[str, Any] | None = None,
        size: int = 5,
        by: str = "report",
        prompts: dict[str, str] | None = None,
        retriever: RetrieverSpec | None = None,
        queries: int = 2,
        passages: int = 10,
        candidates: int = 16,
        documents: int = 5,
        rounds: int = 2,
        document_chars: int = 24_000,
        windows: int = 4,
        calls: int = 24,
        max_tokens: int = 2048,
        temperature: float | None = None,
        reask: int = 1,
        prompt_folder: str = "",
        responses: str = "",
        traces: str = "",
        limits: Limits | None = None,
        budget: Budget | None = None,
        prices: dict[str, Price] | None = None,
        replay: bool = False,
        engine: Asks | None = None,
        workspace: Path | None = None,
    ) -> None:
        super().__init__(
            model, provider, prompts, retriever, queries, passages, candidates, documents, rounds,
            document_chars, windows, calls, max_tokens, temperature, reask, prompt_folder,
            responses, traces, limits, budget, prices, replay, engine, workspace,
        )  # fmt: skip
        check_numbers(size=(size, 1, 50))
        if by not in BY:
            raise ConfigError(f"option 'by': {by!r} is not known", fix=did_you_mean(by, BY))
        self.size, self.by = size, by

    def groups(self, claims: Sequence[Claim]) -> list[list[Claim]]:
        """As `deepfact.executors.local.VerifiesGroups`."""
        return groups_of(claims, self.size, self.by, ask_id)

    async def verify_group(self, claims: Sequence[Claim], context: Context) -> list[Outcome]:
        """As `deepfact.executors.local.VerifiesGroups`."""
        return await self._together(claims, context)
