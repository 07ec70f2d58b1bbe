"""Provider ``scripted``: a fake that answers from a script, for tests and for trying a config.

It sees exactly what a model would see, the rendered request, and nothing else. It says so in
the model name of every answer, so that no report can mistake it for a model.
"""

from __future__ import annotations

import asyncio
from collections import deque
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping

from deepfact.errors import ConfigError
from deepfact.model_records import Completion, Request
from deepfact.providers.base import CallFailed, ProviderRefused
from deepfact.records import FailureReason, Record
from deepfact.store.files import read_jsonl

Script = Callable[[Request], "Completion | str"]


class ScriptedRule(Record):
    """One line of a script file: when the request contains ``when``, answer ``say``."""

    when: str = ""
    """Looked for in the system prompt and the turns; the empty text fits every request."""
    say: str = ""
    stop_reason: str = "end_turn"
    fail: FailureReason | None = None
    """Fail with this reason instead of answering."""


class ScriptedProvider:
    """Answers by a script.

    Args:
        path: JSON Lines of `ScriptedRule`; the first that fits a request answers it.
        answer: the answer to every request, when there is no ``path``.
        seconds: how long an answer takes.
    """

    price_provider = None
    telemetry_name = "scripted"

    def __init__(self, path: Path | None = None, answer: str = "", seconds: float = 0.0) -> None:
        if path is None and not answer:
            raise ConfigError("a scripted provider needs a path or an answer")
        self._rules = list(read_jsonl(path, ScriptedRule)) if path else [ScriptedRule(say=answer)]
        self._seconds = seconds
        self._script: Script | None = None
        self._queue: deque[Any] | None = None
        self.requests: list[Request] = []
        """Every request that was sent here, in order."""

    @classmethod
    def of(cls, script: Script | Iterable[Any], *, seconds: float = 0.0) -> ScriptedProvider:
        """A provider that asks a function, or gives out answers and errors one by one.

        Args:
            script: called with each request; or completions, texts and exceptions, each used
                once and in order.
            seconds: how long an answer takes.
        """
        provider = cls(answer="unused", seconds=seconds)
        if callable(script):
            provider._script = script
        else:
            provider._queue = deque(script)
        return provider

    async def complete(self, request: Request) -> Completion:
        """As `deepfact.providers.base.Provider`."""
        self.requests.append(request)
        await asyncio.sleep(self._seconds)
        answer = self._next(request)
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, Completion):
            return answer
        return scripted_completion(request, answer)

    async def aclose(self) -> None:
        """Nothing to close."""

    def _next(self, request: Request) -> Any:
        if self._script is not None:
            return self._script(request)
        if self._queue is not None:
            if not self._queue:
                raise ProviderRefused("the script has no further answer")
            return self._queue.popleft()
        seen = "\n".join([request.system, *(turn.content for turn in request.messages)])
        for rule in self._rules:
            if rule.when in seen:
                if rule.fail is not None:
                    return CallFailed(rule.fail, "as the script says")
                return scripted_completion(request, rule.say, stop_reason=rule.stop_reason)
        raise CallFailed(FailureReason.NO_ANSWER, "no rule of the script fits this request")


def scripted_completion(
    request: Request, text: str, *, stop_reason: str = "end_turn"
) -> Completion:
    """An answer with token counts of four characters a token, as a stand-in for real ones."""
    characters: Mapping[str, int] = {
        "in": len(request.system) + sum(len(turn.content) for turn in request.messages),
        "out": len(text),
    }
    return Completion(
        text=text,
        stop_reason=stop_reason,
        model=f"scripted:{request.model}",
        input_tokens=characters["in"] // 4,
        output_tokens=characters["out"] // 4,
    )
