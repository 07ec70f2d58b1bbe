"""How well a place in a passage fits an element of a claim: by sentence, by clause, by the words
around. Pure; it decides nothing.

A long claim says several things, and the passage that bears on one of them may share nothing with
the others; so each element is looked for where its own clause is spoken of. Sums over sets are
exact (`fsum`), or their order, which differs from process to process, would show in ties.
"""

from __future__ import annotations

from math import fsum
from typing import Sequence

from deepfact.reading.elements import Elements
from deepfact.reading.library import (
    NEIGHBOUR,
    Alignment,
    Library,
    Reading,
    Vocabulary,
    local_match,
)

Span = tuple[int, int]
Read = tuple[Reading, Alignment]

PER_CLAUSE = 2
"""Passages of each source that are read for each clause, beside those read for the claim."""
MANY = 5
"""Sources up to which each is read for each clause."""


class Fit:
    """A claim and the passages read for it, with what was measured of them kept."""

    def __init__(
        self, claim: Elements, scored: Sequence[Read], library: Library, limit: int
    ) -> None:
        """
        Args:
            claim: the claim taken apart.
            scored: candidate passages, best for the whole claim first.
            library: where they are from.
            limit: how many are read for the claim as a whole.
        """
        self.claim, self.library = claim, library
        self._kept: dict[tuple[int, frozenset[str], bool], float] = {}
        self._wanted: dict[Span, frozenset[str]] = {}
        self.readings = list(scored[:limit])
        self.wide = self._wide(scored, limit)

    def _wide(self, scored: Sequence[Read], limit: int) -> list[Read]:
        """The passages read for the claim, then those that fit one of its clauses best."""
        chosen: dict[int, None] = dict.fromkeys(range(min(limit, len(scored))))
        several = len(self.library.sources) <= MANY
        for clause in self.claim.clauses:
            wanted = self._stems(clause)
            taken: dict[str, int] = {}
            fits = [self.stems_in(wanted, reading) for reading, _ in scored]
            for at in sorted(range(len(scored)), key=lambda at: (-round(fits[at], 9), at)):
                source = scored[at][0].source if several else ""
                if fits[at] <= 0.0 or taken.get(source, 0) >= PER_CLAUSE:
                    continue
                taken[source] = taken.get(source, 0) + 1
                chosen.setdefault(at)
        return self._with_following([scored[at] for at in chosen], scored)

    def _with_following(self, reads: list[Read], scored: Sequence[Read]) -> list[Read]:
        """With the sentence after each of the two that fit best, which may carry on from it."""
        there = {reading.passage: (reading, fit) for reading, fit in scored}
        for reading, _ in reads[:2]:
            following = self.library.neighbour(reading, 1)
            if following in there and there[following] not in reads:
                reads.append(there[following])
        return reads

    def _stems(self, clause: Span) -> frozenset[str]:
        """Stems of a clause; of the whole claim when the clause says next to nothing."""
        if clause not in self._wanted:
            inside = self.claim.within(*clause)
            self._wanted[clause] = inside if len(inside) > 1 else self.claim.stems
        return self._wanted[clause]

    def stems_in(self, wanted: frozenset[str], reading: Reading, *, own: bool = False) -> float:
        """The share of ``wanted``, by weight, that a passage holds; with its neighbours and title,
        which count for less, unless ``own``."""
        key = (id(reading), wanted, own)
        if key not in self._kept:
            total: list[float] = []
            found: list[float] = []
            for stem in wanted:
                weight = self.library.weight(stem)
                here = reading.vocabulary.match(stem)
                if here < NEIGHBOUR and not own:
                    here = max(here, NEIGHBOUR * reading.neighbours.match(stem))
                total.append(weight)
                found.append(weight * here)
            self._kept[key] = fsum(found) / fsum(total) if total else 0.0
        return self._kept[key]

    def clause(self, at: int, reading: Reading, *, own: bool = False) -> float:
        """How much of the clause that holds a character of the claim a passage holds."""
        return self.stems_in(self._stems(self.claim.clause(at)), reading, own=own)

    def place(self, mine: Span, read: Read, theirs: Span | None = None) -> float:
        """How well a place in a passage, or the passage, fits an element of the claim, 0 to 1."""
        reading, whole = read
        clause = self.clause(mine[0], reading)
        if theirs is None:
            return 0.45 * whole.near + 0.55 * clause
        around = reading.elements.around(*theirs)
        local = local_match(self.claim.around(*mine), around)
        return 0.3 * whole.near + 0.4 * clause + 0.3 * local

    def nearby(self, clause: Span, read: Read) -> float:
        """How far a passage and what stands next to it, counted alike, speak of a clause."""
        reading = read[0]
        weights = {stem: self.library.weight(stem) for stem in self._stems(clause)}
        found = fsum(
            weight * max(reading.vocabulary.match(stem), reading.neighbours.match(stem))
            for stem, weight in weights.items()
        )
        return found / fsum(weights.values()) if weights else 0.0

    def relevance(self, mine: Span, read: Read) -> float:
        """How far a passage bears on an element at all: by its clause, or by the whole claim."""
        return max(read[1].near, self.clause(mine[0], read[0]))


def alike(one: str, other: str) -> bool:
    """Whether two stems may stand for each other."""
    return one == other or Vocabulary((one,)).match(other) > 0.0
