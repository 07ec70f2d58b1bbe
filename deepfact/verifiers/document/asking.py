"""One question of a step to the model, for one claim or several; and what it cost each of them.

Answers are matched by claim id, whatever their order. A claim that the answer leaves out, names
twice or rewords, or whose part of the answer fails a check, loses nothing but its place in the
group: it is asked about again alone, once. What is then still missing is a failed call with its
reason, never anything else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

from deepfact.core.vote_checks import span_of
from deepfact.errors import ConfigError
from deepfact.model_records import Message, Request
from deepfact.prompts.fence import unescape
from deepfact.prompts.library import Prompt, load_prompt
from deepfact.prompts.lint import lint_prompt
from deepfact.prompts.render import fill, variables
from deepfact.prompts.schema import why_not
from deepfact.providers.base import CallFailed
from deepfact.records import FailureReason, Usage
from deepfact.trace_records import TracedCall
from deepfact.verifiers.document.items import Asked
from deepfact.verifiers.panel.answers import UnreadableError, parse_object
from deepfact.verifiers.panel.asking import Asker, all_of
from deepfact.verifiers.panel.tally import total_usage

Values = Callable[[Sequence[Asked]], Mapping[str, str]]
"""The variables of a prompt for some of the claims, beside the claims themselves."""
Check = Callable[[str, Mapping[str, Any]], None]
"""Raises `CallFailed` when the answer about the claim of that id cannot stand."""
Answer = Mapping[str, Any]


@dataclass
class Account:
    """What a group may still ask, and what each of its claims has cost."""

    most: int
    """Calls, in all; repeats of unreadable answers are not counted."""
    started: int = 0
    calls: dict[str, list[TracedCall]] = field(default_factory=dict)
    shares: dict[str, list[Usage]] = field(default_factory=dict)
    """By the id under which a claim is asked about."""

    @property
    def left(self) -> int:
        """Calls that may still be made."""
        return self.most - self.started

    def book(self, asked: Sequence[str], call: TracedCall) -> None:
        """Divide a call among the claims that it was about, to the last token."""
        # Who pays what does not divide depends on the call, not on when its answer came.
        offset = crc32(f"{call.step} {call.about}".encode())
        for at, claim in enumerate(asked):
            self.calls.setdefault(claim, []).append(call)
            share = share_of(call.usage, len(asked), (at + offset) % len(asked))
            self.shares.setdefault(claim, []).append(share)

    def usage(self, claim: str) -> Usage:
        """What a claim has cost so far."""
        return total_usage(self.shares.get(claim, ()))


def share_of(usage: Usage, of: int, place: int) -> Usage:
    """One of ``of`` shares that add up to ``usage``; ``place`` is from 0."""

    def part(whole: int) -> int:
        return whole // of + (place < whole % of)

    return Usage(
        calls=part(usage.calls),
        input_tokens=part(usage.input_tokens),
        output_tokens=part(usage.output_tokens),
        usd=None if usage.usd is None else usage.usd / of,
    )


def step_prompts(
    steps: Sequence[str], named: Mapping[str, str], folder: str = ""
) -> dict[str, Prompt]:
    """The prompt of each step: the one that the options name, or the shipped one.

    Args:
        steps: such as ``document/plan``.
        named: prompt by step, the latter with or without what is before the slash.
        folder: of the user's own prompts, looked in first.

    Raises:
        ConfigError: no such step or prompt, one for another step, or one with errors.
    """
    full = {one.partition("/")[2]: one for one in steps} | {one: one for one in steps}
    for name in named:
        if name not in full:
            known = ", ".join(one.partition("/")[2] for one in steps)
            raise ConfigError(f"prompts: there is no step {name!r}", fix=f"known: {known}")
    wanted = {full[name]: reference for name, reference in named.items()}
    found = {}
    for step in steps:
        prompt = load_prompt(wanted.get(step, f"{step}/v1"), [folder] if folder else [])
        if prompt.front.step != step:
            raise ConfigError(
                f"{prompt.id} is not a prompt for the step {step}",
                where=str(prompt.path),
                fix=f"its front matter must say: step: {step}",
            )
        for problem in lint_prompt(prompt, prompt.id, {}):
            if problem.level == "error":
                raise ConfigError(problem.what, where=str(prompt.path), fix=problem.fix)
        found[step] = prompt
    return found


class StepAsker:
    """Asks the questions of a pipeline.

    Args:
        asker: through which engine, and how often an unreadable answer is asked for again.
        prompts: by step.
        model: id of the model.
        max_tokens: of the longest answer about one claim; a group's may be longer.
        temperature: the provider's own when None.
    """

    def __init__(
        self,
        asker: Asker,
        prompts: Mapping[str, Prompt],
        model: str,
        max_tokens: int,
        temperature: float | None,
    ) -> None:
        self.asker, self.prompts, self.model = asker, prompts, model
        self._max_tokens, self._temperature = max_tokens, temperature

    def request(self, step: str, values: Mapping[str, str], claims: int = 1) -> Request:
        """The request of a step.

        Args:
            values: the prompt's variables, escaped by whoever gives them.
            claims: how many it is about. Each further one gets half the room of the first.
        """
        prompt = self.prompts[step]
        used = set(variables(prompt.system + prompt.user))
        system, user = fill(prompt, {name: values[name] for name in values if name in used})
        return Request(
            model=self.model,
            system=system,
            messages=(Message(role="user", content=user),),
            max_tokens=self._max_tokens + (claims - 1) * (self._max_tokens // 2),
            temperature=self._temperature,
            output_schema=prompt.front.output_schema,
        )

    async def answers(
        self,
        step: str,
        asked: Sequence[Asked],
        values: Values,
        account: Account,
        *,
        check: Check = lambda *_: None,
        reserve: int = 0,
        about: str = "",
    ) -> tuple[dict[str, Answer], dict[str, CallFailed]]:
        """The answer about each claim, by id, and why there is none for the others.

        Args:
            step: such as ``document/plan``.
            asked: the claims; their ids differ.
            values: the prompt's variables for some of them.
            account: is told what it cost.
            check: raises for an answer that cannot stand.
            reserve: calls to be left over for later steps.
            about: what the question is about, for the trace.

        Raises:
            RunIncomplete, InputError: of the engine; the run cannot go on.
        """

        async def one(some: Sequence[Asked]) -> tuple[dict[str, Answer], dict[str, CallFailed]]:
            return await self._one(step, some, values(some), account, check, reserve, about)

        found, lost = await one(asked)
        if lost and len(asked) > 1:
            again = await all_of(one([each]) for each in asked if each.id in lost)
            for more, still in again:
                found |= more
                lost = {**{name: why for name, why in lost.items() if name not in more}, **still}
        return found, lost

    async def _one(
        self,
        step: str,
        asked: Sequence[Asked],
        values: Mapping[str, str],
        account: Account,
        check: Check,
        reserve: int,
        about: str,
    ) -> tuple[dict[str, Answer], dict[str, CallFailed]]:
        """One call about some claims."""
        if account.left <= reserve:
            spent = CallFailed(FailureReason.BUDGET, f"the {account.most} calls are spent")
            return {}, {one.id: spent for one in asked}
        account.started += 1
        prompt, used = self.prompts[step], list[Usage]()
        failed: FailureReason | None = None
        found: dict[str, Answer] = {}
        try:
            answers = await self.asker.readable(
                self.request(step, values, len(asked)), 0, lambda text: _read(text, prompt), used
            )
            found, lost = matched(asked, answers, check)
        except CallFailed as failure:
            failed, lost = failure.reason, {one.id: failure for one in asked}
        if len(asked) == 1 and lost:
            failed = next(iter(lost.values())).reason
        account.book(
            [one.id for one in asked],
            TracedCall(
                step=step,
                prompt=prompt.ref,
                claims=len(asked),
                about=about,
                usage=total_usage(used),
                failed=failed,
            ),
        )
        return found, lost


def _read(text: str, prompt: Prompt) -> list[Answer]:
    """The answers in a text, one for each claim that it names, in any order.

    Raises:
        UnreadableError: it is not the object that the prompt's schema asks for.
    """
    data = parse_object(text)
    if problem := why_not(data, prompt.front.output_schema):
        raise UnreadableError(problem)
    answers: list[Answer] = data["claims"]
    return answers


def matched(
    asked: Sequence[Asked], answers: Sequence[Answer], check: Check = lambda *_: None
) -> tuple[dict[str, Answer], dict[str, CallFailed]]:
    """Answers by the id that they name; a claim without exactly one that can stand gets none.

    An answer about nothing that was asked harms no other.
    """
    counted = Counter(answer["claim_id"] for answer in answers)
    by_id = {answer["claim_id"]: answer for answer in answers}
    found: dict[str, Answer] = {}
    lost: dict[str, CallFailed] = {}
    for one in asked:
        if not counted[one.id]:
            lost[one.id] = CallFailed(FailureReason.NO_ANSWER, "the answer leaves this claim out")
        elif counted[one.id] > 1:
            lost[one.id] = CallFailed(
                FailureReason.NO_ANSWER, f"{counted[one.id]} answers name this claim"
            )
        elif not _same(by_id[one.id]["claim"], one.text):
            words = by_id[one.id]["claim"][:120]
            lost[one.id] = CallFailed(
                FailureReason.WRONG_CLAIM, f"the answer rewords it: {words!r}"
            )
        else:
            try:
                check(one.id, by_id[one.id])
                found[one.id] = by_id[one.id]
            except CallFailed as failure:
                lost[one.id] = failure
    return found, lost


def _same(said: str, text: str) -> bool:
    """Equal after the normalisation of quotes, as it was shown or as it stands."""
    return any(
        one == text or (span_of(one, text) is not None and span_of(text, one) is not None)
        for one in (said, unescape(said))
    )
