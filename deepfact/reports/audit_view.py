"""What reports say of auditors and policies, worked out of records once for every format.

Templates read these and decide nothing. Pure: no I/O, no markup, no clock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deepfact.core.metrics import rate
from deepfact.core.revise import decided_label, sides
from deepfact.measure_records import Rate
from deepfact.records import CaseKind
from deepfact.run_records import AuditorScore, PolicyRule, PolicySpec, RoundRecord, RunRecord

RULES = {
    PolicyRule.SINGLE: "one auditor decides each case",
    PolicyRule.MAJORITY: "a label that more than half of the auditors give",
    PolicyRule.UNANIMOUS: "a label that all auditors give",
    PolicyRule.WEIGHTED: "a label whose votes weigh more than half",
}


def policy_words(policy: PolicySpec) -> str:
    """A policy in one line of plain text, with everything that it sets."""
    words = [f"{policy.rule}: {RULES[policy.rule]}"]
    if policy.queue == "shared":
        words.append("whoever is free takes the next case")
    if policy.per_case:
        words.append(f"{policy.per_case} auditors a case, in turn")
    if policy.tie_breaker:
        words.append(f"{policy.tie_breaker} decides where the others split")
    if policy.rule is PolicyRule.WEIGHTED:
        weights = policy.weights
        words.append(
            f"accuracy measured on {weights.measured_on} of {weights.measured_in}, from "
            f"{weights.min_cases} cases on, and drawn to {weights.assumed:g} as by "
            f"{weights.strength:g} cases"
        )
        given = ", ".join(f"{name} {value:g}" for name, value in weights.accuracy.items())
        words += [f"accuracy given: {given}"] if given else []
    if policy.allow_self_judging:
        words.append("an auditor may judge its own model's challenges")
    return "; ".join(words)


def policy_of(run: RunRecord, round_: RoundRecord) -> PolicySpec:
    """The policy that a round went by."""
    declared = [stage.policy for stage in run.spec.rounds][round_.round - 1 : round_.round]
    return round_.policy or next(iter(declared), None) or run.spec.policy


@dataclass(frozen=True, slots=True)
class Crossing:
    """An auditor on the cases of one challenger."""

    microgold: Rate
    """Right on cases whose claim is micro-gold."""
    accepted: Rate
    """Of the challenges that the auditor decided, those decided for the challenger."""


@dataclass(frozen=True, slots=True)
class CrossAudit:
    """Auditors by challengers, over all rounds of a run."""

    auditors: tuple[str, ...]
    challengers: tuple[str, ...]
    cells: Mapping[tuple[str, str], Crossing]
    """By auditor and challenger; a pair that met on no case is not in it."""


def cross_audit(rounds: Sequence[RoundRecord]) -> CrossAudit | None:
    """The cross-audit matrix of a run; None when only one challenger challenged."""
    challengers = tuple(dict.fromkeys(done.challenger for done in rounds if done.auditors))
    if len(challengers) < 2:
        return None
    counts: dict[tuple[str, str], list[int]] = {}
    for done in rounds:
        for score in done.auditors:
            if score.cases:
                cell = counts.setdefault((score.auditor, done.challenger), [0, 0, 0, 0])
                cell[0] += score.microgold.k
                cell[1] += score.microgold.n
        keys = {key.case_id: key for key in done.keys}
        cases = {case.id: case for case in done.cases}
        for made in done.adjudications:
            key, case = keys[made.case_id], cases[made.case_id]
            if key.kind is CaseKind.CHALLENGE and (made.auditor, done.challenger) in counts:
                cell = counts[made.auditor, done.challenger]
                cell[2] += decided_label(case, made) == sides(case, key)[1].label
                cell[3] += 1
    return CrossAudit(
        auditors=tuple(dict.fromkeys(auditor for auditor, _ in counts)),
        challengers=challengers,
        cells={
            pair: Crossing(rate(right, known), rate(accepted, challenges))
            for pair, (right, known, accepted, challenges) in counts.items()
        },
    )


def measured(rounds: Sequence[RoundRecord]) -> list[tuple[int, AuditorScore]]:
    """The auditors of each round who decided micro-gold cases, for the evolution curve."""
    return [(done.round, score) for done in rounds for score in done.auditors if score.microgold.n]
