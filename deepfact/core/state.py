"""What a version says: the fold of its revisions over its parent's state.

Pure. A state never changes; `apply` makes the next one, and refuses a revision that does not
fit (adding a claim twice, relabelling one that is not there). The entries of a large version lie
in its files and are read when asked for (`StoredEntries`); they say the same.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Iterable, Iterator, Mapping, NamedTuple

from deepfact.errors import BenchmarkError
from deepfact.records import (
    Annotation,
    Claim,
    Counts,
    Label,
    Revision,
    RevisionKind,
    canonical_json,
    sha256_of,
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A claim as a version has it."""

    claim: Claim
    annotation: Annotation | None
    retired: bool = False

    @property
    def label(self) -> Label | None:
        """The label, or None while nobody has given one."""
        return self.annotation.label if self.annotation else None

    def entry_hash(self) -> str:
        """Hash of everything this version says of the claim."""
        annotation = self.annotation.canonical() if self.annotation else None
        return sha256_of(canonical_json([self.claim.canonical(), annotation, self.retired]))


class Outline(NamedTuple):
    """What tables and scores need of a live claim, without its words."""

    claim_id: str
    label: Label | None
    report: str
    domain: str


class Columns(NamedTuple):
    """The outlines of all live claims, in order: a list for each of their fields."""

    claim_ids: list[str]
    labels: list[Label | None]
    reports: list[str]
    domains: list[str]


class StoredEntries(Mapping[str, Entry]):
    """Entries that lie in files. What is asked of all of them at once is known without reading
    each, so that a million of them need not be in memory."""

    @abstractmethod
    def columns(self) -> Columns:
        """The live entries in outline, in order."""

    @abstractmethod
    def live(self) -> Iterator[Entry]:
        """The live entries, in order, read one after another."""

    @abstractmethod
    def hash_lines(self) -> list[str]:
        """See `State.state_hash`; in any order."""

    @abstractmethod
    def digest(self, claim_id: str) -> bytes | None:
        """The entry hash of one claim; None when it is not there."""

    @abstractmethod
    def differing(self, then: StoredEntries) -> Iterator[tuple[str, Entry | None, Entry]]:
        """The claims whose entry hash is not what it is in ``then``, in order, each with its entry
        there and here."""

    @abstractmethod
    def lacking(self, then: StoredEntries) -> list[str]:
        """The claims of ``then`` that are not here, in its order."""

    @abstractmethod
    def counts(self) -> Counts:
        """See `State.counts`."""


@dataclass(frozen=True)
class State:
    """All claims of a version, in the order in which they were added."""

    entries: Mapping[str, Entry]

    def __iter__(self) -> Iterator[Entry]:
        """The live entries, in order."""
        if isinstance(self.entries, StoredEntries):
            return self.entries.live()
        return (entry for entry in self.entries.values() if not entry.retired)

    def outlines(self) -> Iterator[Outline]:
        """The live entries in outline, in order."""
        return map(Outline._make, zip(*self.columns, strict=True))

    @cached_property
    def columns(self) -> Columns:
        """The live entries in outline, in order, by field: cheap for a million of them."""
        if isinstance(self.entries, StoredEntries):
            return self.entries.columns()
        live = list(self)
        return Columns(
            [entry.claim.id for entry in live],
            [entry.label for entry in live],
            [entry.claim.report for entry in live],
            [entry.claim.domain for entry in live],
        )

    @property
    def claims(self) -> list[Claim]:
        """The live claims, in order."""
        return [entry.claim for entry in self]

    @cached_property
    def state_hash(self) -> str:
        """``sha256`` over the sorted lines ``claim id, tab, entry hash``."""
        if isinstance(self.entries, StoredEntries):
            lines = self.entries.hash_lines()
        else:
            lines = [f"{claim_id}\t{e.entry_hash()}\n" for claim_id, e in self.entries.items()]
        lines.sort()
        return sha256_of("".join(lines))

    def counts(self) -> Counts:
        """How many claims there are, by label; retired ones apart."""
        if isinstance(self.entries, StoredEntries):
            return self.entries.counts()
        live = list(self)
        labels = Counter(str(entry.label or "unlabelled") for entry in live)
        cited = {source for entry in live for source in entry.claim.cites}
        return Counts(
            claims=len(live),
            retired=len(self.entries) - len(live),
            reports=len({entry.claim.report for entry in live}),
            sources=len(cited),
            **labels,
        )


