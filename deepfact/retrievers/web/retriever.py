"""Kind ``search``: passages of web pages that an engine finds for a query.

The engine gives addresses, the fetcher reads the pages, and the ranking of the spec finds the
sentences in them. Results and pages are kept, see `deepfact.retrievers.web.store`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from deepfact.errors import ConfigError
from deepfact.records import Source
from deepfact.retrievers.base import SEARCH, Passage
from deepfact.retrievers.registry import build_retriever
from deepfact.retrievers.web.records import SearchSpec
from deepfact.retrievers.web.searching import WebSearch
from deepfact.store.files import explain
from deepfact.store.specs import read_yaml

FOLDER = "searches"
"""Name of the store in a run's folder."""


class SearchRetriever:
    """Searches the web. A query that was asked before is answered from the store."""

    def __init__(self, web: WebSearch) -> None:
        self.web = web
        self.left_out: dict[str, str] = {}
        """Addresses that were found and not read, with the reason."""
        self._sources: dict[str, Source] = {}

    @property
    def sources(self) -> Mapping[str, Source]:
        """The pages that were read so far, by id."""
        return self._sources

    def search(self, query: str, *, limit: int = 10) -> Sequence[Passage]:
        """As `deepfact.retrievers.base.Retriever`: sentences of the pages found for this query."""
        if limit <= 0 or not query.strip():
            return []
        found = self.web.results(query)
        read: dict[str, Source] = {}
        for page in self.web.pages(found.hits):
            if page.source is not None:
                read[page.source.id] = page.source
            if page.why_not:
                self.left_out[page.url] = page.why_not
        self._sources.update(read)
        if not read:
            return []
        ranking = build_retriever(self.web.spec.ranking, read)
        return [
            replace(
                passage, found_in=SEARCH, found_by=f"{self.web.engine.name}, {passage.found_by}"
            )
            for passage in ranking.search(query, limit=limit)
        ]


def search_retriever(
    workspace: Path | None = None, config: str = "", **options: Any
) -> SearchRetriever:
    """Kind ``search``, from a spec.

    Args:
        workspace: the run's folder; holds the store when the options name none.
        config: a YAML file with the options, as a research run takes it.
        options: as `SearchSpec`; they go before those of the file.

    Raises:
        ConfigError: an option does not fit, or there is no place for the store.
    """
    written = read_yaml(Path(config), SearchSpec).model_dump(exclude_unset=True) if config else {}
    try:
        spec = SearchSpec.model_validate({**written, **options})
    except ValidationError as error:
        raise ConfigError(f"retriever kind 'search': {explain(error)}") from None
    if not spec.store and workspace is None:
        raise ConfigError(
            "retriever kind 'search' needs a folder for what it finds", fix="give the option store"
        )
    folder = (workspace or Path()) / FOLDER
    return SearchRetriever(WebSearch(spec, folder))
