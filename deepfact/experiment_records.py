"""The records of an A/B run: its spec, its statistics, its gates and what came of it.

As in `deepfact.run_records`: frozen, unknown keys refused, no I/O, no clock. Durations are in
the journal alone, so that a resumed run's record equals that of an undisturbed one.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Mapping, Self

from pydantic import AwareDatetime, Field, model_validator

from deepfact.records import (
    Claim,
    FileRecord,
    Hash,
    Id,
    Label,
    Outcome,
    PanelOutcome,
    PromptRef,
    Record,
    Usage,
)
from deepfact.run_records import Estimate, Rate, VerifierSpec

# --- specs: what a user writes in YAML ---------------------------------------------------


class SelectSpec(Record):
    """Which of the claims; all of them when nothing is said."""

    domains: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()
    limit: int = Field(default=0, ge=0)
    """Only the first so many of those that are left; 0 is all."""


class ClaimsSpec(FileRecord):
    """Which claims are asked about, and what is known of them: a benchmark, or plain files."""

    benchmark: str = ""
    """``name@version``, or a folder with ``@version``."""
    claims: str = ""
    """A file of claims (``.csv``, else JSON Lines), instead of a benchmark."""
    sources: str = ""
    """With ``claims``: a file of sources that they cite."""
    mapping: str = ""
    """With ``claims``: a mapping file that says which column is which."""
    key: str = ""
    """With ``benchmark``: take labels and qualifications from this key of it (``author``,
    ``microgold``) instead of the version; claims that the key leaves out are unlabelled."""
    select: SelectSpec = SelectSpec()

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if bool(self.benchmark) == bool(self.claims):
            raise ValueError("give either `benchmark` or `claims`")
        if self.benchmark and (self.sources or self.mapping):
            raise ValueError("`sources` and `mapping` go with `claims`, not with `benchmark`")
        if self.claims and self.key:
            raise ValueError("`key` goes with `benchmark`, not with `claims`")
        return self


class ArmSpec(Record):
    """One arm: what it changes in the base verifier, or a verifier of its own."""

    name: Id
    options: dict[str, Any] = {}
    """Put over the options of the base verifier, table by table; null takes one away."""
    verifier: VerifierSpec | None = None
    """Instead of the base verifier."""


class GateSpec(Record):
    """What must hold for exit code 0. Each is about every arm against the first one, or, where
    it says so, about every arm."""

    max_new_false_confirmations: int | None = Field(default=None, ge=0)
    """Contradictory claims that the arm confirms and the first arm does not. Needs labels."""
    max_loosening: float | None = Field(default=None, ge=-1, le=1)
    """Rise of the confirmed rate among contradictory claims, as a share. Needs labels."""
    max_loosening_upper: float | None = Field(default=None, ge=-1, le=1)
    """Upper end of the 95 % interval of the share of contradictory claims that the arm confirms
    and the first arm does not: what may have gone unseen with so few claims. Needs labels."""
    max_lost: int | None = Field(default=None, ge=0)
    """Claims that the first arm confirms and the arm does not; supported ones only, where there
    are labels."""
    min_confirmed_gain: float | None = Field(default=None, ge=-1, le=1)
    """Rise of the confirmed rate, as a share: of supported claims, where there are labels."""
    max_p_value: float | None = Field(default=None, gt=0, le=1)
    """Of McNemar's exact test on the same claims as ``min_confirmed_gain``."""
    max_unverified_rate: float | None = Field(default=None, ge=0, le=1)
    """Of every arm, the first included."""

    @property
    def need_labels(self) -> list[str]:
        """The gates set here that say nothing without labels."""
        names = ("max_new_false_confirmations", "max_loosening", "max_loosening_upper")
        return [name for name in names if getattr(self, name) is not None]


class AbSpec(ClaimsSpec):
    """An A/B run (``deepfact ab CONFIG``)."""

    name: Id
    verifier: VerifierSpec | None = None
    """The base that arms are made of."""
    arms: tuple[ArmSpec, ...] = Field(min_length=2)
    """The first one is what the others are compared with."""
    repeat: int = Field(default=1, ge=1, le=100)
    """How often everything is asked, with answers of its own each time."""
    seed: int = Field(default=0, ge=0)
    """Draws the order of claims and arms, and the bootstrap."""
    gates: GateSpec = GateSpec()
    responses: tuple[str, ...] = ()
    """Exports of stored answers that the run's response store takes over before it begins."""
    note: str = ""
    """Shown at the top of the report: what its reader must know of the models or the answers."""

    @model_validator(mode="after")
    def _arms_fit(self) -> Self:
        names = [arm.name for arm in self.arms]
        if len(set(names)) < len(names):
            raise ValueError("two arms have the same name")
        for arm in self.arms:
            if arm.verifier is not None and arm.options:
                raise ValueError(f"arm {arm.name!r}: give `options` or `verifier`, not both")
            if arm.verifier is None and self.verifier is None:
                raise ValueError(f"arm {arm.name!r} has no verifier, and there is no base")
        return self

    def verifiers(self) -> dict[str, VerifierSpec]:
        """The verifier of each arm, by the arm's name; the name is also the verifier's."""
        made = {}
        for arm in self.arms:
            whole = arm.verifier or self.verifier
            if whole is None:  # the validator has seen to it
                raise AssertionError(arm.name)
            options = merged(whole.options, arm.options)
            made[arm.name] = VerifierSpec(kind=whole.kind, name=arm.name, options=options)
        return made


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """``base`` with ``over`` put over it, table by table; a null in ``over`` takes a key away."""
    result = dict(base)
    for name, value in over.items():
        below = result.get(name)
        if value is None:
            result.pop(name, None)
        elif isinstance(value, Mapping) and isinstance(below, Mapping):
            result[name] = merged(below, value)
        else:
            result[name] = value
    return result


