"""What the baselines share: a claim is split into facts, each is searched for and judged.

A baseline brings the steps: how facts are made, what is searched for, who judges. The label of a
claim is the worst of those of its facts, as for every verifier of this package. A fact for which
no passage was found, or a call that failed, leaves the claim without a verdict: a published
baseline would count it as not supported, and that would turn a failure into a label.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from deepfact.core.challenge import GENERATED
from deepfact.core.vote_checks import span_of
from deepfact.executors.budget import Budget
from deepfact.executors.limits import Limits
from deepfact.executors.pricing import Price
from deepfact.model_records import Request
from deepfact.prompts.fence import unescape
from deepfact.prompts.render import Shown, source_block
from deepfact.providers.base import CallFailed
from deepfact.records import (
    Claim,
    FailureReason,
    Label,
    Source,
    Stance,
    Verdict,
    VerificationFailure,
)
from deepfact.retrievers.base import BENCHMARK, CITED
from deepfact.retrievers.passages import LONGEST
from deepfact.retrievers.registry import RetrieverSpec
from deepfact.trace_records import (
    TracedDocument,
    TracedElement,
    TracedExtract,
    TracedJudgement,
    TracedQuery,
)
from deepfact.verifiers.base import Context
from deepfact.verifiers.document import rules
from deepfact.verifiers.document.asking import Account, Answer
from deepfact.verifiers.document.base import SteppedVerifier, check_numbers, items_of
from deepfact.verifiers.document.blocks import NONE, claims_block, searches_block
from deepfact.verifiers.document.items import Asked, Item
from deepfact.verifiers.document.tracing import in_order, trace_of
from deepfact.verifiers.panel.asking import Asks


@dataclass
class Fact:
    """A fact of a claim, and the passages that searches for it found."""

    element: TracedElement
    asked: Asked
    passages: dict[str, list[str]] = field(default_factory=dict)
    """By source id."""
    queries: list[TracedQuery] = field(default_factory=list)


class FactVerifier(SteppedVerifier):
    """A verifier that judges facts one by one.

    Args:
        facts: of a claim at most; what is over is said and not judged.
        searches: for each fact at most; the baseline's own number when 0.
        passages: that each search brings.
        calls: the most calls for a claim; repeats of unreadable answers are not counted.
        model: and the others: as `SteppedVerifier`.
    """

    STEPS: ClassVar[tuple[str, ...]]
    SEARCHES: ClassVar[tuple[int, int]]
    """Searches for each fact: its own number, and the most there can be."""

    def __init__(
        self,
        model: str,
        provider: dict[str, Any] | None = None,
        prompts: dict[str, str] | None = None,
        retriever: RetrieverSpec | None = None,
        facts: int = 8,
        searches: int = 0,
        passages: int = 5,
        calls: int = 60,
        max_tokens: int = 1024,
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
            self.STEPS, model, provider, prompts, retriever, max_tokens, temperature, reask,
            prompt_folder, responses, traces, limits, budget, prices, replay, engine, workspace,
        )  # fmt: skip
        own, most = self.SEARCHES
        check_numbers(
            facts=(facts, 1, 50), searches=(searches, 0, most), passages=(passages, 1, 100),
            calls=(calls, 4, 1000),
        )  # fmt: skip
        self.facts, self.searches, self.passages = facts, searches or own, passages
        self.calls = calls

    async def verify(self, claim: Claim, context: Context) -> Verdict | VerificationFailure:
        """The verdict on one claim, on the worst of its facts.

        Raises:
            RunIncomplete: an answer or a search is missing; asking again later goes on.
            DeepFactError: no call of this run can succeed.
        """
        self.finder.open(context)  # a retriever that cannot be must not cost a call
        run = FactRun(self, claim, context)
        item, outcome = run.item, None
        try:
            for fact in await self.split(run):
                await self.judge(run, fact)
            if not item.judgements:
                raise CallFailed(FailureReason.NO_ANSWER, "it found nothing to check in the claim")
        except CallFailed as failure:
            item.fail(failure, self.kind)
        usage = run.account.usage(item.asked.id)
        if item.alive:
            outcome = rules.verdict_of(
                item, stances={}, prompt=self.prompt.ref, usage=usage,
                rule="the worst label of its facts",
            )  # fmt: skip
        made = outcome or rules.failure_of(item, prompt=self.prompt.ref, usage=usage)
        item.calls = list(in_order(run.account.calls.get(item.asked.id, ())))
        self.traces.keep([trace_of(item, made, run.account, [item], self.kind)])
        return made

    @abstractmethod
    async def split(self, run: FactRun) -> list[Fact]:
        """The facts of the claim."""

    @abstractmethod
    async def judge(self, run: FactRun, fact: Fact) -> None:
        """Search for a fact and judge it; a fact that is not to be judged is left out."""

    # --- plans ---------------------------------------------------------------------------

    def first_request(self, items: Sequence[Item]) -> Request:
        """As `SteppedVerifier.first_request`."""
        values = {
            "claims": claims_block([item.asked for item in items]),
            "most_facts": str(self.facts),
        }
        return self.asking.request(self.STEPS[0], values, len(items))

    def largest_request(self, items: Sequence[Item], _longest: int) -> Request:
        """As `SteppedVerifier.largest_request`: a fact with all passages of all searches."""
        step = next(step for step in self.STEPS if "{{sources}}" in self.step_prompts[step].user)
        found = "x" * (LONGEST * self.passages * self.searches)
        values = {
            "claims": claims_block([item.asked for item in items]), "sources": found,
            "searches": NONE,
        }  # fmt: skip
        return self.asking.request(step, values)


class FactRun:
    """One claim on its way through a baseline."""

    def __init__(self, verifier: FactVerifier, claim: Claim, context: Context) -> None:
        self.verifier, self.context = verifier, context
        self.item = items_of([claim], context)[0]
        self.account = Account(verifier.calls)
        self._tags: dict[str, str] = {}

    async def ask(self, step: str, about: Asked, **values: str) -> Answer:
        """The answer of a step about the claim or one of its facts.

        Raises:
            CallFailed: there is none.
        """
        booked = Asked(self.item.asked.id, about.text)  # whatever it is about, this claim pays
        shown = Asked(booked.id, about.text, about.context, about.around)
        found, lost = await self.verifier.asking.answers(
            step, [shown], lambda asked: {"claims": claims_block(asked), **values}, self.account
        )
        if lost:
            failure = lost[booked.id]
            raise CallFailed(failure.reason, f"{step}: {failure.detail}")
        return found[booked.id]

    async def split(self, step: str) -> list[Fact]:
        """The facts that a step makes of the claim."""
        most = self.verifier.facts
        answer = await self.ask(step, self.item.asked, most_facts=str(most))
        texts = list(dict.fromkeys(" ".join(one.split()) for one in answer["facts"]))
        texts = [text for text in texts if text]
        if len(texts) > most:
            self.item.note(f"facts_left_out:{len(texts) - most}")
        elements = [
            TracedElement(id=f"E{at}", text=text) for at, text in enumerate(texts[:most], 1)
        ]
        self.item.elements = tuple(elements)
        claim = self.item.claim
        context = f"{claim.text}\n{claim.context}".strip()
        return [Fact(one, Asked(one.id, one.text, context)) for one in elements]

    async def search(self, fact: Fact, query: str) -> None:
        """Search, and keep the passages for the fact."""
        limit, finder = self.verifier.passages, self.verifier.finder
        found = []
        for passage in await finder.search(query, self.context, limit):
            source = finder.sources(self.context).get(passage.source)
            if source is None or source.role in GENERATED:
                continue
            found.append(source.id)
            texts = fact.passages.setdefault(source.id, [])
            if passage.text not in texts:
                texts.append(passage.text)
                self._remark(source, passage.found_in, len(passage.text))
        made = TracedQuery(round=len(fact.queries), text=query, found=tuple(dict.fromkeys(found)))
        fact.queries.append(made)
        self.item.queries.append(made)

    def _remark(self, source: Source, found_in: str, read: int) -> None:
        tag = self._tags.setdefault(source.id, f"S{len(self._tags) + 1}")
        before = self.item.documents.get(tag)
        cited = source.id in self.item.claim.cites
        total = min((before.read if before else 0) + read, len(source.text))
        self.item.documents[tag] = TracedDocument(
            tag=tag, source=source.id, title=source.title, url=source.url, chosen=True,
            found_in=CITED if cited else found_in or BENCHMARK, read=total,
            characters=len(source.text),
        )  # fmt: skip

    def sources(self, fact: Fact) -> str:
        """The passages of a fact as a prompt shows them."""
        blocks = [
            source_block(
                Shown(
                    self._tags[source_id],
                    self.source(source_id),
                    "\n[...]\n".join(texts),
                    source_id in self.item.claim.cites,
                )
            )
            for source_id, texts in fact.passages.items()
        ]
        return "\n".join(blocks) or NONE

    @staticmethod
    def searches(fact: Fact) -> str:
        """What was searched for, as a prompt shows it."""
        return searches_block(fact.queries)

    def source(self, source_id: str) -> Source:
        """A source that a search found."""
        return self.verifier.finder.sources(self.context)[source_id]

    def need_passages(self, fact: Fact) -> None:
        """A fact for which nothing was found cannot be judged.

        Raises:
            CallFailed: nothing was found.
        """
        if not fact.passages:
            raise CallFailed(
                FailureReason.NO_SOURCE, f"no search found anything for {fact.element.id}"
            )

    def extracts(self, fact: Fact, given: Sequence[Mapping[str, Any]]) -> list[TracedExtract]:
        """The passages that an answer quotes; one that is not in its source does not count."""
        by_tag = {tag: source_id for source_id, tag in self._tags.items()}
        number, made = len(self.item.counted), []
        for one in given:
            if one["source"] not in by_tag:
                self.item.note(f"no source {one['source'][:20]!r} was shown")
                continue
            source, quote = self.source(by_tag[one["source"]]), one["quote"]
            if span_of(quote, source.text) is None:
                quote = unescape(quote)
            span = span_of(quote, source.text)
            number += span is not None
            made.append(
                TracedExtract(
                    id=f"Q{number}" if span is not None else "", element=fact.element.id,
                    source=source.id, quote=quote, stance=Stance(one["stance"]), span=span,
                )
            )  # fmt: skip
        self.item.extracts += made
        return [one for one in made if one.id]

    def conclude(self, fact: Fact, answer: Answer, quotes: Sequence[TracedExtract]) -> None:
        """The judgement on a fact, checked.

        Args:
            answer: has ``label``, ``reason`` and ``disputed``.
            quotes: the passages it rests on.

        Raises:
            CallFailed: it contradicts itself, or rests on nothing that is there.
        """
        claim, label = self.item.claim.text, Label(answer["label"])
        words = rules.in_claim(answer["disputed"], claim)
        if not words and rules.in_claim(answer["disputed"], fact.element.text):
            words = claim  # the fact was worded anew: what it disputes is somewhere in the claim
        stances = {one.stance for one in quotes}
        rules.check_judgement(claim, {**answer, "disputed": words}, stances, fact.element.id)
        self.item.judgements.append(
            TracedJudgement(
                element=fact.element.id, label=label, reason=answer["reason"],
                disputed=words if label is Label.CONTRADICTORY else "",
                quotes=tuple(one.id for one in quotes),
            )
        )  # fmt: skip
