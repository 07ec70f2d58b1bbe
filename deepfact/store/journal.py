"""A run's folder: its lock, its spec, and the journal that makes it resumable.

The journal only grows, and a line is on disk before anything acts on it. A last line that a
power cut left half-written is cut off when the journal is opened, and said so; nothing before
it is touched. This module knows no verifier, auditor or score.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from pydantic import TypeAdapter

from deepfact.errors import ResultsExistError
from deepfact.records import FileRecord
from deepfact.run_records import JournalEvent
from deepfact.store.files import append, cut_half_line, parse_record, sync_folder

E = TypeVar("E", bound=FileRecord)

EVENTS: TypeAdapter[JournalEvent] = TypeAdapter(JournalEvent)


def now() -> datetime:
    """The clock that journals are stamped with."""
    return datetime.now(UTC)


class Journal:
    """An append-only journal, held by one process at a time. Use as a context manager."""

    def __init__(self, folder: Path) -> None:
        """Prepares the journal of a run's ``folder``, which is created on entering."""
        self.folder, self.path = folder, folder / "journal.jsonl"
        self.events: list[JournalEvent] = []
        self.repaired = 0
        """Bytes of a half-written last line that were cut off on opening."""
        self.before: Callable[[], JournalEvent] | None = None
        """Makes an event to add before the first one that is added."""

    def __enter__(self) -> Self:
        from filelock import FileLock, Timeout

        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(self.folder / ".lock")
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise ResultsExistError(
                "this results folder is in use by another process",
                where=str(self.folder),
                fix="wait for it, or give another folder with --out",
            ) from None
        try:
            for staged in self.folder.glob(".*.part"):
                staged.unlink()  # what a killed writer left; we hold the lock: nobody is writing
            self.repaired = cut_half_line(self.path)
            self.events = read_events(self.path)
            self._file = self.path.open("ab", buffering=0)
            sync_folder(self.folder)
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
        self._lock.release()

    def append(self, event: JournalEvent) -> None:
        """Add an event; it is durable on return."""
        if self.before is not None:
            first, self.before = self.before, None
            self.append(first())
        append(self._file, (event.canonical() + "\n").encode("utf-8"))
        self.events.append(event)

    def find(self, kind: type[E], where: Callable[[E], bool] = lambda _: True) -> list[E]:
        """The events of one kind that fulfil a condition, oldest first."""
        return [event for event in self.events if isinstance(event, kind) and where(event)]


def read_events(path: Path) -> list[JournalEvent]:
    """The events of a journal file; none when there is no file. A last line without its end is
    left out: it is being written right now, or was when its writer was killed.

    Raises:
        RecordError: a line is not an event.
    """
    if not path.is_file():
        return []
    lines = path.read_bytes().split(b"\n")[:-1]
    return [
        parse_record(line, EVENTS, where=f"{path}, line {number}")
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]
