"""BM25 over sentences of sources, by the bm25s library, with ties broken by position.

The index lives in memory and is built once per retriever. No network, no file is written.
"""

from __future__ import annotations

from typing import Any, Iterable, Sequence

from deepfact.records import Source
from deepfact.retrievers.base import Passage
from deepfact.retrievers.passages import passages
from deepfact.retrievers.words import stems

K1 = 1.2
B = 0.75
"""The usual BM25 parameters (Robertson and Zaragoza 2009, section 3.4)."""


class BM25Retriever:
    """Finds sentences of the given sources by BM25 over stemmed content words.

    Args:
        sources: read once, in order; the order decides between equal scores.
    """

    def __init__(self, sources: Iterable[Source]) -> None:
        self.passages: list[Passage] = [p for source in sources for p in passages(source)]
        self._stems = [stems(passage.text) for passage in self.passages]
        self._index = build_bm25(self._stems)

    def stems_of(self, position: int) -> list[str]:
        """Stems of the passage at ``position`` in `passages`."""
        return self._stems[position]

    def scores(self, query: str) -> list[float]:
        """The BM25 score of every passage for ``query``, in passage order."""
        known = [stem for stem in stems(query) if self._index is not None]
        if self._index is None or not known:
            return [0.0] * len(self.passages)
        return [float(score) for score in self._index.get_scores(known)]

    def ranked(self, query: str) -> list[tuple[float, int]]:
        """``(score, position)`` of the passages that share a word with ``query``, best first."""
        found = [(score, at) for at, score in enumerate(self.scores(query)) if score > 0.0]
        return sorted(found, key=lambda pair: (-pair[0], pair[1]))

    def search(self, query: str, *, limit: int = 10) -> Sequence[Passage]:
        """At most ``limit`` passages, best first; empty when no word of the query is known."""
        return [
            Passage(
                source=self.passages[at].source,
                span=self.passages[at].span,
                text=self.passages[at].text,
                score=score,
                found_by="bm25",
            )
            for score, at in self.ranked(query)[: max(limit, 0)]
        ]


def build_bm25(corpus: list[list[str]]) -> Any:
    """The index, or None when there is not a single word to index (bm25s refuses that)."""
    if not any(corpus):
        return None
    import bm25s

    index = bm25s.BM25(k1=K1, b=B, method="lucene")
    index.index(corpus, show_progress=False)
    return index
