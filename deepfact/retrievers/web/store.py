"""What searches found and what was fetched, kept so that nothing is paid for or read twice, and
that a verdict can be checked later against what was read.

    <folder>/results/9f/9f86....json   a query and its results
    <folder>/pages/9f/9f86....json     an address: when it was read, what came of it
    <folder>/sources/9f/9f86....json   the text that was read, a source card named by its hash

The first results stored for a query stay. Addresses are stored without what looks like a secret,
and results without what an engine encrypts for itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deepfact.records import Source, canonical_json, sha256_of
from deepfact.retrievers.web.records import StoredPage, StoredResults
from deepfact.store.files import read_record, write_text
from deepfact.store.sources import SourceStore


class SearchStore:
    """A folder of results, pages and sources. Safe with several processes: files are written
    whole, under names that say what is in them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sources = SourceStore(folder / "sources")

    def results(
        self, engine: str, settings: dict[str, Any], query: str, limit: int
    ) -> StoredResults | None:
        """What an engine answered to a query; None when it was not asked.

        Raises:
            RecordError: the file is damaged.
        """
        path = self._path("results", [engine, settings, query, limit])
        return read_record(path, StoredResults) if path.is_file() else None

    def keep_results(self, made: StoredResults) -> StoredResults:
        """Store results; gives back those that the store holds now."""
        path = self._path("results", [made.engine, made.settings, made.query, made.limit])
        if not path.is_file():
            write_text(path, made.model_dump_json(indent=1) + "\n")
        return read_record(path, StoredResults)

    def page(self, url: str) -> StoredPage | None:
        """What came of fetching an address; None when it was not fetched.

        Raises:
            RecordError: the file is damaged.
        """
        path = self._path("pages", url)
        return read_record(path, StoredPage) if path.is_file() else None

    def keep_page(self, page: StoredPage, source: Source | None) -> None:
        """Store what came of an address: the source first, so that no page names one that is not
        there. What was read once stays; a failure may be written over."""
        before = self.page(page.url)
        if before is not None and before.source is not None:
            return
        if source is not None:
            self.sources.add(source)
        write_text(self._path("pages", page.url), page.model_dump_json(indent=1) + "\n")

    def _path(self, kind: str, key: Any) -> Path:
        digest = sha256_of(canonical_json(key)).removeprefix("sha256:")
        return self.folder / kind / digest[:2] / f"{digest}.json"
