"""How adjudications become rulings, as a run's spec has it.

As in `deepfact.records`: frozen, unknown keys refused, no I/O. What a policy does is in
`deepfact.core.policy`, `deepfact.core.revise` and `deepfact.core.weights`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from deepfact.records import Record


class PolicyRule(StrEnum):
    """How many auditors must agree for a case to be decided."""

    SINGLE = "single"
    MAJORITY = "majority"
    UNANIMOUS = "unanimous"
    WEIGHTED = "weighted"


class WeightSpec(Record):
    """Where the weights of the rule ``weighted`` come from, see `deepfact.core.weights`."""

    accuracy: dict[str, Annotated[float, Field(gt=0, lt=1)]] = {}
    """Accuracies that are given, by auditor; those of the others are measured."""
    measured_on: Literal["microgold", "microgold and controls"] = "microgold and controls"
    """Cases whose answer is known: micro-gold claims, and controls, on which verifier and
    benchmark agree."""
    measured_in: Literal["earlier rounds", "this and earlier rounds"] = "this and earlier rounds"
    assumed: float = Field(default=0.7, gt=0.5, lt=1)
    """Accuracy of an auditor measured on fewer than ``min_cases``; others are drawn to it."""
    strength: float = Field(default=10, ge=0, le=10_000)
    """How many cases' worth of evidence the assumed accuracy is."""
    min_cases: int = Field(default=5, ge=1)


class PolicySpec(Record):
    """How adjudications become rulings."""

    rule: PolicyRule = PolicyRule.SINGLE
    queue: Literal["turns", "shared"] = "turns"
    """With ``single``: auditors take the cases in turn, or people share one queue and each case
    goes to whoever is free."""
    per_case: int | None = Field(default=None, ge=2)
    """With the other rules: how many auditors decide each case, in turn; all when left out."""
    allow_self_judging: bool = False
    """Let an auditor judge challenges of its own model. Off unless written down here."""
    weights: WeightSpec = WeightSpec()
    """With ``weighted``."""
    tie_breaker: str | None = None
    """With ``majority`` and ``unanimous``: an auditor of the round who is asked only about cases
    on which the others split, and whose decision then counts alone."""
