"""What a run would ask and cost, worked out before anything is asked.

Every request is rendered as the run would render it and looked up in the response store, so
calls are counted, not guessed. Tokens, cost and time are estimates, and each says how it was
made. No call is made and nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deepfact.errors import InputError
from deepfact.executors.limits import Limits
from deepfact.executors.pace import estimated_tokens
from deepfact.executors.pricing import MILLION, Price, PriceList
from deepfact.experiment import RESPONSES, check_folder
from deepfact.experiment_records import AbSpec
from deepfact.model_records import Completion, Request
from deepfact.plan_agents import AgentRequests, agent_requests
from deepfact.records import Record
from deepfact.regression_records import RegressSpec
from deepfact.run_records import AuditorSpec, RoundSpec, VerifierSpec
from deepfact.running.arm_engines import REPEAT, EngineSpec
from deepfact.running.arms import Arm, build_arms
from deepfact.running.claim_set import ClaimSet, load_claims
from deepfact.running.regression_baseline import responses_path
from deepfact.running.run_state import checked_stages
from deepfact.store.files import read_jsonl
from deepfact.store.response_exports import ExportedResponse
from deepfact.store.responses import ResponseStore

SECONDS_PER_CALL = 5.0
"""What a call is taken to last where nothing better is known."""


class ArmPlan(Record):
    """What one arm would ask."""

    arm: str
    prompted: bool
    """Whether it asks a model at all; a verifier that does not costs nothing."""
    votes: int = 0
    """Requests in all; with ``early_stop`` the most there can be."""
    answered: int = 0
    """Those of them whose answer is stored already."""
    calls: int = 0
    """Those that would be sent: every different one once."""
    models: tuple[str, ...] = ()
    input_tokens: int = 0
    """Of the calls to be sent, estimated at four characters a token."""
    output_tokens: int = 0
    output_from: str = ""
    """How the output tokens were estimated."""
    usd: float | None = None
    """At live prices; None where a price is unknown."""
    usd_batched: float | None = None
    """At the prices of the provider's batch API; None where unknown."""
    unpriced: tuple[str, ...] = ()
    """Models without a known price."""
    minutes: float = 0.0
    """At the configured limits."""
    at_most: bool = False
    """The calls are the most there can be: cases are not known yet, or what follows an answer."""


class Plan(Record):
    """What a run would ask."""

    name: str
    claims: int
    repeat: int
    arms: tuple[ArmPlan, ...]
    minutes: float
    """At the configured limits, with ``seconds_per_call`` assumed for each call."""
    seconds_per_call: float
    notes: tuple[str, ...]

    @property
    def calls(self) -> int:
        """Calls that would be sent."""
        return calls_of(self.arms)

    @property
    def usd(self) -> float | None:
        """Live cost; None where a price is unknown."""
        return usd_of(self.arms)

    @property
    def usd_batched(self) -> float | None:
        """Batched cost; None where a price is unknown."""
        return _sum(arm.usd_batched for arm in self.arms if arm.calls)


def calls_of(arms: Iterable[ArmPlan]) -> int:
    """Calls that would be sent."""
    return sum(arm.calls for arm in arms)


def usd_of(arms: Iterable[ArmPlan]) -> float | None:
    """Live cost; None where a price is unknown."""
    return _sum(arm.usd for arm in arms if arm.calls)


def plan_experiment(
    spec: AbSpec,
    folder: Path,
    *,
    root: Path | None = None,
    seconds_per_call: float = SECONDS_PER_CALL,
) -> Plan:
    """What an A/B run would ask, given what its folder holds already.

    Raises:
        InputError: spec, claims or folder do not fit.
    """
    claims = load_claims(spec, root)
    arms = build_arms(spec.verifiers())
    check_folder(folder, spec)
    stored = Stored.of([folder / RESPONSES], [Path(export) for export in spec.responses])
    return plan_arms(
        spec.name, arms, claims, stored, repeat=spec.repeat, seconds_per_call=seconds_per_call
    )


