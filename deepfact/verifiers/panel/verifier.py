"""The panel verifier: asks a model n times about a claim and counts the votes.

It calls a model through an engine and nothing else; it sees no label and no key. A vote that
fails in any way is an abstention. Errors that concern the run (budget, refused key, answers
that a replay lacks or a batch still owes) are raised once every vote has been asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Sequence

from deepfact.core.panel import fewest_to_settle, is_settled, parse_rule
from deepfact.core.vote_checks import DEFAULT
from deepfact.errors import ConfigError
from deepfact.executors.budget import Budget
from deepfact.executors.limits import Limits
from deepfact.executors.pricing import Price
from deepfact.model_records import Message, Request
from deepfact.prompts.library import Prompt, load_prompt
from deepfact.prompts.lint import lint_prompt
from deepfact.prompts.render import Shown, render
from deepfact.providers.base import CallFailed
from deepfact.records import (
    Abstention,
    Claim,
    FailureReason,
    Usage,
    Verdict,
    VerificationFailure,
    Vote,
    sha256_of,
)
from deepfact.verifiers.base import Context
from deepfact.verifiers.panel.answers import read_answer
from deepfact.verifiers.panel.asking import REASK, Asker, Asks, all_of, lost
from deepfact.verifiers.panel.ballot import Seat, asked_of, cast, checked_levels
from deepfact.verifiers.panel.engine import OwnEngine
from deepfact.verifiers.panel.material import gather
from deepfact.verifiers.panel.tally import tally, total_usage


class PanelVerifier:
    """Verifies a claim by the votes of a prompted model.

    Args:
        provider: ``kind`` and options of the provider, for an engine of its own.
        model: id of the model; as the provider knows it.
        prompt: ``role/name/vN``, ``role/name`` for the newest version, or a ``.md`` path.
        votes: how many.
        rule: ``default``, ``single``, ``any-refutes``, or such as ``valid>=3, refute>=2``.
        early_stop: ask no further vote once the outcome cannot change.
        personas: texts put into the prompt, one per vote, in turn.
        models: models to use instead of ``model``, one per vote, in turn.
        max_tokens: longest answer, in tokens.
        temperature: the provider's own when None.
        checks: what a failed check costs: ``abstain`` or ``flag``, by name of the check.
        reask: how often an unreadable answer is asked for again.
        search: at most so many sources beyond those that the claim cites.
        source_chars: characters of source text in one request, in all.
        prompt_folder: folder of the user's own prompts, looked in first.
        responses: file of the response store, for an engine of its own; ``responses.sqlite`` in
            the workspace when left out.
        limits: bounds on its calls.
        budget: the most that it may spend.
        prices: US dollars per million tokens by model id.
        replay: never call out.
        engine: answers requests, instead of one of its own; whoever gives it closes it.
        workspace: folder of the run, when there is one.

    Raises:
        ConfigError: an option that cannot be.
    """

    def __init__(
        self,
        model: str,
        provider: dict[str, Any] | None = None,
        prompt: str = "verifier/split/v1",
        votes: int = 3,
        rule: str = "default",
        early_stop: bool = False,
        personas: tuple[str, ...] = (),
        models: tuple[str, ...] = (),
        max_tokens: int = 2048,
        temperature: float | None = None,
        checks: dict[str, str] | None = None,
        reask: int = 1,
        search: int = 2,
        source_chars: int = 24_000,
        prompt_folder: str = "",
        responses: str = "",
        limits: Limits | None = None,
        budget: Budget | None = None,
        prices: dict[str, Price] | None = None,
        replay: bool = False,
        engine: Asks | None = None,
        workspace: Path | None = None,
    ) -> None:
        numbers = {"votes": (votes, 1, REASK), "reask": (reask, 0, 10), "search": (search, 0, 50)}
        for name, (value, low, high) in numbers.items():
            if not low <= value <= high:
                raise ConfigError(f"option {name!r}: {value} is not from {low} to {high}")
        if source_chars < 200 or max_tokens < 1:
            raise ConfigError("source_chars is at least 200 and max_tokens at least 1")
        self.prompt = load_prompt(prompt, [prompt_folder] if prompt_folder else [])
        refuse_broken(self.prompt, "verifier")
        self.rule = parse_rule(rule, votes)
        self.provider = provider or {}
        self._levels = checked_levels(checks or {}, DEFAULT)
        self._seats = [
            Seat(
                index=index,
                model=models[index % len(models)] if models else model,
                persona=personas[index % len(personas)] if personas else "",
                prompt=self.prompt.ref,
            )
            for index in range(votes)
        ]
        self._early_stop = early_stop
        self._search, self._source_chars = search, source_chars
        self._max_tokens, self._temperature = max_tokens, temperature
        if not responses and workspace is not None:
            responses = str(workspace / "responses.sqlite")
        own = OwnEngine(self.provider, responses, limits, budget, prices, replay)
        self._asker = Asker(own, engine, reask=reask)
        if personas:  # a prompt without a place for them is found out now, not at the first call
            render(self.prompt, claim_id="c", claim="c", context="", sources=(), persona="p")

    def use(self, engine: Asks) -> None:
        """Ask through this engine from now on."""
        self._asker.use(engine)

    async def verify(self, claim: Claim, context: Context) -> Verdict | VerificationFailure:
        """What the panel concludes on ``claim``.

        Raises:
            RunIncomplete: answers are missing or pending; every vote has been asked for.
            DeepFactError: no call of this run can succeed.
        """
        material = gather(claim, context, search=self._search, characters=self._source_chars)
        if not material.shown:
            return VerificationFailure(
                claim_id=claim.id,
                reason=FailureReason.NO_SOURCE,
                detail="no source that the claim cites is there, and a search found none",
                flags=material.flags,
            )
        ballots = await self._ballots(claim, material.shown)
        flags = list(material.flags)
        if len(ballots) < len(self._seats):
            flags.append(f"stopped_early:{len(ballots)} of {len(self._seats)}")
        return tally(
            claim,
            [ballot for ballot in ballots if isinstance(ballot, Vote)],
            [ballot for ballot in ballots if isinstance(ballot, Abstention)],
            rule=self.rule,
            sources={one.source.id: one.source for one in material.shown},
            prompt=self.prompt.ref,
            flags=flags,
        )

    def requests(self, claim: Claim, context: Context) -> list[tuple[Request, int]]:
        """The requests, with vote numbers, that `verify` starts with: for plans and batches."""
        shown = gather(claim, context, search=self._search, characters=self._source_chars).shown
        if not shown:
            return []
        return [(request, vote) for vote, request in enumerate(self._requests(claim, shown))]

    async def aclose(self) -> None:
        """Close the engine of its own, when it made one."""
        await self._asker.aclose()

    # --- votes ---------------------------------------------------------------------------

    async def _ballots(self, claim: Claim, shown: Sequence[Shown]) -> list[Vote | Abstention]:
        """The ballots in the order of the seats: all at once, or as few as it takes."""
        ballots: list[Vote | Abstention] = []
        requests = self._requests(claim, shown)
        while len(ballots) < len(self._seats):
            remaining = len(self._seats) - len(ballots)
            votes = [ballot for ballot in ballots if isinstance(ballot, Vote)]
            if self._early_stop and ballots and is_settled(votes, remaining, self.rule):
                break
            size = remaining
            if self._early_stop:
                size = max(1, fewest_to_settle(votes, remaining, self.rule))
            wave = self._seats[len(ballots) : len(ballots) + size]
            ballots += await all_of(
                self._ballot(claim, shown, seat, requests[seat.index]) for seat in wave
            )
        return ballots

    async def _ballot(
        self, claim: Claim, shown: Sequence[Shown], seat: Seat, request: Request
    ) -> Vote | Abstention:
        """One vote, asked for again while its answer cannot be read and repeats are left."""
        used: list[Usage] = []
        try:
            answer = await self._asker.readable(
                request, seat.index, lambda text: read_answer(text, self.prompt), used
            )
        except CallFailed as failure:
            return lost(seat, failure, used)
        return cast(
            answer,
            asked_of(claim, ask_id(claim), shown),
            shown,
            levels=self._levels,
            seat=seat,
            usage=total_usage(used),
        )

    def _requests(self, claim: Claim, shown: Sequence[Shown]) -> list[Request]:
        """One request per seat; seats that differ in nothing but their number share one."""
        made: dict[tuple[str, str], Request] = {}
        for seat in self._seats:
            who = (seat.model, seat.persona)
            made[who] = made.get(who) or self._request(claim, shown, seat)
        return [made[seat.model, seat.persona] for seat in self._seats]

    def _request(self, claim: Claim, shown: Sequence[Shown], seat: Seat) -> Request:
        system, user = render(
            self.prompt,
            claim_id=ask_id(claim),
            claim=claim.text,
            context=claim.context,
            sources=shown,
            persona=seat.persona,
        )
        return Request(
            model=seat.model,
            system=system,
            messages=(Message(role="user", content=user),),
            max_tokens=self._max_tokens,
            temperature=self._temperature,
            output_schema=self.prompt.front.output_schema,
        )


def refuse_broken(prompt: Prompt, role: str) -> None:
    """A prompt with a lint error, or for other work, must not cost a single call.

    Raises:
        ConfigError: it is one.
    """
    if prompt.role != role:
        raise ConfigError(
            f"{prompt.id} is not a prompt of role {role}",
            where=str(prompt.path),
            fix=f"name one of role {role}: see deepfact prompts list",
        )
    for problem in lint_prompt(prompt, prompt.id, {}):
        if problem.level == "error":
            raise ConfigError(problem.what, where=str(prompt.path), fix=problem.fix)


def ask_id(claim: Claim) -> str:
    """The id under which a model is asked about a claim: of its words, not of its place.

    It gives nothing away of the benchmark, and a claim that stands there twice with the same
    sources is the same request, so it is paid for once.
    """
    return f"c-{sha256_of(claim.text + chr(0) + claim.context)[7:19]}"
