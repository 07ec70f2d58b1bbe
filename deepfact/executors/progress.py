"""What a run has done so far, for whoever shows it. Counting only; nothing is printed here."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Callable

from deepfact.model_records import Completion
from deepfact.records import FailureReason, Usage


@dataclass(slots=True)
class EngineUsage:
    """Totals of one engine since it was made. Tokens and dollars are those of this run's own
    calls; answers taken from the store cost nothing."""

    calls: int = 0
    """Requests sent, retries included."""
    retries: int = 0
    answered: int = 0
    """Requests that the provider answered in this run, unusable answers included."""
    reused: int = 0
    """Requests answered from the store."""
    pending: int = 0
    missing: int = 0
    failures: Counter[FailureReason] = field(default_factory=Counter)
    """Requests given up or answered by something unusable, by reason."""
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    usd: float | None = 0.0
    """None when the price of any answer is unknown."""

    @property
    def failed(self) -> int:
        """Requests without a usable answer."""
        return self.failures.total()

    def add(self, completion: Completion) -> None:
        """Count an answer's tokens."""
        self.answered += 1
        self.input_tokens += completion.input_tokens
        self.output_tokens += completion.output_tokens
        self.cache_read_tokens += completion.cache_read_tokens
        self.cache_write_tokens += completion.cache_write_tokens

    def record(self) -> Usage:
        """As the record that verdicts and reports carry; cached tokens count as input."""
        cached = self.cache_read_tokens + self.cache_write_tokens
        return Usage(
            calls=self.calls,
            input_tokens=self.input_tokens + cached,
            output_tokens=self.output_tokens,
            usd=self.usd,
        )


@dataclass(frozen=True, slots=True)
class Progress:
    """A moment of a run."""

    done: int
    """Requests finished: answered, reused or given up."""
    failed: int
    """Those of them without a usable answer."""
    reused: int
    total: int | None
    """Requests expected in all, when the caller said so."""
    in_flight: int
    rate: float
    """Requests finished by calling out, per second."""
    usd: float | None
    """Spent so far; None when a price is unknown."""
    eta: float | None
    """Seconds to go at this rate; None when it cannot be told."""

    def line(self) -> str:
        """One line to show, such as ``120/1000 done, 2 failed, 35.1/s, $0.42, 25 s to go``."""
        of = f"/{self.total}" if self.total is not None else ""
        cost = "unknown price" if self.usd is None else f"${self.usd:.2f}"
        left = "" if self.eta is None else f", {self.eta:.0f} s to go"
        return f"{self.done}{of} done, {self.failed} failed, {self.rate:.1f}/s, {cost}{left}"


ShowProgress = Callable[[Progress], None]
"""Called after each request; whoever shows it decides how often."""
