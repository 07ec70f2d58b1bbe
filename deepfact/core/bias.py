"""Which side an auditor's errors are for: measured on cases whose answer is known. Pure.

An error can be for a side only where the sides differ and one is known to be wrong, which is on
challenges of micro-gold claims. On controls both sides have one label: there the choice of a side
shows whose words please. A share of few errors says little; its n and interval stand with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from deepfact.core.metrics import rate
from deepfact.core.revise import decided_label, sides
from deepfact.measure_records import AuditorBias, Rate
from deepfact.records import Adjudication, Case, CaseKey, CaseKind, Decision, Label

Decided = tuple[Case, CaseKey, Adjudication]


def biases(
    cases: Sequence[Case],
    keys: Sequence[CaseKey],
    adjudications: Mapping[str, Sequence[Adjudication]],
    microgold: Mapping[str, Label],
    auditors: Sequence[str],
) -> tuple[AuditorBias, ...]:
    """Each auditor's bias in a round.

    Args:
        cases, keys: of the round, same order.
        adjudications: by case id.
        microgold: known label by claim id.
        auditors: names; those without a decision are left out.
    """
    decided: dict[str, list[Decided]] = {name: [] for name in auditors}
    for case, key in zip(cases, keys, strict=True):
        for made in adjudications[case.id]:
            decided.setdefault(made.auditor, []).append((case, key, made))
    return tuple(_bias(name, mine, microgold) for name, mine in decided.items() if mine)


def _bias(name: str, mine: Sequence[Decided], microgold: Mapping[str, Label]) -> AuditorBias:
    known = [
        (*sides(case, key), decided_label(case, made), microgold[key.claim_id])
        for case, key, made in mine
        if key.kind is CaseKind.CHALLENGE and key.claim_id in microgold
    ]
    errors = [known_ for known_ in known if known_[2] not in (None, known_[3])]
    return AuditorBias(
        auditor=name,
        for_incumbent=rate(sum(label == ours.label for ours, _, label, _ in errors), len(errors)),
        for_challenger=rate(
            sum(label == theirs.label for _, theirs, label, _ in errors), len(errors)
        ),
        kept_wrong=_believed(
            (ours.label, label) for ours, _, label, truth in known if ours.label != truth
        ),
        accepted_wrong=_believed(
            (theirs.label, label) for _, theirs, label, truth in known if theirs.label != truth
        ),
        control_incumbent=_chosen(
            str(made.decision) == key.incumbent
            for _, key, made in mine
            if key.kind is CaseKind.CONTROL and made.decision in (Decision.A, Decision.B)
        ),
        first_side=_chosen(
            made.decision is Decision.A
            for *_, made in mine
            if made.decision in (Decision.A, Decision.B)
        ),
    )


def _believed(pairs: Iterator[tuple[Label, Label | None]]) -> Rate:
    """Of cases with a wrong side, given as its label and the decision: those decided for it."""
    found = list(pairs)
    return rate(
        sum(wrong == label for wrong, label in found), len(found),
        unverified=sum(label is None for _, label in found),
    )  # fmt: skip


def _chosen(choices: Iterator[bool]) -> Rate:
    found = list(choices)
    return rate(sum(found), len(found))
