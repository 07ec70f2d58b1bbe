"""What `deepfact run show` says of a run, as records: no I/O, nothing worked out here."""

from __future__ import annotations

from pydantic import AwareDatetime, Field

from deepfact.records import Record
from deepfact.run_records import CodeState


class Start(Record):
    """A process that began the run, or went on with it."""

    at: AwareDatetime
    code: CodeState | None = None
    """None when the journal is from before this was kept."""


class Latency(Record):
    """How long live calls took, in seconds."""

    n: int = Field(ge=1)
    median: float
    p95: float
    """The nearest rank: a call that was made, not a value between two."""


class Cost(Record):
    """What the answers cost that outcomes and decisions rest on, those of earlier starts too."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0
    """US dollars, as far as prices are known."""
    unpriced: int = 0
    """Calls whose price is unknown; they are not in ``usd``."""


class Asked(Record):
    """One verifier, arm or auditor."""

    name: str
    role: str
    """``verifier``, ``arm`` or ``auditor``."""
    outcomes: int = 0
    """Claims with an outcome (by repeat, for arms), or decisions."""
    failures: int = 0
    """Those of them without a verdict."""
    abstentions: int = 0
    """Votes that did not come about, within verdicts and failures."""
    cost: Cost = Cost()
    latency: Latency | None = None
    """None where call times are not kept."""
    per_second: float | None = None
    """Outcomes per second of the time in which this one was asked; None for arms, which are asked
    in turn, and where it is not known."""


class FailureRow(Record):
    """Failures of one reason class of one verifier, arm or auditor, with an example."""

    name: str
    lost: str
    """``claim``: no verdict; ``vote``: one vote within a verdict or failure."""
    reason: str
    count: int = Field(ge=1)
    example: str
    """Id of a claim or case."""
    detail: str = ""
    """What was recorded there, word for word, at most 500 characters of it."""


class Timing(Record):
    """When, and how long. Seconds."""

    first: AwareDatetime
    last: AwareDatetime
    active: float
    """Time between events of the journal, without pauses."""
    asking: float
    """The part of it that ended in an outcome."""
    pauses: int
    """Times that no process was running, or nothing was added for `pause_over`."""
    longest_pause: float
    pause_over: float
    """A longer time without an event does not count as active."""
    per_second: float | None
    """Outcomes per second of ``asking``."""


class RunFacts(Record):
    """A run, as far as its folder tells."""

    kind: str
    """``round``, ``merge``, ``transfer``, ``ab``, ``regress`` or ``research``."""
    name: str
    folder: str
    state: str
    """``complete``, ``pending`` (people or answers are awaited), ``not complete`` (running, or
    stopped before its end), ``not begun``; with regress what the check found."""
    spec: dict[str, str]
    """What it was asked to do, in a few lines; the whole of it is in ``spec.json``."""
    written_by: str = ""
    """The version of deepfact that wrote the record."""
    started: Start | None = None
    resumed: tuple[Start, ...] = ()
    timing: Timing | None = None
    """None for runs that keep no journal."""
    asked: tuple[Asked, ...] = ()
    failures: tuple[FailureRow, ...] = ()
    """Most frequent first."""
    cost: Cost = Cost()
    missing: tuple[str, ...] = ()
    """What cannot be shown, and why."""
