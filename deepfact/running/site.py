"""Where arms are asked: the arms, engines and sources of one process, and one unit of work.

The same code does a unit in the process of the run and in a worker elsewhere, so that what comes
of a claim does not depend on the executor. Keeps no outcome; who asked for the unit does.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from deepfact.errors import RunIncomplete
from deepfact.executors.engine import Engine
from deepfact.executors.local import ask_verifier, run_verifier
from deepfact.executors.wire import error_of, error_text
from deepfact.records import Claim, Outcome
from deepfact.running.arm import Arm, ask_about
from deepfact.running.arm_engines import CALLS, RepeatedEngine
from deepfact.verifiers.base import Context

_OUTCOME: TypeAdapter[Any] = TypeAdapter(Outcome)

Lacking = tuple[str, str]
"""An engine's name and the key of an answer that a replay lacks there."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What one arm is asked at once."""

    arm: str
    repeat: int
    """From 0."""
    group: tuple[Claim, ...]
    """Claims that it is asked about together."""
    wanted: tuple[str, ...]
    """Ids of those whose outcome is wanted."""

    def text(self) -> str:
        """As JSON."""
        group = [json.loads(claim.canonical()) for claim in self.group]
        return json.dumps([self.arm, self.repeat, group, self.wanted], ensure_ascii=False)

    @classmethod
    def of(cls, text: str) -> Unit:
        """The unit that a text holds."""
        arm, repeat, group, wanted = json.loads(text)
        return cls(arm, repeat, tuple(map(Claim.model_validate, group)), tuple(wanted))


@dataclass(frozen=True, slots=True)
class Found:
    """What came of one claim of a unit."""

    arm: str
    repeat: int
    claim: str
    outcome: Outcome | RunIncomplete
    """Its outcome, or why it must wait."""
    seconds: tuple[float, ...] = ()
    """How long each live call took. Those of a group are the first claim's, to be counted once."""
    lacking: tuple[Lacking, ...] = ()
    """Answers that a replay turned out to lack."""
    traces: tuple[str, ...] = ()
    """How verifiers came to their verdicts, for those that keep that."""

    def text(self) -> str:
        """As JSON."""
        data, owed = None, ""
        if isinstance(self.outcome, RunIncomplete):
            owed = error_text(self.outcome)
        else:
            data = json.loads(self.outcome.canonical())
        rest = [self.seconds, self.lacking, self.traces]
        first = [self.arm, self.repeat, self.claim, data, owed]
        return json.dumps([*first, *rest], ensure_ascii=False)

    @classmethod
    def of(cls, text: str) -> Found:
        """What a text holds."""
        arm, repeat, claim, data, owed, seconds, lacking, traces = json.loads(text)
        outcome: Any = error_of(owed) if data is None else _OUTCOME.validate_python(data)
        pairs = tuple((engine, key) for engine, key in lacking)
        return cls(arm, repeat, claim, outcome, tuple(seconds), pairs, tuple(traces))


class Traces:
    """Takes the place of a verifier's file of traces where there is no such file."""

    path = None

    def __init__(self) -> None:
        self._kept: list[str] = []

    def keep(self, traces: Iterable[Any]) -> None:
        """As `deepfact.verifiers.document.tracing.TraceFile.keep`."""
        self._kept += [trace.canonical() for trace in traces]

    def taken(self) -> tuple[str, ...]:
        """Those kept since the last time."""
        kept, self._kept = self._kept, []
        return tuple(kept)


class ArmSite:
    """Asks arms.

    Args:
        arms: by name.
        context: what verifiers may read.
        engines: of the arms that ask models, by name of the arm.
        names: what to call an engine, by name of the arm, when telling what a replay lacks.
        own_names: whether outcomes carry the arm's name even where they name a verifier.
    """

    def __init__(
        self,
        arms: Sequence[Arm],
        context: Context,
        engines: Mapping[str, Engine],
        names: Mapping[str, str] | None = None,
        *,
        own_names: bool = True,
    ) -> None:
        self._arms = {arm.name: arm for arm in arms}
        self._context, self._engines, self._names = context, engines, names or {}
        self._own_names = own_names
        self._repeat = -1
        self._told: set[Lacking] = set()

    async def do(self, unit: Unit, tell: Callable[[Found], None]) -> None:
        """Ask one arm. ``tell`` is called with what came of each claim that is wanted.

        Raises:
            DeepFactError: the run is to stop.
        """
        self._turn_to(unit.repeat)
        arm = self._arms[unit.arm]
        if hasattr(arm.verifier, "verify_all"):
            answers = run_verifier(
                arm.verifier, unit.group, self._context, name=arm.name, tell=False
            )
            for outcome in answers:
                tell(Found(arm.name, unit.repeat, outcome.claim_id, outcome))
                await asyncio.sleep(0)
            return
        calls: list[float] = []
        CALLS.set(calls)
        wanted = [claim for claim in unit.group if claim.id in unit.wanted]
        asked = await self._asked(arm, unit.group, wanted)
        for claim, one in zip(wanted, asked, strict=True):
            lacking, traces = self._lacking(arm.name), _traces_of(arm)
            tell(Found(arm.name, unit.repeat, claim.id, one, tuple(calls), lacking, traces))
            calls = []

    def keeps_busy(self) -> bool:
        """Whether any arm is a plain function, which leaves no time for others."""
        return any(arm.prompted is None for arm in self._arms.values())

    async def _asked(
        self, arm: Arm, group: Sequence[Claim], wanted: Sequence[Claim]
    ) -> list[Outcome | RunIncomplete]:
        if self._own_names:
            return await ask_about(arm, group, wanted, self._context)
        outcomes = await ask_verifier(arm.verifier, group, wanted, self._context)
        return [
            one
            if isinstance(one, RunIncomplete) or one.verifier
            else one.model_copy(update={"verifier": arm.name})
            for one in outcomes
        ]

    def _turn_to(self, repeat: int) -> None:
        """Let the engines number votes for this repeat. Repeats never overlap."""
        if repeat != self._repeat:
            self._repeat = repeat
            for name, engine in self._engines.items():
                self._arms[name].prompted.use(RepeatedEngine(engine, repeat))

    def _lacking(self, arm: str) -> tuple[Lacking, ...]:
        """What the arm's engine has been found to lack since the last time."""
        if arm not in self._names or not self._engines[arm].missing:
            return ()
        name = self._names[arm]
        new = {(name, key) for key in self._engines[arm].missing} - self._told
        self._told |= new
        return tuple(sorted(new))


def keep_traces(verifier: Any, texts: Sequence[str]) -> None:
    """Give a verifier's file of traces what was traced elsewhere."""
    kept = getattr(verifier, "traces", None)
    if texts and kept is not None:
        from deepfact.trace_records import Trace

        kept.keep([Trace.model_validate_json(text) for text in texts])


def _traces_of(arm: Arm) -> tuple[str, ...]:
    kept = getattr(arm.verifier, "traces", None)
    return kept.taken() if isinstance(kept, Traces) else ()
