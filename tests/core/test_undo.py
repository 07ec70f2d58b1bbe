"""Reverting is revising: what undoing takes, what it cannot do, and that it says so."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepfact.core.state import EMPTY, State, apply, diff
from deepfact.core.undo import Signed, undo_change, undo_to
from deepfact.errors import BenchmarkError
from deepfact.records import Label, Revision

IDS = ["c1", "c2", "c3"]
KINDS = ["add", "add", "relabel", "re-rationale", "retire", "restore"]
steps = st.lists(
    st.tuples(st.sampled_from(KINDS), st.sampled_from(IDS), st.sampled_from([None, *Label])),
    max_size=14,
)


@pytest.fixture(scope="module")
def signed(make: Any) -> Signed:
    return Signed(who="ada", when=make.WHEN, why="a mistake")


def walk(make: Any, state: State, plan: list[tuple[str, str, Any]]) -> State:
    """The state after those steps of a plan that fit."""
    for number, (kind, claim_id, label) in enumerate(plan):
        if kind == "add":
            revision = make.add(claim_id, label)
        elif kind in ("relabel", "re-rationale"):
            reasoned = make.annotation(label or "supported", rationale=f"{kind} {number}")
            revision = make.revision(kind, claim_id, annotation=reasoned)
        else:
            revision = make.revision(kind, claim_id)
        try:
            state = apply(state, [revision])
        except BenchmarkError:
            continue
    return state


def kinds(revisions: tuple[Revision, ...]) -> list[tuple[str, str]]:
    return [(revision.claim_id, str(revision.kind)) for revision in revisions]


def test_each_change_has_its_opposite(make: Any, signed: Signed) -> None:
    then = apply(EMPTY, [make.add(f"c{n}") for n in range(1, 6)] + [make.revision("retire", "c5")])
    reasoned = make.annotation(rationale="better")
    now = apply(
        then,
        [
            make.relabel("c1"), make.revision("re-rationale", "c2", annotation=reasoned),
            make.revision("retire", "c3"), make.revision("restore", "c5"), make.relabel("c5"),
            make.add("c6"),
        ],
    )  # fmt: skip
    undoing = undo_to(now, then, signed)
    assert undoing.obstacles == ()
    assert kinds(undoing.revisions) == [
        ("c1", "relabel"), ("c2", "re-rationale"), ("c3", "restore"), ("c5", "relabel"),
        ("c5", "retire"), ("c6", "retire"),
    ]  # fmt: skip
    assert {(r.who, r.why) for r in undoing.revisions} == {("ada", "a mistake")}
    back = apply(now, undoing.revisions)
    assert back.entries["c1"].annotation == then.entries["c1"].annotation
    assert [c.claim_id for c in diff(then, back)] == ["c6"]
    assert undo_to(back, then, signed).revisions == ()


def test_a_retired_claim_whose_label_changed_comes_back_as_it_was(
    make: Any, signed: Signed
) -> None:
    then = apply(EMPTY, [make.add("c1"), make.revision("retire", "c1")])
    now = apply(
        then,
        [make.revision("restore", "c1"), make.relabel("c1"), make.revision("retire", "c1")],
    )
    undoing = undo_to(now, then, signed)
    assert [kind for _, kind in kinds(undoing.revisions)] == ["restore", "relabel", "retire"]
    assert apply(now, undoing.revisions).state_hash == then.state_hash


def test_claims_can_be_left_as_they_are(make: Any, signed: Signed) -> None:
    then = apply(EMPTY, [make.add("c1"), make.add("c2")])
    now = apply(then, [make.relabel("c1"), make.relabel("c2")])
    assert kinds(undo_to(now, then, signed, leave=["c1"]).revisions) == [("c2", "relabel")]
    assert undo_change(now, then, now, signed, leave=["c1", "c2"]).revisions == ()


def test_a_label_cannot_be_taken_away(make: Any, signed: Signed) -> None:
    then = apply(EMPTY, [make.add("c1", None), make.add("c2")])
    now = apply(then, [make.relabel("c1"), make.relabel("c2")])
    undoing = undo_to(now, then, signed)
    assert undoing.obstacles == (("c1", "it had no label, and a label cannot be taken away"),)
    assert kinds(undoing.revisions) == [("c2", "relabel")]


def test_another_claim_of_the_same_id_is_no_earlier_one(make: Any, signed: Signed) -> None:
    then, now = apply(EMPTY, [make.add("c1")]), apply(EMPTY, [make.add("c1", text="Other.")])
    assert undo_to(now, then, signed).obstacles == (("c1", "it is another claim of the same id"),)


def test_a_claim_that_is_not_there_is_added(make: Any, signed: Signed) -> None:
    """Between branches: the other one has it."""
    then = apply(EMPTY, [make.add("c1"), make.add("c2"), make.revision("retire", "c2")])
    undoing = undo_to(EMPTY, then, signed)
    assert kinds(undoing.revisions) == [("c1", "add"), ("c2", "add"), ("c2", "retire")]
    assert apply(EMPTY, undoing.revisions).state_hash == then.state_hash


def test_one_version_is_taken_back_and_later_ones_stay(make: Any, signed: Signed) -> None:
    before = apply(EMPTY, [make.add("c1"), make.add("c2"), make.add("c3")])
    after = apply(before, [make.relabel("c1"), make.relabel("c2"), make.add("c4")])
    now = apply(after, [make.relabel("c3"), make.relabel("c2", "inconclusive")])
    undoing = undo_change(now, before, after, signed)
    assert kinds(undoing.revisions) == [("c1", "relabel"), ("c4", "retire")]
    assert undoing.obstacles == (("c2", "it has changed again since"),)
    back = apply(now, undoing.revisions)
    assert back.entries["c3"] == now.entries["c3"]
    again = undo_change(back, before, after, signed)
    assert (again.revisions, again.obstacles) == ((), undoing.obstacles)


@given(first=steps, second=steps)
def test_undoing_ends_where_it_is_to_or_says_why_not(
    make: Any, signed: Signed, first: Any, second: Any
) -> None:
    then = walk(make, EMPTY, first)
    now = walk(make, then, second)
    undoing = undo_to(now, then, signed)
    back = apply(now, undoing.revisions)
    blocked = {claim_id for claim_id, _ in undoing.obstacles}
    for claim_id, entry in back.entries.items():
        if claim_id in then.entries and claim_id not in blocked:
            assert entry == then.entries[claim_id]
        elif claim_id not in blocked:
            assert entry.retired
    assert undo_change(now, then, now, signed).revisions == undoing.revisions
