"""The records of a regression check: its spec, its baseline, and what came of it.

As in `deepfact.run_records`: frozen, unknown keys refused, no I/O, no clock. Neither a baseline
nor a record holds a date or a duration: the same answers give the same bytes, so that a diff
of a committed baseline shows the claims that changed and nothing else.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from deepfact.experiment_records import (
    ClaimsSpec,
    Flip,
    GateResult,
    LabelsFrom,
    OutcomeRates,
    PairedDifference,
)
from deepfact.records import (
    Claim,
    FileRecord,
    Hash,
    Id,
    Outcome,
    PanelOutcome,
    PromptRef,
    Record,
    TaggedRecord,
)
from deepfact.run_records import VerifierSpec

# --- the spec: what a user writes in YAML ------------------------------------------------


class Must(StrEnum):
    """What a pinned claim must come out as."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"


class Pin(Record):
    """A claim whose outcome is fixed, whatever the statistics say."""

    claim: Id
    must: Must
    why: str = ""
    """Shown when it does not hold: what its reader must know."""

    @property
    def title(self) -> str:
        """The pin as a test is called."""
        return f"{self.claim} must be {self.must}"


class RegressGates(Record):
    """What must hold against the baseline. null switches a gate off."""

    significance: float | None = Field(default=0.05, gt=0, lt=1)
    """Fails when more claims are lost than gained and McNemar's exact two-sided p is at most
    this. Counted on claims that no label calls contradictory or inconclusive."""
    max_loss: float | None = Field(default=0.05, ge=0, le=1)
    """Largest drop of the confirmed rate on the same claims, as a share."""
    max_lost: int | None = Field(default=None, ge=0)
    """Most of these claims that may be lost, whatever is gained elsewhere."""
    max_new_false_confirmations: int | None = Field(default=0, ge=0)
    """Most claims labelled contradictory that may be confirmed and were not in the baseline."""
    max_unverified_rate: float | None = Field(default=0.1, ge=0, le=1)
    """Largest share of all claims, new ones included, that may come out unverified."""


class RegressSpec(ClaimsSpec):
    """A regression check (``deepfact regress CONFIG``)."""

    name: Id
    verifier: VerifierSpec
    baseline: str = ""
    """The baseline's file; ``results/reference/<name>/baseline.jsonl`` when left out."""
    responses: str = ""
    """Export of stored answers to replay from; ``responses.jsonl`` beside the baseline when left
    out."""
    pins: tuple[Pin, ...] = ()
    gates: RegressGates = RegressGates()
    seed: int = Field(default=0, ge=0)
    """Draws the order of claims, and the bootstrap."""
    note: str = ""
    """Shown at the top of the report: what its reader must know of the model or the answers."""

    @model_validator(mode="after")
    def _pinned_once(self) -> Self:
        pinned = [pin.claim for pin in self.pins]
        if twice := next((one for one in pinned if pinned.count(one) > 1), None):
            raise ValueError(f"claim {twice!r} is pinned twice")
        return self


# --- the baseline ------------------------------------------------------------------------


class Asking(Record):
    """How claims were asked about: all that can make an outcome another one."""

    kind: str
    """Of the verifier."""
    prompt: PromptRef | None = None
    models: tuple[str, ...] = ()
    rule: str = ""
    """How votes were counted, by name and in full."""
    options: dict[str, Any] = {}
    """As the spec gave them, without those that only say how fast, how dear or through which
    provider answers come."""


class BaselineHeader(TaggedRecord):
    """First line of a baseline: what it was recorded with, and on what."""

    kind: Literal["baseline"] = "baseline"
    name: str
    deepfact: str
    """Version of deepfact that recorded it."""
    claims_name: str
    """Such as ``deepfact-mini@1``."""
    claims_version: int = Field(ge=0)
    """Of the benchmark; 0 for claims from files."""
    claims_hash: Hash
    """Of the benchmark's state, or of the claims and labels that files gave."""
    claims: int = Field(ge=1)
    asking: Asking


class BaselineClaim(TaggedRecord):
    """A further line of a baseline: one claim's outcome, with its votes and reasons."""

    kind: Literal["claim"] = "claim"
    claim_id: Id
    claim_hash: Hash
    """Of the claim as it was asked about. Another text under the same id is another claim."""
    outcome: Outcome

    @model_validator(mode="after")
    def _same_claim(self) -> Self:
        if self.outcome.claim_id != self.claim_id:
            raise ValueError(f"the outcome is about {self.outcome.claim_id!r}")
        return self


