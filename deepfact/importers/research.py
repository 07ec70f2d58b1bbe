"""The claims of a research run as a benchmark: for Audit-then-Score.

A verdict's label becomes the claim's first label, with its reasons, by the verifier's name; a
claim that is unverified, or that nobody was asked about, comes without a label. Generated and
withdrawn cards bring nothing with them. Reads only.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from deepfact.importers.base import Imported, SkippedRow, note_repeated_texts
from deepfact.records import Annotation, Label, Outcome, Provenance, Verdict
from deepfact.research_records import ClaimStanding, Ledger, standing_of
from deepfact.store.files import read_record
from deepfact.store.ledger import ledger_of, read_ledger
from deepfact.store.ledger_records import LedgerDocument


def read(path: Path, *, when: datetime, labels: bool = True) -> Imported:
    """The claims of a research run.

    Args:
        path: the run's folder, or its ledger as a JSON document.
        when: date of the import, for the provenance of the annotations.
        labels: take verdicts for first labels; without, all claims come unlabelled.

    Raises:
        InputError: there is no ledger, or it is broken.
    """
    if path.is_dir():
        ledger = read_ledger(path)
    else:
        document = read_record(path, LedgerDocument)
        ledger = ledger_of(document, where=str(path), flags=lambda _: ())
    return _imported(ledger, path, when, labels)


def _imported(ledger: Ledger, path: Path, when: datetime, labels: bool) -> Imported:
    imported = Imported(sources=list(ledger.evidence.values()))
    outcomes = {outcome.claim_id: outcome for outcome in ledger.outcomes}
    unlabelled = 0
    for claim in ledger.claims:
        if claim.card not in ledger.evidence:
            gone = claim.card in ledger.withdrawn
            why = "its card was withdrawn" if gone else "its card is generated text"
            imported.skipped.append(SkippedRow(where=f"{path}, claim {claim.id}", why=why))
            continue
        annotation = _annotation(outcomes.get(claim.id), when) if labels else None
        unlabelled += annotation is None
        imported.claims.append((ledger.bounded(claim), annotation))
    imported.notes.append(f"From the research run {ledger.content_hash()}: {ledger.question}")
    if unlabelled:
        imported.notes.append(f"{unlabelled} claims are unlabelled: no verdict was reached.")
    note_repeated_texts(imported)
    return imported


_LABELS = {
    ClaimStanding.CONFIRMED: Label.SUPPORTED,
    ClaimStanding.REFUTED: Label.CONTRADICTORY,
}


def _annotation(outcome: Outcome | None, when: datetime) -> Annotation | None:
    """What a verdict says, as a label with its reasons; None when nothing was concluded.

    A panel may refute a claim without contradiction (its source does not bear it out): then
    the label is the one that the panel gave.
    """
    label = _LABELS.get(standing_of(outcome))
    if label is None or not isinstance(outcome, Verdict):
        return None
    return Annotation(
        label=outcome.label if label is Label.CONTRADICTORY else label,
        rationale=outcome.rationale,
        evidence=outcome.evidence,
        qualifications=outcome.qualifications,
        provenance=Provenance(who=outcome.verifier or "research run", when=when),
    )