def plan_round(
    spec: RoundSpec,
    *,
    auditors: Sequence[AuditorSpec] = (),
    folder: Path | None = None,
    root: Path | None = None,
    seconds_per_call: float = SECONDS_PER_CALL,
) -> Plan:
    """What the verifiers and the agents among the auditors of a run of rounds would ask.

    Verifiers are asked on the base version; later rounds use the same outcomes again. Agents are
    asked about the cases that are open, or, before there are any, about every claim in each round
    at most.

    Args:
        spec: of the run.
        auditors: those that it names; without them no agent is counted.
        folder: the run's, where its cases and stored answers are.
        root: folder that holds benchmarks.
        seconds_per_call: what a live call is taken to last, in seconds.

    Raises:
        InputError: spec, auditors or benchmark do not fit.
    """
    from deepfact.experiment_records import ClaimsSpec

    if auditors:
        checked_stages(spec, auditors)
    claims = load_claims(ClaimsSpec(benchmark=spec.benchmark), root)
    every = (spec.challenger, *spec.scored, *(s.challenger for s in spec.rounds if s.challenger))
    verifiers: dict[str, VerifierSpec] = {one.label: one for one in every}
    arms = build_arms(verifiers)
    agents = agent_requests(spec, auditors, root=root, folder=folder) if auditors else []
    stores = [Path(one.options["responses"]) for one in every if one.options.get("responses")]
    stores += [agent.store for agent in agents if agent.store is not None]
    stores += [folder / RESPONSES] if folder else []
    return plan_arms(
        spec.name,
        arms,
        claims,
        Stored.of(list(dict.fromkeys(stores)), []),
        agents=agents,
        seconds_per_call=seconds_per_call,
    )


def plan_regression(
    spec: RegressSpec,
    folder: Path,
    *,
    root: Path | None = None,
    seconds_per_call: float = SECONDS_PER_CALL,
) -> Plan:
    """What a regression check would ask beyond the committed answers and those of its folder.

    Raises:
        InputError: spec, claims or answers do not fit.
    """
    claims = load_claims(spec, root)
    arms = build_arms({spec.verifier.label: spec.verifier})
    committed = responses_path(spec)
    exports = [committed] if committed.is_file() else []
    stored = Stored.of([folder / RESPONSES], exports)
    return plan_arms(spec.name, arms, claims, stored, seconds_per_call=seconds_per_call)


def plan_arms(
    name: str,
    arms: Sequence[Arm],
    claims: ClaimSet,
    stored: Stored,
    *,
    repeat: int = 1,
    agents: Sequence[AgentRequests] = (),
    seconds_per_call: float = SECONDS_PER_CALL,
) -> Plan:
    """What arms would ask about claims.

    Args:
        name: of the run.
        arms: see `deepfact.running.arms.build_arms`.
        claims: what they would be asked about.
        stored: the answers that are there already.
        repeat: how often everything is asked.
        agents: what auditors would ask beside them.
        seconds_per_call: what a live call is taken to last, in seconds.
    """
    asked: set[str] = set()
    plans = [
        _arm(arm, claims, stored, repeat, asked, seconds_per_call)
        if arm.prompted is not None
        else ArmPlan(arm=arm.name, prompted=False)
        for arm in arms
    ]
    plans += [
        _priced(one.name, one.spec, one.requests, stored, asked, seconds_per_call).model_copy(
            update={"at_most": not one.known or any(most > 1 for _, _, most in one.requests)}
        )
        for one in agents
    ]
    notes = [
        "Input tokens are estimated at four characters a token; a provider counts otherwise.",
        "Unreadable answers that are asked for again and retries after errors are not in it, nor "
        "are savings by prompt caching.",
        f"Time assumes {seconds_per_call:g} seconds a call, at the configured concurrency and "
        "rates; batches take up to a day.",
    ]
    if any(getattr(arm.prompted, "_early_stop", False) for arm in arms):
        notes.append("With early_stop fewer votes may be asked for than are counted here.")
    if any(hasattr(arm.prompted, "planned") for arm in arms):
        notes.append(
            "Verifiers that work in steps are counted as if they made every search and read every "
            "document that their options allow, stored or not. Claims that an answer left out are "
            "asked about again alone, which is not in it."
        )
    if not all(one.known for one in agents):
        notes.append(
            "Agents are counted as if every labelled claim became a case in every round that has "
            "not opened its cases yet; most claims do not."
        )
    if any(most > 1 for one in agents for _, _, most in one.requests):
        notes.append("Agents are counted as if they used every search before they decide.")
    return Plan(
        name=name,
        claims=len(claims.claims),
        repeat=repeat,
        arms=tuple(plans),
        minutes=_minutes_of_all([*(arm.spec for arm in arms), *(a.spec for a in agents)], plans),
        seconds_per_call=seconds_per_call,
        notes=tuple(notes),
    )


