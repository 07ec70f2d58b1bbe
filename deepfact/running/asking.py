"""Asking one verifier about claims, in this process or elsewhere, outcome by outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from deepfact.errors import ConfigError, RunIncomplete
from deepfact.executors.base import Executor, Job
from deepfact.executors.local import VerifiesGroups, open_groups, raise_owed, run_verifier
from deepfact.executors.told import tell_outcome
from deepfact.records import Claim, Outcome
from deepfact.run_records import VerifierSpec
from deepfact.running.arm import Arm
from deepfact.running.arm_engines import EngineSpec
from deepfact.running.arms import BATCH, batches
from deepfact.running.elsewhere import arms_elsewhere, engine_names
from deepfact.running.site import ArmSite, Found, Unit, keep_traces
from deepfact.verifiers.base import Context, Verifier

RESPONSES = "responses.sqlite"


def ask_claims(
    verifier: Verifier,
    spec: VerifierSpec,
    claims: Sequence[Claim],
    context: Context,
    take: Callable[[Outcome], None],
    *,
    among: Sequence[Claim] | None = None,
    workspace: Path | None = None,
    executor: Executor | None = None,
) -> None:
    """Ask a verifier about claims.

    Args:
        verifier: what ``spec`` describes, built for ``workspace``.
        spec: of it.
        claims: what to ask about; ids are unique.
        context: what it may read.
        take: called with each outcome, once for each claim, as it comes.
        among: the claims that groups are made of; ``claims`` when left out.
        workspace: folder of the run, when there is one.
        executor: where it is asked; in this process when left out.

    Raises:
        RunIncomplete: answers are missing; every outcome that could be had was taken.
        DeepFactError: the verifier says that it can answer nothing at all.
    """
    if executor is None or not executor.remote:
        for outcome in run_verifier(verifier, claims, context, name=spec.label, among=among):
            take(outcome)
        return
    arm, width, responses = Arm(spec.label, spec, verifier), 1, None
    if engine_names([arm]):
        width = EngineSpec.of(spec).limits.concurrency
        named = str(spec.options.get("responses") or "")
        if not named and workspace is None:
            raise ConfigError("a panel needs a response store", fix="give responses: a file")
        responses = Path(named) if named else (workspace or Path()) / RESPONSES
        responses.parent.mkdir(parents=True, exist_ok=True)
    found, owed = set[str](), dict[str, RunIncomplete]()

    def took(one: Found) -> None:
        if isinstance(one.outcome, RunIncomplete):
            owed[one.claim] = one.outcome
        elif one.claim not in found:  # after the loss of a worker it may come twice
            found.add(one.claim)
            owed.pop(one.claim, None)
            keep_traces(verifier, one.traces)
            tell_outcome(one.outcome)
            take(one.outcome)

    job = Job(
        stages=[_units(arm, claims, among)],
        width=width,
        here=ArmSite([arm], context, {}, own_names=False).do,
        elsewhere=lambda: arms_elsewhere(
            [arm], context.sources, responses, own_names=False, workspace=workspace
        ),
    )
    asyncio.run(executor.run(job, took))
    raise_owed(list(owed.values()), len(claims), spec.label)


def _units(arm: Arm, claims: Sequence[Claim], among: Sequence[Claim] | None) -> Iterable[Unit]:
    if hasattr(arm.verifier, "verify_all"):
        return batches(arm.name, 0, claims, BATCH)
    if isinstance(arm.verifier, VerifiesGroups):
        return (
            Unit(arm.name, 0, tuple(group), tuple(one.id for one in asked))
            for group, asked in open_groups(arm.verifier, claims, among)
        )
    return _alone(arm, claims)


def _alone(arm: Arm, claims: Sequence[Claim]) -> Iterator[Unit]:
    for claim in claims:
        yield Unit(arm.name, 0, (claim,), (claim.id,))
