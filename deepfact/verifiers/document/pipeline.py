"""From claims to verdicts: plan, search, choose, read, follow up, judge.

Works on one claim or on a group of them; a group shares its searches, the reading of its
documents and every call. Whatever fails costs only the claims it concerns their verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deepfact.prompts.render import Shown, source_block
from deepfact.providers.base import CallFailed
from deepfact.records import FailureReason, Outcome, Source
from deepfact.verifiers.base import Context
from deepfact.verifiers.document import rules
from deepfact.verifiers.document.asking import Account, Answer, Check, StepAsker, Values
from deepfact.verifiers.document.blocks import (
    candidates_block,
    claims_block,
    evidence_block,
    searches_block,
)
from deepfact.verifiers.document.finding import Documents, Finder, remark_on
from deepfact.verifiers.document.items import Asked, Document, Item
from deepfact.verifiers.document.reading import Window, extracts_of, windows_of
from deepfact.verifiers.panel.asking import all_of

STEPS = (
    "document/plan", "document/choose", "document/read", "document/follow-up", "document/verdict",
)  # fmt: skip
MOST_EXTRACTS = 12
"""Passages taken of one answer about one claim."""


@dataclass(frozen=True)
class Bounds:
    """How much is done for a claim, or for a group of claims together."""

    queries: int
    """Searches of a plan, and of each follow-up, for each claim."""
    passages: int
    """That each search brings."""
    candidates: int
    """New documents that a round of searches brings into question."""
    documents: int
    """Documents read in a round; as many as the claims cite, when these are more."""
    rounds: int
    """Follow-ups."""
    window: int
    """Characters of a document that are read at once."""
    windows: int
    """Stretches of one document that are read."""
    calls: int
    """For each claim."""


class Pipeline:
    """One run over a group of claims.

    Args:
        asker: asks the questions.
        finder: searches.
        bounds: how much is done.
        items: the claims; the ids under which they are asked about differ.
        context: the sources.
    """

    def __init__(
        self,
        asker: StepAsker,
        finder: Finder,
        bounds: Bounds,
        items: Sequence[Item],
        context: Context,
    ) -> None:
        self.items, self.bounds = items, bounds
        self.account = Account(bounds.calls * len(items))
        self._asker = asker
        self._answers: dict[str, Answer] = {}
        """Of the last step, by the id under which a claim is asked about."""
        self._documents = Documents(finder, context)
        self._cited = frozenset(source for item in items for source in item.claim.cites)

    async def run(self) -> list[Outcome]:
        """An outcome for each claim, in their order.

        Raises:
            RunIncomplete: an answer or a search is missing; asking again later goes on.
            DeepFactError: no call of this run can succeed.
        """
        queries = await self._plan()
        active: Sequence[Item] = self._alive()
        for round_ in range(self.bounds.rounds + 1):
            if not queries or not active:
                break
            await self._search_and_read(active, queries, round_)
            active = [item for item in self._alive() if item.open_elements]
            if round_ == self.bounds.rounds or not active or self.account.left <= 1:
                break
            queries = await self._follow_up(active)
        await self._judge()
        return [self._outcome(item) for item in self.items]

    def _alive(self) -> list[Item]:
        return [item for item in self.items if item.alive]

    # --- steps ---------------------------------------------------------------------------

    async def _plan(self) -> dict[str, list[str]]:
        """Elements of each claim, and the first searches."""
        most = {"most_queries": str(self.bounds.queries)}
        answers = await self._ask(
            "document/plan", self.items, lambda asked: {"claims": claims_block(asked), **most},
            rules.check_plan,
        )  # fmt: skip
        queries: dict[str, list[str]] = {}
        for item, answer in answers:
            item.elements = rules.elements_of(answer)
            queries[item.asked.id] = rules.queries_of(answer, self.bounds.queries) or [
                " ".join(item.claim.text.split())[: rules.QUERY_CHARACTERS]
            ]
        return queries

    async def _search_and_read(
        self, items: Sequence[Item], queries: Mapping[str, Sequence[str]], round_: int
    ) -> None:
        bounds = self.bounds
        new = await self._documents.find(
            items, queries, round_=round_, passages=bounds.passages, most=bounds.candidates
        )
        if not self._documents.by_tag:
            for item in items:
                detail = "no source that the claim cites is there, and no search found one"
                item.fail(CallFailed(FailureReason.NO_SOURCE, detail), "search")
            return
        chosen = await self._choose(items, new)
        readers = [item for item in items if item.alive]
        windows = [
            window
            for document in chosen
            for window in windows_of(document, characters=bounds.window, most=bounds.windows)
        ]
        room = max(self.account.left - 1, 0)
        if len(windows) > room:
            for item in readers:
                item.note(f"calls_spent:{len(windows) - room} of {len(windows)} readings not made")
        if not readers:
            return
        answers = await all_of(self._read(readers, window) for window in windows[:room])
        # In the order of the windows, whoever was answered first: the ids of the passages are part
        # of later requests, and a resumed run must ask the same.
        for window, answered in zip(windows, answers, strict=False):
            for item, answer in answered:
                self._take(item, window, answer)

    async def _choose(self, items: Sequence[Item], new: Sequence[Document]) -> list[Document]:
        """The documents to read: all that are new when they are few, else those chosen."""
        cited = sum(document.source.id in self._cited for document in new)
        most = max(self.bounds.documents, cited)
        picked: dict[str, int] = {}
        if len(new) <= most:
            picked = {one.tag: 0 for one in new}
        else:
            block = candidates_block(new, self._cited)
            answers = await self._ask(
                "document/choose",
                items,
                lambda asked: {
                    "claims": claims_block(asked),
                    "candidates": block,
                    "most_documents": str(most),
                },
                reserve=2,
            )
            tags = {one.tag for one in new}
            for _, answer in answers:
                wanted = [tag for tag in dict.fromkeys(answer["documents"]) if tag in tags]
                for place, tag in enumerate(wanted[:most]):
                    picked[tag] = min(place, picked.get(tag, place))
        # Every claim's first choice comes before anybody's second.
        order = [one.tag for one in new]
        ranked = sorted(picked, key=lambda tag: (picked[tag], order.index(tag)))
        kept = set(ranked[:most])
        for item in items:
            for document in new:
                remark_on(item, document, chosen=document.tag in kept)
            for tag in ranked[most:]:
                item.note(f"document_left_out:{self._documents.by_tag[tag].source.id}")
        return [self._documents.by_tag[tag] for tag in ranked[:most]]

    async def _read(self, items: Sequence[Item], window: Window) -> list[tuple[Item, Answer]]:
        """Read one stretch of a document for some claims."""
        document = window.document
        cited = document.source.id in self._cited
        block = source_block(Shown(document.tag, document.source, window.text, cited))
        part = f" {window.number}/{window.of}" if window.of > 1 else ""
        return await self._ask(
            "document/read",
            items,
            lambda asked: {"claims": claims_block(asked), "sources": block},
            reserve=1,
            about=f"{document.tag}{part}",
        )

    def _take(self, item: Item, window: Window, answer: Answer) -> None:
        """Keep what was copied out of a stretch for a claim, and how much of it was read."""
        source, tag = window.document.source, window.document.tag
        item.extracts += extracts_of(item, answer, source, most=MOST_EXTRACTS)
        card = item.documents[tag]
        read = min(card.read + window.span.end - window.span.start, card.characters)
        item.documents[tag] = card.model_copy(update={"read": read})
        if window.of > self.bounds.windows:
            item.note(f"document_cut:{source.id}:{self.bounds.windows} of {window.of} read")

    async def _follow_up(self, items: Sequence[Item]) -> dict[str, list[str]]:
        """Further searches for what is not covered; none when they are unlikely to help."""
        by_id = {item.asked.id: item for item in items}

        def values(asked: Sequence[Asked]) -> dict[str, str]:
            some = [by_id[one.id] for one in asked]
            open_now = [_with(one, by_id[one.id].open_elements) for one in asked]
            return {
                "claims": claims_block(open_now),
                "evidence": self._evidence(some),
                "searches": searches_block(query for item in some for query in item.queries),
                "most_queries": str(self.bounds.queries),
            }

        answers = await self._ask("document/follow-up", items, values, reserve=1)
        queries: dict[str, list[str]] = {}
        for item, answer in answers:
            made = {query.text for query in item.queries}
            wanted = rules.queries_of(answer, self.bounds.queries)
            if new := [one for one in wanted if one not in made]:
                queries[item.asked.id] = new
        return queries

    async def _judge(self) -> None:
        """Judge the elements of every claim that got this far."""
        by_id = {item.asked.id: item for item in self._alive()}
        answers = await self._ask(
            "document/verdict",
            list(by_id.values()),
            lambda asked: {
                "claims": claims_block(asked),
                "evidence": self._evidence([by_id[one.id] for one in asked]),
            },
            rules.check_verdict,
        )
        for item, answer in answers:
            item.judgements = rules.judgements_of(item, answer)
            self._answers[item.asked.id] = answer

    # --- asking --------------------------------------------------------------------------

    async def _ask(
        self,
        step: str,
        items: Sequence[Item],
        values: Values,
        check: Any = None,
        *,
        reserve: int = 0,
        about: str = "",
    ) -> list[tuple[Item, Answer]]:
        """The answer about each claim that has one; the others have failed by then."""
        if not items:
            return []
        by_id = {item.asked.id: item for item in items}
        checked: Check = lambda *_: None  # noqa: E731
        if check is not None:
            checked = lambda name, answer: check(by_id[name], answer)  # noqa: E731
        found, lost = await self._asker.answers(
            step, [item.shown for item in items], values, self.account,
            check=checked, reserve=reserve, about=about,
        )  # fmt: skip
        for name, why in lost.items():
            by_id[name].fail(why, step)
        return [(by_id[name], found[name]) for name in by_id if name in found]

    def _evidence(self, items: Sequence[Item]) -> str:
        extracts = {item.asked.id: item.counted for item in items}
        named = {one.source for some in extracts.values() for one in some}
        sources: dict[str, Source] = {one: self._documents.source(one) for one in named}
        return evidence_block(extracts, self._documents.tags(), sources)

    def _outcome(self, item: Item) -> Outcome:
        usage = self.account.usage(item.asked.id)
        prompt = self._asker.prompts["document/verdict"].ref
        answer = self._answers.get(item.asked.id)
        if answer is None or not item.alive:
            return rules.failure_of(item, prompt=prompt, usage=usage)
        return rules.verdict_of(
            item,
            stances=rules.restanced(answer),
            qualifications=rules.qualifications_of(item, answer),
            prompt=prompt,
            usage=usage,
        )


def _with(asked: Asked, elements: Sequence[Any]) -> Asked:
    return Asked(asked.id, asked.text, asked.context, asked.around, tuple(elements))
