"""What a new version must say so that claims are again as they were: reverting is revising.

Pure. History only grows: a claim that was added since is retired, not dropped, and the label that
comes back is the old annotation word for word, with whose it was. What revisions cannot bring
about is named, never passed over.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from deepfact.core.state import Entry, State, diff
from deepfact.records import Revision, RevisionKind


@dataclass(frozen=True, slots=True)
class Undoing:
    """What undoing takes, and which claims it cannot be done for."""

    revisions: tuple[Revision, ...]
    obstacles: tuple[tuple[str, str], ...]
    """``(claim id, why not)``."""


@dataclass(frozen=True, slots=True)
class Signed:
    """Who revises, when and why: what every revision carries."""

    who: str
    when: datetime
    why: str
    run: str = ""
    case: str = ""

    def revision(self, kind: RevisionKind, claim_id: str, **fields: Any) -> Revision:
        """A revision of this signature."""
        return Revision(
            kind=kind, claim_id=claim_id, who=self.who, when=self.when, why=self.why,
            run=self.run, case=self.case, **fields,
        )  # fmt: skip


def undo_to(now: State, then: State, signed: Signed, leave: Collection[str] = ()) -> Undoing:
    """Back to an earlier state.

    Args:
        now: the state that is to change.
        then: what it is to be like.
        signed: who, when and why.
        leave: claims that stay as they are.
    """
    return _undoing(
        [
            (change.claim_id, change.before, change.after)
            for change in diff(now, then)
            if change.claim_id not in leave
        ],
        signed,
    )


def undo_change(
    now: State, before: State, after: State, signed: Signed, leave: Collection[str] = ()
) -> Undoing:
    """What one version changed is taken back, and what came after it stays.

    A claim that has changed again since is an obstacle: taking one change back would take the
    later ones with it.

    Args:
        now: the state that is to change.
        before: the parent of the version.
        after: the version.
        signed: who, when and why.
        leave: claims that stay as they are.
    """
    found, obstacles = [], []
    for change in diff(before, after):
        if change.claim_id in leave:
            continue
        entry = now.entries.get(change.claim_id)
        if entry == change.after:
            found.append((change.claim_id, entry, change.before))
        elif not _is_as(entry, change.before):
            obstacles.append((change.claim_id, "it has changed again since"))
    undoing = _undoing(found, signed)
    return Undoing(undoing.revisions, (*undoing.obstacles, *obstacles))


def _is_as(now: Entry | None, then: Entry | None) -> bool:
    """Whether a claim is as it was; a retired one is as good as none."""
    return now == then or (then is None and now is not None and now.retired)


def _undoing(changes: list[tuple[str, Entry | None, Entry | None]], signed: Signed) -> Undoing:
    revisions: list[Revision] = []
    obstacles = []
    for claim_id, now, then in changes:
        if _is_as(now, then):
            continue
        if why := why_not(now, then):
            obstacles.append((claim_id, why))
        else:
            revisions += steps(claim_id, now, then, signed)
    return Undoing(tuple(revisions), tuple(obstacles))


def why_not(now: Entry | None, then: Entry | None) -> str:
    """Why no revisions lead from one entry to another; empty when some do."""
    if now is None or then is None:
        return ""
    if now.claim != then.claim:
        return "it is another claim of the same id"
    if then.annotation is None and now.annotation is not None:
        return "it had no label, and a label cannot be taken away"
    return ""


def steps(claim_id: str, now: Entry | None, then: Entry | None, signed: Signed) -> list[Revision]:
    """The revisions that lead from one entry to another; `why_not` says whether there are any.

    A claim that is not to be there at all is retired.
    """
    if then is None:
        return [signed.revision(RevisionKind.RETIRE, claim_id)]
    found: list[Revision] = []
    if now is None:
        added = {"claim": then.claim, "annotation": then.annotation}
        found.append(signed.revision(RevisionKind.ADD, claim_id, **added))
        now = Entry(then.claim, then.annotation)
    if now.retired and (not then.retired or now.annotation != then.annotation):
        found.append(signed.revision(RevisionKind.RESTORE, claim_id))
        now = Entry(now.claim, now.annotation)
    if now.annotation != then.annotation:
        same = now.label == then.label
        kind = RevisionKind.RERATIONALE if same else RevisionKind.RELABEL
        found.append(signed.revision(kind, claim_id, annotation=then.annotation))
    if then.retired and not now.retired:
        found.append(signed.revision(RevisionKind.RETIRE, claim_id))
    return found
