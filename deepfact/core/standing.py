"""Which decisions stand, of all that a journal holds, and whether they can still change.

Pure. A decision is never overwritten: it is withdrawn by an event of its own, and made again by
another. Everybody who reads decisions out of a journal asks here.
"""

from __future__ import annotations

from collections.abc import Iterable

from deepfact.records import Adjudication
from deepfact.run_records import (
    Adjudicated,
    AuditClosed,
    Escalated,
    JournalEvent,
    VersionCommitted,
    Withdrawn,
)

Made = tuple[int, str, str]
"""Round, case id and auditor's name."""


def standing_adjudications(events: Iterable[JournalEvent]) -> dict[Made, Adjudication]:
    """The decisions that were made and not withdrawn, in the order in which they were made."""
    standing: dict[Made, Adjudication] = {}
    for event in events:
        if isinstance(event, Adjudicated):
            made = event.adjudication
            standing[event.round, made.case_id, made.auditor] = made
        elif isinstance(event, Withdrawn):
            standing.pop((event.round, event.case_id, event.auditor), None)
    return standing


def escalations(events: Iterable[JournalEvent]) -> dict[Made, str]:
    """Who was asked, by round, case and panel, because the panel's members came to no label."""
    return {
        (event.round, event.case_id, event.panel): event.to
        for event in events
        if isinstance(event, Escalated)
    }


def steps_taken(events: Iterable[JournalEvent], made: Made) -> int:
    """How often an auditor has decided a case or withdrawn a decision on it: what tells a form
    that was filled in before the last of these from one that was filled in after it."""
    return sum(
        made == (event.round, event.adjudication.case_id, event.adjudication.auditor)
        if isinstance(event, Adjudicated)
        else made == (event.round, event.case_id, event.auditor)
        for event in events
        if isinstance(event, (Adjudicated, Withdrawn))
    )


def audit_closed(events: Iterable[JournalEvent], round_number: int) -> bool:
    """Whether a round has gone on from its decisions."""
    return any(
        event.round == round_number
        for event in events
        if isinstance(event, (AuditClosed, VersionCommitted))
    )
