"""The journal of a run as it grows, read by a server that shares it with other processes.

Reads only what has been added since the last look. Writing goes through
`deepfact.store.journal.Journal` alone, which takes the run's lock for each write.
"""

from __future__ import annotations

import threading
from pathlib import Path

from deepfact.run_records import JournalEvent
from deepfact.store.files import parse_record
from deepfact.store.journal import EVENTS


class LiveJournal:
    """A view of ``journal.jsonl``. Safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        self.path, self._lock = folder / "journal.jsonl", threading.Lock()
        self._read, self._inode = 0, 0
        self._events: list[JournalEvent] = []

    def events(self) -> tuple[JournalEvent, ...]:
        """All events that are whole on disk now.

        Raises:
            RecordError: a line is not an event.
        """
        with self._lock:
            if not self.path.is_file():
                return ()
            with self.path.open("rb") as file:
                inode = self.path.stat().st_ino
                size = file.seek(0, 2)
                if inode != self._inode or size < self._read:  # another file: begin again
                    self._events, self._read, self._inode = [], 0, inode
                file.seek(self._read)
                data = file.read()
            whole = data[: data.rfind(b"\n") + 1]
            fresh = [
                parse_record(line, EVENTS, where=str(self.path))
                for line in whole.split(b"\n")
                if line.strip()
            ]
            self._events += fresh
            self._read += len(whole)
            return tuple(self._events)
