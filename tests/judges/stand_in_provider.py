"""The rule-following stand-in as a provider of a third party: ``kind: stand-in``.

For end-to-end tests that run processes of their own. Counts calls in a file, takes as long as it
is told to, and fails as it is told to.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
from pathlib import Path

from rule_following import RuleFollowingJudge, passages_of

from deepfact.model_records import Completion, Request
from deepfact.providers.base import CallFailed, ProviderRefused
from deepfact.records import FailureReason
from deepfact.store.locate import load_version


class StandInProvider:
    """Answers like the judge, from the key of a benchmark.

    Args:
        benchmark: ``name@version``; its author's key is what the judge can read.
        seconds: how long an answer takes.
        calls: a file that gets one byte a call.
        fail: share of calls that fail, drawn anew for each call.
        refuse: refuse every call, as with an unknown model.
        noise: share of answers to the one question that refute what they would not.
    """

    price_provider = ""

    def __init__(
        self,
        benchmark: str,
        seconds: float = 0.0,
        calls: str = "",
        fail: float = 0.0,
        refuse: bool = False,
        noise: float = 0.0,
    ) -> None:
        version = load_version(benchmark)
        self._judge = RuleFollowingJudge(passages_of(version.claims, version.store.key("author")))
        self._seconds, self._calls, self._fail = seconds, calls, fail
        self._refuse, self._noise = refuse, noise
        self._draw = random.Random(5)

    async def complete(self, request: Request) -> Completion:
        if self._calls:
            file = os.open(Path(self._calls), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(file, b".")
            os.close(file)
        await asyncio.sleep(self._seconds)
        if self._refuse:
            raise ProviderRefused(f"there is no model {request.model!r}")
        if self._draw.random() < self._fail:
            raise CallFailed(FailureReason.RATE_LIMITED, "too many requests")
        completion = await self._judge.complete(request)
        if self._draw.random() < self._noise:
            answer = json.loads(completion.text)
            if answer.get("refuted") is False:
                answer |= {"refuted": True, "grounds": "not_supported_by_quote", "evidence": []}
            completion = completion.model_copy(update={"text": json.dumps(answer)})
        return completion

    async def aclose(self) -> None:
        pass
