"""Replay: a recorded policy gives the recorded rulings, another one what it would have given."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from deepfact.core.audit import position_of
from deepfact.core.policy import rule_all
from deepfact.core.replay import Replayed, replay_round
from deepfact.core.revise import revise
from deepfact.core.state import Entry, State, apply
from deepfact.records import (
    Adjudication,
    Annotation,
    Case,
    CaseKey,
    CaseKind,
    Claim,
    Decision,
    Label,
    Provenance,
    Revision,
    RevisionKind,
    Verdict,
)
from deepfact.run_records import PolicySpec, RoundRecord, RoundSpec, RunRecord, VersionRef

DAY = datetime(2026, 1, 5, tzinfo=UTC)
NAMES = ["ann", "ben", "cleo", "zoe"]
REF = VersionRef(benchmark="b", version=1, state_hash=f"sha256:{'0' * 64}")
POLICIES = [
    PolicySpec(rule="single"),
    PolicySpec(rule="majority"),
    PolicySpec(rule="unanimous"),
    PolicySpec(rule="weighted", weights={"min_cases": 2}),
    PolicySpec(rule="weighted", weights={"accuracy": {"ann": 0.9, "ben": 0.6}}),
    PolicySpec(rule="majority", tie_breaker="zoe"),
    PolicySpec(rule="unanimous", tie_breaker="zoe"),
]


def start(claims: int, draw: random.Random) -> State:
    """Claims with a label each."""
    return State({
        f"c{n}": Entry(
            Claim(id=f"c{n}", text=f"claim {n}"),
            Annotation(label=draw.choice(list(Label)), rationale="as imported",
                       provenance=Provenance(who="import", when=DAY)),
        )
        for n in range(claims)
    })  # fmt: skip


def decision(draw: random.Random, case: Case, auditor: str) -> Adjudication:
    made = draw.choice(list(Decision))
    label = draw.choice(list(Label)) if made is Decision.NEITHER else None
    return Adjudication(case_id=case.id, auditor=auditor, decision=made, label=label,
                        rationale=f"{auditor} on {case.id}")  # fmt: skip


def played(
    seed: int, rounds: int, policies: list[PolicySpec], claims: int = 12
) -> tuple[RunRecord, State, dict[str, Label]]:
    """A run as the loop makes it, everything in it drawn from the seed."""
    draw = random.Random(seed)
    first = state = start(claims, draw)
    gold = {f"c{n}": draw.choice(list(Label)) for n in range(0, claims, 2)}
    done: list[RoundRecord] = []
    for number, policy in zip(range(1, rounds + 1), policies, strict=False):
        verdicts, cases, keys, made = [], [], [], {}
        for entry in state:
            label = draw.choice(list(Label))
            verdict = Verdict(claim_id=entry.claim.id, label=label, rationale=f"round {number}")
            verdicts.append(verdict)
            if draw.random() < 0.2:
                continue
            sides = [position_of(entry.annotation), position_of(verdict)]
            incumbent: Any = draw.choice("ab")
            a, b = sides if incumbent == "a" else sides[::-1]
            case = Case(id=f"r{number}-{len(cases)}", claim=entry.claim, a=a, b=b)
            kind = CaseKind.CONTROL if label == entry.label else CaseKind.CHALLENGE
            cases.append(case)
            keys.append(CaseKey(case_id=case.id, claim_id=entry.claim.id, kind=kind,
                                incumbent=incumbent, challenger="v"))  # fmt: skip
            made[case.id] = [decision(draw, case, name) for name in NAMES]
        rulings, weights = rule_all(
            number, cases, keys, made, policy, NAMES, microgold=gold, earlier=done
        )
        revisions = revise(cases, keys, rulings, made, state.entries, run="run", when=DAY)
        done.append(
            RoundRecord(
                round=number, base=REF, result=REF, challenger="v", outcomes=tuple(verdicts),
                cases=tuple(cases), keys=tuple(keys),
                adjudications=tuple(one for case in cases for one in made[case.id]),
                rulings=tuple(rulings), revisions=tuple(revisions), scores=(), auditors=(),
                policy=policy, weights=weights,
            )
        )  # fmt: skip
        state = apply(state, revisions)
    spec = RoundSpec(name="run", benchmark="b@1", auditors=tuple(NAMES))
    record = RunRecord(name="run", status="complete", deepfact="0", spec=spec, auditors=(),
                       date=DAY, rounds=tuple(done))  # fmt: skip
    return record, first, gold


def again(
    run: RunRecord, state: State, gold: dict[str, Label], policy: PolicySpec | None,
    assign: Any = None,
) -> list[Replayed]:  # fmt: skip
    """The whole run under a policy, or each round under its own."""
    found, recorded = [], state
    for at, round_ in enumerate(run.rounds):
        chosen = policy or round_.policy
        found.append(
            replay_round(
                run, at, state, recorded, chosen, assign, auditors=NAMES, microgold=gold
            )
        )  # fmt: skip
        state, recorded = found[-1].after, apply(recorded, round_.revisions)
    return found


@given(st.integers(0, 10**6), st.lists(st.sampled_from(POLICIES), min_size=3, max_size=3))
def test_the_recorded_policy_gives_the_recorded_rulings(seed: int, policies: Any) -> None:
    run, state, gold = played(seed, 3, policies)
    for replayed, round_ in zip(again(run, state, gold, None), run.rounds, strict=True):
        assert replayed.rulings == round_.rulings
        assert replayed.revisions == round_.revisions
        assert replayed.weights == round_.weights
        assert replayed.cases == round_.cases
        assert not replayed.gone and not replayed.missing and not replayed.unasked


@given(st.integers(0, 10**6), st.sampled_from(POLICIES), st.sampled_from(POLICIES))
def test_another_policy_in_the_first_round_is_what_the_run_would_have_been(
    seed: int, one: PolicySpec, other: PolicySpec
) -> None:
    """The same draws under the other policy: its first round is what the replay says it is."""
    run, state, gold = played(seed, 2, [one, one])
    really, _, _ = played(seed, 1, [other])
    replayed = again(run, state, gold, other)
    assert replayed[0].rulings == really.rounds[0].rulings
    assert replayed[0].after == apply(state, really.rounds[0].revisions)


@given(st.integers(0, 10**6), st.sampled_from(POLICIES), st.sampled_from(POLICIES))
def test_later_rounds_decide_only_what_was_put(seed: int, one: Any, other: Any) -> None:
    run, state, gold = played(seed, 2, [one, one])
    first, second = again(run, state, gold, other)
    recorded = apply(state, run.rounds[0].revisions)
    for case, key in zip(run.rounds[1].cases, run.rounds[1].keys, strict=True):
        same = first.after.entries[key.claim_id] == recorded.entries[key.claim_id]
        if same:
            assert case in second.cases
        if case in second.cases:
            assert case.id not in second.gone
            incumbent = case.a if key.incumbent == "a" else case.b
            assert position_of(first.after.entries[key.claim_id].annotation) == incumbent
        else:
            assert second.gone[case.id]
    for claim_id in second.unasked:
        assert first.after.entries[claim_id].label != recorded.entries[claim_id].label


def test_why_a_case_no_longer_applies_is_said() -> None:
    run, state, gold = played(5, 2, [POLICIES[2]] * 2, claims=60)
    _, second = again(run, state, gold, POLICIES[0])
    reasons = set(second.gone.values())
    assert any(reason.startswith("the label would be ") for reason in reasons)
    assert second.unasked

    def changed(claim_id: str, **fields: Any) -> State:
        entry = state.entries[claim_id]
        other = entry.annotation.model_copy(update={"rationale": "another"})
        kept = {"claim": entry.claim, "annotation": other, **fields}
        return State({**state.entries, claim_id: Entry(**kept)})

    key = run.rounds[0].keys[0]
    for now, why in (
        (changed(key.claim_id), "for other reasons than the case argues about"),
        (changed(key.claim_id, annotation=None), "the claim would have no label"),
    ):
        found = replay_round(
            run, 0, now, state, POLICIES[1], None, auditors=NAMES, microgold=gold
        )  # fmt: skip
        assert why in found.gone[key.case_id]
        assert len(found.cases) == len(run.rounds[0].cases) - 1


def test_decisions_that_nobody_made_are_missing_and_not_made_up() -> None:
    run, state, gold = played(8, 1, [POLICIES[1]], claims=6)
    wrote = []

    def assign(position: int, who: str) -> list[str]:
        wrote.append(who)
        return ["ann", "dora"] if position == 0 else ["cleo"]

    (found,) = again(run, state, gold, POLICIES[2], assign)
    first = run.rounds[0].cases[0].id
    assert found.missing == {first: ("dora",)}
    assert set(wrote) == {"import"}
    assert all(set(ruling.auditors) <= {"ann", "cleo"} for ruling in found.rulings)


def test_a_claim_without_a_label_has_nobody_who_wrote_it() -> None:
    """Such a claim has no case; a case about it, from elsewhere, is set aside."""
    run, state, gold = played(8, 1, [POLICIES[1]], claims=4)
    claim = run.rounds[0].keys[0].claim_id
    bare = {**state.entries, claim: Entry(state.entries[claim].claim, None)}
    later = Revision(kind=RevisionKind.RETIRE, claim_id=claim, who="x", when=DAY, why="y")
    found = again(run, apply(State(bare), [later]), gold, POLICIES[1], lambda *_: NAMES)[0]
    assert found.gone[run.rounds[0].keys[0].case_id] == "the claim would have no label"
