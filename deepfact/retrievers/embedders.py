"""Turning texts into vectors: static embeddings that ship in a wheel, or a model of the user's.

An embedder's ``name`` stands for everything that decides its vectors, so that an index made with
another model is never taken for its own. Nothing here reaches the network unless a spec says
``download: true``.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from deepfact.errors import ConfigError, MissingExtraError
from deepfact.records import sha256_of

WORDLLAMA = "wordllama"
DIMENSIONS = 256
"""Of the static embeddings in wordllama's wheel."""
_PROBE = "Nitrate in the river rose by 12 % between 1998 and 2004."


class Embedder(Protocol):
    """Makes vectors of texts."""

    name: str
    """What decides the vectors: library, model, version."""

    def embed(self, texts: Sequence[str]) -> Any:
        """A float32 array of one row a text, each of length 1, or 0 where a text has no word."""
        ...


@lru_cache(maxsize=4)
def build_embedder(model: str = WORDLLAMA, *, download: bool = False) -> Embedder:
    """The embedder that a spec names; loaded once in a process.

    Args:
        model: ``wordllama``; or a sentence-transformers model, as a folder or an id on the Hub.
        download: let sentence-transformers fetch a model that is not on this machine.

    Raises:
        MissingExtraError: the library is not installed.
        ConfigError: there is no such model here.
    """
    return _WordLlama() if model == WORDLLAMA else _SentenceTransformer(model, download)


class _WordLlama:
    """Averages of static token vectors, after Lee Miller's WordLlama; no torch, no download."""

    def __init__(self) -> None:
        self._model = _load_wordllama()
        self.name = f"{WORDLLAMA} {version('wordllama')}, {DIMENSIONS} dimensions"

    def embed(self, texts: Sequence[str]) -> Any:
        """As `Embedder`."""
        import numpy

        if not texts:
            return numpy.zeros((0, DIMENSIONS), dtype=numpy.float32)
        return unit_rows(self._model.embed(list(texts)))


def _load_wordllama() -> Any:
    """The model from the wheel's own files, and from nowhere else."""
    try:
        with _root_logger_kept():
            import wordllama
    except ImportError:
        raise MissingExtraError("dense retrieval needs wordllama", extra="dense") from None
    package = Path(wordllama.__file__).parent
    try:
        # The package as cache: the library looks for its tokenizer in a folder that its wheel
        # does not have, and then in the cache; the user's cache is nobody's business here.
        return wordllama.WordLlama.load(dim=DIMENSIONS, cache_dir=package, disable_download=True)
    except FileNotFoundError as error:
        raise ConfigError(
            f"wordllama is installed without its weights: {error}",
            fix="install it again: pip install --force-reinstall wordllama",
        ) from None


class _SentenceTransformer:
    """A sentence-transformers model that the user has."""

    def __init__(self, model: str, download: bool) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError:
            raise ConfigError(
                f"the model {model!r} needs sentence-transformers, which is not installed",
                fix="pip install sentence-transformers, or use model: wordllama",
            ) from None
        try:
            # Safetensors only: other weight files are pickles, which could run code.
            self._model = SentenceTransformer(
                model, local_files_only=not download, model_kwargs={"use_safetensors": True}
            )
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"the model {model!r} cannot be loaded: {str(error).splitlines()[0]}",
                fix="name a folder with a sentence-transformers model in safetensors, or a Hub id "
                "that is in the cache; `download: true` fetches one",
            ) from None
        probe = self.embed([_PROBE])[0]
        # Rounded: the last digits differ between machines. A folder's name says nothing of what
        # is in it; what the model makes of a sentence does.
        mark = sha256_of(" ".join(f"{value:.3f}" for value in probe))
        self.name = f"sentence-transformers, {Path(model).name}, {mark[7:19]}"

    def embed(self, texts: Sequence[str]) -> Any:
        """As `Embedder`."""
        made = self._model.encode(
            list(texts), convert_to_numpy=True, show_progress_bar=False, batch_size=64
        )
        return unit_rows(made)


def unit_rows(vectors: Any) -> Any:
    """The rows of an array at length 1, in float32; a row of zeros stays one."""
    import numpy

    vectors = numpy.asarray(vectors, dtype=numpy.float32)
    lengths = numpy.linalg.norm(vectors, axis=1, keepdims=True)
    return numpy.divide(vectors, lengths, out=numpy.zeros_like(vectors), where=lengths > 0)


@contextmanager
def _root_logger_kept() -> Iterator[None]:
    """Undo what a library does to the root logger when it is imported."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    try:
        yield
    finally:
        root.setLevel(level)
        root.handlers[:] = handlers
