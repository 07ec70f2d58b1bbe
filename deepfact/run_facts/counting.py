"""What outcomes, decisions and moments add up to. Pure: no I/O, no clock.

A journal is taken in event by event, so memory does not grow with what outcomes say.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median

from deepfact.records import Abstention, Adjudication, Outcome, Usage
from deepfact.run_facts.records import Asked, Cost, FailureRow, Latency, Start, Timing
from deepfact.run_records import (
    Adjudicated,
    Answered,
    ArmAnswered,
    JournalEvent,
    RunResumed,
    RunStarted,
)

LEAST_PAUSE = 60.0
"""Seconds; a shorter time without an event is never a pause."""
OF_MEDIAN = 20
"""A time without an event that is so many times the median one is a pause."""
DETAIL = 500

_ROLES = ("verifier", "arm", "auditor")


@dataclass
class _Spent:
    """A `Cost` while it grows."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0

    def add(self, usage: Usage) -> None:
        """Count what an answer cost."""
        self.calls += usage.calls
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens
        if usage.usd is not None:
            self.usd += usage.usd
        else:
            self.unpriced += usage.calls

    def cost(self) -> Cost:
        """As a record."""
        return Cost(
            calls=self.calls,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            usd=self.usd,
            unpriced=self.unpriced,
        )


@dataclass
class _One:
    """What one verifier, arm or auditor adds up to. The newest outcome on a claim counts; what
    earlier ones cost was spent all the same."""

    lost: dict[str, list[tuple[str, str, str]]] = field(default_factory=dict)
    """By claim and repeat: (claim or vote, reason, detail) of its newest outcome."""
    seen: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    spent: _Spent = field(default_factory=_Spent)
    seconds: list[float] = field(default_factory=list)
    asking: list[float] = field(default_factory=list)
    """Times without an event that ended in an outcome of this one."""


