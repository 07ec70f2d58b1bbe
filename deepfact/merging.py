"""Merging two versions of a benchmark, from one folder or from copies of it.

What is taken and what conflicts is worked out in `deepfact.core.merge`; this module finds the
common version, and commits. Conflicts go before people in `deepfact.merge_audit`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from deepfact.core.merge import MergePlan, merge_cases, plan_merge
from deepfact.core.undo import Signed
from deepfact.errors import BenchmarkError
from deepfact.records import (
    Case,
    CaseKey,
    Revision,
)
from deepfact.run_records import (
    PolicyRule,
)
from deepfact.store.benchmark import BenchmarkVersion
from deepfact.store.branches import (
    bring_in,
    comes_from,
    common_version,
    revisions_beyond,
    revisions_since,
)

FILE = "merge.json"
HUMAN = "human"
RULES = (PolicyRule.SINGLE, PolicyRule.MAJORITY, PolicyRule.UNANIMOUS)


@dataclass(frozen=True)
class Merge:
    """Two versions, and what merging them comes to."""

    ours: BenchmarkVersion
    theirs: BenchmarkVersion
    plan: MergePlan

    @property
    def names(self) -> tuple[str, str]:
        """What the two are called; by their folders where one benchmark's copies are merged."""
        return str(self.ours), _called(self.theirs, self.ours)

    @cached_property
    def cases(self) -> list[tuple[Case, CaseKey]]:
        """The conflicts as blind cases."""
        seed = "".join(side.manifest.state_hash for side in (self.ours, self.theirs))
        return merge_cases(self.plan.conflicts, other=self.names[1], seed=seed)


def open_merge(
    ours: BenchmarkVersion, theirs: BenchmarkVersion, *, leave: Collection[str] = ()
) -> Merge:
    """What merging two versions comes to; writes nothing.

    Args:
        ours: the version that the merge goes on from.
        theirs: the version whose changes are taken over, from the same benchmark or a copy of it.
        leave: claims for which ours stands.

    Raises:
        BenchmarkError: the two come from no common version, or one from the other; or there are
            claims that can be neither merged nor put before an auditor.
    """
    base = common_version(ours, theirs)
    if base is None:
        raise BenchmarkError(
            f"{ours} and {theirs} come from no common version",
            where=str(theirs.store.folder),
            fix="only versions of one benchmark, or of copies of it, can be merged",
        )
    if comes_from(ours, theirs):
        other = _called(theirs, ours)
        raise BenchmarkError(f"nothing to merge: {ours} comes from {other} already")
    plan = plan_merge(
        theirs.store.load(base).state,
        ours.state,
        theirs.state,
        revisions_beyond(ours, theirs),
        list(revisions_since(theirs, base)),
        leave=leave,
    )
    if strange := set(leave) - set(plan.left):
        raise BenchmarkError(
            f"there is nothing to leave out of claim {sorted(strange)[0]!r}", where="--leave"
        )
    if plan.obstacles:
        raise BenchmarkError(
            "these claims cannot be merged: "
            + "; ".join(f"{claim_id}: {why}" for claim_id, why in plan.obstacles),
            fix="keep ours with --leave ID for each, and add theirs under another id",
        )
    return Merge(ours, theirs, plan)


def _called(version: BenchmarkVersion, beside: BenchmarkVersion) -> str:
    """A version's name; with its folder where it is another copy's than the one beside it."""
    folder = version.store.folder
    if folder.resolve() == beside.store.folder.resolve():
        return str(version)
    return f"{folder.as_posix()}@{version.manifest.version}"


def is_ahead(merge: Merge) -> bool:
    """Whether ours has nothing of its own, so that theirs is simply taken over."""
    return comes_from(merge.theirs, merge.ours)


def take_over(merge: Merge) -> BenchmarkVersion:
    """Make theirs, which went on from ours, a version of our benchmark.

    Raises:
        BenchmarkError: it is one already.
    """
    if merge.ours.store.folder.resolve() == merge.theirs.store.folder.resolve():
        raise BenchmarkError(
            f"nothing to merge: {merge.theirs} was made from {merge.ours}",
            fix=f"use {merge.theirs}, or undo it with: deepfact bench revert",
        )
    return merge.ours.store.load(bring_in(merge.ours.store, merge.theirs))


def commit_merge(
    merge: Merge,
    signed: Signed,
    *,
    decided: Sequence[Revision] = (),
    note: str = "",
) -> BenchmarkVersion:
    """Make the merged version, with both sides as its parents.

    Args:
        merge: without conflicts, or with all of them decided.
        signed: the author and the date.
        decided: the revisions that decisions amount to.
        note: for the changelog.

    Raises:
        BenchmarkError: theirs says nothing that ours does not.
    """
    revisions = [*merge.plan.taken, *decided]
    if not revisions:
        raise BenchmarkError(
            f"nothing to merge: {merge.names[1]} says nothing that {merge.names[0]} does not"
        )
    other = bring_in(merge.ours.store, merge.theirs)
    held, theirs = set(merge.ours.sources), merge.theirs.sources
    taken = len({revision.claim_id for revision in merge.plan.taken})
    return merge.ours.store.commit(
        revisions,
        parent=merge.ours.manifest.version,
        merged=other,
        author=signed.who,
        date=signed.when,
        note=note
        or f"Merge of {other} into {merge.ours.manifest.version}: {taken} claims taken over, "
        f"{len(merge.plan.conflicts)} conflicts decided",
        sources=[theirs[source] for source in theirs if source not in held],
    )
