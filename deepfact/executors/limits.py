"""What a run may ask of a provider, as written in the config, and how long a retry waits.

Pure: nothing here waits, sends a request or counts money.
"""

from __future__ import annotations

import random

from pydantic import Field

from deepfact.records import Record


class Limits(Record):
    """Bounds on the calls of a run, as written in the config."""

    concurrency: int = Field(default=16, gt=0)
    """Calls in flight at most. Lowered on its own while the provider is overloaded."""
    requests_per_minute: float | None = Field(default=None, gt=0)
    input_tokens_per_minute: float | None = Field(default=None, gt=0)
    """Estimated before a call at four characters a token, set right by what was used."""
    output_tokens_per_minute: float | None = Field(default=None, gt=0)
    attempts: int = Field(default=8, gt=0)
    """Times that a request is sent at most before it is given up."""
    timeout: float = Field(default=300.0, gt=0)
    """Seconds that one attempt may take."""
    backoff: float = Field(default=0.5, ge=0)
    """Seconds before the first retry; doubled each time, with jitter."""
    max_backoff: float = Field(default=60.0, ge=0)
    """Longest such wait, in seconds. A provider's own ``retry-after`` is obeyed beyond it."""
    max_retry_after: float = Field(default=600.0, ge=0)
    """A provider that asks for a longer wait than this, in seconds, is given up on."""
    grace: float = Field(default=10.0, ge=0)
    """Seconds that calls in flight are given to finish when a run is interrupted."""


def backoff(limits: Limits, attempt: int, retry_after: float | None, draw: random.Random) -> float:
    """Seconds to wait after attempt number ``attempt`` (from 1) failed.

    Exponential with "equal jitter": half of the wait is fixed, half is drawn, so that calls
    that failed together do not come back together. Never shorter than ``retry_after``.
    """
    span = min(limits.max_backoff, limits.backoff * float(2 ** (attempt - 1)))
    wait = span / 2 + draw.uniform(0, span / 2)
    if retry_after is not None:
        return max(wait, retry_after + draw.uniform(0, min(span, 1.0)))
    return wait
