"""How long a run takes elsewhere, estimated from what it takes here. Arithmetic only.

Limits hold for all workers of a run together, so more workers make calls of a provider no faster
than its limits allow. What they add is processes, where one would not keep up.
"""

from __future__ import annotations

START_SECONDS = 15.0
"""Taken for starting a cluster on one machine and opening its workers."""

CALL_SECONDS = 0.004
"""CPU time that one process needs for one call: see ``tests/perf/engine.py``."""

BATCH_MINUTES = 24 * 60.0
"""Within which providers answer a batch."""


def local_minutes(at_limits: float, calls: int) -> float:
    """Minutes in one process: the limits decide, or the process where it is slower.

    Args:
        at_limits: minutes that the calls take at the configured limits.
        calls: how many there are.
    """
    return max(at_limits, calls * CALL_SECONDS / 60)


def ray_minutes(at_limits: float, calls: int, workers: int) -> float:
    """Minutes on so many workers, each with a CPU of its own; as `local_minutes`."""
    if not calls:
        return 0.0
    return START_SECONDS / 60 + max(at_limits, calls * CALL_SECONDS / 60 / workers)
