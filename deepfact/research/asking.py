"""How the research steps ask a model: through the engine, every answer kept, failures told.

No step here judges an answer; a call without an answer is a `NoAnswer` with its reason.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from deepfact.errors import RunIncomplete
from deepfact.executors.engine import check_usable
from deepfact.model_records import Request
from deepfact.providers.base import CallFailed
from deepfact.records import FailureReason, Record
from deepfact.verifiers.panel.engine import OwnEngine


class ModelSpec(Record):
    """A YAML file that names who is asked: provider, model, and where answers are kept."""

    model: str = Field(min_length=1)
    provider: dict[str, Any]
    """``kind`` and ``options``."""
    responses: str = Field(min_length=1)
    """File of the response store: what was paid for once is not paid for again."""
    max_tokens: int = Field(default=4096, ge=1)
    replay: bool = False


class NoAnswer(Exception):
    """No usable answer, with the reason."""

    def __init__(self, reason: FailureReason, detail: str) -> None:
        self.reason, self.detail = reason, detail
        super().__init__(f"{reason}: {detail}")


def ask_all(spec: ModelSpec, requests: Sequence[Request]) -> list[str | NoAnswer]:
    """The texts of the answers, in the order of the requests; or why there is none.

    Raises:
        RunIncomplete: answers will come later; every request has been made.
        DeepFactError: no call can succeed; the spec does not fit.
    """

    async def ask() -> list[Any]:
        own = OwnEngine(spec.provider, spec.responses, replay=spec.replay)
        try:
            engine = own.open()
            calls = (engine.ask(request) for request in requests)
            return await asyncio.gather(*calls, return_exceptions=True)
        finally:
            await own.aclose()

    answers: list[str | NoAnswer] = []
    stopping: list[BaseException] = []
    for made in asyncio.run(ask()):
        try:
            if isinstance(made, BaseException):
                raise made
            answers.append(check_usable(made).text)
        except CallFailed as failure:
            answers.append(NoAnswer(failure.reason, failure.detail))
        except Exception as error:
            stopping.append(error)
    # What stops a run is told before what only leaves it incomplete.
    stopping.sort(key=lambda error: isinstance(error, RunIncomplete))
    if stopping:
        raise stopping[0]
    return answers


def prompt_text(name: str) -> str:
    """A prompt of this package."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
