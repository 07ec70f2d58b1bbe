"""Claims that cite what a search finds for them, in place of what they cite.

So every verifier that reads a claim's sources can be measured with real retrieval, unchanged.
Judges nothing and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from deepfact.records import Claim
from deepfact.retrievers.base import Retriever

PASSAGES = 8
"""Passages asked for, for each document that is wanted: several may be of one document."""


def citing(claims: Iterable[Claim], retriever: Retriever, documents: int) -> Iterator[Claim]:
    """Each claim with the documents of its best passages as its citations, best first.

    Args:
        claims: what they cite is not looked at, nor is anything but their text searched for.
        retriever: searches the sources that may be read.
        documents: how many each claim cites at most; fewer when no more share a word with it.
    """
    for claim in claims:
        yield claim.model_copy(update={"cites": _found(claim.text, retriever, documents)})


def _found(query: str, retriever: Retriever, documents: int) -> tuple[str, ...]:
    limit, before = documents * PASSAGES, -1
    while True:
        passages = retriever.search(query, limit=limit)
        sources = tuple(dict.fromkeys(passage.source for passage in passages))
        # One long document may take all the places: ask for more until nothing new comes.
        if len(sources) >= documents or len(passages) == before or len(passages) < limit:
            return sources[:documents]
        limit, before = 4 * limit, len(passages)
