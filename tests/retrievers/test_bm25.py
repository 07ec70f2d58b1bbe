"""The BM25 retriever: finds, ranks the same way every time, and survives empty input."""

from __future__ import annotations

import pytest

from deepfact.records import Source
from deepfact.retrievers.bm25 import BM25Retriever

RIVER = Source.create(
    title="river", text="Nitrate rose in the river. The mayor resigned. It rained."
)
TWIN = Source.create(title="twin", text="The mayor resigned.")


def test_the_passage_that_shares_rare_words_comes_first() -> None:
    found = BM25Retriever([RIVER]).search("rising nitrates")
    assert found[0].text == "Nitrate rose in the river."
    assert found[0].source == RIVER.id
    assert RIVER.text[found[0].span.start : found[0].span.end] == found[0].text


def test_equal_scores_keep_the_order_of_the_sources() -> None:
    found = BM25Retriever([RIVER, TWIN]).search("mayor resigned")
    assert [passage.source for passage in found] == [RIVER.id, TWIN.id]
    found = BM25Retriever([TWIN, RIVER]).search("mayor resigned")
    assert [passage.source for passage in found] == [TWIN.id, RIVER.id]
    assert found[0].score == found[1].score


@pytest.mark.parametrize("texts", [[], [""], ["the of and"], ["..."]])
def test_a_corpus_without_words_finds_nothing(texts: list[str]) -> None:
    sources = [Source.create(title="t", text=text) for text in texts]
    assert BM25Retriever(sources).search("mayor") == []


@pytest.mark.parametrize("query", ["zebra", "", "the of", "?!"])
def test_a_query_without_known_words_finds_nothing(query: str) -> None:
    assert BM25Retriever([RIVER]).search(query) == []


def test_limit_and_silence(capsys: pytest.CaptureFixture[str]) -> None:
    retriever = BM25Retriever([RIVER, TWIN])
    assert len(retriever.search("mayor nitrate river rained", limit=2)) == 2
    assert retriever.search("mayor", limit=0) == []
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
