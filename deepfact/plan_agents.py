"""Which cases the agents of a run of rounds would be asked about, before anything is asked.

Cases are known once a round has opened them. Until then every labelled claim may become one in
every round, so what is planned from it is the most there can be. Reads a journal and renders
requests; asks nobody, writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deepfact.auditors import base as auditing
from deepfact.auditors.specs import HUMAN, PANEL, SIMULATED, everybody, panels_of
from deepfact.core.audit import position_of
from deepfact.core.sitting import Sitting, sittings
from deepfact.core.standing import audit_closed
from deepfact.model_records import Request
from deepfact.records import Case
from deepfact.round import assigned, who_decides
from deepfact.run_records import AuditorSpec, JournalEvent, RoundSpec, VerifierSpec
from deepfact.running.arm_engines import REPEAT
from deepfact.running.run_state import Stage, stages_of
from deepfact.store.benchmark import BenchmarkVersion
from deepfact.store.journal import read_events
from deepfact.store.locate import load_version
from deepfact.verifiers.base import Context


@dataclass(frozen=True, slots=True)
class AgentRequests:
    """What an auditor that asks a model would be asked in a run."""

    name: str
    """With its panel's name before it, when it sits on one."""
    spec: VerifierSpec
    """Its kind, name and options, as engines are made from."""
    requests: tuple[tuple[Request, int, int], ...]
    """Each first request with its vote number, and how many calls it may come to at most: a model
    may search before it decides."""
    known: bool
    """Whether all cases are open already."""
    store: Path | None
    """Where its answers are kept."""


def agent_requests(
    spec: RoundSpec,
    auditors: Sequence[AuditorSpec],
    *,
    root: Path | None = None,
    folder: Path | None = None,
) -> list[AgentRequests]:
    """What each agent of a run would be asked.

    Args:
        spec: of the run.
        auditors: those that it names.
        root: folder that holds benchmarks.
        folder: the run's, where its cases and stored answers are.

    Raises:
        InputError: spec, auditors or benchmark do not fit.
    """
    version = load_version(spec.benchmark, root)
    stages = stages_of(spec, auditors)
    events = read_events(folder / "journal.jsonl") if folder else []
    context = Context(version.sources)
    found = []
    for name, agent in _agents(stages):
        built: Any = auditing.build_auditor(
            agent, sources=version.sources, answers=lambda _: {}, context=context, workspace=folder
        )
        if not (hasattr(built, "requests") and hasattr(built, "use")):
            continue
        most = 1 + getattr(built, "searches", 0)
        asked, known = list[tuple[Request, int, int]](), True
        for number, stage in enumerate(stages, 1):
            cases, opened = _cases(agent.name, number, stage, version, events)
            known = known and opened
            # Cases that nobody has opened yet differ from round to round, whatever they look like.
            apart = 0 if opened else REPEAT * number
            asked += [
                (request, vote + apart, most)
                for case in cases
                for request, vote in built.requests(case)
            ]
        store = getattr(built, "responses", "")
        engine = VerifierSpec(kind=agent.kind, name=agent.name, options=agent.options)
        found.append(
            AgentRequests(name, engine, tuple(asked), known, Path(store) if store else None)
        )
    return found


def _agents(stages: Sequence[Stage]) -> Iterator[tuple[str, AuditorSpec]]:
    """Everybody who may ask a model, once each, under the name to show."""
    seen = set()
    for stage in stages:
        for top in stage.auditors:
            for spec in everybody([top]):
                if spec.kind not in (HUMAN, SIMULATED) and spec.name not in seen:
                    seen.add(spec.name)
                    yield (f"{top.name} / {spec.name}" if top.kind == PANEL else spec.name), spec


def _cases(
    name: str,
    number: int,
    stage: Stage,
    version: BenchmarkVersion,
    events: Sequence[JournalEvent],
) -> tuple[list[Case], bool]:
    """The cases of a round that an agent has yet to decide, and whether they are open already."""
    panels = panels_of(stage.auditors)
    open_now = sittings(events, number, panels, lambda event, at: who_decides(event, at, stage))
    if open_now or audit_closed(events, number):
        return [one.case for one in open_now if one.seats(name) and name not in one.made], True
    possible = []
    for at, entry in enumerate(one for one in version.state if one.annotation is not None):
        assert entry.annotation is not None  # noqa: S101 - just filtered
        side = position_of(entry.annotation)
        names = tuple(spec.name for spec in assigned(stage.auditors, stage.policy, at))
        case = Case(id=f"r{number}-{at}", claim=entry.claim, a=side, b=side)
        if Sitting(case, at, names, (), panels, {}, {}).seats(name):
            possible.append(case)
    return possible, False
