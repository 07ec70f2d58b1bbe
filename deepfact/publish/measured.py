"""How far the labels of a version can be trusted: micro-gold, and what auditors did.

Figures only: which claims were asked, and what their answers are, stays where it is. A run that
is still open is refused, since its figures would be about claims that people have before them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from deepfact.core import metrics
from deepfact.core.agreement import agreement, units_of
from deepfact.errors import InputError
from deepfact.measure_records import Agreement, AuditorScore, Rate
from deepfact.records import Adjudication, Label
from deepfact.run_records import RoundRecord, RunRecord, RunStatus, VersionRef
from deepfact.store.benchmark import BenchmarkVersion
from deepfact.store.files import read_record


@dataclass(frozen=True, slots=True)
class MicroGoldRates:
    """How much of micro-gold a version has right."""

    labels: Rate
    """All three labels."""
    binary: Rate
    """Supported against the rest."""


@dataclass(frozen=True, slots=True)
class AuditedRound:
    """A round that led to the published version."""

    run: str
    simulated: bool
    round: int
    cases: int
    challenges: int
    accepted: int
    unresolved: int
    auditors: tuple[AuditorScore, ...]
    agreement: Agreement | None
    """On the public claims; None when no case had two labels."""


def microgold_rates(version: BenchmarkVersion) -> MicroGoldRates | None:
    """How much of micro-gold the version has right; None when it has none.

    All live micro-gold claims count, private ones too. An unlabelled claim counts as wrong.
    """
    entries = {entry.claim.id: entry for entry in version.state}
    gold = version.store.key("microgold")
    pairs = [(entries[i].label, key.label) for i, key in gold.items() if i in entries]
    if not pairs:
        return None
    right = sum(label == known for label, known in pairs)
    sides = sum(
        label is not None and (label is Label.SUPPORTED) == (known is Label.SUPPORTED)
        for label, known in pairs
    )
    unlabelled = sum(label is None for label, _ in pairs)
    return MicroGoldRates(
        labels=metrics.rate(right, len(pairs), unverified=unlabelled),
        binary=metrics.rate(sides, len(pairs), unverified=unlabelled),
    )


def read_rounds(
    version: BenchmarkVersion, folders: Sequence[Path]
) -> list[tuple[RunRecord, RoundRecord]]:
    """The rounds of these runs that led to the version, each with its run.

    Raises:
        InputError: no record, a broken one, an open run, or one that had no part in the version.
    """
    lineage = [
        VersionRef(
            benchmark=version.store.name, version=manifest.version, state_hash=manifest.state_hash
        )
        for manifest in version.store.ancestry(version.manifest.version)
    ]
    found = []
    for folder in dict.fromkeys(folder.resolve() for folder in folders):
        path = folder / "record.json"
        record = read_record(path, RunRecord)
        if record.status is not RunStatus.COMPLETE:
            raise InputError(
                "this run is still open: its figures would be about cases that people have before "
                "them",
                where=str(path),
                fix="finish it (deepfact round resume), or publish without it",
            )
        part = [r for r in record.rounds if r.base in lineage and r.result in lineage]
        if not part:
            raise InputError(
                f"this run had no part in {version}", where=str(path),
                fix="give the runs whose rounds made that version, or audited it",
            )  # fmt: skip
        found += [(record, one) for one in part]
    return found


def audited_round(record: RunRecord, done: RoundRecord) -> AuditedRound:
    """What the card says of a round."""
    # Agreement is told by domain, and the domain of a private claim is private too.
    public = [case for case in done.cases if not case.claim.private]
    decided: dict[str, list[Adjudication]] = {case.id: [] for case in done.cases}
    for made in done.adjudications:
        decided.setdefault(made.case_id, []).append(made)
    return AuditedRound(
        run=record.name,
        simulated=record.simulated,
        round=done.round,
        cases=len(done.cases),
        challenges=done.challenges,
        accepted=done.accepted,
        unresolved=sum(ruling.kind == "unresolved" for ruling in done.rulings),
        auditors=done.auditors,
        agreement=agreement(units_of(public, decided), seed=record.spec.seed),
    )
