"""What rulings a round would have had under another policy, from the decisions that it has. Pure.

A recorded decision answers one case: two positions on a claim. Where an earlier round would have
left the claim with another position, its later case was never put in that form; it is set aside
and named, not decided. Nor is anybody's decision made up: where a policy asks for more decisions
than are recorded, the ruling goes by those there are, and the missing ones are named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from deepfact.core.audit import position_of
from deepfact.core.policy import by_case, due, rule_all
from deepfact.core.revise import revise, sides
from deepfact.core.state import State, apply
from deepfact.measure_records import AuditorWeight
from deepfact.records import Case, CaseKey, Label, Outcome, Revision, Ruling, Verdict
from deepfact.run_records import PolicySpec, RunRecord

Assign = Callable[[int, str], Sequence[str]]
"""``assign(position, wrote)``: names of those whom the policy has decide the case at that place
of the docket, whose label somebody ``wrote``."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A round as it would have been."""

    before: State
    after: State
    cases: tuple[Case, ...]
    """Those that still apply."""
    rulings: tuple[Ruling, ...]
    """One for each of them, same order."""
    revisions: tuple[Revision, ...]
    weights: tuple[AuditorWeight, ...]
    missing: Mapping[str, tuple[str, ...]]
    """By case id: whose decisions the policy asks for and nobody has recorded."""
    gone: Mapping[str, str]
    """By case id: why a recorded case no longer applies."""
    unasked: tuple[str, ...]
    """Claims whose label would be one that the challenger disagrees with, and no case is there."""


def replay_round(
    run: RunRecord,
    at: int,
    state: State,
    recorded: State,
    policy: PolicySpec,
    assign: Assign | None,
    *,
    auditors: Sequence[str],
    microgold: Mapping[str, Label],
) -> Replayed:
    """A round of a run again, on the state that the replay has come to.

    Args:
        run: the record.
        at: index of the round in it.
        state: what the rounds before would have led to.
        recorded: what they did lead to.
        policy: to rule by.
        assign: who would decide; None takes every recorded decision, as the run itself did.
        auditors: names of the round's auditors, in order.
        microgold: known label by claim id, for weights.
    """
    done = run.rounds[at]
    kept: list[tuple[Case, CaseKey]] = []
    gone: dict[str, str] = {}
    made = by_case(done.cases, done.adjudications)
    missing: dict[str, tuple[str, ...]] = {}
    for position, (case, key) in enumerate(zip(done.cases, done.keys, strict=True)):
        if why := _why_gone(case, key, state):
            gone[case.id] = why
            continue
        kept.append((case, key))
        if assign is None:
            continue
        annotation = state.entries[key.claim_id].annotation
        names = assign(position, annotation.provenance.who if annotation else "")
        have = {one.auditor: one for one in made[case.id] if one.auditor in names}
        made[case.id] = [one for one in made[case.id] if one.auditor in names]
        if late := due(case, have, names, policy):
            missing[case.id] = late
    cases, keys = [case for case, _ in kept], [key for _, key in kept]
    rulings, weights = rule_all(
        done.round, cases, keys, made, policy, auditors,
        microgold=microgold, earlier=run.rounds[:at],
    )  # fmt: skip
    revisions = revise(
        cases, keys, rulings, made, state.entries, run=run.name, when=run.date
    )  # fmt: skip
    return Replayed(
        before=state,
        after=apply(state, revisions),
        cases=tuple(cases),
        rulings=tuple(rulings),
        revisions=tuple(revisions),
        weights=weights,
        missing=missing,
        gone=gone,
        unasked=_unasked(done.outcomes, state, recorded, {key.claim_id for key in keys}),
    )


def _why_gone(case: Case, key: CaseKey, state: State) -> str:
    """Why a case would not have been put in this form; empty when it would."""
    entry = state.entries.get(key.claim_id)
    if entry is None or entry.annotation is None:
        return "the claim would have no label"
    argued = sides(case, key)[0]
    if position_of(entry.annotation) == argued:
        return ""
    if entry.label != argued.label:
        return f"the label would be {entry.label}, and the case argues about {argued.label}"
    return f"the label would be {entry.label} too, for other reasons than the case argues about"


def _unasked(
    outcomes: Sequence[Outcome], state: State, recorded: State, asked: set[str]
) -> tuple[str, ...]:
    return tuple(
        outcome.claim_id
        for outcome in outcomes
        if isinstance(outcome, Verdict)
        and outcome.claim_id not in asked
        and (ours := state.entries[outcome.claim_id].label) is not None
        and ours != recorded.entries[outcome.claim_id].label
        and ours != outcome.label
    )