# --- statistics --------------------------------------------------------------------------


class OutcomeRates(Record):
    """What came of one group of claims. The three counts add up to ``n``."""

    group: str
    """``all``, ``supported``, ``supported, qualified``, ..."""
    n: int = Field(ge=0)
    confirmed: Rate
    refuted: Rate
    unverified: Rate

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if self.confirmed.k + self.refuted.k + self.unverified.k != self.n:
            raise ValueError(f"confirmed, refuted and unverified do not add up to n = {self.n}")
        return self


class Agreement(Record):
    """How far the votes of a panel agree on whether a claim stands."""

    unanimous: Rate
    """Claims whose valid votes all agree, of those with at least two valid votes."""
    alpha: Estimate
    """Krippendorff's alpha, nominal, abstentions as missing values. No value when all votes of
    all claims say the same: there is nothing to agree on then."""


class Spread(Record):
    """How far repeats of the same arm differ."""

    confirmed: tuple[int, ...]
    """Confirmed claims in each repeat."""
    deviation: float | None
    """Standard deviation of the confirmed rate over repeats, as a share; None for one repeat."""
    stable: Rate
    """Claims with the same outcome in every repeat."""


class ArmRecord(Record):
    """One arm: what it was, what came of it, and every outcome."""

    arm: str
    verifier: VerifierSpec
    prompt: PromptRef | None = None
    models: tuple[str, ...] = ()
    """Models that votes name."""
    rule: str = ""
    rates: tuple[OutcomeRates, ...]
    """By group, of the first repeat."""
    agreement: Agreement | None = None
    """None for verifiers that do not vote."""
    grounds: dict[str, int] = {}
    """Refuting votes by grounds, of the first repeat."""
    abstentions: dict[str, int] = {}
    """Abstentions and failures by reason, of the first repeat."""
    flags: dict[str, int] = {}
    """Claims whose outcome or votes carry a flag, by the flag's name, of the first repeat."""
    qualified: int = 0
    """Confirmed claims that carry a qualification of this arm, in the first repeat."""
    usage: Usage
    """Of all repeats, as the answers cost when they were given."""
    spread: Spread | None = None
    """With several repeats."""
    outcomes: tuple[tuple[Outcome, ...], ...]
    """By repeat, each in the order of the claims."""


class PairedDifference(Record):
    """Confirmed under one arm and the other, claim by claim, in one group of claims."""

    group: str
    n: int = Field(ge=0)
    clusters: int = Field(ge=0)
    """Reports that these claims come from; the bootstrap draws whole reports."""
    both: int = Field(ge=0)
    only_first: int = Field(ge=0)
    only_other: int = Field(ge=0)
    neither: int = Field(ge=0)
    unverified: int = Field(ge=0)
    """Claims that are unverified under either arm; they count as not confirmed."""
    difference: Estimate
    """Confirmed rate of the other arm less that of the first."""
    gained: Rate
    """Claims that only the other arm confirms. Its interval says how many there may be where
    none was seen, which a bootstrap cannot."""
    lost: Rate
    """Claims that only the first arm confirms."""
    p_value: float
    """McNemar's test, exact and two-sided."""
    detectable: float | None
    """The smallest difference that so many claims could have shown; None where no difference
    can be shown at all."""


class Flip(Record):
    """A claim whose outcome differs between two arms."""

    claim_id: Id
    first: PanelOutcome
    other: PanelOutcome
    label: Label | None = None
    qualified: bool = False

    @property
    def false_confirmation(self) -> bool:
        """Whether the other arm confirms a claim whose label is contradictory."""
        return self.label is Label.CONTRADICTORY and self.other is PanelOutcome.CONFIRMED


class Comparison(Record):
    """An arm against the first one."""

    first: str
    other: str
    differences: tuple[PairedDifference, ...]
    """By group, of the first repeat."""
    flips: tuple[Flip, ...]
    """In the order of the claims, of the first repeat."""
    by_repeat: tuple[float, ...] = ()
    """Difference of the confirmed rates over all claims, in each repeat."""

    def difference(self, group: str) -> PairedDifference | None:
        """The difference in a group, when there are claims of it."""
        return next((one for one in self.differences if one.group == group), None)


class GateResult(Record):
    """A gate, what it found, and whether it holds."""

    gate: str
    arm: str
    limit: float
    value: float | None
    """None where there was nothing to measure; the gate does not hold then."""
    holds: bool
    words: str


# --- the record of a run -----------------------------------------------------------------


class LabelsFrom(StrEnum):
    """Where labels come from."""

    VERSION = "version"
    KEY = "key"
    FILE = "file"
    NOWHERE = "nowhere"


class AskedClaim(Record):
    """A claim as it was asked about, and what is known of it."""

    claim: Claim
    label: Label | None = None
    qualified: bool = False
    """Its annotation or key entry carries a qualification."""


class AbRecord(FileRecord):
    """``record.json`` of an A/B run: complete enough to report on without benchmark or store."""

    name: str
    deepfact: str
    """Version of deepfact that wrote it."""
    spec: AbSpec
    date: AwareDatetime
    claims_name: str
    claims_hash: Hash
    """Of the benchmark's state, or of the claims, labels and sources that files gave."""
    labels_from: LabelsFrom
    claims: tuple[AskedClaim, ...]
    arms: tuple[ArmRecord, ...]
    comparisons: tuple[Comparison, ...]
    gates: tuple[GateResult, ...] = ()
    missing: tuple[str, ...] = ()
    """What could not be shown, and why."""

    @property
    def passed(self) -> bool:
        """Whether every gate holds."""
        return all(gate.holds for gate in self.gates)
