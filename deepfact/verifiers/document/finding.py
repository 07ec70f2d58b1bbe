"""Searches for claims, and the documents that these bring into question.

The sources that a claim cites come into question whether or not a search finds them. Generated
text never does: it is no evidence. No model is asked here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from threading import Lock

from deepfact.core.challenge import GENERATED
from deepfact.prompts.fence import suspicions
from deepfact.records import Source
from deepfact.retrievers.base import BENCHMARK, CITED, Passage, Retriever, WithSources
from deepfact.retrievers.ordered import OrderedRetriever
from deepfact.retrievers.registry import RetrieverSpec, build_retriever
from deepfact.trace_records import TracedDocument, TracedQuery
from deepfact.verifiers.base import Context
from deepfact.verifiers.document.items import Document, Item

SNIPPETS = 3
SNIPPET_CHARACTERS = 400
_LOCAL = ("bm25", "dense", "hybrid", "folder")
"""Kinds of retriever that never wait for a network."""


class Finder:
    """Searches through one retriever, made for the context it was last used with.

    Args:
        spec: the retriever.
        workspace: a run's folder, for what it keeps.
    """

    def __init__(self, spec: RetrieverSpec, workspace: Path | None) -> None:
        self._spec, self._workspace = spec, workspace
        self._context: Context | None = None
        self._retriever: Retriever | None = None
        self._lock = Lock()

    def open(self, context: Context) -> Retriever:
        """The retriever for a context.

        Raises:
            ConfigError: the spec does not fit.
        """
        if self._retriever is None or self._context is not context:
            self._retriever = build_retriever(
                self._spec, context.sources, workspace=self._workspace
            )
            self._context = context
        return self._retriever

    def leaves(self, context: Context) -> bool:
        """Whether it may look elsewhere than in a corpus that is here."""
        retriever = self.open(context)
        if isinstance(retriever, OrderedRetriever):
            return retriever.web is not None
        return self._spec.kind not in _LOCAL

    def sources(self, context: Context) -> Mapping[str, Source]:
        """Every source that a passage may name."""
        retriever = self.open(context)
        return retriever.sources if isinstance(retriever, WithSources) else context.sources

    async def search(self, query: str, context: Context, limit: int) -> Sequence[Passage]:
        """Passages for a query, best first.

        Raises:
            RunIncomplete: a search could not be made now.
        """
        retriever = self.open(context)
        if not self.leaves(context):
            return retriever.search(query, limit=limit)

        def alone() -> Sequence[Passage]:
            with self._lock:
                return retriever.search(query, limit=limit)

        # What goes over the network must not hold up the other claims.
        return await asyncio.to_thread(alone)


class Documents:
    """The documents that came into question for a group, each under one tag."""

    def __init__(self, finder: Finder, context: Context) -> None:
        self._finder, self._context = finder, context
        self.by_tag: dict[str, Document] = {}
        self._tags: dict[str, str] = {}

    def tags(self) -> Mapping[str, str]:
        """Tag by source id."""
        return self._tags

    def source(self, source_id: str) -> Source:
        """A source that came into question."""
        return self.by_tag[self._tags[source_id]].source

    async def find(
        self,
        items: Sequence[Item],
        queries: Mapping[str, Sequence[str]],
        *,
        round_: int,
        passages: int,
        most: int,
    ) -> list[Document]:
        """Search for some claims, and say which documents are new in question, best first: those
        that the claims cite, then by rank, the queries taking turns.

        Args:
            items: the claims.
            queries: by the id under which a claim is asked about.
            round_: 0 for the plan's searches.
            passages: for each query.
            most: new documents; what a claim cites comes into question all the same.
        """
        hits: dict[str, tuple[str, list[str]]] = {}
        for item in items if round_ == 0 else ():
            self._cited(item, hits)
        cited, found = len(hits), list[list[Passage]]()
        asked: dict[str, list[Passage]] = {}  # the same query of two claims is one search
        for item in items:
            for query in queries.get(item.asked.id, ()):
                if query not in asked:
                    some = await self._finder.search(query, self._context, passages)
                    asked[query] = [one for one in some if self._is_evidence(one)]
                    found.append(asked[query])
                item.queries.append(
                    TracedQuery(
                        round=round_,
                        text=query,
                        found=tuple(dict.fromkeys(one.source for one in asked[query])),
                    )
                )
        for rank in zip_longest(*found):
            for passage in rank:
                if passage is not None:
                    _take(passage, hits)
        new = [one for one in hits if one not in self._tags]
        return [self._enter(one, *hits[one], round_) for one in new[: max(most, cited)]]

    def _cited(self, item: Item, hits: dict[str, tuple[str, list[str]]]) -> None:
        for source_id in item.claim.cites:
            if source_id not in self._context.sources:
                item.note(f"cited_source_missing:{source_id}")
            elif self._context.sources[source_id].role in GENERATED:
                item.note(f"generated_source_left_out:{source_id}")
            else:
                hits.setdefault(source_id, (CITED, []))

    def _is_evidence(self, passage: Passage) -> bool:
        source = self._finder.sources(self._context).get(passage.source)
        return source is not None and source.role not in GENERATED

    def _enter(self, source_id: str, found_in: str, snippets: list[str], round_: int) -> Document:
        known = self._finder.sources(self._context)
        source = known[source_id] if source_id in known else self._context.sources[source_id]
        tag = f"S{len(self.by_tag) + 1}"
        shown = tuple(snippets) or (source.text[:SNIPPET_CHARACTERS],)
        document = Document(tag, source, found_in, shown, round_)
        self.by_tag[tag], self._tags[source_id] = document, tag
        return document


def _take(passage: Passage, hits: dict[str, tuple[str, list[str]]]) -> None:
    snippets = hits.setdefault(passage.source, (passage.found_in or BENCHMARK, []))[1]
    text = passage.text[:SNIPPET_CHARACTERS]
    if len(snippets) < SNIPPETS and text not in snippets:
        snippets.append(text)


def remark_on(item: Item, document: Document, *, chosen: bool) -> None:
    """Keep in an item that a document came into question for it."""
    source = document.source
    cited = source.id in item.claim.cites
    item.documents[document.tag] = TracedDocument(
        tag=document.tag,
        source=source.id,
        title=source.title,
        url=source.url,
        found_in=CITED if cited else BENCHMARK if document.found_in == CITED else document.found_in,
        round=document.round,
        chosen=chosen,
        characters=len(source.text),
    )
    if chosen:
        for reason in suspicions(f"{source.title}\n{source.text}"):
            item.note(f"suspicious_source:{source.id}:{reason}")
