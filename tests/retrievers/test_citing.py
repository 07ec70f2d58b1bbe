"""Claims that cite what a search finds."""

from __future__ import annotations

from typing import Any

from deepfact.retrievers.citing import citing
from deepfact.retrievers.registry import RetrieverSpec, build_retriever


def found(make: Any, texts: list[str], documents: int, text: str) -> list[str]:
    sources = {one.id: one for one in (make.source(text, title=text[:9]) for text in texts)}
    claim = make.claim(text=text, cites=(next(iter(sources)),))
    retriever = build_retriever(RetrieverSpec(), sources)
    (made,) = citing([claim], retriever, documents)
    assert made.model_copy(update={"cites": claim.cites}) == claim  # nothing else changes
    return [sources[one].text for one in made.cites]


def test_the_best_documents_are_cited_best_first_whatever_was_cited_before(make: Any) -> None:
    texts = ["Cats sleep.", "The mill burned.", "The mill burned down in 1901."]
    cited = found(make, texts, 2, "The mill burned down in 1901")
    assert cited == ["The mill burned down in 1901.", "The mill burned."]


def test_a_long_document_does_not_crowd_the_others_out(make: Any) -> None:
    long = " ".join(f"The mill burned down on day {n}." for n in range(60))
    assert len(found(make, [long, "A mill stood here."], 2, "the mill burned down")) == 2


def test_nothing_in_common_is_nothing_cited(make: Any) -> None:
    assert found(make, ["Cats sleep."], 3, "xyzzy") == []