BaselineLine = Annotated[BaselineHeader | BaselineClaim, Field(discriminator="kind")]


# --- what came of a check ----------------------------------------------------------------


class RegressStatus(StrEnum):
    """What a check found. Incomplete is neither of the other two."""

    PASSED = "passed"
    REGRESSED = "regressed"
    INCOMPLETE = "incomplete"


class PinResult(Record):
    """A pinned claim, and whether it is what it must be."""

    pin: Pin
    claim: Claim
    before: Outcome | None = None
    """In the baseline, when the claim is in it."""
    now: Outcome | None = None
    """None while answers are missing."""
    found: PanelOutcome | None = None

    @property
    def holds(self) -> bool | None:
        """None while answers are missing."""
        return None if self.found is None else str(self.found) == str(self.pin.must)


class FlippedClaim(Record):
    """A claim whose outcome is not that of the baseline, with both outcomes and their reasons."""

    flip: Flip
    """``first`` is the baseline, ``other`` is now."""
    claim: Claim
    before: Outcome
    now: Outcome


class UnpairedClaims(Record):
    """Claims that cannot be compared, by id: they are in no difference and in no flip."""

    only_now: tuple[str, ...] = ()
    only_baseline: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    """In both, with another text, context or citations."""

    @property
    def count(self) -> int:
        """How many."""
        return len(self.only_now) + len(self.only_baseline) + len(self.changed)


class Shortage(Record):
    """What a check lacks to be decided, and what it would take."""

    claims: tuple[str, ...]
    """Ids of the claims whose answers are not all there."""
    why: str
    calls: int = Field(ge=0)
    """Live calls that are known to be needed."""
    input_tokens: int = Field(default=0, ge=0)
    """Of these calls: an estimate at four characters a token."""
    output_tokens: int = Field(default=0, ge=0)
    """Of these calls: an estimate, made as ``output_from`` says."""
    output_from: str = ""
    usd: float | None = None
    """US dollars for live calls, estimated from both; None where the price is unknown."""
    usd_batched: float | None = None
    """The same by the provider's batch API."""
    unpriced: tuple[str, ...] = ()
    """Models whose price is unknown."""
    provider: str = ""
    how: str = ""
    """What to do about it."""


class RegressRecord(FileRecord):
    """``record.json`` of a check: complete enough to report on without benchmark or store."""

    name: str
    status: RegressStatus
    deepfact: str
    spec: RegressSpec
    claims_name: str
    claims_hash: Hash
    labels_from: LabelsFrom
    baseline: BaselineHeader | None = None
    """None when there was none to compare with, which only recording one allows."""
    asking: Asking
    changes: tuple[str, ...] = ()
    """In what the asking differs from that of the baseline, in words."""
    claims: int = Field(ge=1)
    rates: tuple[OutcomeRates, ...] = ()
    """Of all claims now, by group; none while answers are missing."""
    rates_before: tuple[OutcomeRates, ...] = ()
    """Of the claims that are in both, in the baseline."""
    difference: PairedDifference | None = None
    """On the claims that the loss gates count, as far as they are in both."""
    flips: tuple[FlippedClaim, ...] = ()
    """While answers are missing: of the claims whose answers are there."""
    unpaired: UnpairedClaims = UnpairedClaims()
    gates: tuple[GateResult, ...] = ()
    """None while answers are missing."""
    pins: tuple[PinResult, ...] = ()
    shortage: Shortage | None = None
    missing: tuple[str, ...] = ()
    """What could not be shown, and why."""

    @model_validator(mode="after")
    def _decided_or_not(self) -> Self:
        if (self.status is RegressStatus.INCOMPLETE) != (self.shortage is not None):
            raise ValueError("a check is incomplete when something is missing, and only then")
        return self

    @property
    def failed_gates(self) -> list[GateResult]:
        """The gates that do not hold."""
        return [gate for gate in self.gates if not gate.holds]

    @property
    def failed_pins(self) -> list[PinResult]:
        """The pins that are known not to hold."""
        return [pin for pin in self.pins if pin.holds is False]
