"""Merging two versions of one benchmark, claim by claim, and what is left for auditors.

Pure. What one side alone changed is taken over with its own revisions, word for word: who, when,
why, out of which case. What both changed alike stays as it is. Where they disagree, auditors
decide a blind case that does not say which side is which; `settle` makes their decision a
revision.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from deepfact.core.audit import position_of
from deepfact.core.state import Entry, State
from deepfact.core.undo import Signed, steps
from deepfact.records import (
    Adjudication,
    Annotation,
    Case,
    CaseKey,
    CaseKind,
    Claim,
    Decision,
    Label,
    Position,
    Provenance,
    Revision,
    RevisionKind,
    Ruling,
    RulingKind,
)
from deepfact.run_records import PolicyRule

TAKE_OUT = "Take this claim out of the benchmark. The reason given:"
"""How a side that retired the claim argues in a case."""


@dataclass(frozen=True, slots=True)
class Side:
    """A claim on one side of a merge."""

    entry: Entry
    revisions: tuple[Revision, ...]
    """What this side did to it since the common ancestor, oldest first."""

    @property
    def wrote(self) -> set[str]:
        """The people who decided it, who may not judge it now."""
        return {who for revision in self.revisions for who in revision.who.split(" + ")}


@dataclass(frozen=True, slots=True)
class Conflict:
    """A claim that both sides changed, and not alike."""

    claim: Claim
    ours: Side
    theirs: Side


@dataclass(frozen=True, slots=True)
class MergePlan:
    """What a merge comes to before anybody has decided anything."""

    taken: tuple[Revision, ...]
    """Of the other side, for claims that only it changed."""
    alike: tuple[str, ...]
    """Claims that both changed alike, or both retired; our words stand."""
    conflicts: tuple[Conflict, ...]
    obstacles: tuple[tuple[str, str], ...]
    """``(claim id, why)``: what can neither be merged nor be put before an auditor."""
    left: tuple[str, ...]
    """Claims of the other side that were left out because the caller said so."""


def plan_merge(
    base: State,
    ours: State,
    theirs: State,
    our_revisions: Sequence[Revision],
    their_revisions: Sequence[Revision],
    *,
    leave: Collection[str] = (),
) -> MergePlan:
    """A three-way merge, claim by claim.

    Args:
        base: the state of the nearest version that both come from.
        ours: the version that the merge is made from.
        theirs: the version whose changes it takes over.
        our_revisions, their_revisions: since the base, oldest first.
        leave: claims for which our side stands, whatever the other did.
    """
    taken: list[Revision] = []
    alike: list[str] = []
    conflicts: list[Conflict] = []
    obstacles: list[tuple[str, str]] = []
    left: list[str] = []
    our_steps = _by_claim(our_revisions)
    for claim_id, did in _by_claim(their_revisions).items():
        before, mine = base.entries.get(claim_id), ours.entries.get(claim_id)
        other = theirs.entries[claim_id]
        if other in (before, mine):
            alike += [claim_id] if other != before else []
        elif claim_id in leave:
            left.append(claim_id)
        elif mine == before or mine is None:
            taken += did
        elif mine.claim != other.claim:
            obstacles.append((claim_id, "both sides added a claim of this id, with other words"))
        elif _alike(mine, other):
            alike.append(claim_id)
        elif mine.annotation is None and not mine.retired:
            last = did[-1]
            signed = Signed(last.who, last.when, last.why, last.run, last.case)
            taken += steps(claim_id, mine, other, signed)
        else:
            own = tuple(our_steps.get(claim_id, ()))
            conflicts.append(Conflict(mine.claim, Side(mine, own), Side(other, tuple(did))))
    return MergePlan(tuple(taken), tuple(alike), tuple(conflicts), tuple(obstacles), tuple(left))


def _by_claim(revisions: Sequence[Revision]) -> dict[str, list[Revision]]:
    found: dict[str, list[Revision]] = {}
    for revision in revisions:
        found.setdefault(revision.claim_id, []).append(revision)
    return found


def _alike(mine: Entry, other: Entry) -> bool:
    """Whether two sides say the same of a claim, whoever says it; or the other says nothing that
    ours does not: it gave no label, or retired what ours retired too."""
    if mine.retired and other.retired:
        return True
    if mine.retired != other.retired:
        return False
    if mine.annotation is None or other.annotation is None:
        return other.annotation is None
    return position_of(mine.annotation) == position_of(other.annotation)


# --- cases -------------------------------------------------------------------------------


def merge_cases(
    conflicts: Sequence[Conflict], *, other: str, seed: str
) -> list[tuple[Case, CaseKey]]:
    """A blind case for each conflict, in a random order, with its key; our side is the incumbent.

    Args:
        conflicts: of a plan.
        other: what the other side is called, for the keys.
        seed: draws the order and the sides.
    """
    drawn = sorted(conflicts, key=lambda one: _draw(seed, "order", one.claim.id))
    return [_case(f"m-{number:04d}", one, other, seed) for number, one in enumerate(drawn, 1)]


def _case(case_id: str, conflict: Conflict, other: str, seed: str) -> tuple[Case, CaseKey]:
    sides = [
        _position(conflict.ours, conflict.theirs),
        _position(conflict.theirs, conflict.ours),
    ]
    incumbent: Literal["a", "b"] = "a"
    if _draw(seed, "side", conflict.claim.id) < 0.5:
        sides.reverse()
        incumbent = "b"
    case = Case(id=case_id, claim=conflict.claim, a=sides[0], b=sides[1])
    return case, CaseKey(
        case_id=case_id, claim_id=conflict.claim.id, kind=CaseKind.CHALLENGE,
        incumbent=incumbent, challenger=other,
    )  # fmt: skip


def _position(side: Side, other: Side) -> Position:
    """A side's argument. One that retired the claim argues for taking it out; a case shows a
    label in any event, and that of an unlabelled claim is then the other side's."""
    annotation = side.entry.annotation
    if not side.entry.retired:
        assert annotation is not None  # noqa: S101 - an unlabelled live claim is no conflict
        return position_of(annotation)
    known = annotation or other.entry.annotation
    assert known is not None  # noqa: S101 - two unlabelled claims are no conflict
    retired = [r for r in side.revisions if r.kind is RevisionKind.RETIRE]
    return Position(label=known.label, rationale=f"{TAKE_OUT} {retired[-1].why}")


