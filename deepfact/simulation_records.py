"""The records of a simulation of rounds: its spec, and what came of it.

As in `deepfact.records`: frozen, unknown keys refused, no I/O, no clock. Nothing here is a
measurement of people or of models that audit: the auditors know the key and err by a stated rate.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from deepfact.measure_records import Estimate
from deepfact.records import FileRecord, Id, Record
from deepfact.run_records import PolicyRule, VerifierSpec, VersionRef

Accuracy = Annotated[float, Field(ge=0, le=1)]


class Scenario(Record):
    """What rounds start from, and how their cases are decided."""

    name: str = Field(min_length=1)
    one_shot: Accuracy | None = None
    """Accuracy of simulated one-shot labels, drawn anew for each seed; the version's own labels
    when left out."""
    rule: Literal[PolicyRule.SINGLE, PolicyRule.MAJORITY, PolicyRule.UNANIMOUS] = PolicyRule.SINGLE
    auditors: int = Field(default=1, ge=1, le=25)
    """How many decide each case, each with errors of their own."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.rule is PolicyRule.SINGLE) != (self.auditors == 1):
            raise ValueError("rule single is for one auditor, the other rules are for several")
        return self


class SimulationSpec(FileRecord):
    """A simulation (``deepfact simulate CONFIG``)."""

    name: Id
    benchmark: str = Field(min_length=1)
    key: str = "author"
    """Whose answers count as right, for the auditors and for the scores."""
    rounds: tuple[VerifierSpec, ...] = Field(min_length=1)
    """The challenger of each round: real verifiers, which know nothing of the key."""
    scenarios: tuple[Scenario, ...] = Field(min_length=1)
    accuracies: tuple[Accuracy, ...] = Field(min_length=1)
    """Of each auditor: the probability of a right decision on a case."""
    seeds: int = Field(default=20, ge=1, le=1000)
    """How often everything is drawn."""
    seed: int = Field(default=0, ge=0)
    """The first seed."""

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        names = [one.name for one in self.scenarios]
        if len(set(names)) < len(names):
            raise ValueError("two scenarios have one name")
        if len(set(self.accuracies)) < len(self.accuracies):
            raise ValueError("an accuracy is given twice")
        return self


class SimulatedRound(Record):
    """One round of a cell, over all seeds."""

    round: int
    challenger: str
    cases: float
    """Mean number of challenges put before the auditors."""
    accepted: float
    """Mean number of them that changed a label."""
    label_right: Estimate
    """Share of these cases whose label was right when it was challenged."""
    accuracy: Estimate
    """Of the labels after the round."""


class Cell(Record):
    """One scenario with auditors of one accuracy."""

    scenario: str
    auditor: float
    """Accuracy of each auditor."""
    before: Estimate
    """Accuracy of the one-shot labels."""
    after: Estimate
    """After the last round."""
    change: Estimate
    """Paired, claim by claim."""
    rounds: tuple[SimulatedRound, ...]

    @property
    def verdict(self) -> str:
        """What the interval of the change allows to say."""
        low, high = self.change.low, self.change.high
        if low is None or high is None:
            return "no interval"
        if low > 0:
            return "auditing beats one-shot labelling"
        return "auditing does worse" if high < 0 else "no difference shown"


class SimulationRecord(FileRecord):
    """``record.json`` of a simulation."""

    name: str
    deepfact: str
    spec: SimulationSpec
    benchmark: VersionRef
    claims: int
    """Claims that the key has an answer to."""
    simulated: Literal[True] = True
    cells: tuple[Cell, ...]
