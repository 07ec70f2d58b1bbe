"""What a transfer run would ask and cost, before anything is asked. Writes nothing that stays."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from deepfact.experiment import RESPONSES
from deepfact.experiment_records import LabelsFrom
from deepfact.plan import ArmPlan, Stored, calls_of, plan_arms, usd_of
from deepfact.plan_agents import AgentRequests, agent_requests
from deepfact.records import Claim
from deepfact.run_records import Answered, AuditorSpec, CaseOpened, VerifierSpec
from deepfact.running.arm_engines import REPEAT
from deepfact.running.arms import build_arms
from deepfact.running.auditor_checks import check_auditors
from deepfact.running.claim_set import ClaimSet
from deepfact.store.journal import now, read_events
from deepfact.transfer.data import BENCHMARK, DataSet, put_together, read_data_sets
from deepfact.transfer.opening import check_folder, check_unchanged, checked_stage, saved_round
from deepfact.transfer_records import DataSetRef, TransferSpec


@dataclass(frozen=True, slots=True)
class PlannedPair:
    """A verifier on a data set: the answers that are there, and what asking for others costs."""

    data_set: str
    verifier: str
    claims: int
    stored: int
    ask: ArmPlan | None
    """None when nothing is missing."""


@dataclass(frozen=True, slots=True)
class TransferPlan:
    """What a transfer run would ask."""

    data_sets: tuple[DataSetRef, ...]
    pairs: tuple[PlannedPair, ...]
    cases: int | None
    """None while they are not open yet."""
    agents: tuple[ArmPlan, ...]
    """Auditors that ask a model; at most, while the cases are not known."""

    @property
    def _asks(self) -> list[ArmPlan]:
        return [*(pair.ask for pair in self.pairs if pair.ask is not None), *self.agents]

    @property
    def calls(self) -> int:
        """Calls of models, at most."""
        return calls_of(self._asks)

    @property
    def usd(self) -> float | None:
        """What they cost at most; None where a price is unknown."""
        return usd_of(self._asks)


def plan_transfer(
    spec: TransferSpec,
    folder: Path,
    *,
    auditors: Sequence[AuditorSpec],
    root: Path | None = None,
) -> TransferPlan:
    """What a transfer run would ask, given what its folder holds.

    Raises:
        InputError: something does not fit.
    """
    stage = checked_stage(spec, auditors)
    began = check_folder(folder, spec, auditors)
    when = began.date if began else spec.date or now()
    data_sets = read_data_sets(spec, when, root)
    if began:
        check_unchanged(began.data_sets, data_sets, folder)
    journal = folder / "journal.jsonl"
    events = read_events(journal) if journal.is_file() else []
    answered: dict[str, set[str]] = {}
    for event in events:
        if isinstance(event, Answered):
            answered.setdefault(event.verifier, set()).add(event.outcome.claim_id)
    pairs = tuple(
        _pair(one, verifier, folder, answered) for one in data_sets for verifier in spec.verifiers
    )
    cases = sum(isinstance(event, CaseOpened) for event in events) or None
    with tempfile.TemporaryDirectory() as scratch:
        check_auditors([stage], put_together(data_sets, Path(scratch) / BENCHMARK, when))
        agents = _agents(spec, auditors, folder if began else None, Path(scratch), data_sets)
    return TransferPlan(tuple(one.ref for one in data_sets), pairs, cases, agents)


def _pair(
    one: DataSet, verifier: VerifierSpec, folder: Path, answered: dict[str, set[str]]
) -> PlannedPair:
    there = answered.get(f"{verifier.label} on {one.spec.name}", set())
    ask = None
    if len(there) < len(one.entries):
        arms = build_arms({verifier.label: verifier})
        missing = tuple(claim for claim in one.asked if claim.id not in there)
        stored = Stored.of([folder / RESPONSES], [])
        ask = plan_arms(verifier.label, arms, _claim_set(one, missing), stored).arms[0]
    return PlannedPair(one.spec.name, verifier.label, len(one.entries), len(there), ask)


def _claim_set(one: DataSet, claims: tuple[Claim, ...]) -> ClaimSet:
    return ClaimSet(
        name=one.spec.name,
        state_hash=one.ref.fingerprint,
        claims=claims,
        labels=one.key,
        qualified=frozenset(),
        sources=one.sources,
        labels_from=LabelsFrom.FILE,
    )


def _agents(
    spec: TransferSpec,
    auditors: Sequence[AuditorSpec],
    folder: Path | None,
    root: Path,
    data_sets: Sequence[DataSet],
) -> tuple[ArmPlan, ...]:
    """Auditors that ask a model. Until cases are open each claim may be one for every verifier."""
    found = agent_requests(saved_round(spec, now()), auditors, root=root, folder=folder)
    many = [one if one.known else _times(one, len(spec.verifiers)) for one in found]
    stores = [one.store for one in found if one.store is not None]
    stores += [folder / RESPONSES] if folder else []
    nothing = _claim_set(data_sets[0], ())
    plan = plan_arms(spec.name, [], nothing, Stored.of(list(dict.fromkeys(stores)), []),
                     agents=many)  # fmt: skip
    return plan.arms


def _times(one: AgentRequests, verifiers: int) -> AgentRequests:
    """The requests once for each verifier; they differ, whatever they look like."""
    asked = tuple(
        (request, vote + REPEAT * number, most)
        for number in range(verifiers)
        for request, vote, most in one.requests
    )
    return replace(one, requests=asked)
