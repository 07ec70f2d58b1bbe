"""Whether what an A/B run found is what its config demands. Pure.

A gate whose figure cannot be had does not hold: what was not measured was not passed.
"""

from __future__ import annotations

from typing import Sequence

from deepfact.core.compare import ALL
from deepfact.experiment_records import (
    ArmRecord,
    Comparison,
    GateResult,
    GateSpec,
    PairedDifference,
)
from deepfact.records import Label, PanelOutcome

CONTRADICTORY, SUPPORTED = str(Label.CONTRADICTORY), str(Label.SUPPORTED)


def check_gates(
    gates: GateSpec,
    arms: Sequence[ArmRecord],
    comparisons: Sequence[Comparison],
    *,
    labelled: bool,
) -> tuple[GateResult, ...]:
    """What every gate that is set finds.

    Args:
        gates: the limits.
        arms: every arm.
        comparisons: each other arm against the first.
        labelled: whether claims have labels.
    """
    results = [
        result
        for comparison in comparisons
        for result in (
            *_loosening(gates, comparison),
            *_gain(gates, comparison, SUPPORTED if labelled else ALL),
        )
    ]
    if gates.max_unverified_rate is not None:
        for arm in arms:
            share = arm.rates[0].unverified.value
            results.append(
                _at_most("max_unverified_rate", arm.arm, gates.max_unverified_rate, share)
            )
    return tuple(results)


def _loosening(gates: GateSpec, comparison: Comparison) -> list[GateResult]:
    """The gates that a mere loosening would fail."""
    results = []
    found = comparison.difference(CONTRADICTORY)
    if gates.max_new_false_confirmations is not None:
        count = found.only_other if found is not None else None
        most = gates.max_new_false_confirmations
        results.append(_at_most("max_new_false_confirmations", comparison.other, most, count))
    if gates.max_loosening is not None:
        rise = found.difference.value if found is not None else None
        results.append(_at_most("max_loosening", comparison.other, gates.max_loosening, rise))
    if gates.max_loosening_upper is not None:
        upper = found.gained.high if found is not None else None
        limit = gates.max_loosening_upper
        results.append(_at_most("max_loosening_upper", comparison.other, limit, upper))
    return results


def _gain(gates: GateSpec, comparison: Comparison, group: str) -> list[GateResult]:
    """The gates on accurate claims, or on all where nobody knows which are."""
    found: PairedDifference | None = comparison.difference(group)
    results = []
    if gates.max_lost is not None:
        lost = sum(
            flip.first is PanelOutcome.CONFIRMED and (group == ALL or flip.label is Label.SUPPORTED)
            for flip in comparison.flips
        )
        results.append(_at_most("max_lost", comparison.other, gates.max_lost, lost))
    if gates.min_confirmed_gain is not None:
        gain = found.difference.value if found is not None else None
        results.append(_at_least(comparison.other, gates.min_confirmed_gain, gain))
    if gates.max_p_value is not None:
        p = found.p_value if found is not None and found.n else None
        results.append(_at_most("max_p_value", comparison.other, gates.max_p_value, p))
    return results


def _at_most(gate: str, arm: str, limit: float, value: float | None) -> GateResult:
    holds = value is not None and value <= limit
    return _result(gate, arm, limit, value, holds, "at most")


def _at_least(arm: str, limit: float, value: float | None) -> GateResult:
    holds = value is not None and value >= limit
    return _result("min_confirmed_gain", arm, limit, value, holds, "at least")


def _result(
    gate: str, arm: str, limit: float, value: float | None, holds: bool, bound: str
) -> GateResult:
    found = "nothing to measure" if value is None else f"{value:g}"
    words = f"{gate} of arm {arm!r}: {found}, {bound} {limit:g} is asked for"
    return GateResult(gate=gate, arm=arm, limit=limit, value=value, holds=holds, words=words)