@dataclass
class Stored:
    """Keys of the answers that are there already, and how long such answers are."""

    keys: set[str] = field(default_factory=set)
    tokens: dict[str, list[int]] = field(default_factory=dict)
    """Output tokens of stored answers, by model asked."""

    @classmethod
    def of(cls, stores: Sequence[Path], exports: Sequence[Path]) -> Stored:
        """What response stores and exports hold; a store that is not there holds nothing.

        Raises:
            InputError: an export is missing, or a store is damaged.
        """
        found = cls()
        for path in stores:
            if path.is_file():
                with ResponseStore(path, must_exist=True) as store:
                    for row in store.rows():
                        found._add(row.key, row.model, row.completion)
        for path in exports:
            if not path.is_file():
                raise InputError("no such export of responses", where=str(path))
            for one in read_jsonl(path, ExportedResponse):
                found._add(one.key, one.model, one.completion)
        return found

    def _add(self, key: str, model: str, completion: Completion) -> None:
        if key not in self.keys:
            self.keys.add(key)
            self.tokens.setdefault(model, []).append(completion.output_tokens)

    def mean_tokens(self, model: str) -> float | None:
        """Mean output tokens of the model's stored answers; None when there is none."""
        counts = self.tokens.get(model)
        return sum(counts) / len(counts) if counts else None


def _arm(
    arm: Arm,
    claims: ClaimSet,
    stored: Stored,
    repeat: int,
    asked: set[str],
    seconds_per_call: float,
) -> ArmPlan:
    """What one arm would ask; ``asked`` holds what arms before it ask already."""
    if hasattr(arm.prompted, "planned"):  # in steps, or about several claims at once
        each = arm.prompted.planned(claims.claims, claims.context)
    else:
        each = (
            (request, vote, 1)
            for claim in claims.claims
            for request, vote in arm.prompted.requests(claim, claims.context)
        )
    requests = (
        (request, vote + REPEAT * number, most)
        for request, vote, most in each
        for number in range(repeat)
    )
    found = _priced(arm.name, arm.spec, requests, stored, asked, seconds_per_call)
    return found.model_copy(update={"at_most": hasattr(arm.prompted, "planned")})


def _priced(
    name: str,
    spec: VerifierSpec,
    requests: Iterable[tuple[Request, int, int]],
    stored: Stored,
    asked: set[str],
    seconds_per_call: float,
) -> ArmPlan:
    """What requests come to: each with its vote number and the most calls that it can become."""
    engine = EngineSpec.of(spec)
    provider = getattr(engine.provider(), "price_provider", "")
    live = PriceList(engine.prices, provider=provider)
    batched = PriceList(engine.prices, provider=provider, batch=True)
    votes = answered = calls = tokens_in = tokens_out = 0
    usd = usd_batched = 0.0
    unpriced: set[str] = set()
    models: set[str] = set()
    upper = False
    for request, vote, most in requests:
        models.add(request.model)
        votes += most
        key = request.key(vote)
        there = key in stored.keys or key in asked
        asked.add(key)
        answered += there
        left = most - there
        if not left:
            continue
        calls += left
        known = stored.mean_tokens(request.model)
        upper = upper or known is None
        sent, back = estimated_tokens(request) * left, (known or float(request.max_tokens)) * left
        tokens_in, tokens_out = tokens_in + round(sent), tokens_out + round(back)
        price, cheap = live.of(request.model), batched.of(request.model)
        if price is None or cheap is None:
            unpriced.add(request.model)
            continue
        usd += _dollars(price, sent, back)
        usd_batched += _dollars(cheap, sent, back)
    return ArmPlan(
        arm=name,
        prompted=True,
        votes=votes,
        answered=answered,
        calls=calls,
        models=tuple(sorted(models)),
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        output_from="at most: max_tokens for each" if upper else "mean of the stored answers",
        usd=None if unpriced else usd,
        usd_batched=None if unpriced else usd_batched,
        unpriced=tuple(sorted(unpriced)),
        minutes=_minutes(engine.limits, calls, tokens_in, tokens_out, seconds_per_call),
    )


def _minutes(limits: Limits, calls: int, sent: int, back: int, seconds_per_call: float) -> float:
    """How long calls take at the limits: the slowest of concurrency and rates decides."""
    minutes = calls * seconds_per_call / limits.concurrency / 60
    for amount, most in (
        (calls, limits.requests_per_minute),
        (sent, limits.input_tokens_per_minute),
        (back, limits.output_tokens_per_minute),
    ):
        minutes = max(minutes, amount / most if most else 0.0)
    return minutes


def _dollars(price: Price, sent: float, back: float) -> float:
    return (sent * price.input + back * price.output) / MILLION


def _minutes_of_all(specs: Sequence[VerifierSpec], plans: Sequence[ArmPlan]) -> float:
    """Arms that share an engine share its limits; engines work side by side."""
    by_engine: dict[str, float] = {}
    for spec, plan in zip(specs, plans, strict=True):
        if plan.prompted:
            identity = EngineSpec.of(spec).identity
            by_engine[identity] = by_engine.get(identity, 0.0) + plan.minutes
    return max(by_engine.values(), default=0.0)


def _sum(values: Iterable[float | None]) -> float | None:
    every = list(values)
    known = [value for value in every if value is not None]
    return sum(known) if len(known) == len(every) else None
