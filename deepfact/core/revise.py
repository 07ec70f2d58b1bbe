"""What policy makes of adjudications: rulings, and from them the revisions of the next version.

Pure. An auditor's reason travels word for word into the ruling and the revision.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import Mapping, Sequence

from deepfact.core.state import Entry
from deepfact.records import (
    Adjudication,
    Annotation,
    Case,
    CaseKey,
    CaseKind,
    Decision,
    Label,
    Position,
    Provenance,
    Revision,
    RevisionKind,
    Ruling,
    RulingKind,
)
from deepfact.run_records import PolicyRule, PolicySpec


def decided_label(case: Case, adjudication: Adjudication) -> Label | None:
    """The label that an auditor decided for; None when they could not tell."""
    if adjudication.decision is Decision.A:
        return case.a.label
    if adjudication.decision is Decision.B:
        return case.b.label
    return adjudication.label


def rule(
    case: Case,
    key: CaseKey,
    adjudications: Sequence[Adjudication],
    policy: PolicySpec,
    weights: Mapping[str, float] | None = None,
) -> Ruling:
    """The ruling on one case.

    ``single``: the first auditor's decision. ``majority``: a label that more than half of the
    auditors decided for. ``unanimous``: a label that all decided for. ``weighted``: a label whose
    votes weigh more than half of all. Otherwise unresolved, and the label stays; but where the
    auditors split and the policy names a tie-breaker who has decided, that decision alone counts.

    Args:
        case: as the auditors saw it.
        key: which side is the benchmark's.
        adjudications: in the order of the auditors in the spec.
        policy: how many must agree.
        weights: of each auditor's vote, with ``weighted`` only; nothing for one not named.
    """
    last = [made for made in adjudications if made.auditor == policy.tie_breaker]
    others = [made for made in adjudications if made.auditor != policy.tie_breaker]
    if last and split(case, others, policy):
        return _ruling(case, key, last, decided_label(case, last[0]))
    considered = others[:1] if policy.rule is PolicyRule.SINGLE else others
    return _ruling(case, key, considered, _agreed(case, considered, policy, weights or {}))


def split(case: Case, adjudications: Sequence[Adjudication], policy: PolicySpec) -> bool:
    """Whether auditors decided differently and no label wins under the policy."""
    different = len({decided_label(case, made) for made in adjudications}) > 1
    return different and _agreed(case, adjudications, policy, {}) is None


def _agreed(
    case: Case,
    considered: Sequence[Adjudication],
    policy: PolicySpec,
    weights: Mapping[str, float],
) -> Label | None:
    """The label that wins under the policy's rule; None when none does."""
    votes: dict[Label | None, list[float]] = {}
    for made in considered:
        weight = weights.get(made.auditor, 0.0) if policy.rule is PolicyRule.WEIGHTED else 1.0
        votes.setdefault(decided_label(case, made), []).append(weight)
    total = math.fsum(weight for given in votes.values() for weight in given)
    for label, given in votes.items():
        # A hair more than half: sums of floats that are equal on paper are no majority.
        wins = 2 * math.fsum(given) > total * (1 + 1e-12)
        if policy.rule is PolicyRule.UNANIMOUS:
            wins = len(given) == len(considered)
        if wins:
            return label
    return None


def _ruling(
    case: Case, key: CaseKey, considered: Sequence[Adjudication], label: Label | None
) -> Ruling:
    """The ruling by which ``label`` stands, or by which nothing is decided."""
    if label is None:
        return Ruling(
            case_id=case.id,
            claim_id=key.claim_id,
            kind=RulingKind.UNRESOLVED,
            auditors=tuple(adjudication.auditor for adjudication in considered),
            reason=_why_unresolved(case, considered),
        )
    deciding = [a for a in considered if decided_label(case, a) == label]
    incumbent, challenger = sides(case, key)
    return Ruling(
        case_id=case.id,
        claim_id=key.claim_id,
        kind=RulingKind.UPHOLD if label == incumbent.label else RulingKind.REVISE,
        label=label,
        accepts_challenge=key.kind is CaseKind.CHALLENGE and label == challenger.label,
        auditors=tuple(adjudication.auditor for adjudication in deciding),
        reason=deciding[0].rationale,
    )


def _why_unresolved(case: Case, considered: Sequence[Adjudication]) -> str:
    if not considered:
        return "no reason recorded"
    alike = len({decided_label(case, made) for made in considered}) == 1
    return considered[0].rationale if alike else "the auditors disagree"


def sides(case: Case, key: CaseKey) -> tuple[Position, Position]:
    """The benchmark's position and the challenger's, in this order."""
    return (case.a, case.b) if key.incumbent == "a" else (case.b, case.a)


def revise(
    cases: Sequence[Case],
    keys: Sequence[CaseKey],
    rulings: Sequence[Ruling],
    adjudications: Mapping[str, Sequence[Adjudication]],
    entries: Mapping[str, Entry],
    *,
    run: str,
    when: datetime,
) -> list[Revision]:
    """The revisions that rulings amount to: one relabel for each label that is to change.

    Args:
        cases, keys, rulings: of the round, same order.
        adjudications: by case id.
        entries: the version that was audited, by claim id.
        run: name of the run, for provenance.
        when: the date that the revisions carry.
    """
    revisions = []
    for case, key, ruling in zip(cases, keys, rulings, strict=True):
        if ruling.kind is not RulingKind.REVISE or ruling.label is None:
            continue
        who = " + ".join(_writers(ruling, adjudications[case.id]))
        annotation = Annotation(
            label=ruling.label,
            **_argument(case, key, ruling, adjudications[case.id]),
            provenance=Provenance(who=who, when=when, run=run, case=case.id),
        )
        before = entries[key.claim_id].label
        revisions.append(
            Revision(
                kind=RevisionKind.RELABEL,
                claim_id=key.claim_id,
                who=who,
                when=when,
                why=f"{before} -> {ruling.label}: {ruling.reason}",
                run=run,
                case=case.id,
                annotation=annotation,
            )
        )
    return revisions


def _writers(ruling: Ruling, adjudications: Sequence[Adjudication]) -> list[str]:
    """The auditors whose decision a label is; a panel, then those of it who decided, so that no
    person is asked later about a label of their own."""
    names = list(ruling.auditors)
    for made in adjudications:
        if made.auditor in ruling.auditors and made.deliberation is not None:
            names += made.deliberation.decided_by
    return names


def _argument(
    case: Case, key: CaseKey, ruling: Ruling, adjudications: Sequence[Adjudication]
) -> dict[str, object]:
    """Rationale, evidence and qualifications of the side that won: the challenger's, or the
    auditor's own when the auditor gave a third label."""
    _, challenger = sides(case, key)
    if challenger.label == ruling.label:
        return {
            "rationale": challenger.rationale,
            "evidence": challenger.evidence,
            "qualifications": challenger.qualifications,
            "contradictions": challenger.contradictions,
        }
    own = next(a for a in adjudications if decided_label(case, a) == ruling.label)
    return {
        "rationale": own.rationale,
        "evidence": own.evidence,
        "contradictions": own.contradictions,
    }
