"""The records of a run: its spec, its journal, its scores and what came of it.

As in `deepfact.records`: frozen, unknown keys refused, no I/O, no clock. Durations and
wall-clock times live in the journal alone, so that a resumed run's record equals that of
an undisturbed one.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field

from deepfact.measure_records import Agreement as Agreement
from deepfact.measure_records import AuditorBias as AuditorBias
from deepfact.measure_records import AuditorScore as AuditorScore
from deepfact.measure_records import AuditorWeight as AuditorWeight
from deepfact.measure_records import Estimate as Estimate
from deepfact.measure_records import MicroGoldScore as MicroGoldScore
from deepfact.measure_records import Rate as Rate
from deepfact.policy_records import PolicyRule as PolicyRule
from deepfact.policy_records import PolicySpec as PolicySpec
from deepfact.policy_records import WeightSpec as WeightSpec
from deepfact.records import (
    Adjudication,
    Case,
    CaseKey,
    FileRecord,
    Hash,
    Id,
    Label,
    Outcome,
    Record,
    Revision,
    Ruling,
    TaggedRecord,
)

# --- specs: what a user writes in YAML ---------------------------------------------------


class VerifierSpec(Record):
    """Which verifier, under which name, with which options."""

    kind: str = Field(min_length=1)
    name: str = ""
    """Shown in reports; the kind when empty."""
    options: dict[str, Any] = {}
    """Checked by the verifier's own options model."""

    @property
    def label(self) -> str:
        """The name to show."""
        return self.name or self.kind


class AuditorSpec(Record):
    """One auditor, as declared in ``auditors/*.yaml``."""

    name: Id
    kind: str = Field(min_length=1)
    about: str = ""
    """Who or what it is, and how far it can be trusted; shown in reports."""
    options: dict[str, Any] = {}


class TogetherRule(StrEnum):
    """How many must hold a label for it to be decided, among votes or members of a panel."""

    MAJORITY = "majority"
    """More than half of those who decided."""
    UNANIMOUS = "unanimous"
    """All of those who decided."""


class PanelSpec(Record):
    """The options of an auditor of kind ``panel``, once the files of its members are read."""

    members: tuple[AuditorSpec, ...] = Field(min_length=2)
    """Each decides every case of the panel, without seeing what the others decide."""
    rule: TogetherRule = TogetherRule.MAJORITY
    """How many members must hold a label for it to be the panel's."""
    escalate_to: tuple[AuditorSpec, ...] = ()
    """People; one of them, in turn, decides each case on which the members come to no label.
    Without any, the panel cannot tell."""


class ControlSpec(Record):
    """Which cases are put before auditors although nobody challenged them, as shares of the
    claims on which verifier and benchmark agree."""

    agreed: float = Field(default=0.1, ge=0, le=1)
    microgold: float = Field(default=0.5, ge=0, le=1)
    """The same for micro-gold claims, whose answer is known."""


class StageSpec(Record):
    """One round; what it leaves out is taken from the run's spec."""

    challenger: VerifierSpec | None = None
    auditors: tuple[str, ...] | None = None
    policy: PolicySpec | None = None
    controls: ControlSpec | None = None


class RoundSpec(FileRecord):
    """A run of one or several Audit-then-Score rounds (``deepfact round run CONFIG``)."""

    name: Id
    benchmark: str = Field(min_length=1)
    """``name@version``, or a folder with ``@version``; the newest version when left out."""
    challenger: VerifierSpec = VerifierSpec(kind="local")
    auditors: tuple[str, ...] = Field(min_length=1)
    """Names of files in ``auditors/`` (without ``.yaml``), or paths."""
    policy: PolicySpec = PolicySpec()
    controls: ControlSpec = ControlSpec()
    scored: tuple[VerifierSpec, ...] = ()
    """Further verifiers scored beside the challenger; they challenge nothing."""
    rounds: tuple[StageSpec, ...] = Field(default=(StageSpec(),), min_length=1)
    seed: int = Field(default=0, ge=0)
    """Draws the controls and the order of the two sides of each case."""
    commit_to: Literal["benchmark", "run"] = "benchmark"
    """Where new versions go: into the benchmark, or into a copy of it in the run's folder."""
    date: AwareDatetime | None = None
    """The date that revisions carry; the day the run starts when left out."""


