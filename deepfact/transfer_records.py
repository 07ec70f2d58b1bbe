"""The records of a transfer run: verifiers on data sets, and what their disagreements come to.

As in `deepfact.records`: frozen, unknown keys refused, no I/O, no clock.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import AwareDatetime, Field, StringConstraints, model_validator

from deepfact.measure_records import Rate
from deepfact.policy_records import PolicySpec
from deepfact.records import (
    Adjudication,
    Case,
    CaseKey,
    DivergenceKind,
    FileRecord,
    Hash,
    Id,
    Label,
    Outcome,
    Record,
    Ruling,
)
from deepfact.run_records import AuditorSpec, RunStatus, ScoreSheet, VerifierSpec

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][\w.+-]{0,59}$")]
"""Of a data set in a run: letters, digits, ``_ . + -``; it stands before its claims' ids."""

TRANSFER = "transfer"
"""Kind of the challenger in the saved spec of a run, by which `deepfact.review` knows that auditors
are also asked what ails the side that they decide against."""

# --- the spec ----------------------------------------------------------------------------


class EvidenceSpec(Record):
    """What verifiers read for a claim of a data set."""

    retriever: str = ""
    """Kind of retriever that chooses documents among all of the data set's sources, whatever the
    claim cites, such as ``bm25``; empty for the sources that the claim cites."""
    options: dict[str, Any] = {}
    """The retriever's."""
    documents: int = Field(default=3, ge=1, le=100)
    """How many it chooses for each claim."""

    @model_validator(mode="after")
    def _options_of_something(self) -> Self:
        if self.options and not self.retriever:
            raise ValueError("`options` are a retriever's: name its kind in `retriever`")
        return self


class DataSetSpec(Record):
    """One data set: a benchmark in the store, or files that an importer reads."""

    name: Name
    benchmark: str = ""
    """``name@version``, or a folder with ``@version``."""
    format: str = ""
    """Of an importer, such as ``scifact``."""
    path: str = ""
    """What the importer reads."""
    options: dict[str, Any] = {}
    """The importer's."""
    evidence: EvidenceSpec = EvidenceSpec()
    sample: int | None = Field(default=None, ge=1)
    """Claims drawn of it; the run's ``sample`` when left out."""

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if bool(self.benchmark) == bool(self.format):
            raise ValueError("a data set has a `benchmark`, or a `format` and a `path`")
        if bool(self.format) != bool(self.path):
            raise ValueError("a `format` and a `path` go together")
        if self.options and not self.format:
            raise ValueError("`options` are an importer's: a benchmark has none")
        return self


class TransferSpec(FileRecord):
    """Which verifiers, on which data sets, and who decides (``deepfact transfer CONFIG``)."""

    name: Id
    data_sets: tuple[DataSetSpec, ...] = Field(min_length=1)
    verifiers: tuple[VerifierSpec, ...] = Field(min_length=1)
    auditors: tuple[str, ...] = Field(min_length=1)
    """Names of files in ``auditors/`` (without ``.yaml``), or paths."""
    policy: PolicySpec = PolicySpec()
    sample: int | None = Field(default=None, ge=1)
    """Labelled claims drawn of each data set; all when left out."""
    seed: int = 0
    """Draws the samples, the order of the cases and of their sides."""
    date: AwareDatetime | None = None
    """The date that imported annotations carry; the day the run starts when left out."""

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        sets = [one.name for one in self.data_sets]
        if twice := sorted({name for name in sets if sets.count(name) > 1}):
            raise ValueError(f"two data sets are called {twice[0]!r}")
        labels = [one.label for one in self.verifiers]
        if twice := sorted({name for name in labels if labels.count(name) > 1}):
            raise ValueError(f"two verifiers are called {twice[0]!r}; give each a `name`")
        if len(set(self.auditors)) < len(self.auditors):
            raise ValueError("an auditor is named twice")
        return self


class DataSetRef(Record):
    """A data set as it was when the run began."""

    name: str
    of: str
    """The benchmark and version, or format and path."""
    claims: int
    labelled: int
    sampled: int
    sources: int
    skipped: int = 0
    """Rows that the importer left out, each with a reason."""
    notes: tuple[str, ...] = ()
    """What the importer says of it: licence, label mapping, duplicates."""
    fingerprint: Hash
    """Of the sampled claims, their annotations and the ids of all sources."""


class SavedTransfer(FileRecord):
    """``transfer.json``: what a run was started with, so that it can be gone on with."""

    spec: TransferSpec
    auditors: tuple[AuditorSpec, ...]
    date: AwareDatetime
    data_sets: tuple[DataSetRef, ...]


# --- what came of it ---------------------------------------------------------------------


class Finding(StrEnum):
    """What an answer comes to beside the data set's label."""

    AGREEMENT = "agreement"
    DIVERGENCE = "divergence"
    """The auditors do not bear the annotation out."""
    MODEL_ERROR = "model_error"
    """The auditors hold the annotation's label: likely an error of the verifier."""
    UNDECIDED = "undecided"
    """The auditors could not tell, or did not agree."""
    WAITING = "waiting"
    """A decision is missing yet."""
    UNVERIFIED = "unverified"
    """The verifier gave no verdict, so there is nothing to compare."""


class Share(Record):
    """A part of a bar: a finding, of a divergence with its kind, and how many claims it holds."""

    finding: Finding
    kind: DivergenceKind | None = None
    """With a divergence; None when none was given."""
    rate: Rate
    """Of all sampled claims, those without a verdict among them."""


class Bar(Record):
    """One verifier on one data set; its shares add up to all sampled claims."""

    data_set: str
    verifier: str
    n: int
    shares: tuple[Share, ...]
    """Every part, empty ones too, always in the same order."""
    of_disagreements: Rate
    """Divergence of any kind, of the disagreements that are decided either way."""
    both_wrong: int = 0
    """Divergences for a third label, by which the verifier is wrong as well."""
    sheet: ScoreSheet
    """The verifier scored against the data set's labels as they are."""


class CaseFinding(Record):
    """What became of one case."""

    case_id: str
    data_set: str
    claim_id: str
    """As the data set has it."""
    verifiers: tuple[str, ...]
    """Everybody who said the same of it, word for word."""
    finding: Finding
    kind: DivergenceKind | None = None
    annotation: Label
    verdict: Label
    decided: Label | None = None
    """The label that the auditors hold; None when they hold none."""


class TransferRecord(FileRecord):
    """``record.json`` of a transfer run."""

    name: str
    status: RunStatus
    deepfact: str
    spec: TransferSpec
    auditors: tuple[AuditorSpec, ...]
    date: AwareDatetime
    data_sets: tuple[DataSetRef, ...]
    bars: tuple[Bar, ...]
    findings: tuple[CaseFinding, ...]
    """One for each case, same order."""
    cases: tuple[Case, ...]
    keys: tuple[CaseKey, ...]
    adjudications: tuple[Adjudication, ...]
    rulings: tuple[Ruling, ...]
    """Of the cases that are decided."""
    failures: tuple[Outcome, ...] = ()
    """Every answer that was no verdict; ids of claims with their data set's name before them."""
    withheld: int = 0
    """Annotations whose reasons the auditors did not see, since they name the data set."""
    waiting: tuple[str, ...] = ()
    simulated: bool = False
