"""Asking several verifiers about the same claims, interleaved in time.

All arms share one response store, and one engine where their providers and limits are the
same. Each outcome is handed to the caller as soon as it is there; whoever calls keeps it.
Nothing here compares arms, or knows a label.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Protocol, Sequence

from deepfact.errors import ConfigError, DeepFactError, RunIncomplete
from deepfact.executors.local import (
    VerifiesGroups,
    ask_group,
    failed,
    open_groups,
    run_verifier,
)
from deepfact.records import (
    Claim,
    FailureReason,
    Outcome,
    PromptRef,
    Verdict,
    VerificationFailure,
)
from deepfact.run_records import VerifierSpec
from deepfact.running.arm_engines import CALLS, EngineSpec, RepeatedEngine, open_engines
from deepfact.running.claim_set import ClaimSet
from deepfact.running.run_state import Tally, Watcher
from deepfact.store.responses import ResponseStore
from deepfact.verifiers.base import Context, Verifier, build_verifier

if TYPE_CHECKING:
    from deepfact.executors.engine import Engine

Outcomes = dict[tuple[str, int], dict[str, Outcome]]
"""By arm and repeat (from 0), then by claim id."""


class Keep(Protocol):
    """Makes an outcome durable. Called once for each outcome, before it counts."""

    def __call__(
        self, arm: str, repeat: int, outcome: Outcome, seconds: tuple[float, ...], /
    ) -> None:
        """``seconds``: how long each live call took; none for stored answers."""
        ...


class AnswersMissing(RunIncomplete):
    """Answers are missing or pending; every outcome that could be had was kept."""

    def __init__(self, why: str, fix: str, *, claims: int, requests: int) -> None:
        self.claims, self.requests = claims, requests
        """Outcomes that are not there yet, and the requests known to be unanswered."""
        super().__init__(f"{claims} outcomes are not there yet: {why}", fix=fix)


@dataclass
class Arm:
    """A verifier under a name, ready to be asked."""

    name: str
    spec: VerifierSpec
    verifier: Verifier

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


_NO_DIFFERENCE = ("limits", "budget", "prices", "responses", "replay", "engine", "prompt_folder", "traces")


def build_arms(verifiers: Mapping[str, VerifierSpec]) -> list[Arm]:
    """The arms by name, with all that can be checked before anything is asked.

    Raises:
        ConfigError: a verifier, prompt, provider or limit that cannot be, or two arms that
            differ in nothing.
    """
    arms = []
    for name, spec in verifiers.items():
        try:
            arms.append(Arm(name, spec, build_verifier(spec)))
        except ConfigError as error:
            where = ", ".join(filter(None, (f"arm {name!r}", error.where)))
            raise ConfigError(error.what, where=where, fix=error.fix) from None
    seen: dict[str, str] = {}
    for arm in arms:
        if arm.prompted is not None:
            EngineSpec.of(arm.spec).provider()
        twin = seen.setdefault(arm.effective(), arm.name)
        if twin != arm.name:
            raise ConfigError(
                f"arm {arm.name!r} differs in nothing from arm {twin!r}",
                fix="change its prompt, model or another option, or take it away; for the same "
                "arm asked again use `repeat`",
            )
    return arms


# --- asking ------------------------------------------------------------------------------


def schedule(claims: Sequence[Claim], arms: int, seed: int) -> Iterator[tuple[Claim, int]]:
    """Every claim with every arm: claims in a drawn order, and for each claim its arms one
    after the other in a drawn order, so that no arm is asked earlier than another."""
    draw = random.Random(seed)  # noqa: S311 - an order, no secret
    order = list(claims)
    draw.shuffle(order)
    for claim in order:
        places = list(range(arms))
        draw.shuffle(places)
        for place in places:
            yield claim, place


def run_arms(
    arms: Sequence[Arm],
    claims: ClaimSet,
    *,
    responses: ResponseStore,
    repeat: int = 1,
    seed: int = 0,
    replay: bool = False,
    known: Outcomes | None = None,
    keep: Keep = lambda *_: None,
    watch: Watcher = lambda _: None,
) -> Outcomes:
    """An outcome for every arm, repeat and claim.

    Args:
        arms: see `build_arms`.
        claims: what to ask about.
        responses: the store that all arms share.
        repeat: how often; each repeat has answers of its own.
        seed: draws the order.
        replay: never call out.
        known: outcomes that are there already; they are not asked for again.
        keep: makes an outcome durable.
        watch: is told of progress.

    Raises:
        AnswersMissing: some could not be had; the others have been kept.
        DeepFactError: no call of this run can succeed.
    """
    asking = _Asking(arms, claims, known or {}, keep, watch, repeat)
    asyncio.run(asking.everything(responses, replay=replay, seed=seed))
    return asking.outcomes


@dataclass
class _Asking:
    """The work of `run_arms`: what is known, what is open, what went wrong."""

    arms: Sequence[Arm]
    claims: ClaimSet
    known: Outcomes
    keep: Keep
    watch: Watcher
    repeat: int
    outcomes: Outcomes = field(init=False)
    _open: list[RunIncomplete] = field(default_factory=list)
    _tally: Tally = field(default_factory=Tally)

    def __post_init__(self) -> None:
        self.outcomes = {
            (arm.name, number): dict(self.known.get((arm.name, number), {}))
            for arm in self.arms
            for number in range(self.repeat)
        }

    async def everything(self, responses: ResponseStore, *, replay: bool, seed: int) -> None:
        prompted = {arm.name: arm.spec for arm in self.arms if arm.prompted is not None}
        async with open_engines(prompted, responses, replay=replay, seed=seed) as opened:
            engines, width = opened
            for number in range(self.repeat):
                for arm in self.arms:
                    if arm.name in engines:
                        arm.prompted.use(RepeatedEngine(engines[arm.name], number))
                await self._one_repeat(number, width, seed + number)
        if self._open:
            self._raise_missing(set(engines.values()))

    async def _one_repeat(self, number: int, width: int, seed: int) -> None:
        """Whole-batch verifiers first; then everybody else, interleaved, ``width`` at once."""
        for arm in self.arms:
            if hasattr(arm.verifier, "verify_all"):
                left = [c for c in self.claims.claims if not self._has(arm, number, c)]
                for outcome in (
                    run_verifier(arm.verifier, left, self.claims.context, name=arm.name)
                    if left
                    else ()
                ):
                    self._take(arm, number, outcome, ())
        work = iter(self._work(number, seed))

        async def worker() -> None:
            for arm, group, wanted in work:
                await asyncio.sleep(0)  # plain verifiers never wait; an interrupt must get through
                calls: list[float] = []
                CALLS.set(calls)
                outcomes = await ask_about(arm, group, wanted, self.claims.context)
                for outcome in outcomes:
                    if isinstance(outcome, RunIncomplete):
                        self._open.append(outcome)
                        continue
                    # The calls of a group are the first claim's: they are to be counted once.
                    self._take(arm, number, outcome, tuple(calls))
                    calls = []

        workers = [asyncio.create_task(worker()) for _ in range(width)]
        try:
            await asyncio.gather(*workers)
        finally:
            for task in workers:
                task.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    def _work(
        self, number: int, seed: int
    ) -> Iterator[tuple[Arm, Sequence[Claim], Sequence[Claim]]]:
        """What is to be asked, in the order of the schedule: an arm, the claims it is asked about
        together, and those of them whose outcome is wanted. A group has the place of its claim
        that comes first."""
        claims = self.claims.claims
        grouped: dict[str, dict[str, tuple[Sequence[Claim], Sequence[Claim]]]] = {}
        for arm in self.arms:
            if isinstance(arm.verifier, VerifiesGroups):
                left = [claim for claim in claims if not self._has(arm, number, claim)]
                pairs = open_groups(arm.verifier, left, claims)
                grouped[arm.name] = {one.id: pair for pair in pairs for one in pair[1]}
        done: set[tuple[str, str]] = set()
        for claim, place in schedule(claims, len(self.arms), seed):
            arm = self.arms[place]
            if self._has(arm, number, claim) or (arm.name, claim.id) in done:
                continue
            group, wanted = grouped.get(arm.name, {}).get(claim.id, ([claim], [claim]))
            done.update((arm.name, one.id) for one in wanted)
            yield arm, group, wanted

    def _has(self, arm: Arm, number: int, claim: Claim) -> bool:
        return claim.id in self.outcomes[arm.name, number]

    def _take(self, arm: Arm, number: int, outcome: Outcome, seconds: tuple[float, ...]) -> None:
        self.keep(arm.name, number, outcome, seconds)
        self.outcomes[arm.name, number][outcome.claim_id] = outcome
        self._tally.take(outcome)
        self.tell()

    def tell(self) -> None:
        """Say how far it is."""
        done = sum(map(len, self.outcomes.values()))
        total = len(self.outcomes) * len(self.claims.claims)
        self.watch(self._tally.progress("ask: all arms", done, total))

    def _raise_missing(self, engines: set[Engine]) -> None:
        requests, reasons, fixes = 0, [], []
        for engine in engines:
            requests += len(engine.missing) + len(engine.pending)
            try:
                engine.raise_if_incomplete()
            except RunIncomplete as error:
                reasons.append(error.what)
                fixes.append(error.fix)
        if not reasons:  # a budget, or an incompleteness of a third party's verifier
            reasons, fixes = [self._open[0].what], [self._open[0].fix]
        raise AnswersMissing(
            "; ".join(reasons),
            "; ".join(dict.fromkeys(fixes)),
            claims=len(self._open),
            requests=requests,
        )


async def ask_about(
    arm: Arm, group: Sequence[Claim], wanted: Sequence[Claim], context: Context
) -> list[Outcome | RunIncomplete]:
    """The outcomes of one arm on the claims that are wanted, each of which has one or must wait.

    Raises:
        DeepFactError: the run is to stop.
    """
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
