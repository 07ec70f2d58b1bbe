"""States: folding revisions, refusing what does not fit, hashing and comparing."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepfact.core.state import EMPTY, State, apply, diff, fold
from deepfact.errors import BenchmarkError
from deepfact.records import Label, Revision

IDS = ["c1", "c2", "c3", "c4"]
steps = st.lists(
    st.tuples(
        st.sampled_from(["add", "relabel", "re-rationale", "retire", "restore"]),
        st.sampled_from(IDS),
        st.sampled_from([None, *map(str, Label)]),
    ),
    max_size=25,
)


def revision_of(make: Any, kind: str, claim_id: str, label: str | None) -> Revision:
    if kind == "add":
        return make.add(claim_id, label)
    if kind in ("relabel", "re-rationale"):
        return make.revision(kind, claim_id, annotation=make.annotation(label or "supported"))
    return make.revision(kind, claim_id)


def fitting(make: Any, plan: list[tuple[str, str, str | None]]) -> list[Revision]:
    """Those revisions of a plan that fit when applied one after another."""
    state, fit = EMPTY, []
    for step in plan:
        revision = revision_of(make, *step)
        try:
            state = apply(state, [revision])
        except BenchmarkError:
            continue
        fit.append(revision)
    return fit


def test_each_kind_of_revision_does_what_it_says(make: Any) -> None:
    state = apply(EMPTY, [make.add("c1"), make.add("c2", None)])
    assert [entry.label for entry in state] == [Label.SUPPORTED, None]
    reasoned = make.annotation("supported", rationale="as the register says")
    state = apply(state, [make.revision("re-rationale", "c1", annotation=reasoned)])
    assert state.entries["c1"].annotation == reasoned
    state = apply(state, [make.relabel("c2", "inconclusive"), make.revision("retire", "c1")])
    assert [claim.id for claim in state.claims] == ["c2"]
    assert state.entries["c1"].annotation == reasoned
    state = apply(state, [make.revision("restore", "c1")])
    assert [claim.id for claim in state.claims] == ["c1", "c2"]


@pytest.mark.parametrize(
    ("kind", "claim_id", "label", "problem"),
    [
        ("add", "c1", "supported", "duplicate claim id"),
        ("add", "gone", "supported", "duplicate claim id"),
        ("relabel", "c9", "supported", "is not there, so there is nothing to relabel"),
        ("retire", "c9", None, "is not there, so there is nothing to retire"),
        ("restore", "c1", None, "is not retired"),
        ("retire", "gone", None, "is retired; restore it before you retire it"),
        ("relabel", "gone", "supported", "is retired; restore it before you relabel it"),
        ("re-rationale", "c1", "inconclusive", "would change its label; that is a relabel"),
        ("re-rationale", "bare", "supported", "would change its label; that is a relabel"),
    ],
)
def test_a_revision_that_does_not_fit_is_refused_with_its_place(
    make: Any, kind: str, claim_id: str, label: str | None, problem: str
) -> None:
    state = apply(
        EMPTY,
        [make.add("c1"), make.add("gone"), make.add("bare", None), make.revision("retire", "gone")],
    )
    wrong = revision_of(make, kind, claim_id, label)
    with pytest.raises(BenchmarkError) as caught:
        apply(state, [make.add("c5"), wrong], where="b@2")
    assert problem in str(caught.value)
    assert f"claim {claim_id!r}" in str(caught.value)
    assert caught.value.where == "b@2, revision 2"
    assert "c5" not in state.entries
    with pytest.raises(BenchmarkError) as caught:
        apply(state, [wrong])
    assert caught.value.where == "revision 1"


@given(plan=steps, cut=st.integers(0, 25))
def test_fold_of_a_chain_is_apply_of_its_parts(make: Any, plan: Any, cut: int) -> None:
    revisions = fitting(make, plan)
    parts = revisions[:cut], revisions[cut:]
    assert fold((f"part {n}", part) for n, part in enumerate(parts)) == apply(EMPTY, revisions)


@given(plan=steps)
def test_history_only_grows(make: Any, plan: Any) -> None:
    """No revision makes a claim disappear or rewords it; nothing given is changed in place."""
    state = EMPTY
    for revision in fitting(make, plan):
        before = dict(state.entries)
        after = apply(state, [revision])
        assert state.entries == before
        assert list(after.entries)[: len(before)] == list(before)
        assert all(after.entries[key].claim == entry.claim for key, entry in before.items())
        state = after


@given(plan=steps, draw=st.randoms(use_true_random=False))
def test_the_hash_depends_on_what_is_said_not_on_the_order(
    make: Any, plan: Any, draw: random.Random
) -> None:
    state = apply(EMPTY, fitting(make, plan))
    items = list(state.entries.items())
    draw.shuffle(items)
    assert State(dict(items)).state_hash == state.state_hash
    assert diff(state, State(dict(items))) == []


@given(plan=steps, more=steps)
def test_diff_tells_exactly_what_changed(make: Any, plan: Any, more: Any) -> None:
    old = fitting(make, plan)
    before = apply(EMPTY, old)
    after = apply(EMPTY, fitting(make, [*plan, *more]))
    changes = diff(before, after)
    assert (before.state_hash == after.state_hash) == (changes == [])
    patched = {**before.entries, **{change.claim_id: change.after for change in changes}}
    assert patched == after.entries
    assert all(change.before == before.entries.get(change.claim_id) for change in changes)
    back = {change.claim_id: change for change in diff(after, before)}
    assert set(back) == {change.claim_id for change in changes}


def test_kinds_of_change(make: Any) -> None:
    before = apply(EMPTY, [make.add(f"c{n}") for n in range(6)])
    before = apply(before, [make.revision("retire", "c5")])
    after = apply(
        before,
        [
            make.relabel("c0"),
            make.revision(
                "re-rationale", "c1", annotation=make.annotation(rationale="better said")
            ),
            make.revision("retire", "c2"),
            make.revision("restore", "c5"),
            make.add("new"),
        ],
    )
    kinds = {change.claim_id: change.kind for change in diff(before, after)}
    assert kinds == {
        "c0": "relabelled",
        "c1": "re-reasoned",
        "c2": "retired",
        "c5": "restored",
        "new": "added",
    }
    other = apply(EMPTY, [make.add("c0", text="Another wording."), make.add("c7")])
    kinds = {change.claim_id: change.kind for change in diff(before, other)}
    assert kinds["c0"] == "reworded"
    assert kinds["c7"] == "added"
    assert [c.kind for c in diff(before, other)][2:] == ["dropped"] * 5


def test_counts(make: Any) -> None:
    source, other = make.source(), make.source("Another text.")
    state = apply(
        EMPTY,
        [
            make.add("c1", cites=(source.id,), origin={"report": "r1"}),
            make.add("c2", "contradictory", cites=(source.id,), origin={"report": "r1"}),
            make.add("c3", None),
            make.add("c4", "inconclusive"),
            make.add("c5", cites=(other.id,)),
            make.revision("retire", "c5"),
        ],
    )
    counts = state.counts()
    assert (counts.claims, counts.retired, counts.reports, counts.sources) == (4, 1, 3, 1)
    assert (counts.supported, counts.contradictory) == (1, 1)
    assert (counts.inconclusive, counts.unlabelled) == (1, 1)
