"""What is measured: rates, estimates, and how auditors agree, err and take their time.

As in `deepfact.records`: frozen, unknown keys refused, no I/O, no clock. How each figure is
worked out is in `deepfact.core` (`metrics`, `agreement`, `bias`, `pace`, `weights`).
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from deepfact.records import Id, Record


class Rate(Record):
    """A share with everything it needs to be shown: k of n, its interval, and how many of
    the n had no verdict."""

    k: int = Field(ge=0)
    n: int = Field(ge=0)
    unverified: int = Field(default=0, ge=0)
    low: float
    high: float
    method: str
    """How the 95 % interval was made, such as ``wilson``."""

    @property
    def value(self) -> float | None:
        """k / n; None when n is 0."""
        return self.k / self.n if self.n else None


class Estimate(Record):
    """A statistic that is not a share, with its interval."""

    value: float | None
    n: int = Field(ge=0)
    low: float | None = None
    high: float | None = None
    method: str = ""


# --- auditors, measured where the answer is known ----------------------------------------


class MicroGoldScore(Record):
    """How many micro-gold claims a version, auditor or verifier has right."""

    of: str
    accuracy: Rate


class AuditorScore(Record):
    """What an auditor did in a round, measured where the answer is known."""

    auditor: str
    about: str = ""
    simulated: bool = False
    cases: int
    cannot_tell: int
    microgold: Rate
    """Right decisions on cases whose claim is micro-gold."""
    controls_upheld: Rate
    """Controls on which the auditor kept the label that verifier and benchmark share."""
    panel: str = ""
    """The panel on which it sat, when it is no auditor of the round on its own."""
    own_model: bool = False
    """Its model is the challenger's or one that is scored; the policy allowed it in writing."""


class AuditorBias(Record):
    """Which side an auditor's errors are for. Where a side is wrong is known of micro-gold claims
    alone; a decision that the auditor could not make is no error, and counted as unverified."""

    auditor: str
    for_incumbent: Rate
    """Of all errors on micro-gold challenges, those that were for the benchmark's label."""
    for_challenger: Rate
    """Of the same errors, those that were for the challenger's label."""
    kept_wrong: Rate
    """Of the micro-gold challenges whose benchmark label is wrong, those on which it was kept."""
    accepted_wrong: Rate
    """Of the micro-gold challenges whose challenger is wrong, those on which it was believed."""
    control_incumbent: Rate
    """Of the choices of a side on controls, whose sides share a label, those of the benchmark's
    words: half of them if neither's words please more."""
    first_side: Rate
    """Of all choices of a side, those of side A. Sides are shown in random order."""


class AuditorWeight(Record):
    """How much an auditor's vote weighs under the rule ``weighted``."""

    auditor: str
    weight: float = Field(ge=0)
    """Log-odds of ``accuracy``, see `deepfact.core.weights`."""
    accuracy: float
    """The one that the weight was made of, shrunken when it was measured."""
    right: int = Field(default=0, ge=0)
    """Of ``of``, those decided rightly."""
    of: int = Field(default=0, ge=0)
    """Decisions on cases whose answer is known."""
    basis: Literal["given", "measured", "assumed"]
    """In the config; measured; or too little measured, and assumed."""


# --- agreement ----------------------------------------------------------------------------


class PairAgreement(Record):
    """How two auditors agree on the cases for which both gave a label."""

    a: str
    b: str
    same: Rate
    kappa: Estimate
    """Cohen's. None where both gave one and the same label throughout: it is not defined then."""


class GroupAgreement(Record):
    """How auditors agree on all cases, on those of a domain, or on one label against the rest."""

    of: str
    """``all cases``, ``domain: NAME`` or ``label: NAME``."""
    cases: int = Field(ge=0)
    """Those for which two auditors or more gave a label."""
    same: Rate
    """Of these, those on which all of them gave the same."""
    fleiss: Estimate
    """Fleiss' kappa, over the cases with ``raters`` labels."""
    raters: int = Field(ge=0)
    """The most frequent number of labels a case has, since Fleiss' kappa needs one number."""
    alpha: Estimate
    """Krippendorff's, nominal, over all ``cases``."""


class Agreement(Record):
    """How the auditors of a round agree. "Cannot tell" is no label and agrees with nothing."""

    decisions: int = Field(ge=0)
    cannot_tell: int = Field(ge=0)
    """Those of the decisions that gave no label."""
    groups: tuple[GroupAgreement, ...]
    pairs: tuple[PairAgreement, ...]


# --- time, and what to look at again -----------------------------------------------------


class Pace(Record):
    """How long an auditor takes for a case, in seconds."""

    auditor: str
    round: int
    n: int = Field(ge=0)
    """Decisions with a known time."""
    untimed: int = Field(ge=0)
    """Decisions without one: the first of a sitting, or handed in together in a file."""
    q1: float | None
    median: float | None
    q3: float | None


class SecondLook(Record):
    """A decided case that is worth a second look."""

    round: int
    case_id: Id
    claim_id: Id
    claim: str
    reasons: tuple[str, ...] = Field(min_length=1)


class RoundAudit(Record):
    """What the auditors of one closed round did."""

    round: int
    auditors: tuple[AuditorScore, ...]
    agreement: Agreement | None
    """None when no case had two labels."""
    bias: tuple[AuditorBias, ...]
    weights: tuple[AuditorWeight, ...] = ()


class AuditStats(Record):
    """What ``deepfact audit stats`` says of a run."""

    name: str
    complete: bool
    """While a run is not, no case is named: which are controls must not show."""
    simulated: bool = False
    rounds: tuple[RoundAudit, ...]
    open_round: int | None = None
    """A round that waits for decisions; nothing of it is measured yet."""
    pace: tuple[Pace, ...]
    second_look: tuple[SecondLook, ...] = ()
