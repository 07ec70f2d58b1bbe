"""How much each auditor's vote weighs under the rule ``weighted``. Pure.

The weight of a vote is the log-odds of its auditor's accuracy, ``ln(p / (1 - p))``: the best
weights for independent voters who choose between two sides (S. Nitzan and J. Paroush, Optimal
Decision Rules in Uncertain Dichotomous Choice Situations, International Economic Review 23,
1982). An auditor at or below a coin's accuracy weighs nothing; no vote counts against itself.

A measured accuracy is drawn towards the assumed one: ``p = (right + s * a) / (of + s)``, the mean
of a Beta posterior whose prior, with mean ``a``, is worth ``s`` cases. So nobody gets an infinite
weight for a short run of right answers.

A case whose answer is known is never decided by weights that know it: its own decisions are left
out of them, so that micro-gold still measures the version that results.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from deepfact.core.revise import decided_label, sides
from deepfact.measure_records import AuditorWeight
from deepfact.records import Adjudication, Case, CaseKey, CaseKind, Label
from deepfact.run_records import WeightSpec


@dataclass(frozen=True, slots=True)
class Known:
    """A decision on a case whose answer is known."""

    round: int
    case_id: str
    auditor: str
    right: bool


def known_decisions(
    number: int,
    cases: Sequence[Case],
    keys: Sequence[CaseKey],
    adjudications: Mapping[str, Sequence[Adjudication]],
    microgold: Mapping[str, Label],
    spec: WeightSpec,
) -> list[Known]:
    """The decisions of a round that measure their auditors; "cannot tell" measures nothing.

    Args:
        number: of the round.
        cases, keys: of the round, same order.
        adjudications: by case id.
        microgold: known label by claim id.
        spec: says whether controls count; a micro-gold claim's answer is that of its key always.
    """
    found = []
    for case, key in zip(cases, keys, strict=True):
        answer = microgold.get(key.claim_id)
        if answer is None:
            if key.kind is not CaseKind.CONTROL or spec.measured_on == "microgold":
                continue
            answer = sides(case, key)[0].label
        for made in adjudications[case.id]:
            if (label := decided_label(case, made)) is not None:
                found.append(Known(number, case.id, made.auditor, label == answer))
    return found


class Scales:
    """Weighs votes by what is known of their auditors. A case is weighed without itself."""

    def __init__(self, known: Iterable[Known], auditors: Iterable[str], spec: WeightSpec) -> None:
        """
        Args:
            known: decisions of this round and of earlier ones; what the spec does not want
                measured is left out by whoever gives them.
            auditors: everybody who votes.
            spec: of the policy.
        """
        self._spec = spec
        self._right = dict.fromkeys(auditors, 0)
        self._of = dict.fromkeys(self._right, 0)
        self._own: dict[tuple[int, str], list[Known]] = {}
        for one in known:
            self._own.setdefault((one.round, one.case_id), []).append(one)
            self._right[one.auditor] = self._right.get(one.auditor, 0) + one.right
            self._of[one.auditor] = self._of.get(one.auditor, 0) + 1

    def weights(self) -> tuple[AuditorWeight, ...]:
        """Everybody's weight, as it is recorded."""
        return tuple(self._weight(name, self._right[name], self._of[name]) for name in self._of)

    def on(self, number: int, case_id: str) -> dict[str, float]:
        """Weights by auditor for one case: what is known of that case itself is left out."""
        right, of = dict(self._right), dict(self._of)
        for one in self._own.get((number, case_id), ()):
            right[one.auditor] -= one.right
            of[one.auditor] -= 1
        return {name: self._weight(name, right[name], of[name]).weight for name in of}

    def _weight(self, name: str, right: int, of: int) -> AuditorWeight:
        spec = self._spec
        if name in spec.accuracy:
            return AuditorWeight(
                auditor=name, weight=log_odds(spec.accuracy[name]), accuracy=spec.accuracy[name],
                basis="given",
            )  # fmt: skip
        measured = of >= spec.min_cases
        accuracy = shrunken(right, of, spec) if measured else spec.assumed
        return AuditorWeight(
            auditor=name, weight=log_odds(accuracy), accuracy=accuracy, right=right, of=of,
            basis="measured" if measured else "assumed",
        )  # fmt: skip


def shrunken(right: int, of: int, spec: WeightSpec) -> float:
    """``right / of`` drawn towards the assumed accuracy; strictly between 0 and 1 unless the
    spec's strength is 0, and then held to within half a case of either end."""
    p = (right + spec.strength * spec.assumed) / (of + spec.strength)
    edge = 0.5 / (of + spec.strength)
    return min(1 - edge, max(edge, p))


def log_odds(accuracy: float) -> float:
    """``ln(p / (1 - p))``, and 0 for an accuracy of a half or less."""
    return max(0.0, math.log(accuracy / (1 - accuracy)))
