"""The agent auditor: a model decides a blind case, n times over, and the votes are counted.

It sees the case and the benchmark's sources and nothing else: no key, no label but the two
sides', no id that could say what the case is for. Before it decides it may search the sources a
few times, by answering with queries; each time it is asked again with the passages that were
found. Like a panel's votes, each answer is checked, durable before it counts, and an abstention
when it fails. Too few valid votes, or votes that disagree, are "cannot tell", never a decision.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deepfact.auditors.agent.answers import Judged, cast_judged, read_judged
from deepfact.auditors.agent.material import CaseMaterial, material_for, search_for
from deepfact.core.deciding import Together, named_kind, together
from deepfact.core.vote_checks import DEFAULT
from deepfact.errors import ConfigError
from deepfact.executors.budget import Budget
from deepfact.executors.limits import Limits
from deepfact.executors.pricing import Price
from deepfact.model_records import Message, Request
from deepfact.prompts.cases import render_case
from deepfact.prompts.library import Move, load_prompt
from deepfact.prompts.render import Shown
from deepfact.providers.base import CallFailed
from deepfact.records import (
    Abstention,
    Adjudication,
    AuditVote,
    Case,
    Decision,
    Deliberation,
    FailureReason,
    Usage,
    canonical_json,
)
from deepfact.run_records import TogetherRule
from deepfact.verifiers.base import Context
from deepfact.verifiers.panel.asking import Asker, Asks, all_of, lost
from deepfact.verifiers.panel.ballot import Seat, asked_of, checked_levels
from deepfact.verifiers.panel.engine import OwnEngine
from deepfact.verifiers.panel.tally import total_usage
from deepfact.verifiers.panel.verifier import ask_id, refuse_broken


class AgentAuditor:
    """Decides blind cases by the votes of a prompted model.

    Args:
        name: shown on its adjudications.
        context: the benchmark's sources, and the search over them.
        model: id of the model, as the provider knows it.
        provider: ``kind`` and options of the provider.
        prompt: ``role/name/vN``, ``role/name`` for the newest version, or a ``.md`` path.
        votes: how many.
        rule: how many valid votes must hold a label: ``majority`` or ``unanimous``.
        valid: fewest valid votes for any decision; more than half when left out.
        searches: how often each vote may search the sources before it decides.
        passages: at most so many passages for each query.
        search: at most so many sources that nobody named are shown from the start.
        source_chars: characters of source text in the first request, in all.
        max_tokens: longest answer, in tokens.
        temperature: the provider's own when None.
        checks: what a failed check costs: ``abstain`` or ``flag``, by name of the check.
        reask: how often an unreadable answer is asked for again.
        prompt_folder: folder of the user's own prompts, looked in first.
        responses: file of the response store; ``responses.sqlite`` in the workspace if left out.
        limits: bounds on its calls.
        budget: the most that it may spend.
        prices: US dollars per million tokens by model id.
        replay: never call out.
        workspace: folder of the run, when there is one.

    Raises:
        ConfigError: an option that cannot be.
    """

    def __init__(
        self,
        name: str,
        context: Context,
        model: str,
        provider: dict[str, Any],
        prompt: str = "auditor/judge/v1",
        votes: int = 3,
        rule: TogetherRule = TogetherRule.MAJORITY,
        valid: int | None = None,
        searches: int = 2,
        passages: int = 4,
        search: int = 1,
        source_chars: int = 24_000,
        max_tokens: int = 2048,
        temperature: float | None = None,
        checks: dict[str, str] | None = None,
        reask: int = 1,
        prompt_folder: str = "",
        responses: str = "",
        limits: Limits | None = None,
        budget: Budget | None = None,
        prices: dict[str, Price] | None = None,
        replay: bool = False,
        workspace: Path | None = None,
    ) -> None:
        self.valid = votes // 2 + 1 if valid is None else valid
        _check_numbers(
            votes=(votes, 1, 99), valid=(self.valid, 1, votes), searches=(searches, 0, 10),
            passages=(passages, 1, 50), search=(search, 0, 50), reask=(reask, 0, 10),
            source_chars=(source_chars, 200, 10**7), max_tokens=(max_tokens, 1, 10**6),
        )  # fmt: skip
        self.name, self.rule, self.searches = name, TogetherRule(rule), searches
        self.prompt = load_prompt(prompt, [prompt_folder] if prompt_folder else [])
        refuse_broken(self.prompt, "auditor")
        self._context = context
        self._levels = checked_levels(checks or {}, DEFAULT)
        self._seats = [Seat(index, model, "", self.prompt.ref) for index in range(votes)]
        self._search, self._source_chars, self._passages = search, source_chars, passages
        self._max_tokens, self._temperature = max_tokens, temperature
        if not responses and workspace is not None:
            responses = str(workspace / "responses.sqlite")
        self.responses = responses
        own = OwnEngine(provider, responses, limits, budget, prices, replay)
        self._asker = Asker(own, None, reask=reask)

    @property
    def asks(self) -> str:
        """Everything that its answers depend on, as text: two agents with the same would get the
        same stored answers, and count one judge twice."""
        parts = [self._seats[0].model, self.prompt.hash, self._temperature, self._max_tokens]
        return canonical_json(
            [*parts, self._search, self._source_chars, self.searches, self.responses]
        )

    def use(self, engine: Asks) -> None:
        """Ask through this engine from now on."""
        self._asker.use(engine)

    async def aclose(self) -> None:
        """Close the engine of its own, when it made one."""
        await self._asker.aclose()

    async def adjudicate(self, case: Case) -> Adjudication:
        """The decision on one case.

        Raises:
            RunIncomplete: answers are missing or pending; every vote has been asked for.
            DeepFactError: no call of this run can succeed.
        """
        material = self._material(case)
        if not material.shown:
            reason = "no source that the case names is there, and a search found none"
            return self._undecided(case, reason, (), (), material.flags)
        ballots = await all_of(self._ballot(case, material, seat) for seat in self._seats)
        return self._counted(
            case,
            [one for one in ballots if isinstance(one, AuditVote)],
            [one for one in ballots if isinstance(one, Abstention)],
            material.flags,
        )

    def requests(self, case: Case) -> list[tuple[Request, int]]:
        """The requests, with vote numbers, that `adjudicate` starts with, for plans; after each
        may come as many as there are searches."""
        material = self._material(case)
        if not material.shown:
            return []
        request = self._request(case, material, material.shown, (), self._seats[0])
        return [(request, seat.index) for seat in self._seats]

    # --- votes ---------------------------------------------------------------------------

    def _material(self, case: Case) -> CaseMaterial:
        return material_for(case, self._context, search=self._search, characters=self._source_chars)

    async def _ballot(
        self, case: Case, material: CaseMaterial, seat: Seat
    ) -> AuditVote | Abstention:
        """One vote: it is asked again after each search, until it decides."""
        used: list[Usage] = []
        shown, queries = material.shown, tuple[str, ...]()
        for left in range(self.searches, -1, -1):
            request = self._request(case, material, shown, queries, seat, left=left)
            try:
                judged = await self._asker.readable(request, seat.index, self._read, used)
            except CallFailed as failure:
                return lost(seat, failure, used)
            if judged.move is not Move.SEARCH:
                return cast_judged(
                    judged,
                    case,
                    asked_of(case.claim, ask_id(case.claim), shown),
                    shown,
                    levels=self._levels,
                    seat=seat,
                    usage=total_usage(used),
                    queries=queries,
                )
            queries += judged.queries
            shown += search_for(judged.queries, self._context, shown, passages=self._passages)
        problem = "it asked for another search when none was left"
        return lost(seat, CallFailed(FailureReason.NO_ANSWER, problem), used)

    def _read(self, text: str) -> Judged:
        return read_judged(text, self.prompt)

    def _request(
        self,
        case: Case,
        material: CaseMaterial,
        shown: Sequence[Shown],
        queries: Sequence[str],
        seat: Seat,
        *,
        left: int | None = None,
    ) -> Request:
        system, user = render_case(
            self.prompt,
            case,
            claim_id=ask_id(case.claim),
            sources=shown,
            quoted=material.quoted,
            queries=queries,
            searches_left=self.searches if left is None else left,
        )
        return Request(
            model=seat.model,
            system=system,
            messages=(Message(role="user", content=user),),
            max_tokens=self._max_tokens,
            temperature=self._temperature,
            output_schema=self.prompt.front.output_schema,
        )

    # --- counting ------------------------------------------------------------------------

    def _counted(
        self,
        case: Case,
        votes: Sequence[AuditVote],
        abstentions: Sequence[Abstention],
        flags: tuple[str, ...],
    ) -> Adjudication:
        """What the votes come to. The reason is a vote's own, word for word."""
        found = together(
            [vote.label for vote in votes],
            rule=self.rule,
            least=self.valid,
            of=len(self._seats),
        )
        if found.label is None:
            undecided = [vote for vote in votes if vote.label is None]
            all_alike = len(votes) >= self.valid and len(undecided) == len(votes)
            reason = undecided[0].rationale if all_alike else _why(found, abstentions)
            return self._undecided(case, reason, votes, abstentions, flags, found)
        agreeing = [vote for vote in votes if vote.label is found.label]
        first = agreeing[0]
        return Adjudication(
            case_id=case.id,
            auditor=self.name,
            decision=first.decision,
            label=first.label if first.decision is Decision.NEITHER else None,
            rationale=first.rationale,
            evidence=tuple(dict.fromkeys(one for vote in agreeing for one in vote.evidence)),
            contradictions=tuple(
                dict.fromkeys(vote.contradiction for vote in agreeing if vote.contradiction)
            ),
            deliberation=self._deliberation(found, votes, abstentions, flags),
            divergence=named_kind([vote.divergence for vote in agreeing]),
        )

    def _undecided(
        self,
        case: Case,
        reason: str,
        votes: Sequence[AuditVote],
        abstentions: Sequence[Abstention],
        flags: tuple[str, ...],
        found: Together | None = None,
    ) -> Adjudication:
        found = found or Together(None, False, "nobody was asked")
        return Adjudication(
            case_id=case.id,
            auditor=self.name,
            decision=Decision.CANNOT_TELL,
            rationale=reason,
            deliberation=self._deliberation(found, votes, abstentions, flags),
            divergence=named_kind([vote.divergence for vote in votes]),
        )

    def _deliberation(
        self,
        found: Together,
        votes: Sequence[AuditVote],
        abstentions: Sequence[Abstention],
        flags: tuple[str, ...],
    ) -> Deliberation:
        return Deliberation(
            rule=f"{self.rule} of at least {self.valid} valid votes",
            count=found.words,
            split=found.split,
            votes=tuple(votes),
            abstentions=tuple(abstentions),
            flags=flags,
            usage=total_usage([one.usage for one in votes] + [one.usage for one in abstentions]),
        )


def _why(found: Together, abstentions: Sequence[Abstention]) -> str:
    counted = Counter(one.reason.value for one in abstentions)
    reasons = ", ".join(f"{n} {reason}" for reason, n in sorted(counted.items()))
    return f"the votes come to no label: {found.words}; abstentions: {reasons or 'none'}"


def _check_numbers(**numbers: tuple[int, int, int]) -> None:
    for name, (value, low, high) in numbers.items():
        if not low <= value <= high:
            raise ConfigError(f"option {name!r}: {value} is not from {low} to {high}")