class Counting:
    """Takes in outcomes, decisions and whole journals."""

    def __init__(self) -> None:
        self.started: Start | None = None
        self.resumed: list[Start] = []
        self._them: dict[tuple[str, str], _One] = {}
        self._gaps: list[float] = []
        self._stood_still: list[float] = []
        """Between the last event of one process and the beginning of the next."""
        self._first: datetime | None = None
        self._last: datetime | None = None
        self._before: datetime | None = None

    # --- taking in -----------------------------------------------------------------------

    def event(self, event: JournalEvent) -> None:
        """The next event of a journal."""
        gap = self._moment(event)
        if isinstance(event, RunStarted):
            self.started = self.started or Start(at=event.at, code=event.code)
        elif isinstance(event, RunResumed):
            self.resumed.append(Start(at=event.at, code=event.code))
        elif isinstance(event, Answered):
            self.outcome("verifier", event.verifier, event.outcome).asking.append(gap)
        elif isinstance(event, ArmAnswered):
            one = self.outcome("arm", event.arm, event.outcome, repeat=event.repeat)
            one.asking.append(gap)
            one.seconds += event.seconds
        elif isinstance(event, Adjudicated):
            self._decision(event.adjudication, event.round).asking.append(gap)

    def outcome(self, role: str, name: str, outcome: Outcome, *, repeat: int = 0) -> _One:
        """An outcome of somebody on a claim."""
        one = self._them.setdefault((role, name), _One())
        place = outcome.claim_id if not repeat else f"{outcome.claim_id} (repeat {repeat + 1})"
        one.seen.add(place)
        one.spent.add(outcome.usage)
        one.lost.pop(place, None)
        one.failed.discard(place)
        lost = _votes(outcome.abstentions)
        if outcome.kind == "failure":
            one.failed.add(place)
            lost.insert(0, ("claim", str(outcome.reason), outcome.detail[:DETAIL]))
        if lost:
            one.lost[place] = lost
        return one

    def _decision(self, made: Adjudication, number: int) -> _One:
        one = self._them.setdefault(("auditor", made.auditor), _One())
        place = f"{made.case_id} of round {number}"
        one.seen.add(place)
        if made.deliberation is not None:
            one.spent.add(made.deliberation.usage)
            if lost := _votes(made.deliberation.abstentions):
                one.lost[place] = lost
        return one

    def _moment(self, event: JournalEvent) -> float:
        """The time since the event before, in seconds; 0 where the clock went back."""
        self._first = self._first or event.at
        gap = 0.0
        if self._before is not None:
            gap = max((event.at - self._before).total_seconds(), 0.0)
            (self._stood_still if isinstance(event, RunResumed) else self._gaps).append(gap)
        self._before = event.at
        self._last = max(self._last or event.at, event.at)
        return gap

    # --- what it comes to ----------------------------------------------------------------

    def asked(self) -> tuple[Asked, ...]:
        """Everybody, verifiers first."""
        bound = self._bound()
        return tuple(
            Asked(
                name=name,
                role=role,
                outcomes=len(one.seen),
                failures=len(one.failed),
                abstentions=sum(what == "vote" for lost in one.lost.values() for what, *_ in lost),
                cost=one.spent.cost(),
                latency=latency(one.seconds),
                per_second=_rate(one.asking, bound) if role == "verifier" else None,
            )
            for (role, name), one in sorted(
                self._them.items(), key=lambda item: _ROLES.index(item[0][0])
            )
        )

    def failures(self) -> tuple[FailureRow, ...]:
        """By who, what was lost, and reason; most frequent first, with the first example that
        says something."""
        rows: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
        for (_, name), one in self._them.items():
            for place, lost in one.lost.items():
                for what, reason, detail in lost:
                    rows.setdefault((name, what, reason), []).append((place, detail))
        made = []
        for (name, what, reason), examples in rows.items():
            place, detail = next((one for one in examples if one[1]), examples[0])
            made.append(
                FailureRow(
                    name=name,
                    lost=what,
                    reason=reason,
                    count=len(examples),
                    example=place,
                    detail=detail,
                )
            )
        return tuple(sorted(made, key=lambda row: (-row.count, row.name, row.lost, row.reason)))

    def cost(self) -> Cost:
        """Of everybody."""
        all_of = _Spent()
        for one in self._them.values():
            for name in ("calls", "input_tokens", "output_tokens", "usd", "unpriced"):
                setattr(all_of, name, getattr(all_of, name) + getattr(one.spent, name))
        return all_of.cost()

    def timing(self) -> Timing | None:
        """When and how long; None without any event."""
        if self._first is None or self._last is None:
            return None
        bound = self._bound()
        pauses = [*self._stood_still, *(gap for gap in self._gaps if gap > bound)]
        asking = [
            gap for (role, _), one in self._them.items() if role != "auditor" for gap in one.asking
        ]
        return Timing(
            first=self._first,
            last=self._last,
            active=sum(gap for gap in self._gaps if gap <= bound),
            asking=sum(gap for gap in asking if gap <= bound),
            pauses=len(pauses),
            longest_pause=max(pauses, default=0.0),
            pause_over=bound,
            per_second=_rate(asking, bound),
        )

    def _bound(self) -> float:
        """What is a pause: a slow run must not count as paused, nor a night as work."""
        return max(LEAST_PAUSE, OF_MEDIAN * median(self._gaps)) if self._gaps else LEAST_PAUSE


def latency(seconds: Iterable[float]) -> Latency | None:
    """Median and 95th percentile (nearest rank) of some times; None of none."""
    known = sorted(seconds)
    if not known:
        return None
    p95 = known[math.ceil(0.95 * len(known)) - 1]
    return Latency(n=len(known), median=median(known), p95=p95)


def _rate(gaps: Iterable[float], bound: float) -> float | None:
    """Events per second, those after a pause left out as the pause is."""
    counted = [gap for gap in gaps if gap <= bound]
    return len(counted) / sum(counted) if sum(counted) > 0 else None


def _votes(abstentions: Iterable[Abstention]) -> list[tuple[str, str, str]]:
    return [("vote", str(one.reason), one.detail[:DETAIL]) for one in abstentions]
