"""The passages that bear on a claim, and how far each one speaks of what the claim speaks of.

Pure: built from texts, compares words. It decides nothing.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Iterable, Iterator, Mapping, Sequence

from deepfact.reading.elements import Elements, elements
from deepfact.reading.lexicon import SYNONYMS
from deepfact.records import Source
from deepfact.retrievers.base import Passage
from deepfact.retrievers.words import stems, words

CLOSE = 0.8
"""What a synonym or a word of the same root counts, where the same word counts 1."""
NEIGHBOUR = 0.6
"""What a word counts that stands not in the passage but next to it or in the title."""
SMALL = 80
"""Sentences of a library in which every one is looked at."""
_ROOT = 5


_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|half|third|quarter)",
    re.I,
)


class Vocabulary:
    """Stems of a text, with the two looser ways in which a word can be found there."""

    def __init__(self, found: Iterable[str]) -> None:
        self.stems = frozenset(found)
        self.groups = frozenset(g for stem in self.stems for g in SYNONYMS.get(stem, ()))
        self.roots = frozenset(stem[:_ROOT] for stem in self.stems if len(stem) > _ROOT)

    def match(self, stem: str) -> float:
        """1 for the word itself, `CLOSE` for a synonym or a word of the same root, else 0."""
        if stem in self.stems:
            return 1.0
        if len(stem) > _ROOT and stem[:_ROOT] in self.roots:
            return CLOSE
        if not self.groups.isdisjoint(SYNONYMS.get(stem, ())):
            return CLOSE
        return 0.0


@dataclass(frozen=True)
class Reading:
    """One passage with its words and those of what stands next to it."""

    passage: Passage
    vocabulary: Vocabulary
    neighbours: Vocabulary
    """Of the sentence before, the sentence after, and the title."""
    relevance: float = 0.0
    """BM25 score over the best score that any passage could have for the claim's words."""

    @cached_property
    def elements(self) -> Elements:
        """The passage taken apart, when it is first needed."""
        return elements(self.passage.text)

    @property
    def source(self) -> str:
        """Id of the source."""
        return self.passage.source


class Library:
    """The sources that one claim may be judged by, taken apart once and searched often."""

    def __init__(self, sources: Sequence[Source]) -> None:
        from deepfact.retrievers.bm25 import BM25Retriever

        self.sources: Mapping[str, Source] = {source.id: source for source in sources}
        self.index = BM25Retriever(sources)
        self._readings: dict[int, Reading] = {}
        counts: Counter[str] = Counter()
        for at in range(len(self.index.passages)):
            counts.update(set(self.index.stems_of(at)))
        self._counts = counts

    @cached_property
    def _places(self) -> Mapping[tuple[str, int], int]:
        """Where each passage stands in the index."""
        return {(p.source, p.span.start): at for at, p in enumerate(self.index.passages)}

    @property
    def size(self) -> int:
        """Number of sentences."""
        return len(self.index.passages)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Of all the sources, titles included."""
        titles = (stem for source in self.sources.values() for stem in stems(source.title))
        return Vocabulary((*self._counts, *titles))

    @cached_property
    def lowered(self) -> str:
        """All the texts, titles and addresses in lower case, for names."""
        return "\n".join(
            f"{source.title}\n{source.url}\n{source.text}".lower()
            for source in self.sources.values()
        )

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(w.text for p in self.index.passages for w in words(p.text))

    def has_word(self, word: str) -> bool:
        """Whether a sentence holds this very word, capitals included."""
        return word in self._words

    def weight(self, stem: str) -> float:
        """How much a word says here: 1 plus half the logarithm of its rarity."""
        return 1.0 + 0.5 * math.log((self.size + 1) / (self._counts[stem] + 1))

    def read(self, query: str, claim: Elements, limit: int) -> list[tuple[Reading, Alignment]]:
        """The passages that may bear on a claim, best first, then by position: ``4 * limit`` that
        share a word with it, and in a small library all of them.

        BM25 picks the candidates; in a small library every sentence is one, for a paraphrase
        may share no word. Words in common, a little of BM25, and a number or date of the
        claim's own decide among them.
        """
        ranked = self.index.ranked(query)
        chosen = dict.fromkeys(at for _, at in ranked[: 4 * limit])
        if self.size <= SMALL:
            chosen |= dict.fromkeys(range(self.size))
        scores = {at: score for score, at in ranked}
        length = max(1, len(stems(query)))
        numbers = {word.stem for word in claim.words if word.text[0].isdigit()}
        scored = []
        for at in chosen:
            score = scores.get(at, 0.0)
            reading = self._reading(at, score / (score + length))
            fit = align(claim, reading, self)
            value = 0.65 * fit.own + 0.25 * fit.near + 0.1 * reading.relevance
            value += 0.08 * (not numbers.isdisjoint(self.index.stems_of(at)))
            scored.append((-round(value, 9), at, reading, fit))
        scored.sort(key=lambda item: item[:2])
        return [(reading, fit) for _, _, reading, fit in scored]

    def with_numbers(self) -> Iterator[Reading]:
        """Every passage that holds a digit or a spelt-out number, in order."""
        for at in range(self.size):
            if _NUMBER.search(self.index.passages[at].text):
                yield self._reading(at, 0.0)

    def holding(self, wanted: str) -> Iterator[Reading]:
        """Every passage in which these words stand in this order, whatever the typography."""
        for at in range(self.size):
            if wanted in plain(self.index.passages[at].text):
                yield self._reading(at, 0.0)

    def neighbour(self, reading: Reading, step: int) -> Passage | None:
        """The passage ``step`` places on in the same source, or None."""
        at = self._places[reading.passage.source, reading.passage.span.start] + step
        if 0 <= at < self.size and self.index.passages[at].source == reading.source:
            return self.index.passages[at]
        return None

    def _reading(self, at: int, relevance: float) -> Reading:
        if at not in self._readings:
            passage = self.index.passages[at]
            near: list[str] = stems(self.sources[passage.source].title)
            for other in (at - 1, at + 1):
                if 0 <= other < self.size and self.index.passages[other].source == passage.source:
                    near += self.index.stems_of(other)
            own = Vocabulary(self.index.stems_of(at))
            self._readings[at] = Reading(passage, own, Vocabulary(near))
        return replace(self._readings[at], relevance=relevance)


@dataclass(frozen=True, slots=True)
class Alignment:
    """How far a passage speaks of what the claim speaks of, 0 to 1 by weight of words."""

    own: float
    """Share of the claim's content words in the passage itself."""
    near: float
    """The same with its neighbours and title, which count for less."""


def align(claim: Elements, reading: Reading, library: Library) -> Alignment:
    """The share of the claim's content words that a passage holds."""
    total, own, near = [], [], []
    for stem in claim.stems:
        weight = library.weight(stem)
        here = reading.vocabulary.match(stem)
        total.append(weight)
        own.append(weight * here)
        near.append(weight * max(here, NEIGHBOUR * reading.neighbours.match(stem)))
    if not total:
        return Alignment(0.0, 0.0)
    return Alignment(math.fsum(own) / math.fsum(total), math.fsum(near) / math.fsum(total))


def plain(text: str) -> str:
    """Lower-case words only, so that white space and typography make no difference."""
    return " ".join(word.lower for word in words(text))


def local_match(near_claim: Iterable[str], near_source: Iterable[str]) -> float:
    """The share of the words around an element of the claim found around one of the source."""
    wanted = list(near_claim)
    if not wanted:
        return 0.5
    vocabulary = Vocabulary(near_source)
    return math.fsum(vocabulary.match(stem) for stem in wanted) / len(wanted)
