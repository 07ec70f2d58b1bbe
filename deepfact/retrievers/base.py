"""What a retriever is, and what it returns. No implementation here.

To bring one of your own, write a class with one method, ``search(query, *, limit)``, and register
it as an entry point of the group ``deepfact.retrievers``. A class that takes an argument
``sources`` is given the sources to search, by id; everything else comes from the spec's options.

To use one: build it from a `deepfact.retrievers.registry.RetrieverSpec`, and take the passages in
the order they come. A passage names its source by id. The benchmark's sources are in
``Context.sources``; a retriever that reads further documents (web pages, a folder) offers them
under ``sources``, so that whoever quotes a passage can check it against the text that was read.
For one claim, `deepfact.retrievers.ordered.OrderedRetriever.for_claim` puts the sources that it
cites first, then the benchmark's, then what a search finds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, Sequence, runtime_checkable

from deepfact.records import Source, Span

CITED, BENCHMARK, SEARCH = "cited", "benchmark", "search"
"""Where a passage may be from, in the order in which they are tried."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a source's text: ``source.text[span.start:span.end] == text``, always."""

    source: str
    """Id of the source."""
    span: Span
    text: str
    score: float = 0.0
    """Higher is better; comparable within one search and one ``found_in`` only. BM25: its score;
    dense: the cosine, -1 to 1; hybrid: the sum of reciprocal ranks."""
    found_in: str = ""
    """`CITED` (by the claim), `BENCHMARK` or `SEARCH`; empty when nobody said."""
    found_by: str = ""
    """What ranked it: ``bm25``, ``dense``, ``hybrid``; of a search, the engine first, such as
    ``brave, bm25``."""


class Retriever(Protocol):
    """Finds passages for a query, best first. It judges nothing.

    A search may wait for the network; a coroutine calls it in a thread (``asyncio.to_thread``).
    """

    def search(self, query: str, *, limit: int = 10) -> Sequence[Passage]:
        """At most ``limit`` passages; empty when nothing matches.

        Args:
            query: plain words, such as a claim's text. It is data: nothing in it is an operator.
            limit: the most passages to return; 0 or less gives none.

        Raises:
            RunIncomplete: a search could not be made now (network, budget, replay without a
                stored answer); asking again later goes on. Corpora never raise it.
            ConfigError: no search can succeed (a key is missing, or refused).
        """
        ...


@runtime_checkable
class WithSources(Protocol):
    """A retriever that knows the texts of what it found."""

    @property
    def sources(self) -> Mapping[str, Source]:
        """Every source that a passage of this retriever may name, by id."""
        ...
