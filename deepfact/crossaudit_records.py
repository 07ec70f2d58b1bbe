"""The records of a cross-audit: its spec, and what came of it.

As in `deepfact.records`: frozen, unknown keys refused, no I/O, no clock.
"""

from __future__ import annotations

import re
from typing import Literal, Self

from pydantic import Field, model_validator

from deepfact.measure_records import Estimate, Rate
from deepfact.records import FileRecord, Id, Record
from deepfact.run_records import AuditorSpec, VerifierSpec, VersionRef

_FOLDER = re.compile(r"[\w.+-]{1,100}")


class CrossAuditSpec(FileRecord):
    """Who audits whom (``deepfact crossaudit CONFIG``)."""

    name: Id
    benchmark: str = Field(min_length=1)
    key: Literal["microgold", "author"] = "microgold"
    """The claims with a known answer that everything is measured on."""
    agents: tuple[VerifierSpec, ...] = Field(min_length=1)
    """Those who are audited; the verdicts of each are its challenges where they disagree with the
    benchmark's labels."""
    auditors: tuple[str, ...] = Field(min_length=1)
    """Names of files in ``auditors/`` (without ``.yaml``), or paths; none of them a person."""
    stored: tuple[str, ...] = ()
    """Folders of runs whose verdicts and decisions are used instead of asking again."""
    allow_self_judging: bool = False
    """Let an auditor judge challenges of its own model. Off unless written down here."""
    seed: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        names = [agent.label for agent in self.agents]
        if len(set(names)) < len(names):
            raise ValueError("two agents have one name; give each a `name` of its own")
        for name in names:
            if not _FOLDER.fullmatch(name):
                raise ValueError(f"the agent's name {name!r} is no name of a folder")
        if len(set(self.auditors)) < len(self.auditors):
            raise ValueError("an auditor is named twice")
        return self


class SavedCrossAudit(FileRecord):
    """``spec.json``: what a cross-audit was started with, auditors included."""

    spec: CrossAuditSpec
    auditors: tuple[AuditorSpec, ...]


class SoloScore(Record):
    """An agent alone: its verdicts against the key."""

    agent: str
    accuracy: Rate


class PairScore(Record):
    """What an auditor makes of an agent's challenges."""

    auditor: str
    agent: str
    status: Literal["audited", "own model", "incomplete"]
    """``own model``: skipped, since it would judge itself. ``incomplete``: decisions are missing,
    and nothing is measured yet."""
    simulated: bool = False
    cases: int = Field(default=0, ge=0)
    """Challenges put before the auditor."""
    cannot_tell: int = Field(default=0, ge=0)
    accepted: int = Field(default=0, ge=0)
    """Challenges that the auditor decided for."""
    right: Rate | None = None
    """Decisions for the known answer, of all cases."""
    audited: Rate | None = None
    """Labels after the audit, on all claims of the key."""
    change: Estimate | None = None
    """``audited`` less the agent's solo accuracy, paired claim by claim."""


class CrossAuditRecord(FileRecord):
    """``record.json`` of a cross-audit."""

    name: str
    deepfact: str
    spec: CrossAuditSpec
    auditors: tuple[AuditorSpec, ...]
    benchmark: VersionRef
    claims: int
    """Live claims that the key has an answer to."""
    labels: Rate
    """The version's own labels, before any audit."""
    solo: tuple[SoloScore, ...]
    pairs: tuple[PairScore, ...]
    simulated: bool = False
    """An auditor is a simulation that knows the key."""

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return all(pair.status != "incomplete" for pair in self.pairs)
