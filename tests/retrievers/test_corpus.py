"""Rankings: by words, by vectors, by both; the same every time, and without the network."""

from __future__ import annotations

import logging
import socket
import sys
import types

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepfact.errors import ConfigError, MissingExtraError
from deepfact.records import Source
from deepfact.retrievers.bm25 import BM25Retriever
from deepfact.retrievers.corpus import BM25Corpus, DenseCorpus, HybridCorpus, best, fused
from deepfact.retrievers.embedders import build_embedder, unit_rows
from deepfact.retrievers.registry import RetrieverSpec, build_retriever, retriever_kinds

KINDS = ["bm25", "dense", "hybrid"]


@pytest.mark.parametrize("kind", KINDS)
def test_passages_say_where_they_are_from(corpus, kind, tmp_path) -> None:
    options = {"index": str(tmp_path / "ix")}
    built = build_retriever(RetrieverSpec(kind=kind, options=options), corpus)
    found = built.search("when was the mill built?", limit=3)
    assert found[0].text == "The mill was built in 1898."
    for passage in found:
        text = corpus[passage.source].text
        assert text[passage.span.start : passage.span.end] == passage.text
        assert passage.found_by == kind
    scores = [passage.score for passage in found]
    assert scores == sorted(scores, reverse=True)
    assert built.search("when was the mill built?", limit=3) == found
    assert built.search("mill", limit=0) == []
    assert build_retriever(RetrieverSpec(kind=kind), {}).search("mill") == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_search_can_be_confined_to_some_sources(corpus, kind) -> None:
    built = build_retriever(RetrieverSpec(kind=kind), corpus)
    tram = next(one for one, source in corpus.items() if source.title == "tram")
    found = built.search("the mill", limit=5, within=[tram, "sha256:unknown"])
    assert found and {passage.source for passage in found} == {tram}
    assert built.search("the mill", within=[]) == []


def test_bm25_ranks_as_the_one_in_memory_does(corpus) -> None:
    query = "the mill and the flood of the river"
    simple = BM25Retriever(corpus.values()).search(query, limit=5)
    kept = BM25Corpus(corpus).search(query, limit=5)
    assert [(p.source, p.span) for p in kept] == [(p.source, p.span) for p in simple]
    assert [p.score for p in kept] == pytest.approx([p.score for p in simple], abs=1e-6)


@pytest.mark.parametrize("query", ["zebra", "", "?!"])
def test_without_a_known_word_bm25_finds_nothing(corpus, query) -> None:
    assert BM25Corpus(corpus).search(query) == []


def test_dense_finds_a_paraphrase_that_shares_no_word() -> None:
    made = [
        Source.create(title=title, text=text)
        for title, text in (
            ("a", "The physician examined the child."),
            ("b", "Shares fell on the stock exchange."),
            ("c", "A storm damaged the harbour."),
        )
    ]
    corpus = {source.id: source for source in made}
    query = "a doctor looked at young patients"
    assert BM25Corpus(corpus).search(query) == []
    for kind in (DenseCorpus, HybridCorpus):
        assert kind(corpus).search(query, limit=1)[0].source == made[0].id
    assert DenseCorpus(corpus).search("") == []


def test_fusion_adds_reciprocal_ranks() -> None:
    joined = fused([([(7, 9.0), (3, 2.0)], 1.0), ([(3, 0.9), (5, 0.1)], 1.0)], 60)
    assert joined == [
        (3, pytest.approx(1 / 62 + 1 / 61)),
        (7, pytest.approx(1 / 61)),
        (5, pytest.approx(1 / 62)),
    ]
    assert fused([([(1, 1.0)], 0.5), ([(2, 1.0)], 0.5)], 60) == [(1, 0.5 / 61), (2, 0.5 / 61)]


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), max_size=30), st.integers(0, 40))
def test_best_is_a_stable_sort(scores, limit) -> None:
    expected = sorted(enumerate(scores), key=lambda pair: -pair[1])[:limit]
    assert best(numpy.array(scores), limit) == expected
    assert all(score > 0 for _, score in best(numpy.array(scores), limit, above=0.0))


def test_the_static_embeddings_ask_nobody_and_change_no_logger(monkeypatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("HOME", "/nonexistent")
    build_embedder.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "wordllama"]:
        monkeypatch.delitem(sys.modules, name)
    root = logging.getLogger()
    before = (root.level, list(root.handlers))
    vectors = build_embedder().embed(["The mill closed.", "", "zzz"])
    assert vectors.shape == (3, 256) and vectors.dtype == numpy.float32
    assert numpy.linalg.norm(vectors[0]) == pytest.approx(1.0, abs=1e-6)
    assert (root.level, list(root.handlers)) == before


def test_rows_are_made_one_long_and_nothing_stays_nothing() -> None:
    made = unit_rows([[3.0, 4.0], [0.0, 0.0]])
    assert made.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0.0, 0.0]]


def test_without_the_extra_it_says_what_to_install(monkeypatch, corpus) -> None:
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(MissingExtraError, match=r"deepfact\[dense\]"):
        DenseCorpus(corpus)
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ConfigError, match="pip install sentence-transformers"):
        DenseCorpus(corpus, model="some/model")


class StandIn:
    """What deepfact uses of sentence-transformers, with other vectors for another folder."""

    made: list[dict] = []

    def __init__(self, name: str, **options) -> None:
        StandIn.made.append(options)
        if name == "nowhere":
            raise OSError("no such model\nmore")
        self.shift = len(name)

    def encode(self, texts, **options):
        assert options["convert_to_numpy"] and not options["show_progress_bar"]
        return [[text.count("e") + self.shift, text.count("o") + 1.0] for text in texts]


def test_a_model_of_the_users_is_loaded_without_download_or_pickle(monkeypatch, corpus) -> None:
    module = types.ModuleType("sentence_transformers")
    module.SentenceTransformer = StandIn
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    found = DenseCorpus(corpus, model="models/mine").search("mill", limit=2)
    assert len(found) == 2
    assert StandIn.made[-1] == {
        "local_files_only": True,
        "model_kwargs": {"use_safetensors": True},
    }
    one, other = build_embedder("a/mine"), build_embedder("longer/mine", download=True)
    assert one.name != other.name and "mine" in one.name
    assert StandIn.made[-1]["local_files_only"] is False
    with pytest.raises(ConfigError, match="'nowhere' cannot be loaded: no such model"):
        build_embedder("nowhere")


def test_specs_are_checked(corpus) -> None:
    assert {"bm25", "dense", "hybrid", "folder", "ordered", "search"} <= set(retriever_kinds())
    with pytest.raises(ConfigError, match="did you mean 'dense'"):
        build_retriever(RetrieverSpec(kind="dens"), corpus)
    with pytest.raises(ConfigError, match="no option 'modl'"):
        build_retriever(RetrieverSpec(kind="dense", options={"modl": "x"}), corpus)
