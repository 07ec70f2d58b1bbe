"""Shared by the tests of retrieval: a small corpus, an embedder without a model, a web server."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from deepfact.records import Source

sys.path[:0] = [str(Path(__file__).parents[1] / "servers")]

TEXTS = {
    "river": "Nitrate rose in the river by 12 %. The mayor resigned. It rained all of May.",
    "mill": "The mill was built in 1898. It closed in 1931 after the flood.",
    "tram": "The tram line opened in 2004. Its depot stands on the site of the mill.",
}


@pytest.fixture
def corpus() -> dict[str, Source]:
    """Three sources by id."""
    made = [Source.create(title=title, text=text) for title, text in TEXTS.items()]
    return {source.id: source for source in made}


class LetterEmbedder:
    """Vectors of letter counts: no model, and a count of the texts that it was given."""

    def __init__(self, name: str = "letters 1") -> None:
        self.name, self.embedded = name, 0

    def embed(self, texts: Sequence[str]) -> Any:
        import numpy

        from deepfact.retrievers.embedders import unit_rows

        self.embedded += len(texts)
        rows = [[text.lower().count(chr(97 + n)) for n in range(26)] for text in texts]
        return unit_rows(numpy.array(rows, dtype=numpy.float32).reshape(-1, 26))


@pytest.fixture
def letters() -> LetterEmbedder:
    """An embedder for tests."""
    return LetterEmbedder()


@pytest.fixture
def web() -> Iterator[Any]:
    """A server on loopback with pages and search APIs."""
    from web_server import WebServer

    with WebServer() as server:
        yield server


@pytest.fixture(autouse=True)
def _no_model_kept() -> Iterator[None]:
    from deepfact.retrievers.embedders import build_embedder

    yield
    build_embedder.cache_clear()


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC", "BRAVE_SEARCH", "TAVILY"):
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