class SavedSpec(FileRecord):
    """``spec.json``: what a run was started with, auditors included, so that it can be resumed
    without the files that declared it."""

    spec: RoundSpec
    auditors: tuple[AuditorSpec, ...]


# --- scores ------------------------------------------------------------------------------


class ClassScore(Record):
    """Precision, recall and F1 of one label. None where the denominator is 0."""

    label: Label
    precision: float | None
    recall: float | None
    f1: float | None
    n: int = Field(ge=0)
    """Claims that carry this label."""


class ScoreSheet(Record):
    """One verifier scored on one version of a benchmark."""

    verifier: str
    on: str
    """Which key: ``version 1``, ``version 2``, ``version 2 without own accepted challenges``."""
    n: int = Field(ge=0)
    unverified: int = Field(ge=0)
    """Claims with a failure for an answer, or none. They count as wrong."""
    missing: int = Field(default=0, ge=0)
    """Those of the unverified for which there was no record at all."""
    accuracy: Rate
    """All three labels."""
    accuracy_clustered: Estimate
    """The same, with a bootstrap interval clustered by report."""
    binary: Rate
    """DeepFact's rule: supported against the rest; a missing verdict counts as wrong."""
    macro_f1: Estimate
    per_class: tuple[ClassScore, ...]
    confusion: tuple[tuple[int, ...], ...]
    """Rows: benchmark label; columns: verdict, the last one unverified. Order of `Label`."""
    strata: dict[str, Rate] = {}


# --- journal -----------------------------------------------------------------------------


class JournalRecord(TaggedRecord):
    """A line of a journal."""

    TAG = "event"


class CodeState(Record):
    """Which code ran: of deepfact, and of the working folder when that is a git repository."""

    deepfact: str
    """The version."""
    revision: str = ""
    """The commit that is checked out in the working folder; empty when there is none."""
    dirty: bool | None = None
    """Whether tracked files of it were changed; None when that is not known."""


class RunStarted(JournalRecord):
    """First line of a journal: ties the journal to its spec and base version."""

    event: Literal["run_started"] = "run_started"
    at: AwareDatetime
    spec_hash: Hash
    date: AwareDatetime
    """What revisions carry."""
    base_version: int
    base_state: Hash
    code: CodeState | None = None
    """None in journals from before this was kept."""


class RunResumed(JournalRecord):
    """Another process goes on with the run. Written before the first thing that it adds, so one
    that has nothing to do leaves no trace."""

    event: Literal["run_resumed"] = "run_resumed"
    at: AwareDatetime
    """When it began."""
    code: CodeState


class Answered(JournalRecord):
    """A verifier's outcome on one claim. It holds for the whole run: a verifier does not see
    labels, so a later round that asks the same verifier uses it again."""

    event: Literal["answered"] = "answered"
    at: AwareDatetime
    verifier: str
    """The name in the verifier's spec."""
    outcome: Outcome


class CaseOpened(JournalRecord):
    """A blind case, before any auditor has seen it."""

    event: Literal["case_opened"] = "case_opened"
    at: AwareDatetime
    round: int
    case: Case
    auditors: tuple[str, ...] | None = None
    """Names of those who may decide it, fixed when it is opened; None in journals that were
    begun before this was kept: the policy's turn then."""
    barred: tuple[str, ...] = ()
    """People of the round who wrote the label in question: they decide nothing here, nor as members
    of a panel."""


class Adjudicated(JournalRecord):
    """An auditor's decision."""

    event: Literal["adjudicated"] = "adjudicated"
    at: AwareDatetime
    round: int
    adjudication: Adjudication


class Withdrawn(JournalRecord):
    """An auditor takes a decision back. The decision stays in the journal; it no longer stands."""

    event: Literal["withdrawn"] = "withdrawn"
    at: AwareDatetime
    round: int
    case_id: Id
    auditor: str = Field(min_length=1)
    why: str = "no reason recorded"


class Escalated(JournalRecord):
    """A panel's members came to no label on a case, and a person is asked, who is not told so."""

    event: Literal["escalated"] = "escalated"
    at: AwareDatetime
    round: int
    case_id: Id
    panel: str = Field(min_length=1)
    to: str = Field(min_length=1)
    why: str
    """What the members came to, in words."""


class AuditClosed(JournalRecord):
    """Every decision of a round is in, and the loop goes on from them: none can be taken back."""

    event: Literal["audit_closed"] = "audit_closed"
    at: AwareDatetime
    round: int


