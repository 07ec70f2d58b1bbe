"""Three-way merges: nothing is lost, nothing is decided unseen, no side is marked."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepfact.core.merge import TAKE_OUT, MergePlan, choose, merge_cases, plan_merge, settle
from deepfact.core.state import EMPTY, State, apply
from deepfact.core.undo import Signed
from deepfact.errors import BenchmarkError
from deepfact.records import Adjudication, Decision, Label, Revision, RulingKind
from deepfact.run_records import PolicyRule

NAMES = ("mill@2", "mill@3")


@pytest.fixture(scope="module")
def base(make: Any) -> State:
    """Four labelled claims, an unlabelled one and a retired one."""
    adds = [make.add(f"c{n}") for n in range(1, 5)]
    return apply(EMPTY, [*adds, make.add("u", None), make.add("r"), make.revision("retire", "r")])


@pytest.fixture(scope="module")
def signed(make: Any) -> Signed:
    return Signed(who="merger", when=make.WHEN, why="", run="a-merge")


def plan(base: State, ours: list[Revision], theirs: list[Revision], **options: Any) -> MergePlan:
    return plan_merge(base, apply(base, ours), apply(base, theirs), ours, theirs, **options)


def by(who: str, revision: Revision) -> Revision:
    """The same change by somebody else."""
    note = revision.annotation
    if note:
        note = note.model_copy(
            update={"provenance": note.provenance.model_copy(update={"who": who})}
        )
    return revision.model_copy(update={"who": who, "annotation": note})


def made(decision: str, auditor: str = "zoë", label: str | None = None) -> Adjudication:
    return Adjudication(
        case_id="m-0001", auditor=auditor, decision=Decision(decision),
        label=Label(label) if label else None, rationale=f"{auditor} thinks so",
    )  # fmt: skip


# --- what needs nobody ---------------------------------------------------------------------


def test_what_one_side_changed_is_taken_word_for_word(make: Any, base: State) -> None:
    theirs = [make.relabel("c1"), make.relabel("c1", "inconclusive"), make.add("new"),
              make.revision("retire", "c3")]  # fmt: skip
    ours = [make.relabel("c2"), make.add("own")]
    found = plan(base, ours, theirs)
    assert list(found.taken) == theirs and not found.conflicts
    after = apply(apply(base, ours), found.taken)
    assert after.entries["c2"].label == Label.CONTRADICTORY
    assert after.entries["c1"].label == Label.INCONCLUSIVE
    assert after.entries["c3"].retired and {"new", "own"} <= set(after.entries)


def test_the_same_change_is_taken_once(make: Any, base: State) -> None:
    ours = [make.relabel("c1"), make.revision("retire", "c2"), make.relabel("c3")]
    theirs = [by("other", make.relabel("c1")), by("other", make.revision("retire", "c2")),
              make.relabel("c3")]  # fmt: skip
    found = plan(base, ours, theirs)
    assert (found.taken, found.conflicts, found.alike) == ((), (), ("c1", "c2", "c3"))


def test_a_change_that_was_taken_back_is_no_change(make: Any, base: State) -> None:
    back = make.revision("relabel", "c1", annotation=base.entries["c1"].annotation)
    found = plan(base, [make.relabel("c1", "inconclusive")], [make.relabel("c1"), back])
    assert found == MergePlan((), (), (), (), ())


def test_a_label_that_only_one_side_gave_stands(make: Any, base: State) -> None:
    """Both added the claim; one of them labelled it."""
    bare, labelled = make.add("n", None), by("other", make.add("n"))
    theirs_gave = plan(base, [bare], [labelled])
    (revision,) = theirs_gave.taken
    assert (str(revision.kind), revision.who) == ("relabel", "other")
    assert revision.annotation == labelled.annotation
    ours_gave = plan(base, [labelled], [bare])
    assert (ours_gave.taken, ours_gave.alike) == ((), ("n",))


def test_two_claims_of_one_id_cannot_be_merged_and_can_be_left(make: Any, base: State) -> None:
    ours, theirs = [make.add("n")], [make.add("n", text="Another."), make.relabel("c1")]
    found = plan(base, ours, theirs)
    ((claim_id, why),) = found.obstacles
    assert claim_id == "n" and "other words" in why
    left = plan(base, ours, theirs, leave=["n"])
    assert (left.obstacles, left.left, list(left.taken)) == ((), ("n",), theirs[1:])


# --- conflicts and their cases ---------------------------------------------------------------


def test_different_labels_rationales_and_retirements_are_conflicts(make: Any, base: State) -> None:
    reasoned = [make.annotation(rationale=words) for words in ("one reason", "another")]
    pairs = [
        ([make.relabel("c1")], [make.relabel("c1", "inconclusive")]),
        ([make.revision("re-rationale", "c1", annotation=reasoned[0])],
         [make.revision("re-rationale", "c1", annotation=reasoned[1])]),
        ([make.revision("retire", "c1")], [make.relabel("c1")]),
        ([make.relabel("c1")], [make.revision("retire", "c1")]),
        ([make.revision("retire", "u")], [make.relabel("u")]),
        ([make.relabel("u")], [make.revision("retire", "u")]),
    ]  # fmt: skip
    for ours, theirs in pairs:
        (conflict,) = plan(base, ours, theirs).conflicts
        assert conflict.claim.id == ours[0].claim_id
        assert conflict.ours.wrote == conflict.theirs.wrote == {"annotator"}
        assert plan(base, ours, theirs, leave=[conflict.claim.id]).conflicts == ()


def test_a_case_does_not_say_which_side_is_which(make: Any, base: State) -> None:
    ids = [f"c{n}" for n in range(60)]
    base = apply(EMPTY, [make.add(claim_id) for claim_id in ids])
    ours = [by("ann", make.relabel(claim_id)) for claim_id in ids]
    theirs = [by("bob", make.relabel(claim_id, "inconclusive")) for claim_id in ids]
    conflicts = plan(base, ours, theirs).conflicts
    pairs = merge_cases(conflicts, other="mill@3", seed="s")
    assert pairs == merge_cases(conflicts, other="mill@3", seed="s")
    assert [case.id for case, _ in pairs] == [f"m-{n:04d}" for n in range(1, 61)]
    assert [case.claim.id for case, _ in pairs] != ids
    first = sum(key.incumbent == "a" for _, key in pairs)
    assert 15 < first < 45
    for case, key in pairs:
        mine = case.a if key.incumbent == "a" else case.b
        assert (mine.label, key.claim_id, key.challenger) == (
            Label.CONTRADICTORY, case.claim.id, "mill@3",
        )  # fmt: skip
        text = case.canonical()
        assert not [word for word in ('ann"', "bob", "mill@", "ours", "theirs") if word in text]


def test_whoever_retired_a_claim_argues_for_taking_it_out(make: Any, base: State) -> None:
    for claim_id, label in (("c1", "supported"), ("u", "contradictory")):
        ours = [make.relabel(claim_id)]
        theirs = [make.revision("retire", claim_id, why="not checkable")]
        ((case, key),) = merge_cases(plan(base, ours, theirs).conflicts, other="x", seed="s")
        other = case.b if key.incumbent == "a" else case.a
        assert other.rationale == f"{TAKE_OUT} not checkable" and other.label == label


# --- decisions -------------------------------------------------------------------------------


def test_sides_are_counted_not_labels() -> None:
    a, b, none = made("a"), made("b", "bo"), made("cannot_tell", "cy")
    own = made("neither", "di", "inconclusive")
    single, majority, all_ = PolicyRule.SINGLE, PolicyRule.MAJORITY, PolicyRule.UNANIMOUS
    assert choose([a, b, b], single) == (Decision.A, [a])
    assert choose([a, b, b], majority) == (Decision.B, [b, b])
    assert choose([a, b], majority) == (None, [a, b])
    assert choose([a, a], all_) == (Decision.A, [a, a])
    assert choose([a, a, none], all_) == (None, [a, a, none])
    assert choose([none], single) == (None, [none])
    assert choose([own], single) == (Label.INCONCLUSIVE, [own])
    assert choose([], single) == (None, [])


def settled(
    make: Any, base: State, signed: Signed, ours: Revision, theirs: Revision, decision: str,
    label: str | None = None,
) -> tuple[Any, list[Revision], State]:  # fmt: skip
    """The ruling, the revisions, and the state after; ``decision`` is ours, theirs or other."""
    (conflict,) = plan(base, [ours], [theirs]).conflicts
    ((_, key),) = merge_cases([conflict], other="mill@3", seed="s")
    side = {"ours": key.incumbent, "theirs": "b" if key.incumbent == "a" else "a"}
    ruling, revisions = settle(
        conflict, key, [made(side.get(decision, decision), label=label)] if decision else [],
        rule=PolicyRule.SINGLE, names=NAMES, signed=signed,
    )  # fmt: skip
    return ruling, revisions, apply(apply(base, [ours]), revisions)


def test_the_side_that_won_stands_and_the_decision_is_in_the_history(
    make: Any, base: State, signed: Signed
) -> None:
    ours, theirs = by("ann", make.relabel("c1")), by("bob", make.relabel("c1", "inconclusive"))
    ruling, (revision,), after = settled(make, base, signed, ours, theirs, "theirs")
    assert (ruling.kind, ruling.label, ruling.accepts_challenge) == (
        RulingKind.REVISE, Label.INCONCLUSIVE, True,
    )  # fmt: skip
    assert after.entries["c1"].annotation == theirs.annotation
    assert (revision.who, revision.run, revision.case) == ("zoë", "a-merge", "m-0001")
    assert revision.why == (
        "mill@2 says contradictory, mill@3 inconclusive; mill@3 stands: zoë thinks so"
    )
    ruling, (revision,), after = settled(make, base, signed, ours, theirs, "ours")
    assert (ruling.kind, ruling.accepts_challenge) == (RulingKind.UPHOLD, False)
    assert str(revision.kind) == "re-rationale" and "mill@2 stands: zoë" in revision.why
    assert after.state_hash == apply(base, [ours]).state_hash


def test_an_auditor_may_find_a_label_of_their_own(make: Any, base: State, signed: Signed) -> None:
    ours, theirs = make.relabel("c1"), make.relabel("c1", "inconclusive")
    ruling, (revision,), after = settled(make, base, signed, ours, theirs, "neither", "supported")
    note = after.entries["c1"].annotation
    assert note and (note.label, note.rationale) == (Label.SUPPORTED, "zoë thinks so")
    assert (note.provenance.who, note.provenance.case) == ("zoë", "m-0001")
    assert "neither, but supported: zoë thinks so" in revision.why
    assert not ruling.accepts_challenge


def test_what_nobody_can_tell_stays_and_says_so(make: Any, base: State, signed: Signed) -> None:
    ours, theirs = make.relabel("c1"), make.relabel("c1", "inconclusive")
    ruling, (revision,), after = settled(make, base, signed, ours, theirs, "cannot_tell")
    assert (ruling.kind, ruling.label) == (RulingKind.UNRESOLVED, None)
    assert "undecided, so mill@2 stands: zoë thinks so" in revision.why
    assert after.state_hash == apply(base, [ours]).state_hash
    _, (revision,), _ = settled(make, base, signed, ours, theirs, "")
    assert revision.who == "merger" and revision.why.endswith("no reason recorded")
    (conflict,) = plan(base, [ours], [theirs]).conflicts
    ((_, key),) = merge_cases([conflict], other="x", seed="s")
    split = [made("a"), made("b", "bo")]
    ruling, (revision,) = settle(
        conflict, key, split, rule=PolicyRule.MAJORITY, names=NAMES, signed=signed
    )
    assert ruling.reason == "the auditors disagree" and revision.who == "zoë + bo"


@pytest.mark.parametrize("claim_id", ["c1", "u"])
def test_retiring_against_relabelling(
    make: Any, base: State, signed: Signed, claim_id: str
) -> None:
    keep, drop = make.relabel(claim_id), make.revision("retire", claim_id)
    ruling, revisions, after = settled(make, base, signed, keep, drop, "theirs")
    assert [str(r.kind) for r in revisions] == ["retire"] and after.entries[claim_id].retired
    assert ruling.accepts_challenge and "mill@3 that it is to be taken out" in revisions[0].why
    _, revisions, after = settled(make, base, signed, keep, drop, "ours")
    assert not after.entries[claim_id].retired and [str(r.kind) for r in revisions] == [
        "re-rationale"
    ]
    _, revisions, after = settled(make, base, signed, drop, keep, "theirs")
    assert after.entries[claim_id].label == Label.CONTRADICTORY
    assert [str(r.kind) for r in revisions] == ["restore", "relabel"]
    _, revisions, after = settled(make, base, signed, drop, keep, "ours")
    assert after.entries[claim_id].retired
    assert [str(r.kind) for r in revisions] == ["restore", "retire"]
    _, _, after = settled(make, base, signed, drop, keep, "neither", "inconclusive")
    assert after.entries[claim_id].label == Label.INCONCLUSIVE


# --- whatever the two sides did ----------------------------------------------------------------

KINDS = ["add", "relabel", "re-rationale", "retire", "restore"]
branch = st.lists(
    st.tuples(
        st.sampled_from(KINDS), st.sampled_from(["c1", "c2", "u", "r", "n1"]),
        st.sampled_from([None, *Label]), st.sampled_from(["", "because"]),
    ),
    max_size=10,
)  # fmt: skip


def walk(make: Any, state: State, steps: Any, who: str) -> list[Revision]:
    """Those steps that fit, as revisions."""
    found: list[Revision] = []
    for kind, claim_id, label, rationale in steps:
        note = make.annotation(label or "supported", rationale=rationale)
        if kind == "add":
            revision = make.revision(
                "add", claim_id, claim=make.claim(claim_id), annotation=note if label else None
            )
        elif kind in ("retire", "restore"):
            revision = make.revision(kind, claim_id)
        else:
            revision = make.revision(kind, claim_id, annotation=note)
        try:
            state = apply(state, [by(who, revision)])
        except BenchmarkError:
            continue
        found.append(by(who, revision))
    return found


@given(first=branch, second=branch, decision=st.sampled_from(["a", "b", "cannot_tell", "neither"]))
def test_every_claim_is_as_a_side_or_an_auditor_has_it(
    make: Any, base: State, signed: Signed, first: Any, second: Any, decision: str
) -> None:
    ours, theirs = walk(make, base, first, "ann"), walk(make, base, second, "bob")
    mine, other = apply(base, ours), apply(base, theirs)
    found = plan_merge(base, mine, other, ours, theirs)
    revisions = list(found.taken)
    answer = made(decision, label="inconclusive" if decision == "neither" else None)
    conflicts = {one.claim.id: one for one in found.conflicts}
    for case, key in merge_cases(found.conflicts, other="x", seed="s"):
        json.dumps(case.model_dump(mode="json"))
        one = replace(signed, why="")
        _, made_of_it = settle(
            conflicts[key.claim_id], key, [answer], rule=PolicyRule.SINGLE, names=NAMES, signed=one
        )
        assert made_of_it and {r.claim_id for r in made_of_it} == {key.claim_id}
        revisions += made_of_it
    after = apply(mine, revisions)  # whatever is said fits
    assert set(after.entries) == set(mine.entries) | set(other.entries)
    for claim_id, entry in after.entries.items():
        mine_now, other_now = mine.entries.get(claim_id), other.entries.get(claim_id)
        if claim_id in conflicts:
            continue
        if other_now in (None, base.entries.get(claim_id)):
            assert entry == mine_now
        elif mine_now in (None, base.entries.get(claim_id)):
            assert entry == other_now
        else:
            assert (entry.label, entry.retired) in {
                (one.label, one.retired) for one in (mine_now, other_now) if one
            }
