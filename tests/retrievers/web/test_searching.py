"""Search, fetch, store: asked once, kept, replayed, within a budget; failures are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deepfact.errors import ConfigError, RecordError, RunIncomplete
from deepfact.providers.base import ProviderRefused
from deepfact.records import Claim, Source, SourceRole, Trust
from deepfact.retrievers.ordered import OrderedRetriever
from deepfact.retrievers.registry import RetrieverSpec, build_retriever
from deepfact.retrievers.web.records import Hit, SearchSpec
from deepfact.retrievers.web.retriever import SearchRetriever
from deepfact.retrievers.web.searching import NotStored, SearchBudgetSpent, WebSearch

MILL = "The mill was built in 1898 by the town. It closed in 1931 after the flood of that year."
KEY = "brave-key-nobody-may-see"


@pytest.fixture
def site(web, monkeypatch) -> Any:
    """A server with two articles and a page that is not there, all found by every query."""
    monkeypatch.setenv("BRAVE_SEARCH_API_KEY", KEY)
    urls = [
        web.page("/mill", MILL),
        web.page("/tram", "The tram line opened in 2004. Its depot stands on the site of a mill."),
        f"{web.url}/gone",
    ]
    words = "Words of the page that is gone, as the engine repeats them."
    web.results = lambda query: [{"url": url, "title": "t", "words": words} for url in urls]
    return web


def options(web: Any, **more: Any) -> dict[str, Any]:
    return {
        "engine": {"kind": "brave", "options": {"base_url": web.url, "usd_per_search": 0.005}},
        "fetch": {"allow_addresses": ["127.0.0.1"]},
        "pause": 0.0,
        **more,
    }


def searching(web: Any, folder: Path, **more: Any) -> WebSearch:
    return WebSearch(SearchSpec.model_validate(options(web, **more)), folder)


def files(folder: Path) -> str:
    """Everything that a store holds, as one text."""
    return "\n".join(p.read_text("utf-8") for p in sorted(folder.rglob("*")) if p.is_file())


def retriever(web: Any, folder: Path, **more: Any) -> SearchRetriever:
    spec = RetrieverSpec(kind="search", options=options(web, store=str(folder), **more))
    return build_retriever(spec, {})


def test_passages_of_pages_can_be_checked_against_what_was_read(site, tmp_path) -> None:
    built = retriever(site, tmp_path / "s")
    found = built.search("when was the mill built", limit=5)
    assert found[0].text == "The mill was built in 1898 by the town."
    assert (found[0].found_in, found[0].found_by) == ("search", "brave, bm25")
    for passage in found:
        source = built.sources[passage.source]
        assert source.text[passage.span.start : passage.span.end] == passage.text
        assert source.content_hash() == source.id and source.retrieved_at is not None
    assert built.sources[found[0].source].url == f"{site.url}/mill"
    assert built.left_out == {f"{site.url}/gone": "status: HTTP 404"}
    kept = built.web.store.sources[found[0].source]
    assert kept == built.sources[found[0].source]
    assert KEY not in files(tmp_path)


def test_nothing_is_asked_twice_and_a_replay_asks_nobody(site, tmp_path) -> None:
    first = retriever(site, tmp_path / "s").search("mill", limit=5)
    asked = len(site.asked)
    assert retriever(site, tmp_path / "s").search("mill", limit=5) == first
    assert len(site.asked) == asked
    site.__exit__()
    replayed = retriever(site, tmp_path / "s", replay=True)
    assert replayed.search("  mill ", limit=5) == first
    assert replayed.left_out == {f"{site.url}/gone": "status: HTTP 404"}
    with pytest.raises(NotStored) as missing:
        replayed.search("another question")
    assert missing.value.missing == ("search: another question",)


def test_a_replay_lists_every_page_that_is_not_stored(site, tmp_path) -> None:
    built = searching(site, tmp_path / "s")
    built.results("mill")
    with pytest.raises(NotStored) as missing:
        searching(site, tmp_path / "s", replay=True).pages(built.results("mill").hits)
    assert missing.value.missing == tuple(
        f"page: {site.url}/{name}" for name in ("mill", "tram", "gone")
    )


def test_a_failure_that_may_pass_is_tried_again_and_another_is_not(site, tmp_path) -> None:
    served = site.pages["/tram"]
    site.pages["/tram"] = type(served)(b"", status=503)
    hits = searching(site, tmp_path / "s").results("mill").hits
    pages = searching(site, tmp_path / "s").pages(hits)
    assert [page.passing for page in pages] == [False, True, False]
    site.pages["/tram"] = served
    site.pages["/gone"] = served
    pages = searching(site, tmp_path / "s").pages(hits)
    assert [bool(page.source) for page in pages] == [True, True, False]
    assert site.count("/gone") == 1
    site.pages["/tram"] = type(served)(b"", status=503)  # what was read once stays
    assert searching(site, tmp_path / "s").pages(hits)[1].source == pages[1].source


def test_an_engine_that_falters_is_asked_again(site, tmp_path) -> None:
    site.faults = ["500", "drop"]
    built = searching(site, tmp_path / "s")
    assert len(built.results("mill").hits) == 3
    assert built.spent.failed == 2 and built.spent.searches == 1
    assert built.spent.words() == "1 searches ($0.005), 2 calls failed, 0 pages fetched"
    assert built.spent.usd == pytest.approx(0.005)
    site.faults = ["500"] * 3
    with pytest.raises(RunIncomplete, match="was not answered: HTTP 500"):
        built.results("harbour")
    site.faults = ["401"]
    with pytest.raises(ProviderRefused, match="401"):
        built.results("harbour")
    assert "harbour" not in files(tmp_path / "s"), "no failure is stored as an answer"


def test_the_budget_ends_it_and_what_was_found_stays(site, tmp_path) -> None:
    built = searching(site, tmp_path / "s", budget={"searches": 1, "pages": 2})
    hits = built.results("mill").hits
    with pytest.raises(SearchBudgetSpent, match="1 searches"):
        built.results("tram")
    with pytest.raises(SearchBudgetSpent, match="2 pages"):
        built.pages(hits)
    larger = searching(site, tmp_path / "s", budget={"searches": 0, "pages": 1})
    assert larger.results("mill").hits == hits, "what is stored costs nothing"
    assert len(larger.pages(hits)) == 3


def test_failed_calls_count_against_the_budget(site, tmp_path) -> None:
    site.faults = ["500", "500", "500", "401"]
    built = searching(site, tmp_path / "s", budget={"searches": 2}, attempts=5)
    with pytest.raises(SearchBudgetSpent):
        built.results("mill")
    assert site.count("/res/v1/web/search") == 2
    tavily = {"kind": "tavily", "options": {"base_url": site.url, "depth": "advanced"}}
    built = searching(site, tmp_path / "s", engine=tavily, budget={"searches": 3})
    site.faults = []
    built.results("mill")
    with pytest.raises(SearchBudgetSpent):  # one is left, and a call may be billed as two
        built.results("tram")


def test_a_plan_counts_what_is_not_stored(site, tmp_path) -> None:
    built = searching(site, tmp_path / "s", results=5)
    plan = built.plan(["mill", " mill", "tram"])
    assert (plan.queries, plan.stored, plan.searches, plan.pages) == (2, 0, 2, 10)
    assert plan.usd == pytest.approx(0.01) and site.asked == []
    built.pages(built.results("mill").hits)
    plan = built.plan(["mill", "tram"], most_pages=3)
    assert (plan.stored, plan.searches, plan.pages) == (1, 1, 3)
    replay = searching(site, tmp_path / "s", results=5, replay=True)
    assert replay.plan(["mill", "tram"]).missing == ("tram",)


def test_words_that_an_engine_repeats_are_sources_only_if_the_spec_says_so(site, tmp_path) -> None:
    hits = searching(site, tmp_path / "s").results("mill").hits
    assert searching(site, tmp_path / "s").pages(hits)[2].source is None
    page = searching(site, tmp_path / "s", snippets=True).pages(hits)[2]
    assert page.source and page.source.text.startswith("Words of the page that is gone")
    assert "excerpt given by brave" in page.source.title and page.why_not == "status: HTTP 404"


def test_what_a_source_is_is_told_by_its_domain(site, tmp_path) -> None:
    domains = {"127.0.0.1": {"role": "primary", "trust": "high"}, "*": {"role": "tertiary"}}
    hits = searching(site, tmp_path / "s").results("mill").hits
    plain = searching(site, tmp_path / "s").pages(hits)[0].source
    told = searching(site, tmp_path / "s", domains=domains).pages(hits)[0].source
    assert (plain.role, told.role, told.trust) == ("secondary", "primary", "high")
    assert told.text == plain.text and told.retrieved_at == plain.retrieved_at
    built = searching(site, tmp_path / "s", domains={**domains, "example.org": {"trust": "low"}})
    assert built.fields_of("https://sub.Example.org/x").trust is Trust.LOW
    assert built.fields_of("https://notexample.org/x").role is SourceRole.TERTIARY


def test_a_damaged_store_is_told_with_its_file(site, tmp_path) -> None:
    searching(site, tmp_path / "s").results("mill")
    (path,) = (tmp_path / "s" / "results").rglob("*.json")
    path.write_text('{"engine": "brave"', encoding="utf-8")
    with pytest.raises(RecordError, match=path.name):
        searching(site, tmp_path / "s").results("mill")
    path.write_text(json.dumps({"schema_version": 99}), encoding="utf-8")
    with pytest.raises(RecordError, match="newer"):
        searching(site, tmp_path / "s").results("mill")


def test_behind_a_benchmark_the_web_comes_last(site, tmp_path) -> None:
    own = Source.create(title="own", text="A mill stood here.")
    search = {"kind": "search", "options": options(site)}
    spec = RetrieverSpec(kind="ordered", options={"search": search})
    built = build_retriever(spec, {own.id: own}, workspace=tmp_path)
    assert isinstance(built, OrderedRetriever)
    claim = Claim(id="c", text="The mill was built in 1898.", cites=(own.id,))
    found = built.for_claim(claim).search(claim.text, limit=3)
    assert [passage.found_in for passage in found] == ["cited", "search", "search"]
    assert found[1].text == "The mill was built in 1898 by the town."
    assert (tmp_path / "searches" / "sources").is_dir()


def test_options_are_checked() -> None:
    for wrong, what in (
        ({}, "engine"),
        ({"engine": {"kind": "brave"}, "result": 5}, "result"),
        ({"engine": {"kind": "brave"}, "ranking": {"kind": "search"}}, "ranking is one of"),
        ({"engine": {"kind": "brave"}, "results": 0}, "results"),
    ):
        with pytest.raises(ConfigError, match=what):
            build_retriever(RetrieverSpec(kind="search", options={**wrong, "store": "s"}), {})


def test_options_may_stand_in_the_file_that_a_research_run_takes(site, tmp_path) -> None:
    path = tmp_path / "search.yaml"
    path.write_text(json.dumps(options(site, results=1, store="elsewhere")), encoding="utf-8")
    given = {"config": str(path), "store": str(tmp_path / "s")}
    built = build_retriever(RetrieverSpec(kind="search", options=given), {})
    assert built.web.spec.results == 1 and built.web.store.folder == tmp_path / "s"
    path.write_text("engine: {kind: brave}\nresult: 1", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"search\.yaml, line 2"):
        build_retriever(RetrieverSpec(kind="search", options=given), {})


def test_pages_are_fetched_a_few_at_a_time_and_told_of(site, tmp_path) -> None:
    told: list[str] = []
    hits = [Hit(url=site.page(f"/p{n}", f"Sentence {n} about the mill. {MILL}")) for n in range(12)]
    pages = searching(site, tmp_path / "s", at_once=3).pages(
        hits, lambda page: told.append(page.url)
    )
    assert [page.url for page in pages] == [hit.url for hit in hits]
    assert sorted(told) == sorted(hit.url for hit in hits)
    assert site.count("/robots.txt") <= 3, "robots.txt is asked for once, or by each of the first"


def test_two_threads_with_one_question_ask_once(site, tmp_path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    built = searching(site, tmp_path / "s")
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(built.results, ["mill"] * 8))
        pages = list(pool.map(built.pages, [found[0].hits] * 4))
    assert len({one.model_dump_json() for one in found}) == 1 and built.spent.searches == 1
    assert site.count("/mill") == 1 and len({page[0].source.id for page in pages}) == 1


def test_a_key_from_a_variable_of_the_users_own_is_not_shown(site, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MY_SEARCH", "another-value-nobody-may-see")
    engine = {"kind": "brave", "options": {"base_url": site.url, "api_key_env": "MY_SEARCH"}}
    site.faults = ["401"]
    with pytest.raises(ProviderRefused) as caught:
        searching(site, tmp_path / "s", engine=engine).results("mill")
    assert site.asked[0].headers["x-subscription-token"] == "another-value-nobody-may-see"
    assert "nobody-may-see" not in str(caught.value) and "[secret]" in str(caught.value)