EMPTY = State({})


def apply(state: State, revisions: Iterable[Revision], *, where: str = "") -> State:
    """The state after ``revisions``; the given state is untouched.

    Args:
        where: what the revisions are read from, for errors.

    Raises:
        BenchmarkError: a revision does not fit the state before it.
    """
    entries = dict(state.entries)
    _apply_into(entries, revisions, where)
    return State(entries)


def fold(chain: Iterable[tuple[str, Iterable[Revision]]]) -> State:
    """The state after a chain of ``(where, revisions)``, oldest first, starting from nothing.

    Raises:
        BenchmarkError: a revision does not fit the state before it.
    """
    entries: dict[str, Entry] = {}
    for where, revisions in chain:
        _apply_into(entries, revisions, where)
    return State(entries)


def _apply_into(entries: dict[str, Entry], revisions: Iterable[Revision], where: str) -> None:
    for number, revision in enumerate(revisions, 1):
        before = entries.get(revision.claim_id)
        place = f"{where}, revision {number}" if where else f"revision {number}"
        entries[revision.claim_id] = revised(revision, before, where=place)


def revised(revision: Revision, before: Entry | None, *, where: str) -> Entry:
    """What a revision makes of an entry, or of there being none.

    Args:
        where: what the revision is read from, for errors.

    Raises:
        BenchmarkError: it does not fit.
    """
    if problem := _misfit(revision, before):
        raise BenchmarkError(f"claim {revision.claim_id!r} {problem}", where=where)
    return _after(revision, before)


def _misfit(revision: Revision, before: Entry | None) -> str:
    """Why a revision does not fit what is there; empty when it does."""
    kind = revision.kind
    if kind is RevisionKind.ADD:
        return "is there already: duplicate claim id" if before else ""
    if before is None:
        return f"is not there, so there is nothing to {kind}"
    if kind is RevisionKind.RESTORE:
        return "" if before.retired else "is not retired, so there is nothing to restore"
    if before.retired:
        return f"is retired; restore it before you {kind} it"
    if kind is RevisionKind.RERATIONALE and revision.annotation:
        same = before.label == revision.annotation.label
        return "" if same else "would change its label; that is a relabel"
    return ""


def _after(revision: Revision, before: Entry | None) -> Entry:
    if revision.claim is not None:
        return Entry(revision.claim, revision.annotation)
    assert before is not None  # noqa: S101 - _misfit has made sure
    if revision.kind is RevisionKind.RETIRE:
        return Entry(before.claim, before.annotation, retired=True)
    if revision.kind is RevisionKind.RESTORE:
        return Entry(before.claim, before.annotation)
    return Entry(before.claim, revision.annotation)


@dataclass(frozen=True, slots=True)
class Change:
    """What differs for one claim between two states."""

    claim_id: str
    before: Entry | None
    after: Entry | None

    @property
    def kind(self) -> str:
        """``added``, ``retired``, ``restored``, ``relabelled``, ``re-reasoned``, ``reworded`` or
        ``dropped`` (the newer state does not know the claim at all)."""
        before, after = self.before, self.after
        if after is None:
            return "dropped"
        if before is None:
            return "added"
        if before.retired != after.retired:
            return "retired" if after.retired else "restored"
        if before.claim != after.claim:
            return "reworded"
        return "relabelled" if before.label != after.label else "re-reasoned"


def diff(before: State, after: State) -> list[Change]:
    """Every claim that differs, in the order of the newer state, dropped ones last."""
    then, now = before.entries, after.entries
    if isinstance(then, StoredEntries) and isinstance(now, StoredEntries):
        # By their hashes. Entries may still be equal: one moment can be written in two time zones.
        pairs, gone = now.differing(then), now.lacking(then)
    else:
        pairs = ((claim_id, then.get(claim_id), entry) for claim_id, entry in now.items())
        gone = [claim_id for claim_id in then if claim_id not in now]
    changes = [Change(claim_id, old, new) for claim_id, old, new in pairs if old != new]
    return changes + [Change(claim_id, then[claim_id], None) for claim_id in gone]
