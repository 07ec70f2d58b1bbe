"""The sources of a run from a search: what is asked, what is fetched, what is left out.

Search and Fetch of ``deepfact research run --sources search``. Results and pages are kept in the
run's folder as they come, so that a run that was killed asks for nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from deepfact.errors import ConfigError, InputError, RunIncomplete
from deepfact.records import Source, sha256_of
from deepfact.research.ledgers import make_card
from deepfact.research.workflow import SEARCH, ResearchSpec
from deepfact.research_records import SourceCard
from deepfact.retrievers.web.records import DomainFields, Hit, SearchSpec
from deepfact.retrievers.web.retriever import FOLDER
from deepfact.retrievers.web.searching import NotStored, Page, WebSearch
from deepfact.running.run_state import Progress, Watcher
from deepfact.store.specs import read_yaml


def opened_search(spec: ResearchSpec, folder: Path, *, replay: bool = False) -> WebSearch:
    """The search that a run's sources are from, with its store in the run's folder unless the
    config says otherwise. Nothing is asked.

    Args:
        spec: of the run; its role and trust are those of sources of whose domain the config says
            nothing.
        folder: the run's.
        replay: ask nobody, whatever the config says.

    Raises:
        InputError: the options do not go together, or there is no config, or it does not fit.
    """
    if spec.sources != SEARCH:
        raise InputError(
            "this goes with --sources search only: --search-config, --replay, --dry-run",
            where="--sources",
        )
    if spec.cards:
        raise InputError(
            "a file of cards goes with a folder of sources",
            where="--cards",
            fix="say what the sources are under domains: in the search config",
        )
    if not spec.search:
        raise ConfigError(
            "a search needs to know whom to ask",
            where="--sources search",
            fix="name a YAML file with --search-config; see docs/retrieval.md. A folder of that "
            "name is ./search",
        )
    asked = read_yaml(Path(spec.search), SearchSpec)
    others = {"*": DomainFields(role=spec.role, trust=spec.trust)}
    changed = {"domains": {**others, **asked.domains}, "replay": replay or asked.replay}
    return WebSearch(asked.model_copy(update=changed), folder / FOLDER)


def queries_of(question: str, spec: SearchSpec) -> list[str]:
    """What is asked: the question, and what the config adds."""
    asked = (" ".join(query.split()) for query in (question, *spec.queries))
    return list(dict.fromkeys(query for query in asked if query))


def search_all(
    web: WebSearch, queries: Sequence[str], limit: int, watch: Watcher
) -> dict[str, Any]:
    """The results of all queries, the best of each first, each page once.

    Raises:
        RunIncomplete: some query has no answer; those of the others are stored.
    """
    by_query: list[tuple[Hit, ...]] = []
    problems: list[RunIncomplete] = []
    for done, query in enumerate(queries, 1):
        try:
            by_query.append(web.results(query).hits)
        except RunIncomplete as problem:
            problems.append(problem)
        watch(Progress("search", done, len(queries), len(problems)))
    missing = [one for p in problems if isinstance(p, NotStored) for one in p.missing]
    if missing:
        raise NotStored(missing, str(web.store.folder))
    if problems:
        raise problems[0]
    longest = max((len(hits) for hits in by_query), default=0)
    hits: dict[str, Hit] = {}
    for rank in range(longest):
        for found in by_query:
            if rank < len(found):
                hits.setdefault(found[rank].url, found[rank])
    ranked = list(hits.values())
    return {
        "queries": list(queries),
        "chosen": [hit.model_dump(mode="json", exclude_defaults=True) for hit in ranked[:limit]],
        "beyond_bound": [hit.url for hit in ranked[limit:]],
        "asked_for": web.spent.words() or "nothing: all of it was stored",
    }


def fetch_all(
    web: WebSearch, chosen: Sequence[Mapping[str, Any]], watch: Watcher
) -> tuple[dict[str, SourceCard], dict[str, Any]]:
    """A card for each page that could be read, by address, and what became of the others.

    Raises:
        RunIncomplete: a replay or a budget lacks pages, or not one page could be read for now.
    """
    hits = [Hit.model_validate(one) for one in chosen]
    pages = web.pages(hits, _teller(watch, len(hits)))
    if all(page.source is None for page in pages) and any(page.passing for page in pages):
        first = next(page for page in pages if page.passing)
        raise RunIncomplete(
            f"none of {len(pages)} pages could be read; first, {first.url}: {first.why_not}",
            fix="run the same command again",
        )
    cards: dict[str, SourceCard] = {}
    same: dict[str, str] = {}
    seen: dict[tuple[str, str], str] = {}
    for page in pages:
        source = page.source
        if source is None:
            continue
        content = (source.url, sha256_of(source.text))
        if content in seen:  # two addresses that lead to one page
            same[page.url] = seen[content]
            continue
        seen[content] = page.url
        cards[page.url] = _card(web, page, source)
    unread = {page.url: page.why_not for page in pages if page.source is None}
    fetched = f"{web.spent.pages} pages; the others were stored"
    return cards, {"left_out": unread, "same_page": same, "fetched": fetched}


def _card(web: WebSearch, page: Page, source: Source) -> SourceCard:
    kind = web.fields_of(source.url or page.url).type
    return make_card(source, type=kind, excerpt=bool(page.why_not))


def _teller(watch: Watcher, total: int) -> Callable[[Page], None]:
    """Tells a watcher of each page."""
    count = {"done": 0, "failed": 0}

    def tell(page: Page) -> None:
        count["done"] += 1
        count["failed"] += page.source is None
        watch(Progress("fetch", count["done"], total, count["failed"]))

    return tell
