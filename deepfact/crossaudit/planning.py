"""What a cross-audit would ask and cost, before anything is asked. Writes nothing that stays.

Verdicts and decisions that are stored are looked up as the run would. How many cases a pair has is
known once its agent's verdicts are; until then an auditor is taken to be asked about every claim.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from deepfact.auditors.specs import judges_itself
from deepfact.core.audit import open_docket
from deepfact.crossaudit.claims import cut_down
from deepfact.crossaudit.run import (
    NO_CONTROLS,
    benchmark_folder,
    check,
    check_folder,
    pair_spec,
)
from deepfact.crossaudit.stored import Stored, read_stored
from deepfact.crossaudit_records import CrossAuditSpec, SavedCrossAudit
from deepfact.experiment_records import ClaimsSpec
from deepfact.plan import ArmPlan, Plan, calls_of, plan_arms, plan_round, usd_of
from deepfact.plan import Stored as StoredAnswers
from deepfact.records import Outcome
from deepfact.run_records import Adjudicated, Answered, AuditorSpec, VerifierSpec
from deepfact.running.arms import build_arms
from deepfact.running.claim_set import load_claims
from deepfact.store.benchmark import BenchmarkVersion
from deepfact.store.journal import read_events
from deepfact.store.locate import load_version


@dataclass(frozen=True, slots=True)
class PlannedAgent:
    """An agent: how many of its verdicts are there, and what asking for the others would cost."""

    agent: str
    claims: int
    stored: int
    ask: ArmPlan | None
    """None when nothing is missing."""


@dataclass(frozen=True, slots=True)
class PlannedPair:
    """A pair: its cases, the decisions that are there, and what asking for the others costs."""

    auditor: str
    agent: str
    skipped: bool
    """It would be judging itself."""
    cases: int | None
    """None while the agent's verdicts are not known."""
    stored: int
    ask: ArmPlan | None
    """What its model would be asked at most; None for an auditor that asks none."""


@dataclass(frozen=True, slots=True)
class CrossPlan:
    """What a cross-audit would ask."""

    agents: tuple[PlannedAgent, ...]
    pairs: tuple[PlannedPair, ...]

    @property
    def _asks(self) -> list[ArmPlan]:
        found = [one.ask for one in self.agents] + [one.ask for one in self.pairs]
        return [ask for ask in found if ask is not None]

    @property
    def calls(self) -> int:
        """Calls of models, at most."""
        return calls_of(self._asks)

    @property
    def usd(self) -> float | None:
        """What they cost at most; None where a price is unknown."""
        return usd_of(self._asks)


def plan_crossaudit(
    spec: CrossAuditSpec,
    folder: Path,
    *,
    auditors: Sequence[AuditorSpec],
    root: Path | None = None,
) -> CrossPlan:
    """What a cross-audit would ask, given what its folder and earlier runs hold.

    Raises:
        InputError: something does not fit.
    """
    check(spec, auditors)
    check_folder(folder, SavedCrossAudit(spec=spec, auditors=tuple(auditors)))
    original = load_version(spec.benchmark, root)
    stored = read_stored([Path(one) for one in spec.stored], root)
    with tempfile.TemporaryDirectory() as scratch:
        version = cut_down(original, spec, benchmark_folder(Path(scratch), original))
        known = {one.label: _known(one, version, folder, stored) for one in spec.agents}
        agents = [_agent(one, version, folder, known[one.label]) for one in spec.agents]
        pairs = [
            _pair(spec, auditor, one, version, folder, known[one.label], stored)
            for one in spec.agents
            for auditor in auditors
        ]
    return CrossPlan(tuple(agents), tuple(pairs))


def _known(
    agent: VerifierSpec, version: BenchmarkVersion, folder: Path, stored: Stored
) -> dict[str, Outcome]:
    journal = folder / "journal.jsonl"
    events = read_events(journal) if journal.is_file() else []
    known = {
        event.outcome.claim_id: event.outcome
        for event in events
        if isinstance(event, Answered) and event.verifier == agent.label
    }
    for claim in version.claims:
        there = stored.verdict(agent, claim.canonical())
        if there is not None:
            known.setdefault(claim.id, there)
    return known


def _agent(
    agent: VerifierSpec, version: BenchmarkVersion, folder: Path, known: dict[str, Outcome]
) -> PlannedAgent:
    missing = tuple(claim for claim in version.claims if claim.id not in known)
    ask = None
    if missing:
        claims = load_claims(ClaimsSpec(benchmark=f"{version.store.folder}@1"), None)
        answers = StoredAnswers.of([folder / "responses.sqlite"], [])
        arms = build_arms({agent.label: agent})
        plan: Plan = plan_arms(agent.label, arms, replace(claims, claims=missing), answers)
        ask = plan.arms[0]
    return PlannedAgent(agent.label, len(version.claims), len(known), ask)


def _pair(
    spec: CrossAuditSpec,
    auditor: AuditorSpec,
    agent: VerifierSpec,
    version: BenchmarkVersion,
    folder: Path,
    known: dict[str, Outcome],
    stored: Stored,
) -> PlannedPair:
    if judges_itself(auditor, agent) and not spec.allow_self_judging:
        return PlannedPair(auditor.name, agent.label, True, None, 0, None)
    round_ = pair_spec(spec, auditor, agent, version)
    place = folder / "pairs" / round_.name
    decided: set[str] = set()
    if (place / "journal.jsonl").is_file():
        events = read_events(place / "journal.jsonl")
        decided = {e.adjudication.case_id for e in events if isinstance(e, Adjudicated)}
    cases: int | None = None
    if len(known) == len(version.claims):
        docket = open_docket(
            list(version.state), known, version.sources, challenger=agent.label, round_number=1,
            controls=NO_CONTROLS, seed=spec.seed,
        )  # fmt: skip
        cases = len(docket.cases)
        decided |= {case.id for case in docket.cases if stored.decision(auditor, case)}
    ask = None
    if cases is None or len(decided) < cases:
        there = place if (place / "spec.json").is_file() else None
        plan = plan_round(round_, auditors=[auditor], folder=there)
        ask = next((one for one in plan.arms if one.arm == auditor.name and one.prompted), None)
    return PlannedPair(auditor.name, agent.label, False, cases, len(decided), ask)