class VersionCommitted(JournalRecord):
    """The version that a round made (or the base, when it changed nothing)."""

    event: Literal["version_committed"] = "version_committed"
    at: AwareDatetime
    round: int
    version: int
    state_hash: Hash


class ArmAnswered(JournalRecord):
    """An arm's outcome on one claim in one repeat of an A/B run; the newest one counts."""

    event: Literal["arm_answered"] = "arm_answered"
    at: AwareDatetime
    arm: str
    repeat: int = Field(ge=0)
    outcome: Outcome
    seconds: tuple[float, ...] = ()
    """How long each live call took, in seconds; empty when all answers were stored ones."""


JournalEvent = Annotated[
    RunStarted
    | RunResumed
    | Answered
    | CaseOpened
    | Adjudicated
    | Withdrawn
    | Escalated
    | AuditClosed
    | VersionCommitted
    | ArmAnswered,
    Field(discriminator="event"),
]


# --- the record of a run -----------------------------------------------------------------


class VersionRef(Record):
    """A version of a benchmark, by number and by the hash of its state."""

    benchmark: str
    version: int
    state_hash: Hash


class InadmissibleChallenge(Record):
    """A verdict that disagrees with the label but does not argue for itself; nobody audits it."""

    claim_id: Id
    label: Label
    why: str


class RoundRecord(Record):
    """Everything one round did."""

    round: int
    base: VersionRef
    result: VersionRef
    challenger: str
    outcomes: tuple[Outcome, ...]
    """Of the challenger, in the order of the benchmark's claims."""
    inadmissible: tuple[InadmissibleChallenge, ...] = ()
    repeated: int = 0
    """Challenges not put again, since an earlier round of this run ruled on the same argument."""
    cases: tuple[Case, ...]
    keys: tuple[CaseKey, ...]
    adjudications: tuple[Adjudication, ...]
    rulings: tuple[Ruling, ...]
    revisions: tuple[Revision, ...]
    scores: tuple[ScoreSheet, ...]
    auditors: tuple[AuditorScore, ...]
    policy: PolicySpec | None = None
    """The one that the rulings were made by; None in records from before this was kept."""
    weights: tuple[AuditorWeight, ...] = ()
    """Under the rule ``weighted``: what each auditor's vote weighed."""
    agreement: Agreement | None = None
    """None when no case had two labels."""
    bias: tuple[AuditorBias, ...] = ()
    annotators: tuple[MicroGoldScore, ...] = ()
    """Whose labels the result has, on micro-gold; empty while the run is open, when a rate over a
    few claims would tell which these are."""

    @property
    def challenges(self) -> int:
        """Cases in which the challenger disagreed with the benchmark."""
        return sum(key.kind == "challenge" for key in self.keys)

    @property
    def accepted(self) -> int:
        """Challenges that were accepted."""
        return sum(ruling.accepts_challenge for ruling in self.rulings)


class RunStatus(StrEnum):
    """Where a run stands. A pending run waits for people and can be resumed."""

    COMPLETE = "complete"
    PENDING = "pending"


class RunRecord(FileRecord):
    """``record.json``: what came of a run, complete enough to report on without the store."""

    name: str
    status: RunStatus
    deepfact: str
    """Version of deepfact that wrote it."""
    spec: RoundSpec
    auditors: tuple[AuditorSpec, ...]
    date: AwareDatetime
    rounds: tuple[RoundRecord, ...]
    microgold: tuple[MicroGoldScore, ...] = ()
    """One per version, oldest first: the evolution curve."""
    waiting: tuple[str, ...] = ()
    """Case ids that still need a decision, when pending."""
    simulated: bool = False
    """An auditor was a simulation that knows the key; its figures show the loop, not people."""


# --- merges ------------------------------------------------------------------------------


class MergeSpec(FileRecord):
    """``merge.json``: which two versions a merge whose conflicts wait for people is of."""

    ours: str
    """``name@version``, or a folder with ``@version``: the version that the merge goes on from."""
    ours_manifest: Hash
    theirs: str
    """The version whose changes are taken over."""
    theirs_manifest: Hash
    leave: tuple[Id, ...] = ()
    """Claims for which ours stands, whatever theirs says."""
    auditors: tuple[Id, ...] = Field(min_length=1)
    """The people who decide."""
    rule: PolicyRule = PolicyRule.SINGLE
    author: str = Field(min_length=1)
    note: str = ""
    date: AwareDatetime
