"""The stages of a research run that change its ledger, each of which can be done again.

A stage reads the ledger, adds what is missing and nothing twice; so a run that was killed goes
on where it stopped, and ends with the same ledger as one that was not.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Self

from deepfact.research.verify import cross_readings, open_pairs, verify_claims
from deepfact.running.run_state import Progress, Watcher
from deepfact.store.ledger import LedgerStore
from deepfact.store.ledger_records import AnyEntry, OutcomeAdded, ReadingAdded
from deepfact.telemetry import scope

BATCH = 50
"""Outcomes that are made durable together, when they come fast."""


def verify_stage(
    store: LedgerStore,
    build: Callable[[], Any],
    *,
    name: str,
    when: datetime,
    texts: bool = False,
    again: bool = False,
    watch: Watcher = lambda _: None,
) -> int:
    """Ask about every claim that has no outcome yet, and keep the outcomes.

    Args:
        store: the run's ledger.
        build: makes a `deepfact.verifiers.base.Verifier`, once for each pass.
        name: what to call it.
        when: the date that the entries carry.
        texts: also read claims beside the other cards of their subject.
        again: ask about claims that have an outcome, too.
        watch: is told of progress.

    Returns:
        Pairs of claim and card that are still unread, for there is a bound on them.
    """
    total, failed = len(store.ledger.claims), 0
    with _Keeper(store, name, when) as keep, scope("verifier", name):
        outcomes = verify_claims(store.ledger, build(), name=name, again=again)
        for done, outcome in enumerate(outcomes, 1):
            keep(OutcomeAdded(outcome=outcome))
            failed += outcome.kind == "failure"
            watch(Progress(f"verify: {name}", done, total, failed))
    if not texts:
        return 0
    with _Keeper(store, name, when) as keep, scope("verifier", name):
        for reading in cross_readings(store.ledger, build(), name=name):
            keep(ReadingAdded(reading=reading))
    return len(open_pairs(store.ledger))


class _Keeper:
    """Gathers entries and makes them durable a batch at a time; what is gathered when the
    stage breaks off is kept, too."""

    def __init__(self, store: LedgerStore, who: str, when: datetime) -> None:
        self._add: Callable[[list[AnyEntry]], int] = lambda entries: store.add(
            entries, who=who, when=when
        )
        self._entries: list[AnyEntry] = []

    def __call__(self, entry: AnyEntry) -> None:
        self._entries.append(entry)
        if len(self._entries) >= BATCH:
            self.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *broken_off: object) -> None:
        self.flush()

    def flush(self) -> None:
        """Make durable what was gathered."""
        self._add(self._entries)
        self._entries = []
