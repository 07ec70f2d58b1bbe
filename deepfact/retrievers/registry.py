"""The table of retrievers that ship, and how a spec becomes one. No retriever is loaded here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from deepfact import plugins
from deepfact.records import Record, Source, SourceRole
from deepfact.retrievers.base import Retriever

GROUP = "deepfact.retrievers"

BUILT_IN = {
    "bm25": "deepfact.retrievers.corpus:BM25Corpus",
    "dense": "deepfact.retrievers.corpus:DenseCorpus",
    "hybrid": "deepfact.retrievers.corpus:HybridCorpus",
    "folder": "deepfact.retrievers.folder:folder_retriever",
    "ordered": "deepfact.retrievers.ordered:ordered_retriever",
    "search": "deepfact.retrievers.web.retriever:search_retriever",
}


class RetrieverSpec(Record):
    """Which retriever, with which options: ``{kind: hybrid, options: {index: indexes}}``."""

    kind: str = Field(default="bm25", min_length=1)
    options: dict[str, Any] = {}


GENERATED = frozenset((SourceRole.GENERATED, SourceRole.MODEL_ANSWER))
"""Roles of sources that no retriever is given: generated text is never evidence."""


class Evidence(Mapping[str, Source]):
    """The sources of another mapping that may serve as evidence. Looked up there when they are
    asked for, so that no text is kept here."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        chosen = (one for one, source in sources.items() if source.role not in GENERATED)
        self._ids = dict.fromkeys(chosen)

    def __getitem__(self, source_id: str) -> Source:
        if source_id not in self._ids:
            raise KeyError(source_id)
        return self._sources[source_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)


def build_retriever(
    spec: RetrieverSpec, sources: Mapping[str, Source], *, workspace: Path | None = None
) -> Retriever:
    """The retriever that a spec describes.

    Args:
        spec: kind and options.
        sources: the corpus, by id: of a benchmark, a ledger, a folder. Generated texts among them
            are left out.
        workspace: a run's folder, for what a retriever keeps when its spec names no place.

    Raises:
        ConfigError: unknown kind or option.
        MissingExtraError: it needs a part that is not installed.
    """
    evidence = sources if isinstance(sources, Evidence) else Evidence(sources)
    given = {"sources": evidence, "workspace": workspace}
    retriever: Retriever = plugins.build(GROUP, BUILT_IN, spec.kind, spec.options, given)
    return retriever


def retriever_kinds() -> list[str]:
    """All kinds of retriever that a spec can name."""
    return plugins.kinds(GROUP, BUILT_IN)
