"""Who is at which case of a shared queue, so that two people do not do the same one.

Kept in memory: a lease only spares people double work. That a case is decided once is held by
the journal (`deepfact.review.hand_in`), whatever leases say and whoever forgot them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

MINUTES = 20


class Leases:
    """Leases by case id. Safe to use from several threads."""

    def __init__(
        self, seconds: float = MINUTES * 60, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Leases that last so many ``seconds`` of ``clock`` after they were last asked for."""
        self._seconds, self._clock, self._lock = seconds, clock, threading.Lock()
        self._held: dict[str, tuple[str, float]] = {}

    def take(self, case_id: str, auditor: str) -> bool:
        """Take a case, or keep it; False when somebody else is at it. Who takes one gives back
        the one they had."""
        with self._lock:
            now = self._clock()
            holder, until = self._held.get(case_id, (auditor, 0.0))
            if holder != auditor and until > now:
                return False
            self._held = {
                held: (who, end)
                for held, (who, end) in self._held.items()
                if who != auditor and end > now
            }
            self._held[case_id] = (auditor, now + self._seconds)
            return True

    def free(self, case_id: str, auditor: str) -> bool:
        """Whether nobody but ``auditor`` is at a case."""
        with self._lock:
            holder, until = self._held.get(case_id, (auditor, 0.0))
            return holder == auditor or until <= self._clock()

    def give_back(self, case_id: str, auditor: str) -> None:
        """End a lease, if it is this auditor's."""
        with self._lock:
            if self._held.get(case_id, ("", 0.0))[0] == auditor:
                del self._held[case_id]
