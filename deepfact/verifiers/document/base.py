"""The options that all verifiers of this package share, and the seam to engines and plans.

Checks options before anything is asked; asks nothing itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deepfact.core.challenge import GENERATED
from deepfact.errors import ConfigError
from deepfact.executors.budget import Budget
from deepfact.executors.limits import Limits
from deepfact.executors.pricing import Price
from deepfact.model_records import Request
from deepfact.prompts.library import Prompt
from deepfact.records import Claim
from deepfact.retrievers.registry import RetrieverSpec
from deepfact.verifiers.base import Context
from deepfact.verifiers.document.asking import StepAsker, step_prompts
from deepfact.verifiers.document.finding import Finder
from deepfact.verifiers.document.items import Asked, Item
from deepfact.verifiers.document.tracing import TRACES, TraceFile
from deepfact.verifiers.panel.asking import Asker, Asks
from deepfact.verifiers.panel.engine import OwnEngine
from deepfact.verifiers.panel.verifier import ask_id

AROUND = 300
"""Characters of the report that are shown on either side of a claim."""


class SteppedVerifier(ABC):
    """What verifiers that ask in several steps have in common.

    Args:
        steps: the steps whose prompts it uses; the last one is named on its verdicts.
        model: id of the model, as the provider knows it.
        provider: ``kind`` and options of the provider, for an engine of its own.
        prompts: prompts in place of the shipped ones, by step: ``{plan: document/mine/v2}``.
        retriever: what is searched: ``{kind: ordered, options: {...}}``.
        max_tokens: longest answer about one claim, in tokens.
        temperature: the provider's own when None.
        reask: how often an unreadable answer is asked for again.
        prompt_folder: folder of the user's own prompts, looked in first.
        responses: file of the response store; ``responses.sqlite`` in the workspace if left out.
        traces: file for traces; ``traces.jsonl`` in the workspace if left out.
        limits: bounds on its calls.
        budget: the most that it may spend.
        prices: US dollars per million tokens by model id.
        replay: never call out.
        engine: answers requests, instead of one of its own; whoever gives it closes it.
        workspace: folder of the run, when there is one.

    Raises:
        ConfigError: an option that cannot be.
    """

    kind = ""

    def __init__(
        self,
        steps: Sequence[str],
        model: str,
        provider: Mapping[str, Any] | None,
        prompts: Mapping[str, str] | None,
        retriever: RetrieverSpec | None,
        max_tokens: int,
        temperature: float | None,
        reask: int,
        prompt_folder: str,
        responses: str,
        traces: str,
        limits: Limits | None,
        budget: Budget | None,
        prices: Mapping[str, Price] | None,
        replay: bool,
        engine: Asks | None,
        workspace: Path | None,
    ) -> None:
        check_numbers(max_tokens=(max_tokens, 1, 10**6), reask=(reask, 0, 10))
        self.provider = provider or {}
        self.step_prompts = step_prompts(steps, prompts or {}, prompt_folder)
        self.prompt: Prompt = self.step_prompts[steps[-1]]
        if workspace is not None:
            responses = responses or str(workspace / "responses.sqlite")
            traces = traces or str(workspace / TRACES)
        own = OwnEngine(self.provider, responses, limits, budget, prices, replay)
        self._asker = Asker(own, engine, reask=reask)
        self.asking = StepAsker(self._asker, self.step_prompts, model, max_tokens, temperature)
        spec = retriever or RetrieverSpec(kind="ordered")
        self.finder = Finder(spec, workspace)
        self.traces = TraceFile(Path(traces) if traces else None)

    def use(self, engine: Asks) -> None:
        """Ask through this engine from now on."""
        self._asker.use(engine)

    async def aclose(self) -> None:
        """Close the engine of its own, when it made one."""
        await self._asker.aclose()

    # --- what each kind brings -----------------------------------------------------------

    def groups(self, claims: Sequence[Claim]) -> list[list[Claim]]:
        """The claims as they are asked about: each alone."""
        return [[claim] for claim in claims]

    @abstractmethod
    def most_calls(self, claims: Sequence[Claim], longest: int) -> int:
        """Calls that a group takes at most; repeats are not counted.

        Args:
            claims: of the group.
            longest: characters of the longest document that may be read.
        """

    @abstractmethod
    def first_request(self, items: Sequence[Item]) -> Request:
        """The request that a group starts with."""

    @abstractmethod
    def largest_request(self, items: Sequence[Item], longest: int) -> Request:
        """A request as long as any that follows, for estimates."""

    # --- plans ---------------------------------------------------------------------------

    def requests(self, claim: Claim, context: Context) -> list[tuple[Request, int]]:
        """The request, with its vote number, that a claim starts with; what follows depends on
        the answers."""
        return [(self.first_request(items_of([claim], context)), 0)]

    def planned(self, claims: Sequence[Claim], context: Context) -> list[tuple[Request, int, int]]:
        """What claims take at most, for plans: requests, each with its vote number and how many
        calls like it there are. The first request of each group is the one that will be sent; in
        place of the others stands the largest there can be."""
        found, longest = [], self._longest(context)
        for group in self.groups(claims):
            items = items_of(group, context)
            found.append((self.first_request(items), 0, 1))
            if more := self.most_calls(group, longest) - 1:
                found.append((self.largest_request(items, longest), 0, more))
        return found

    def _longest(self, context: Context) -> int:
        """Characters of the longest document that may be read: unknown, so as many as can be, when
        pages of the web may be."""
        if self.finder.leaves(context):
            return 10**9
        texts = (one.text for one in context.sources.values() if one.role not in GENERATED)
        return max(map(len, texts), default=0)


def items_of(claims: Sequence[Claim], context: Context) -> list[Item]:
    """Claims ready to be asked about, each in the context of its report."""
    return [
        Item(claim, Asked(ask_id(claim), claim.text, claim.context, around(claim, context)))
        for claim in claims
    ]


def around(claim: Claim, context: Context) -> str:
    """What stands next to a claim in its report, with the claim marked; empty when the report's
    text is not there. It is to be understood, not to be believed."""
    origin = claim.origin
    if origin is None or origin.document is None or origin.span is None:
        return ""
    if origin.document not in context.sources:
        return ""
    text = context.sources[origin.document].text
    before = text[max(0, origin.span.start - AROUND) : origin.span.start]
    after = text[origin.span.end : origin.span.end + AROUND]
    if not (before.strip() or after.strip()):
        return ""
    return f"{before.lstrip()}[the claim]{after.rstrip()}"


def check_numbers(**numbers: tuple[int, int, int]) -> None:
    """Options that must lie between two bounds.

    Raises:
        ConfigError: one does not.
    """
    for name, (value, low, high) in numbers.items():
        if not low <= value <= high:
            raise ConfigError(f"option {name!r}: {value} is not from {low} to {high}")
