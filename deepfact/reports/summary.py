"""The figures of a run that fit on one screen, as data; whoever calls prints them.

No markup, no colour, no I/O. A share never stands here without its n, its interval and its
unverified count.
"""

from __future__ import annotations

from dataclasses import dataclass

from deepfact.records import RevisionKind
from deepfact.run_records import Rate, RoundRecord, RunRecord, ScoreSheet


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One line of the summary: a count, a word, or a rate."""

    name: str
    round: int | None = None
    """None where the row is about the whole run."""
    count: int | None = None
    words: str = ""
    rate: Rate | None = None
    note: str = ""
    """What a reader must know to read the figure right."""


SIMULATED = "simulated: knows the key; shows how the loop behaves, not how people do"
"""What stands beside every figure that a simulated auditor had a part in."""


def label_changes(round_: RoundRecord) -> int:
    """Revisions of a round that gave a claim another label."""
    return sum(revision.kind is RevisionKind.RELABEL for revision in round_.revisions)


def sheet_on(round_: RoundRecord, key: str) -> ScoreSheet | None:
    """The challenger's score on one key of its round, when there is one."""
    for sheet in round_.scores:
        if sheet.verifier == round_.challenger and sheet.on == key:
            return sheet
    return None


def keys_of(round_: RoundRecord) -> tuple[str, str, str]:
    """The three keys a round scores on: before, after, after without own accepted challenges."""
    after = f"version {round_.result.version}"
    own = f"{after} without own"
    without = next((sheet.on for sheet in round_.scores if sheet.on.startswith(own)), own)
    return f"version {round_.base.version}", after, without


def summary_rows(record: RunRecord) -> list[SummaryRow]:
    """The summary of a run, top to bottom.

    Args:
        record: a run's record, complete or pending.

    Returns:
        Rows: status; for each round its challenges, accepted challenges, label changes and the
        challenger's accuracy on up to three keys; then the micro-gold accuracy of each version.
    """
    note = SIMULATED if record.simulated else ""
    rows = [SummaryRow("status", words=str(record.status), note=note)]
    if record.waiting:
        rows.append(SummaryRow("cases waiting for a decision", count=len(record.waiting)))
    for round_ in record.rounds:
        number = round_.round
        rows += [
            SummaryRow("challenges", number, count=round_.challenges),
            SummaryRow("accepted challenges", number, count=round_.accepted, note=note),
            SummaryRow("label changes", number, count=label_changes(round_), note=note),
        ]
        rows += _accuracies(round_, note)
    rows += [
        # The first version was there before any auditor of this run.
        SummaryRow(f"micro-gold accuracy, {score.of}", rate=score.accuracy, note=note if at else "")
        for at, score in enumerate(record.microgold)
    ]
    return rows


def _accuracies(round_: RoundRecord, note: str) -> list[SummaryRow]:
    """The challenger's accuracy on each key that it was scored on, each key once."""
    before, after, without = keys_of(round_)
    names = {
        before: f"accuracy before, on {before}",
        after: f"accuracy after, on {after}",
        without: f"accuracy after, on {after} without the challenger's own accepted challenges",
    }
    if before == after:
        names[before] = f"accuracy on {before}, which the round did not change"
    return [
        SummaryRow(
            name,
            round_.round,
            words=round_.challenger,
            rate=sheet.accuracy,
            note="" if key == before and round_.round == 1 else note,
        )
        for key, name in names.items()
        if (sheet := sheet_on(round_, key)) is not None
    ]
