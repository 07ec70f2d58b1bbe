"""Sources in order: those that a claim cites, then the benchmark's, then what a search finds.

Each passage says where it is from. Generated text is left out: it is never evidence.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, cast

from deepfact.records import Claim, Source
from deepfact.retrievers.base import BENCHMARK, CITED, SEARCH, Passage, Retriever, WithSources
from deepfact.retrievers.bm25 import BM25Retriever
from deepfact.retrievers.corpus import CorpusRetriever
from deepfact.retrievers.registry import GENERATED, RetrieverSpec, build_retriever

When = Literal["short", "always"]
SHARE = 4
"""With ``search_when: always`` a search has a fourth of the places, at least one."""


class OrderedRetriever:
    """Kind ``ordered``: a corpus and, where a spec says so, a search behind it.

    Args:
        sources: the benchmark's, by id.
        corpus: searches them.
        web: searches elsewhere; None when nothing else is searched.
        search_when: ``short`` searches elsewhere only when cited and benchmark sources give fewer
            passages than were asked for; ``always`` keeps a fourth of the places for it.
    """

    def __init__(
        self,
        sources: Mapping[str, Source],
        corpus: Retriever,
        web: Retriever | None = None,
        search_when: When = "short",
    ) -> None:
        self.corpus, self.web, self.search_when = corpus, web, search_when
        self._benchmark = sources

    @property
    def sources(self) -> Mapping[str, Source]:
        """Of the corpus, and of what was found elsewhere so far."""
        maps = [self._benchmark]
        for one in (self.corpus, self.web):
            if isinstance(one, WithSources):
                maps.append(one.sources)
        # A ChainMap asks for mappings that can be written to; nobody writes to these.
        return ChainMap(*cast("list[MutableMapping[str, Source]]", maps))

    def for_claim(self, claim: Claim) -> ClaimRetriever:
        """A retriever for one claim, which looks first in the sources that it cites. It shares
        the index, and what was found elsewhere, with this one."""
        return ClaimRetriever(self, claim)

    def search(self, query: str, *, limit: int = 10) -> Sequence[Passage]:
        """As `deepfact.retrievers.base.Retriever`: the benchmark's sources, then the search."""
        return self.find(query, limit, cited=())

    def find(self, query: str, limit: int, cited: Sequence[str]) -> list[Passage]:
        """At most ``limit`` passages, those of the ``cited`` sources first."""
        if limit <= 0:
            return []
        always = self.web is not None and self.search_when == "always"
        kept_free = max(1, limit // SHARE) if always and limit > 1 else 0
        found = _Found(self.sources, limit - kept_free)
        if cited:
            found.add(self._in_cited(query, found.room, cited), CITED)
        if found.room:
            found.add(self.corpus.search(query, limit=found.room + len(found.passages)), BENCHMARK)
        found.room += kept_free
        if self.web is not None and found.room:
            found.sources = self.sources
            found.add(self.web.search(query, limit=found.room + len(found.passages)), SEARCH)
        return found.passages

    def _in_cited(self, query: str, limit: int, cited: Sequence[str]) -> Sequence[Passage]:
        """Passages of the cited sources, by the corpus's own ranking where it can be confined."""
        here = [one for one in dict.fromkeys(cited) if one in self._benchmark]
        if isinstance(self.corpus, CorpusRetriever):
            return self.corpus.search(query, limit=limit, within=here)
        return BM25Retriever(self._benchmark[one] for one in here).search(query, limit=limit)


class ClaimRetriever:
    """What `OrderedRetriever.for_claim` gives: the same search, with one claim's sources first."""

    def __init__(self, behind: OrderedRetriever, claim: Claim) -> None:
        self.claim, self._behind = claim, behind

    @property
    def sources(self) -> Mapping[str, Source]:
        """As `OrderedRetriever.sources`."""
        return self._behind.sources

    def search(self, query: str, *, limit: int = 10) -> Sequence[Passage]:
        """As `deepfact.retrievers.base.Retriever`: cited, then benchmark, then search."""
        return self._behind.find(query, limit, self.claim.cites)


class _Found:
    """Passages gathered in order, each place of each source once, none of generated text."""

    def __init__(self, sources: Mapping[str, Source], room: int) -> None:
        self.sources, self.room = sources, room
        self.passages: list[Passage] = []
        self._seen: set[tuple[str, int, int]] = set()

    def add(self, passages: Iterable[Passage], found_in: str) -> None:
        """Take as many as there is room for."""
        for passage in passages:
            place = (passage.source, passage.span.start, passage.span.end)
            source = self.sources.get(passage.source)
            if not self.room or place in self._seen:
                continue
            if source is not None and source.role in GENERATED:
                continue
            self._seen.add(place)
            self.passages.append(replace(passage, found_in=found_in))
            self.room -= 1


def ordered_retriever(
    sources: Mapping[str, Source],
    workspace: Path | None = None,
    corpus: RetrieverSpec = RetrieverSpec(),
    search: RetrieverSpec | None = None,
    search_when: When = "short",
) -> OrderedRetriever:
    """Kind ``ordered``, from a spec.

    Args:
        sources: the benchmark's, by id.
        workspace: as `build_retriever`.
        corpus: how the benchmark's sources are searched.
        search: what is searched behind them, such as ``{kind: search, options: {...}}``.
        search_when: as `OrderedRetriever`.

    Raises:
        ConfigError: a spec does not fit.
    """
    behind = build_retriever(search, {}, workspace=workspace) if search else None
    inner = build_retriever(corpus, sources, workspace=workspace)
    return OrderedRetriever(sources, inner, behind, search_when)
