"""Ranking the passages of a corpus: by words (BM25), by vectors (dense), or by both (hybrid).

All three search one `deepfact.retrievers.index.PassageIndex`, made once and, where a folder is
given, kept and used again. Ties are broken by position, so that a search gives the same passages
every time. No network.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from deepfact.records import Source
from deepfact.retrievers.base import Passage
from deepfact.retrievers.embedders import WORDLLAMA, Embedder, build_embedder
from deepfact.retrievers.index import PassageIndex, build_index

K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009, who found
their results hardly to depend on it)."""
AUTO = "auto"
"""As a folder of indexes: the user's cache."""
DEPTH = 200
"""How far down each ranking a passage still counts for the fusion."""


class CorpusRetriever(ABC):
    """What the three have in common: an index, and the sources it is of."""

    name = ""

    def __init__(self, index: PassageIndex) -> None:
        self.index = index

    @property
    def sources(self) -> Mapping[str, Source]:
        """The sources that are searched, by id."""
        return self.index.sources

    def search(
        self, query: str, *, limit: int = 10, within: Collection[str] | None = None
    ) -> Sequence[Passage]:
        """As `deepfact.retrievers.base.Retriever`.

        Args:
            query: plain words.
            limit: the most passages to return.
            within: ids of the only sources to look in; all when None. Word statistics stay those
                of the whole corpus.
        """
        if limit <= 0 or not len(self.index):
            return []
        mask = None if within is None else self.index.within(within)
        ranked = self.ranked(query, limit, mask)
        return [
            self.index.passage(at, score=round(score, 6), found_by=self.name)
            for at, score in ranked
        ]

    @abstractmethod
    def ranked(self, query: str, limit: int, mask: Any) -> list[tuple[int, float]]:
        """``(position, score)`` of the best passages; ``mask`` says which may be among them."""


class BM25Corpus(CorpusRetriever):
    """Kind ``bm25``: passages that share words with the query.

    Args:
        sources: given by whoever builds it.
        index: a folder in which the index is kept, or ``auto`` for the user's cache; in memory
            when empty.
    """

    name = "bm25"

    def __init__(self, sources: Mapping[str, Source], index: str = "") -> None:
        super().__init__(_index(sources, None, index))

    def ranked(self, query: str, limit: int, mask: Any) -> list[tuple[int, float]]:
        """As `CorpusRetriever`; passages without a word in common are never among them."""
        return best(self.index.bm25_scores(query), limit, mask, above=0.0)


class DenseCorpus(CorpusRetriever):
    """Kind ``dense``: passages whose vectors are near the query's.

    Args:
        sources: given by whoever builds it.
        model: as `deepfact.retrievers.embedders.build_embedder`.
        download: let a model be fetched from the Hub.
        index: as `BM25Corpus`.
    """

    name = "dense"

    def __init__(
        self,
        sources: Mapping[str, Source],
        model: str = WORDLLAMA,
        download: bool = False,
        index: str = "",
    ) -> None:
        self.embedder: Embedder = build_embedder(model, download=download)
        super().__init__(_index(sources, self.embedder, index))

    def ranked(self, query: str, limit: int, mask: Any) -> list[tuple[int, float]]:
        """As `CorpusRetriever`; nothing for a query without a word that the model knows."""
        vector = self.embedder.embed([query])[0]
        if not vector.any():
            return []
        return best(self.index.cosines(vector), limit, mask)


class HybridCorpus(DenseCorpus):
    """Kind ``hybrid``: both rankings, joined by reciprocal rank fusion.

    A passage scores the sum of 1 / (k + rank) over the rankings that have it among their first
    `DEPTH`, ranks from 1 (Cormack, Clarke and Buettcher, "Reciprocal rank fusion outperforms
    Condorcet and individual rank learning methods", SIGIR 2009).

    Args:
        sources: given by whoever builds it.
        model, download, index: as `DenseCorpus`.
        k: damps the weight of the first ranks.
        bm25_weight: of the BM25 ranking, where the dense one has 1.
    """

    name = "hybrid"

    def __init__(
        self,
        sources: Mapping[str, Source],
        model: str = WORDLLAMA,
        download: bool = False,
        index: str = "",
        k: int = K,
        bm25_weight: float = 1.0,
    ) -> None:
        super().__init__(sources, model, download, index)
        self.k, self.bm25_weight = k, bm25_weight

    def ranked(self, query: str, limit: int, mask: Any) -> list[tuple[int, float]]:
        """As `CorpusRetriever`."""
        depth = max(limit, DEPTH)
        by_words = best(self.index.bm25_scores(query), depth, mask, above=0.0)
        by_vectors = super().ranked(query, depth, mask)
        return fused([(by_words, self.bm25_weight), (by_vectors, 1.0)], self.k)[:limit]


def best(
    scores: Any, limit: int, mask: Any = None, *, above: float | None = None
) -> list[tuple[int, float]]:
    """The highest scores as ``(position, score)``, highest first, then by position."""
    import numpy

    positions = numpy.arange(len(scores)) if mask is None else numpy.flatnonzero(mask)
    if above is not None:
        positions = positions[numpy.asarray(scores)[positions] > above]
    values = numpy.asarray(scores, dtype=numpy.float64)[positions]
    order = numpy.argsort(-values, kind="stable")[:limit]
    return [(int(positions[at]), float(values[at])) for at in order]


def fused(
    rankings: Sequence[tuple[Sequence[tuple[int, float]], float]], k: int
) -> list[tuple[int, float]]:
    """Rankings joined by reciprocal rank fusion, each with its weight."""
    totals: dict[int, float] = {}
    for ranking, weight in rankings:
        for rank, (at, _) in enumerate(ranking, 1):
            totals[at] = totals.get(at, 0.0) + weight / (k + rank)
    return sorted(totals.items(), key=lambda pair: (-pair[1], pair[0]))


def _index(sources: Mapping[str, Source], embedder: Embedder | None, folder: str) -> PassageIndex:
    """The index of these sources: kept in a folder, or made in memory."""
    if not folder:
        return build_index(sources, embedder)
    from deepfact.retrievers.index_files import IndexStore, default_folder

    return IndexStore(default_folder() if folder == AUTO else Path(folder)).open(sources, embedder)
