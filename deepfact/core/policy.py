"""What a policy asks of a case: who is yet to decide it, and what becomes of a whole docket. Pure.

One case is ruled on in `deepfact.core.revise`; who may decide it is fixed when it is opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deepfact.core.revise import rule, split
from deepfact.core.weights import Known, Scales, known_decisions
from deepfact.errors import did_you_mean
from deepfact.measure_records import AuditorWeight
from deepfact.records import Adjudication, Case, CaseKey, Label, Ruling
from deepfact.run_records import PolicyRule, PolicySpec, RoundRecord


def due(
    case: Case, made: Mapping[str, Adjudication], names: Sequence[str], policy: PolicySpec
) -> tuple[str, ...]:
    """Who is yet to decide a case; empty when it can be ruled on.

    Under ``single`` anybody of ``names`` while nobody has, under the other rules all who have
    not; the tie-breaker only once everybody else has and they split.

    Args:
        case: the case.
        made: decisions that stand, by auditor.
        names: who may decide it.
        policy: of the round.
    """
    if policy.rule is PolicyRule.SINGLE:
        return () if any(name in made for name in names) else tuple(names)
    last = policy.tie_breaker
    others = [name for name in names if name != last]
    if missing := tuple(name for name in others if name not in made):
        return missing
    asked = last in names and last not in made
    if last and asked and split(case, [made[name] for name in others], policy):
        return (last,)
    return ()


def rule_all(
    number: int,
    cases: Sequence[Case],
    keys: Sequence[CaseKey],
    adjudications: Mapping[str, Sequence[Adjudication]],
    policy: PolicySpec,
    auditors: Sequence[str],
    *,
    microgold: Mapping[str, Label],
    earlier: Sequence[RoundRecord] = (),
) -> tuple[list[Ruling], tuple[AuditorWeight, ...]]:
    """The rulings of a round, and what votes weighed under the rule ``weighted``.

    Args:
        number: of the round.
        cases, keys: of the round, same order.
        adjudications: by case id, in the order of the auditors.
        policy: of the round.
        auditors: names of the round's auditors.
        microgold: known label by claim id; used for weights alone.
        earlier: the run's rounds before this one, for weights.
    """
    if policy.rule is not PolicyRule.WEIGHTED:
        pairs = zip(cases, keys, strict=True)
        return [rule(case, key, adjudications[case.id], policy) for case, key in pairs], ()
    known = [one for done in earlier for one in _known_of(done, microgold, policy)]
    if policy.weights.measured_in == "this and earlier rounds":
        spec = policy.weights
        known += known_decisions(number, cases, keys, adjudications, microgold, spec)
    scales = Scales(known, auditors, policy.weights)
    return [
        rule(case, key, adjudications[case.id], policy, scales.on(number, case.id))
        for case, key in zip(cases, keys, strict=True)
    ], scales.weights()


def _known_of(done: RoundRecord, microgold: Mapping[str, Label], policy: PolicySpec) -> list[Known]:
    return known_decisions(
        done.round, done.cases, done.keys, by_case(done.cases, done.adjudications), microgold,
        policy.weights,
    )  # fmt: skip


def by_case(
    cases: Sequence[Case], adjudications: Sequence[Adjudication]
) -> dict[str, list[Adjudication]]:
    """Adjudications by case id, in the order in which they are given. All are about one of the
    cases."""
    found: dict[str, list[Adjudication]] = {case.id: [] for case in cases}
    for made in adjudications:
        found[made.case_id].append(made)
    return found


def why_unworkable(policy: PolicySpec, auditors: Sequence[str]) -> tuple[str, str] | None:
    """Why a policy cannot be carried out by a round's auditors, and what to do; None when it can.

    Args:
        policy: of the round.
        auditors: their names.
    """
    strange = sorted(set(policy.weights.accuracy) - set(auditors))
    if policy.weights != PolicySpec().weights and policy.rule is not PolicyRule.WEIGHTED:
        return f"the rule {policy.rule} weighs no votes", "write `rule: weighted`, or no `weights`"
    if strange:
        known = did_you_mean(strange[0], auditors)
        return f"`weights` names {strange[0]!r}, who is no auditor of the round", known
    last = policy.tie_breaker
    if last is None:
        return None
    if policy.rule not in (PolicyRule.MAJORITY, PolicyRule.UNANIMOUS):
        why = f"under the rule {policy.rule} there are no ties to break"
        return why, "write `rule: majority` or `rule: unanimous`, or no `tie_breaker`"
    if last not in auditors:
        why = f"the tie-breaker {last!r} is no auditor of the round"
        return why, did_you_mean(last, auditors)
    if len(auditors) < 3:
        why = "two auditors or more must be able to split before somebody breaks the tie"
        return why, "name more `auditors`; the tie-breaker is one of them"
    return None
