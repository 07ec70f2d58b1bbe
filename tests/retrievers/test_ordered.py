"""Sources in order: cited, benchmark, search; and folders of texts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deepfact.errors import ConfigError, InputError
from deepfact.records import Claim, Source, SourceRole, Span, Trust
from deepfact.retrievers.base import Passage, WithSources
from deepfact.retrievers.ordered import OrderedRetriever
from deepfact.retrievers.registry import RetrieverSpec, build_retriever

PAGE = Source.create(title="page", url="https://example.org/mill", text="A mill on a web page.")


class Elsewhere:
    """Stands for a search: one page, and a count of how often it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.sources = {PAGE.id: PAGE}

    def search(self, query: str, *, limit: int = 10) -> list[Passage]:
        self.asked.append(query)
        span = Span(start=0, end=len(PAGE.text))
        return [Passage(PAGE.id, span, PAGE.text, 1.0, found_by="stand-in")][:limit]


def by_title(corpus, title: str) -> str:
    return next(one for one, source in corpus.items() if source.title == title)


def ordered(corpus, web=None, **options) -> OrderedRetriever:
    inner = build_retriever(RetrieverSpec(), corpus)
    return OrderedRetriever(corpus, inner, web, **options)


def test_cited_then_benchmark_then_search(corpus) -> None:
    web, tram = Elsewhere(), by_title(corpus, "tram")
    claim = Claim(id="c", text="The mill was built in 1898.", cites=(tram,))
    built = ordered(corpus, web).for_claim(claim)
    found = built.search("the mill", limit=10)
    assert [passage.found_in for passage in found] == ["cited", "benchmark", "search"]
    assert found[0].source == tram  # although another source says more of mills
    assert [passage.found_by for passage in found] == ["bm25", "bm25", "stand-in"]
    assert len({(p.source, p.span.start) for p in found}) == len(found)
    assert isinstance(built, WithSources)
    for passage in found:
        text = built.sources[passage.source].text
        assert text[passage.span.start : passage.span.end] == passage.text


def test_nobody_is_asked_when_there_is_enough(corpus) -> None:
    web = Elsewhere()
    assert len(ordered(corpus, web).search("mill", limit=2)) == 2
    assert web.asked == []
    found = ordered(corpus, web, search_when="always").search("mill", limit=2)
    assert [passage.found_in for passage in found] == ["benchmark", "search"]
    assert web.asked == ["mill"]
    assert ordered(corpus, web).search("mill", limit=0) == []


def test_without_citations_or_search_it_is_the_corpus(corpus) -> None:
    claim = Claim(id="c", text="mill", cites=("sha256:" + "0" * 64,))
    found = ordered(corpus).for_claim(claim).search("mill", limit=5)
    plain = build_retriever(RetrieverSpec(), corpus).search("mill", limit=5)
    assert found == [replace(passage, found_in="benchmark") for passage in plain]


def test_generated_text_is_never_found(corpus) -> None:
    answer = Source.create(
        title="answer", role=SourceRole.GENERATED, text="The mill was built by a mill mill mill."
    )
    everything = {answer.id: answer, **corpus}
    spec = RetrieverSpec(kind="ordered", options={"corpus": {"kind": "hybrid"}})
    built = build_retriever(spec, everything)
    claim = Claim(id="c", text="mill", cites=(answer.id,))
    for retriever in (built, built.for_claim(claim), ordered(everything).for_claim(claim)):
        found = retriever.search("mill", limit=50)
        assert found and answer.id not in {passage.source for passage in found}


@pytest.mark.parametrize("kind", ["bm25", "dense", "hybrid"])
def test_no_kind_is_given_generated_text(corpus, kind) -> None:
    answer = Source.create(title="answer", role=SourceRole.MODEL_ANSWER, text="The mill, the mill.")
    built = build_retriever(RetrieverSpec(kind=kind), {answer.id: answer, **corpus})
    assert answer.id not in built.sources and set(built.sources) == set(corpus)
    assert answer.id not in {passage.source for passage in built.search("the mill", limit=50)}
    with pytest.raises(KeyError):
        built.sources[answer.id]


def test_a_third_partys_corpus_is_confined_to_cited_sources_too(corpus) -> None:
    class Own:
        def search(self, query: str, *, limit: int = 10) -> list[Passage]:
            return []

    tram = by_title(corpus, "tram")
    claim = Claim(id="c", text="mill", cites=(tram,))
    found = OrderedRetriever(corpus, Own()).for_claim(claim).search("the mill")
    assert [(passage.source, passage.found_in) for passage in found] == [(tram, "cited")]


def test_a_spec_with_a_search_needs_a_place_for_what_it_finds(corpus, tmp_path) -> None:
    search = {"kind": "search", "options": {"engine": {"kind": "brave"}}}
    spec = RetrieverSpec(kind="ordered", options={"search": search, "search_when": "always"})
    with pytest.raises(ConfigError, match="needs a folder"):
        build_retriever(spec, corpus)
    assert isinstance(build_retriever(spec, corpus, workspace=tmp_path), OrderedRetriever)
    assert not list(tmp_path.iterdir()), "nothing is written before something is asked"


def test_a_folder_of_texts(tmp_path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "mill.txt").write_text("The mill was built in 1898.", encoding="utf-8")
    (tmp_path / "empty.md").write_text(" \n", encoding="utf-8")
    (tmp_path / "page.html").write_text("<p>mill</p>", encoding="utf-8")
    (tmp_path / ".hidden.txt").write_text("mill", encoding="utf-8")
    options = {"path": str(tmp_path), "role": "primary", "trust": "high"}
    built = build_retriever(RetrieverSpec(kind="folder", options=options), {})
    (found,) = built.search("mill")
    source = built.sources[found.source]
    assert (source.title, source.role, source.trust) == ("deep/mill.txt", "primary", Trust.HIGH)
    (tmp_path / "latin.txt").write_bytes("Mühle".encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.txt"):
        build_retriever(RetrieverSpec(kind="folder", options=options), {})
    with pytest.raises(InputError, match="no such folder"):
        build_retriever(RetrieverSpec(kind="folder", options={"path": "nowhere"}), {})
    with pytest.raises(ConfigError, match="is none"):
        spec = RetrieverSpec(kind="folder", options={**options, "ranking": {"kind": "ordered"}})
        (tmp_path / "latin.txt").unlink()
        build_retriever(spec, {})
