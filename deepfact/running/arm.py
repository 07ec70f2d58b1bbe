"""A verifier under a name, and asking it. Nothing here knows other arms, or a label."""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from deepfact.errors import DeepFactError, RunIncomplete
from deepfact.executors.local import VerifiesGroups, ask_group, failed
from deepfact.executors.told import told_as_claim
from deepfact.records import (
    Claim,
    FailureReason,
    Outcome,
    PromptRef,
    Verdict,
    VerificationFailure,
)
from deepfact.run_records import VerifierSpec
from deepfact.telemetry import NOTHING
from deepfact.telemetry.seam import Told
from deepfact.verifiers.base import Context, Verifier


@dataclass
class Arm:
    """A verifier under a name, ready to be asked."""

    name: str
    spec: VerifierSpec
    verifier: Verifier
    told: Told = field(default=NOTHING, compare=False, repr=False)
    """What it is told of as, while it is asked."""

    @property
    def prompted(self) -> Any:
        """The verifier when it asks models through an engine, else None."""
        return self.verifier if hasattr(self.verifier, "use") else None

    @property
    def prompt(self) -> PromptRef | None:
        """The prompt that it asks with."""
        prompt = getattr(self.prompted, "prompt", None)
        return None if prompt is None else prompt.ref

    def effective(self) -> str:
        """All that can make a difference to its outcomes, as text to compare arms by: options
        as given or by default, and the prompt by its hash. How fast, how dear and through which
        store answers come makes none."""
        options = {
            name: self.spec.options.get(name, one.default)
            for name, one in inspect.signature(type(self.verifier)).parameters.items()
            if name not in _NO_DIFFERENCE
        }
        if self.prompt is not None:
            options["prompt"] = self.prompt.hash
        return json.dumps([self.spec.kind, options], sort_keys=True, default=str)


_NO_DIFFERENCE = (
    "limits",
    "budget",
    "prices",
    "responses",
    "replay",
    "engine",
    "prompt_folder",
    "traces",
)


async def ask_about(
    arm: Arm, group: Sequence[Claim], wanted: Sequence[Claim], context: Context
) -> list[Outcome | RunIncomplete]:
    """The outcomes of one arm on the claims that are wanted, each of which has one or must wait.

    Raises:
        DeepFactError: the run is to stop.
    """
    return await told_as_claim(wanted, _ask_about(arm, group, wanted, context), arm.told)


async def _ask_about(
    arm: Arm, group: Sequence[Claim], wanted: Sequence[Claim], context: Context
) -> list[Outcome | RunIncomplete]:
    if isinstance(arm.verifier, VerifiesGroups):
        outcomes = await ask_group(arm.verifier, group, wanted, context)
        return [
            one if isinstance(one, RunIncomplete) else one.model_copy(update={"verifier": arm.name})
            for one in outcomes
        ]
    try:
        return [await ask(arm, wanted[0], context)]
    except RunIncomplete as error:
        return [error]


async def ask(arm: Arm, claim: Claim, context: Context) -> Outcome:
    """The outcome of one arm on one claim. Whatever a verifier does that is no error of the
    run, the claim gets an outcome.

    Raises:
        DeepFactError: the run is to stop, or the answer is not there yet.
    """
    try:
        answer = arm.verifier.verify(claim, context)
        outcome = await answer if inspect.isawaitable(answer) else answer
    except DeepFactError:
        raise
    except Exception as error:
        outcome = failed(claim, FailureReason.ERROR, f"{type(error).__name__}: {error}")
    if not isinstance(outcome, Verdict | VerificationFailure):
        detail = f"the verifier returned {type(outcome).__name__}, not a verdict"
        outcome = failed(claim, FailureReason.UNREADABLE, detail)
    if outcome.claim_id != claim.id:
        detail = f"the verifier answered about {outcome.claim_id!r}"
        outcome = failed(claim, FailureReason.WRONG_CLAIM, detail)
    named: Outcome = outcome.model_copy(update={"verifier": arm.name})
    return named
