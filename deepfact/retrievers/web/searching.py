"""Asking an engine and fetching what it found, within a budget, everything kept in a store.

What is stored is not asked for again; with ``replay`` nobody is asked at all, and what is not
stored is listed. Judges and ranks nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock

from deepfact.errors import RunIncomplete
from deepfact.providers.base import CallFailed
from deepfact.records import Source, sha256_of
from deepfact.retrievers.web.engines import SearchEngine, build_engine
from deepfact.retrievers.web.fetch import Fetched, Fetcher, FetchFailed
from deepfact.retrievers.web.pages import SHORTEST, PageText, page_text
from deepfact.retrievers.web.records import (
    DomainFields,
    Found,
    Hit,
    SearchPlan,
    SearchSpec,
    StoredPage,
    StoredResults,
)
from deepfact.retrievers.web.store import SearchStore
from deepfact.retrievers.web.urls import clean_url, domain_of
from deepfact.store.journal import now

LONGEST_WAIT = 60.0
"""Seconds that an engine may ask us to wait before another attempt; more than that is given up."""


class NotStored(RunIncomplete):
    """A replay needs what is not in the store. ``missing`` names it."""

    def __init__(self, missing: Sequence[str], where: str) -> None:
        self.missing = tuple(missing)
        listed = "".join(f"\n    {one}" for one in self.missing)
        super().__init__(
            f"{len(self.missing)} are not stored:{listed}",
            where=where,
            fix="run it without replay where there is a network, or bring the store that has them",
        )


class SearchBudgetSpent(RunIncomplete):
    """The budget allows no more. What was found is stored; a larger budget goes on from there."""


@dataclass(frozen=True)
class Page:
    """What came of one address: a source, or why there is none."""

    url: str
    source: Source | None = None
    why_not: str = ""
    passing: bool = False
    """It may be otherwise later."""


@dataclass
class Spent:
    """What a run has asked for."""

    searches: int = 0
    """Answered, as the engine bills them."""
    failed: int = 0
    """Calls that were not answered. They may have been billed: the budget counts each as one."""
    pages: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0
    """For answered searches, without a model's tokens; None where the price is unknown."""

    def words(self) -> str:
        """What to say of it; empty when nobody was asked."""
        if not (self.searches or self.failed or self.pages):
            return ""
        price = "price unknown" if self.usd is None else f"${self.usd:.3f}"
        tokens = self.input_tokens + self.output_tokens
        also = f", {tokens} tokens" if tokens else ""
        failed = f", {self.failed} calls failed" if self.failed else ""
        return f"{self.searches} searches ({price}{also}){failed}, {self.pages} pages fetched"


