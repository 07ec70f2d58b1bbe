"""What of a version may be published: which claims, which sources, and what has to be blank.

Two things never leave: claims that are marked private, with the sources that only they need;
and what would tell which claims are micro-gold. This module reads the micro-gold key for the
second, to compare ids; nothing of it is handed on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from deepfact.core.state import Entry
from deepfact.errors import BenchmarkError
from deepfact.records import Source
from deepfact.store.benchmark import BenchmarkVersion

PROVENANCE: dict[str, Callable[[Entry], object]] = {
    "provenance.who": lambda entry: entry.annotation and entry.annotation.provenance.who,
    "provenance.when": lambda entry: entry.annotation and entry.annotation.provenance.when,
    "provenance.run": lambda entry: entry.annotation and entry.annotation.provenance.run,
    "provenance.case": lambda entry: entry.annotation and bool(entry.annotation.provenance.case),
}
"""Columns that may be left blank: the labels and their reasons stand without them."""

_WORDS = re.compile(r"[-_.:0-9]+")

TRAITS: dict[str, Callable[[Entry], object]] = {
    "the start of the id": lambda entry: _WORDS.split(entry.claim.id)[0],
    "the end of the id": lambda entry: _WORDS.split(entry.claim.id)[-1],
    "the shape of the id": lambda entry: re.sub(
        "[A-Za-z]", "a", re.sub("[0-9]", "0", entry.claim.id)
    ),
    "having a report": lambda entry: entry.claim.origin is not None,
    "domain": lambda entry: entry.claim.domain,
    "kind": lambda entry: entry.claim.kind,
    "original_label": lambda entry: entry.annotation and entry.annotation.original_label,
    "having a context": lambda entry: bool(entry.claim.context),
    "having citations": lambda entry: bool(entry.claim.cites),
    "having a label": lambda entry: entry.annotation is not None,
    "having a rationale": lambda entry: entry.annotation and bool(entry.annotation.rationale),
    "having evidence": lambda entry: entry.annotation and bool(entry.annotation.evidence),
}
"""What else a snapshot shows of a claim at a glance."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The published part of a version."""

    version: BenchmarkVersion
    entries: tuple[Entry, ...]
    """Public live claims, sorted by id: the order in which they were added would tell which came
    later."""
    sources: tuple[Source, ...]
    """Sources that a published claim refers to, sorted by id."""
    private: int
    """Live claims left out since they are private."""
    retired: int
    sources_left_out: int
    """Sources of the version that no published claim refers to, and withheld reports."""
    withheld: frozenset[str]
    """Report texts left out although a published claim stood in them: a private one did too."""
    blank: tuple[str, ...]
    """Columns of `PROVENANCE` left blank: their values would set some claims apart."""


def select(version: BenchmarkVersion) -> Selection:
    """What of a version may be published.

    Raises:
        BenchmarkError: no public claim, or micro-gold claims that can be told by their looks.
    """
    live = list(version.state)
    public = sorted((e for e in live if not e.claim.private), key=lambda entry: entry.claim.id)
    private = [entry for entry in live if entry.claim.private]
    if not public:
        left = f"all {len(private)} are private" if private else "it has none"
        raise BenchmarkError(f"{version} has no claim to publish: {left}")
    blank = _marks(version, public)
    withheld = frozenset(
        entry.claim.origin.document
        for entry in (e for e in version.state.entries.values() if e.claim.private)
        if entry.claim.origin and entry.claim.origin.document
    )
    needed = {source for entry in public for source in references(entry)} - withheld
    held = set(version.sources)
    if missing := sorted(needed - held):
        raise BenchmarkError(f"{version} refers to a source that it does not hold: {missing[0]}")
    return Selection(
        version=version,
        entries=tuple(public),
        sources=tuple(version.sources[source] for source in sorted(needed)),
        private=len(private),
        retired=len(version.state.entries) - len(live),
        sources_left_out=len(held - needed),
        withheld=withheld,
        blank=blank,
    )


def references(entry: Entry) -> Iterator[str]:
    """Ids of all sources that a claim and its annotation refer to."""
    yield from entry.claim.cites
    if entry.claim.origin and entry.claim.origin.document:
        yield entry.claim.origin.document
    if annotation := entry.annotation:
        yield from (evidence.source for evidence in annotation.evidence)
        yield from (q.source for q in annotation.qualifications if q.source)
        yield from (contradiction.source for contradiction in annotation.contradictions)


def _marks(version: BenchmarkVersion, public: Iterable[Entry]) -> tuple[str, ...]:
    """The columns that have to be blank so that micro-gold claims look like any other."""
    entries = list(public)
    hidden = version.store.key("microgold").keys() & {entry.claim.id for entry in entries}
    if not hidden or len(hidden) == len(entries):
        return ()
    for column, value in TRAITS.items():
        if _sets_apart(entries, value, hidden):
            raise BenchmarkError(
                f"micro-gold claims can be told from the others by {column}",
                where=str(version),
                fix="make them look like the rest, or mark them private: a published key "
                "measures nobody",
            )
    return tuple(c for c, value in PROVENANCE.items() if _sets_apart(entries, value, hidden))


def _sets_apart(
    entries: list[Entry], value: Callable[[Entry], object], hidden: Collection[str]
) -> bool:
    """Whether the claims with one value, or those without it, are micro-gold only, and are at
    least two and half of all micro-gold."""
    groups: dict[object, set[str]] = {}
    for entry in entries:
        groups.setdefault(value(entry), set()).add(entry.claim.id)
    least, most = max(2, len(hidden) / 2), len(hidden)
    for group in groups.values():
        if least <= len(group) <= most and group <= set(hidden):
            return True
        if least <= len(entries) - len(group) <= most:
            others = {entry.claim.id for entry in entries} - group
            if others <= set(hidden):
                return True
    return False
