"""Asking several verifiers about the same claims, interleaved in time.

All arms share one response store, and one engine where their providers and limits are the
same. Each outcome is handed to the caller as soon as it is there; whoever calls keeps it.
Nothing here compares arms, or knows a label.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Collection, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Iterator, Mapping, Protocol, Sequence

from deepfact.errors import ConfigError, RunIncomplete
from deepfact.executors.base import Executor, Job
from deepfact.executors.engine import raise_if_incomplete
from deepfact.executors.in_process import InProcess
from deepfact.executors.local import VerifiesGroups, open_groups
from deepfact.executors.told import tell_outcome
from deepfact.records import Claim, Outcome
from deepfact.run_records import VerifierSpec
from deepfact.running.arm import Arm as Arm
from deepfact.running.arm_engines import EngineSpec, open_engines
from deepfact.running.claim_set import ClaimSet
from deepfact.running.elsewhere import arms_elsewhere, engine_names
from deepfact.running.run_state import Tally, Watcher
from deepfact.running.site import ArmSite, Found, Unit, keep_traces
from deepfact.store.responses import ResponseStore
from deepfact.telemetry import current, scope
from deepfact.verifiers.base import build_verifier

Outcomes = dict[tuple[str, int], dict[str, Outcome]]
"""By arm and repeat (from 0), then by claim id."""


BATCH = 32
"""Claims in one unit for a verifier that is asked about whole batches, in another process."""


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
    executor: Executor | None = None,
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
        executor: where arms are asked; in this process when left out.

    Raises:
        AnswersMissing: some could not be had; the others have been kept.
        DeepFactError: no call of this run can succeed.
    """
    asking = _Asking(arms, claims, known or {}, keep, watch, repeat)
    where = executor or InProcess()
    asyncio.run(asking.everything(responses, where, replay=replay, seed=seed))
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
    _open: dict[tuple[str, int, str], RunIncomplete] = field(default_factory=dict)
    """By arm, repeat and claim."""
    _lacking: dict[str, set[str]] = field(default_factory=dict)
    """Keys of answers that engines in other processes found missing."""
    _tally: Tally = field(default_factory=Tally)

    def __post_init__(self) -> None:
        self.outcomes = {
            (arm.name, number): dict(self.known.get((arm.name, number), {}))
            for arm in self.arms
            for number in range(self.repeat)
        }

    async def everything(
        self, responses: ResponseStore, executor: Executor, *, replay: bool, seed: int
    ) -> None:
        """Ask everything, and say what is missing."""
        if executor.remote:
            engine_names(self.arms)  # what cannot be asked elsewhere is found before it is opened
        prompted = {arm.name: arm.spec for arm in self.arms if arm.prompted is not None}
        async with AsyncExitStack() as stack:
            around = current()
            for arm in self.arms:
                arm.told = scope("arm", arm.name, within=around)
                stack.enter_context(arm.told)
            engines, width = await stack.enter_async_context(
                open_engines(prompted, responses, replay=replay, seed=seed)
            )
            job = Job(
                stages=self._stages(seed, BATCH if executor.remote else 0),
                width=width,
                here=ArmSite(self.arms, self.claims.context, engines).do,
                elsewhere=lambda: arms_elsewhere(
                    self.arms,
                    self.claims.context.sources,
                    responses.path,
                    replay=replay,
                    seed=seed,
                    use=getattr(responses, "note_used", None),
                ),
            )
            await executor.run(job, self._found)
        if self._open:
            lacks = [(one.missing, one.pending) for one in set(engines.values())]
            self._raise_missing([*lacks, *((keys, ()) for keys in self._lacking.values())])

    def _stages(self, seed: int, batch: int) -> Iterator[Iterable[Unit]]:
        """In each repeat whole-batch verifiers first, ``batch`` claims at once (all when 0); then
        everybody else, interleaved."""
        for number in range(self.repeat):
            for arm in self.arms:
                if hasattr(arm.verifier, "verify_all"):
                    left = [c for c in self.claims.claims if not self._has(arm, number, c)]
                    yield batches(arm.name, number, left, batch)
            yield self._work(number, seed + number)

    def _found(self, found: Found) -> None:
        """Take what came of a claim. After the loss of a worker it may come twice."""
        arm = next(arm for arm in self.arms if arm.name == found.arm)
        for engine, key in found.lacking:
            self._lacking.setdefault(engine, set()).add(key)
        place = (found.arm, found.repeat, found.claim)
        if isinstance(found.outcome, RunIncomplete):
            self._open[place] = found.outcome
        elif found.claim not in self.outcomes[found.arm, found.repeat]:
            keep_traces(arm.verifier, found.traces)
            self._open.pop(place, None)
            self._take(arm, found.repeat, found.outcome, found.seconds)

    def _work(self, number: int, seed: int) -> Iterator[Unit]:
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
            yield Unit(arm.name, number, tuple(group), tuple(one.id for one in wanted))

    def _has(self, arm: Arm, number: int, claim: Claim) -> bool:
        return claim.id in self.outcomes[arm.name, number]

    def _take(self, arm: Arm, number: int, outcome: Outcome, seconds: tuple[float, ...]) -> None:
        self.keep(arm.name, number, outcome, seconds)
        tell_outcome(outcome, arm.told)
        self.outcomes[arm.name, number][outcome.claim_id] = outcome
        self._tally.take(outcome)
        self.tell()

    def tell(self) -> None:
        """Say how far it is."""
        done = sum(map(len, self.outcomes.values()))
        total = len(self.outcomes) * len(self.claims.claims)
        self.watch(self._tally.progress("ask: all arms", done, total))

    def _raise_missing(self, lacks: Iterable[tuple[Collection[str], Collection[str]]]) -> None:
        """Say why, with the keys that each engine found missing and pending."""
        requests, reasons, fixes = 0, [], []
        for missing, pending in lacks:
            requests += len(missing) + len(pending)
            try:
                raise_if_incomplete(missing, pending)
            except RunIncomplete as error:
                reasons.append(error.what)
                fixes.append(error.fix)
        if not reasons:  # a budget, or an incompleteness of a third party's verifier
            first = next(iter(self._open.values()))
            reasons, fixes = [first.what], [first.fix]
        raise AnswersMissing(
            "; ".join(reasons),
            "; ".join(dict.fromkeys(fixes)),
            claims=len(self._open),
            requests=requests,
        )


def batches(arm: str, repeat: int, claims: Sequence[Claim], size: int) -> Iterator[Unit]:
    """Units for a verifier that is asked about whole batches; all claims in one when 0."""
    for begin in range(0, len(claims), size or max(len(claims), 1)):
        some = tuple(claims[begin : begin + size] if size else claims)
        yield Unit(arm, repeat, some, tuple(one.id for one in some))