class WebSearch:
    """An engine, a fetcher and a store.

    Args:
        spec: what to ask, and how much.
        folder: holds the store when the spec names none.
        engine, fetcher: for tests; from the spec when left out.

    Raises:
        ConfigError: the spec's engine does not exist, or has no such option.
    """

    def __init__(
        self,
        spec: SearchSpec,
        folder: Path,
        *,
        engine: SearchEngine | None = None,
        fetcher: Fetcher | None = None,
    ) -> None:
        self.spec = spec
        self.engine = engine or build_engine(spec.engine)
        self.store = SearchStore(Path(spec.store) if spec.store else folder)
        self.spent = Spent()
        self._fetcher = fetcher or Fetcher(spec.fetch)
        self._lock, self._locks = Lock(), dict[str, Lock]()
        self._under_way = 0
        """Searches that calls now under way may be billed as."""

    # --- searches ------------------------------------------------------------------------

    def stored(self, query: str) -> StoredResults | None:
        """What the engine answered to a query before."""
        return self.store.results(
            self.engine.name, self.engine.settings(), query, self.spec.results
        )

    def results(self, query: str) -> Found:
        """What the engine finds for a query; asked once, then stored.

        Raises:
            NotStored: a replay, and it was never asked.
            SearchBudgetSpent: there is nothing left for it.
            RunIncomplete: the engine gives no answer now.
            ProviderRefused: it will give none.
        """
        query = " ".join(query.split())
        with self._alone(query):  # two threads with one question: the second waits for the answer
            if before := self.stored(query):
                return before.found
            if self.spec.replay:
                raise NotStored([f"search: {query}"], str(self.store.folder))
            made = StoredResults(
                engine=self.engine.name,
                settings=self.engine.settings(),
                query=query,
                limit=self.spec.results,
                at=now(),
                found=self._asked(query),
            )
            return self.store.keep_results(made).found

    def plan(self, queries: Iterable[str], *, most_pages: int | None = None) -> SearchPlan:
        """What these queries would ask for, given what is stored. Nothing is asked.

        Args:
            queries: as `results` would be called.
            most_pages: of all queries together.
        """
        asked = list(dict.fromkeys(" ".join(one.split()) for one in queries))
        open_ = [one for one in asked if self.stored(one) is None]
        searches = len(open_) * self.engine.most_uses
        known = {h.url for one in asked if (r := self.stored(one)) for h in r.found.hits}
        unread = sum(self._unread(url) for url in known) + len(open_) * self.spec.results
        price = self.engine.usd_per_search
        return SearchPlan(
            engine=self.engine.name,
            queries=len(asked),
            stored=len(asked) - len(open_),
            searches=searches,
            usd=None if price is None else price * searches,
            pages=unread if most_pages is None else min(unread, most_pages),
            missing=tuple(open_) if self.spec.replay else (),
        )

    def _asked(self, query: str) -> Found:
        """The engine's answer, after as many attempts as the spec allows."""
        for attempt in range(1, self.spec.attempts + 1):
            self._start()
            try:
                found = self.engine.find(query, self.spec.results)
            except Exception as error:
                self._book(None)
                if not isinstance(error, CallFailed):
                    raise
                failure = error
                wait = failure.retry_after or self.spec.pause * 2 ** (attempt - 1)
                last = attempt == self.spec.attempts or wait > LONGEST_WAIT
                if last or not failure.retryable:
                    raise RunIncomplete(
                        f"the search for {query[:60]!r} was not answered: {failure.detail}",
                        where=self.engine.name,
                        fix="run the same command again; what was found is stored"
                        if failure.retryable
                        else "change the query or the engine's options",
                    ) from None
                time.sleep(wait)
            else:
                self._book(found)
                return found
        raise AssertionError("the last attempt returns or raises")

    def _start(self) -> None:
        """Count one more call, when the budget has room for the most that it may be billed as."""
        most = self.spec.budget.searches
        with self._lock:
            used = self.spent.searches + self.spent.failed + self._under_way
            if most is not None and used + self.engine.most_uses > most:
                raise SearchBudgetSpent(
                    f"the budget of {most} searches is spent",
                    where=self.engine.name,
                    fix="what was found is stored: raise budget.searches and run it again",
                )
            self._under_way += self.engine.most_uses

    def _book(self, found: Found | None) -> None:
        """Count what a call was answered with; None for one that failed."""
        spent, price = self.spent, self.engine.usd_per_search
        with self._lock:
            self._under_way -= self.engine.most_uses
            if found is None:
                spent.failed += 1
                return
            spent.searches += found.searches
            spent.input_tokens += found.input_tokens
            spent.output_tokens += found.output_tokens
            spent.usd = None if price is None else price * spent.searches

    # --- pages ---------------------------------------------------------------------------

    def pages(
        self, hits: Sequence[Hit], done: Callable[[Page], None] = lambda _: None
    ) -> list[Page]:
        """What the addresses of some results say, in their order. Each is fetched once, a few at a
        time, and stored before the next; a page that cannot be read is given with its reason.

        Args:
            hits: of any queries.
            done: is told of each page when it is there, from one thread at a time.

        Raises:
            NotStored: a replay, and some were never fetched; all of them are named.
            SearchBudgetSpent: there is nothing left for one; the others are stored.
        """
        if self.spec.replay:
            missing = [f"page: {h.url}" for h in hits if self.store.page(h.url) is None]
            if missing:
                raise NotStored(missing, str(self.store.folder))
        lock, stopped = Lock(), Event()

        def one(hit: Hit) -> Page | SearchBudgetSpent | None:
            if stopped.is_set():
                return None
            try:
                page = self.page(hit)
                with lock:
                    done(page)
            except SearchBudgetSpent as spent:
                return spent
            except BaseException:  # interrupted, or the disk is full: begin no further page
                stopped.set()
                raise
            return page

        with ThreadPoolExecutor(self.spec.at_once) as pool:
            try:
                made = list(pool.map(one, hits))
            except BaseException:  # the main thread is interrupted while it waits
                stopped.set()
                raise
        for page in made:
            if isinstance(page, SearchBudgetSpent):
                raise page
        return [page for page in made if isinstance(page, Page)]

    def page(self, hit: Hit) -> Page:
        """What one address says; errors as `pages`."""
        with self._alone(hit.url):
            before = self.store.page(hit.url)
            if before is None or (before.passing and not self.spec.replay):
                before = self._fetch(hit)
        if before.source is not None:
            read = self.store.sources[before.source]
            return Page(hit.url, source=self._as_told(read, hit))
        why = f"{before.failure}: {before.detail}"
        words = " [...] ".join(hit.snippets)
        if self.spec.snippets and len(words) >= SHORTEST:
            title = f"{hit.title} (excerpt given by {self.engine.name})".strip()
            told = Source.create(
                title=title,
                url=hit.url,
                published=hit.published,
                retrieved_at=before.at,
                text=words,
            )
            return Page(hit.url, source=self._as_told(told, hit), why_not=why)
        return Page(hit.url, why_not=why, passing=before.passing)

    def fields_of(self, url: str) -> DomainFields:
        """What the spec says of the domain of an address."""
        host = domain_of(url)
        names = [
            name
            for name in self.spec.domains
            if name == "*" or host == name.lower() or host.endswith(f".{name.lower()}")
        ]
        nearest = max(names, key=lambda name: (name != "*", len(name)), default="")
        return self.spec.domains.get(nearest, DomainFields())

    def _fetch(self, hit: Hit) -> StoredPage:
        """Fetch an address, and store what came of it."""
        self._count_page()
        at = now()
        source: Source | None = None
        try:
            fetched = self._fetcher.fetch(hit.url)
            source = source_of(fetched, page_text(fetched), hit, at)
            made = StoredPage(
                url=hit.url,
                at=at,
                source=source.id,
                final_url=fetched.url,
                redirects=fetched.redirects,
                content_type=fetched.content_type,
                body=sha256_of(fetched.body),
            )
        except FetchFailed as failure:
            made = StoredPage(
                url=hit.url,
                at=at,
                failure=failure.reason,
                detail=failure.detail,
                passing=failure.passing,
            )
        self.store.keep_page(made, source)
        return self.store.page(hit.url) or made

    def _count_page(self) -> None:
        most = self.spec.budget.pages
        with self._lock:
            if most is not None and self.spent.pages >= most:
                raise SearchBudgetSpent(
                    f"the budget of {most} pages is spent",
                    fix="what was read is stored: raise budget.pages and run it again",
                )
            self.spent.pages += 1

    def _as_told(self, source: Source, hit: Hit) -> Source:
        """A source with the role and trust that the spec gives its domain, and stored so."""
        fields = self.fields_of(source.url or hit.url)
        if (source.role, source.trust) != (fields.role, fields.trust):
            card = source.model_dump(exclude={"id", "schema_version"})
            card.update(role=fields.role, trust=fields.trust)
            source = Source.create(**card)
        if source.id not in self.store.sources:
            self.store.sources.add(source)
        return source

    def _alone(self, key: str) -> Lock:
        """A lock for one query or address."""
        with self._lock:
            return self._locks.setdefault(key, Lock())

    def _unread(self, url: str) -> bool:
        page = self.store.page(url)
        return page is None or (page.passing and not self.spec.replay)


def source_of(fetched: Fetched, text: PageText, hit: Hit, at: object) -> Source:
    """A page as a source card: what was read, from where, and when."""
    return Source.create(
        title=text.title or hit.title or fetched.url,
        url=clean_url(fetched.url),
        published=text.published or hit.published,
        retrieved_at=at,
        text=text.text,
    )
