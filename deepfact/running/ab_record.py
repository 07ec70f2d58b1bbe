"""The record of an A/B run, made of its outcomes. Decides nothing that `deepfact.core` could."""

from __future__ import annotations

from datetime import datetime
from typing import Sequence

from deepfact.core import compare
from deepfact.core.gates import check_gates
from deepfact.experiment_records import AbRecord, AbSpec, ArmRecord, AskedClaim, LabelsFrom
from deepfact.records import Label, Usage
from deepfact.running.arms import Arm, Outcomes
from deepfact.running.claim_set import ClaimSet
from deepfact.verifiers.panel.tally import total_usage
from deepfact.version import VERSION


def ab_record(
    spec: AbSpec, claims: ClaimSet, arms: Sequence[Arm], outcomes: Outcomes, date: datetime
) -> AbRecord:
    """Everything that came of an A/B run.

    Args:
        spec: what was run.
        claims: what was asked about.
        arms: in the order of the spec; the first is what the others are compared with.
        outcomes: of every arm and repeat, one for each claim.
        date: the day the run was started.
    """
    asked = claims.asked()
    by_arm = {arm.name: [outcomes[arm.name, n] for n in range(spec.repeat)] for arm in arms}
    first = arms[0].name
    records = tuple(_arm(arm, asked, by_arm[arm.name], spec.seed) for arm in arms)
    comparisons = tuple(
        compare.compare(
            (first, arm.name), asked, by_arm[first], by_arm[arm.name], seed=spec.seed
        )
        for arm in arms[1:]
    )  # fmt: skip
    labelled = claims.labels_from is not LabelsFrom.NOWHERE
    return AbRecord(
        name=spec.name,
        deepfact=VERSION,
        spec=spec,
        date=date,
        claims_name=claims.name,
        claims_hash=claims.state_hash,
        labels_from=claims.labels_from,
        claims=asked,
        arms=records,
        comparisons=comparisons,
        gates=check_gates(spec.gates, records, comparisons, labelled=labelled),
        missing=missing_of(asked),
    )


def _arm(
    arm: Arm, asked: Sequence[AskedClaim], repeats: Sequence[compare.Found], seed: int
) -> ArmRecord:
    found = repeats[0]
    models = {one.model for outcome in found.values() for one in outcome.votes}
    models |= {one.model for outcome in found.values() for one in outcome.abstentions}
    return ArmRecord(
        arm=arm.name,
        verifier=arm.spec,
        prompt=arm.prompt,
        models=tuple(sorted(filter(None, models))),
        rule=next((outcome.rule for outcome in found.values() if outcome.rule), ""),
        rates=tuple(
            compare.outcome_rates(group, members, found)
            for group, members in compare.groups_of(asked).items()
        ),
        agreement=compare.agreement(asked, found, seed=seed),
        grounds=compare.refuting_grounds(found),
        abstentions=compare.abstention_reasons(found),
        flags=compare.flag_counts(found),
        qualified=sum(
            compare.confirms(outcome) and outcome.kind == "verdict" and bool(outcome.qualifications)
            for outcome in found.values()
        ),
        usage=_usage(repeats),
        spread=compare.spread(asked, repeats),
        outcomes=tuple(tuple(found[one.claim.id] for one in asked) for found in repeats),
    )


def _usage(repeats: Sequence[compare.Found]) -> Usage:
    return total_usage(outcome.usage for found in repeats for outcome in found.values())


def missing_of(asked: Sequence[AskedClaim]) -> tuple[str, ...]:
    """What cannot be shown of these claims, and what it would take."""
    unlabelled = sum(one.label is None for one in asked)
    if unlabelled == len(asked):
        return (
            "The claims have no labels, so the loosening check is not shown: whether more claims "
            "are confirmed because more are right, or because anything is confirmed, cannot be "
            "told from these figures. Label the claims, or at least those that flipped.",
        )
    missing = []
    if unlabelled:
        missing.append(
            f"{unlabelled} of {len(asked)} claims have no label; they are in “all” only."
        )
    if not any(one.label is Label.CONTRADICTORY for one in asked):
        missing.append(
            "No claim is labelled contradictory, so the loosening check is not shown: add "
            "claims that are known to be wrong."
        )
    if not any(one.qualified for one in asked):
        missing.append(
            "No claim is known to carry a qualification, so the split by it is not shown."
        )
    return tuple(missing)