def _draw(*what: object) -> float:
    return random.Random(":".join(map(str, what))).random()  # noqa: S311 - no secret


# --- decisions ---------------------------------------------------------------------------


def choose(
    adjudications: Sequence[Adjudication], rule: PolicyRule
) -> tuple[Decision | Label | None, list[Adjudication]]:
    """What auditors chose, a side or a label of their own, and who did; nothing when undecided.

    Unlike in a round, the sides count and not their labels: both may have the same one.

    Args:
        adjudications: in the order of the auditors.
        rule: ``single``, ``majority`` or ``unanimous``.
    """
    considered = adjudications[:1] if rule is PolicyRule.SINGLE else adjudications
    votes = Counter(_choice(made) for made in considered)
    chosen, count = votes.most_common(1)[0] if votes else (None, 0)
    needed = len(considered) if rule is PolicyRule.UNANIMOUS else len(considered) // 2 + 1
    if chosen is None or count < needed:
        return None, list(considered)
    return chosen, [made for made in considered if _choice(made) == chosen]


def _choice(made: Adjudication) -> Decision | Label | None:
    if made.decision is Decision.CANNOT_TELL:
        return None
    return made.label or made.decision


def settle(
    conflict: Conflict,
    key: CaseKey,
    adjudications: Sequence[Adjudication],
    *,
    rule: PolicyRule,
    names: tuple[str, str],
    signed: Signed,
) -> tuple[Ruling, list[Revision]]:
    """The ruling on a conflict, and the revisions of our side that it amounts to.

    There is always one, so that the history holds the decision: where our side stands, or nobody
    could tell, it repeats our annotation.

    Args:
        conflict: what was decided.
        key: which side of its case is ours.
        adjudications: on its case, in the order of the auditors.
        rule: how many must agree.
        names: of our version and of the other.
        signed: with the date, and the run; who, why and case are filled in here.
    """
    chosen, deciding = choose(adjudications, rule)
    reason = deciding[0].rationale if deciding else "no reason recorded"
    if chosen is None and len(deciding) > 1:
        reason = "the auditors disagree"
    who = tuple(made.auditor for made in deciding)
    ours, theirs = conflict.ours.entry, conflict.theirs.entry
    over = f"{names[0]} says {_said(ours)}, {names[1]} {_said(theirs)}"
    signed = replace(signed, who=" + ".join(who) or signed.who, case=key.case_id)
    wanted, kind, label = ours, RulingKind.UPHOLD, ours.label
    won = f"{names[0]} stands"
    if chosen is None:
        kind, label, won = RulingKind.UNRESOLVED, None, f"undecided, so {names[0]} stands"
    elif isinstance(chosen, Label):
        own = deciding[0]
        provenance = Provenance(who=signed.who, when=signed.when, run=signed.run, case=signed.case)
        annotation = Annotation(
            label=chosen, rationale=own.rationale, evidence=own.evidence,
            contradictions=own.contradictions, provenance=provenance,
        )  # fmt: skip
        wanted, kind, label = Entry(ours.claim, annotation), RulingKind.REVISE, chosen
        won = f"neither, but {chosen}"
    elif chosen == _other_side(key):
        # Taken out with the label that we know: theirs may never have had one.
        wanted = replace(ours, retired=True) if theirs.retired else theirs
        kind, label, won = RulingKind.REVISE, wanted.label, f"{names[1]} stands"
    signed = replace(signed, why=f"{over}; {won}: {reason}")
    ruling = Ruling(
        case_id=key.case_id, claim_id=key.claim_id, kind=kind, label=label,
        accepts_challenge=chosen == _other_side(key), auditors=who, reason=reason,
    )  # fmt: skip
    made = steps(conflict.claim.id, ours, wanted, signed)
    return ruling, made or _noted(ours, signed)


def _other_side(key: CaseKey) -> str:
    return "b" if key.incumbent == "a" else "a"


def _said(entry: Entry) -> str:
    return "that it is to be taken out" if entry.retired else str(entry.label)


def _noted(ours: Entry, signed: Signed) -> list[Revision]:
    """Our annotation once more, with the decision by which it stands. One that is retired is
    restored and retired again: nothing else can be said of a retired claim."""
    if ours.retired:
        kinds = (RevisionKind.RESTORE, RevisionKind.RETIRE)
        return [signed.revision(kind, ours.claim.id) for kind in kinds]
    return [signed.revision(RevisionKind.RERATIONALE, ours.claim.id, annotation=ours.annotation)]
