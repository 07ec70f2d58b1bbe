"""What policy makes of adjudications: rulings, and from them the revisions of the next version.

Pure. An auditor's reason travels word for word into the ruling and the revision.
"""

from __future__ import annotations

from collections import Counter
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
    case: Case, key: CaseKey, adjudications: Sequence[Adjudication], policy: PolicySpec
) -> Ruling:
    """The ruling on one case.

    ``single``: the first auditor's decision. ``majority``: a label that more than half of the
    auditors decided for. ``unanimous``: a label that all decided for. Otherwise unresolved,
    and the label stays.

    Args:
        case: as the auditors saw it.
        key: which side is the benchmark's.
        adjudications: in the order of the auditors in the spec.
        policy: how many must agree.
    """
    considered = adjudications[:1] if policy.rule is PolicyRule.SINGLE else adjudications
    votes = Counter(decided_label(case, adjudication) for adjudication in considered)
    label, count = votes.most_common(1)[0] if votes else (None, 0)
    needed = len(considered) if policy.rule is PolicyRule.UNANIMOUS else len(considered) // 2 + 1
    if label is None or count < needed:
        return Ruling(
            case_id=case.id,
            claim_id=key.claim_id,
            kind=RulingKind.UNRESOLVED,
            auditors=tuple(adjudication.auditor for adjudication in considered),
            reason=_why_unresolved(considered, votes),
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


def _why_unresolved(considered: Sequence[Adjudication], votes: Counter[Label | None]) -> str:
    if not considered:
        return "no reason recorded"
    return considered[0].rationale if len(votes) == 1 else "the auditors disagree"


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
        who = " + ".join(ruling.auditors)
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
    return {"rationale": own.rationale, "evidence": own.evidence}
