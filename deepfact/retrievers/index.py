"""An index of passages: where they stand, their BM25 data and, when asked for, their vectors.

Made in memory, or read back memory-mapped from a folder by `deepfact.retrievers.index_files`.
It holds no text: passages are cut out of their sources when they are found, so what is returned
is what the source says. Decides nothing about ranking; that is `deepfact.retrievers.corpus`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from deepfact.records import Record, Source, Span, canonical_json, sha256_of
from deepfact.retrievers import passages as splitting
from deepfact.retrievers import words
from deepfact.retrievers.base import Passage
from deepfact.retrievers.bm25 import K1, B, build_bm25
from deepfact.retrievers.embedders import Embedder
from deepfact.retrievers.passages import sentence_spans
from deepfact.retrievers.words import stems

LAYOUT = 1
"""Of what is stored; another one is another key."""


class IndexSettings(Record):
    """Everything but the sources that decides what an index holds."""

    layout: int = LAYOUT
    splitting: str
    """Hash of the code that cuts sentences and stems words: change it and indexes are made anew."""
    bm25: str
    """Library, version and parameters."""
    embedder: str = ""
    """The embedder's name; empty without vectors."""


def settings_of(embedder: Embedder | None) -> IndexSettings:
    """The settings of an index made now."""
    from importlib.metadata import version

    code = [Path(str(module.__file__)).read_bytes() for module in (splitting, words)]
    return IndexSettings(
        splitting=sha256_of(b"\0".join(code)),
        bm25=f"bm25s {version('bm25s')}, k1 {K1}, b {B}",
        embedder=embedder.name if embedder else "",
    )


def key_of(settings: IndexSettings, sources: Sequence[str]) -> str:
    """The hash that names an index: of its settings and of its sources' ids, which are hashes of
    their content, in order."""
    return sha256_of(canonical_json([settings.model_dump(mode="json"), list(sources)]))


@dataclass(frozen=True)
class PassageIndex:
    """Passages of sources, by position."""

    settings: IndexSettings
    sources: Mapping[str, Source]
    ids: tuple[str, ...]
    """Ids of the sources, in order; equal scores are ranked in this order."""
    places: Any
    """int64 array, one row a passage: number of the source in ``ids``, start, end."""
    bm25: Any
    """The library's index; None when there is not a word to index."""
    vectors: Any
    """float32 array, one row of length 1 a passage; None without an embedder."""

    def __len__(self) -> int:
        return len(self.places)

    @property
    def key(self) -> str:
        """What names it."""
        return key_of(self.settings, self.ids)

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {source: number for number, source in enumerate(self.ids)}

    def within(self, ids: Iterable[str]) -> Any:
        """A boolean array: which passages are of these sources."""
        import numpy

        numbers = [self._numbers[one] for one in ids if one in self._numbers]
        return numpy.isin(self.places[:, 0], numbers)

    def passage(self, at: int, *, score: float, found_by: str) -> Passage:
        """The passage at a position, cut out of its source."""
        number, start, end = (int(value) for value in self.places[at])
        source = self.sources[self.ids[number]]
        return Passage(
            source=source.id,
            span=Span(start=start, end=end),
            text=source.text[start:end],
            score=score,
            found_by=found_by,
        )

    def bm25_scores(self, query: str) -> Any:
        """The BM25 score of every passage."""
        import numpy

        known = stems(query) if self.bm25 is not None else []
        if not known:
            return numpy.zeros(len(self), dtype=numpy.float32)
        return self.bm25.get_scores(known)

    def cosines(self, vector: Any) -> Any:
        """The cosine of every passage to a vector of length 1."""
        return self.vectors @ vector


def build_index(
    sources: Mapping[str, Source],
    embedder: Embedder | None = None,
    *,
    donor: PassageIndex | None = None,
) -> PassageIndex:
    """An index in memory.

    Args:
        sources: by id, in the order that decides between equal scores.
        embedder: makes vectors, too.
        donor: an index of the same settings; sources that it holds are not cut or embedded again.
    """
    import numpy

    settings = settings_of(embedder)
    if donor is not None and donor.settings != settings:
        donor = None
    given = _rows_by_source(donor)
    places, tokens, vectors = [], list[list[str]](), []
    for number, source in enumerate(sources.values()):
        rows = given.get(source.id)
        if donor is not None and rows is not None:
            spans = [(int(start), int(end)) for _, start, end in donor.places[rows]]
        else:
            spans = [(span.start, span.end) for span in sentence_spans(source.text)]
        texts = [source.text[start:end] for start, end in spans]
        places += [(number, start, end) for start, end in spans]
        tokens += [stems(text) for text in texts]
        if embedder is not None:
            old = donor.vectors[rows] if donor is not None and rows is not None else None
            vectors.append(embedder.embed(texts) if old is None else old)
    return PassageIndex(
        settings=settings,
        sources=sources,
        ids=tuple(sources),
        places=numpy.array(places, dtype=numpy.int64).reshape(-1, 3),
        bm25=build_bm25(tokens),
        vectors=_stacked(vectors, embedder),
    )


def _stacked(vectors: list[Any], embedder: Embedder | None) -> Any:
    """All vectors as one array; None without an embedder."""
    import numpy

    if embedder is None:
        return None
    return numpy.concatenate(vectors) if vectors else embedder.embed([""])[:0]


def _rows_by_source(donor: PassageIndex | None) -> dict[str, slice]:
    """Where the passages of each source stand; those of one source stand together."""
    import numpy

    if donor is None:
        return {}
    firsts = numpy.searchsorted(donor.places[:, 0], numpy.arange(len(donor.ids) + 1))
    return {
        source: slice(int(firsts[number]), int(firsts[number + 1]))
        for number, source in enumerate(donor.ids)
    }
