"""A panel over real HTTP while the server fails: every claim ends in exactly one outcome.

After anthropics/claude-code #71870 and #72383: a burst of rate limits made every vote fail, and
the tally 0-0 was reported as "all claims refuted".
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from rule_following import Passage, RuleFollowingJudge

from deepfact.executors.local import run_verifier
from deepfact.model_records import Message, Request
from deepfact.records import Claim, Outcome, PanelOutcome, Source
from deepfact.run_records import VerifierSpec
from deepfact.verifiers.base import Context, build_verifier

sys.path.insert(0, str(Path(__file__).parents[2] / "servers"))

from messages_server import Faults, MessagesServer

CLAIMS = 1000
LIMITS: dict[str, Any] = {"concurrency": 50, "backoff": 0.01, "max_backoff": 0.05}


def mills(count: int) -> tuple[list[Claim], Context, RuleFollowingJudge]:
    """So many claims, each borne out by its source, but every tenth disputed by it; and a judge
    that can read these sources."""
    claims, sources, passages = [], {}, []
    for number in range(count):
        text = f"Mill {number} ground {number + 100} sacks."
        wrong = number % 10 == 0
        told = f"Mill {number} ground {number + (7 if wrong else 100)} sacks."
        source = Source.create(title=f"Mill {number}", text=told)
        sources[source.id] = source
        claims.append(Claim(id=f"c{number}", text=text, cites=(source.id,)))
        does, disputed = ("disputes", f"{number + 100} sacks") if wrong else ("supports", "")
        passages.append(Passage(text, told, does, disputed=disputed))
    return claims, Context(sources), RuleFollowingJudge(passages)


def outcomes(
    faults: Faults, count: int, folder: Path, monkeypatch: pytest.MonkeyPatch, **limits: Any
) -> tuple[list[Outcome], MessagesServer]:
    """What a panel of one vote concludes while the server fails like that."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none-is-needed-here")
    claims, context, judge = mills(count)

    def answer(body: dict[str, Any]) -> str:
        system = "".join(block["text"] for block in body["system"])
        messages = tuple(Message(role="user", content=one["content"]) for one in body["messages"])
        return judge.answer(Request(model=body["model"], system=system, messages=messages))

    with MessagesServer(answer, faults=faults, keep=False) as server:
        spec = VerifierSpec(
            kind="panel",
            options={
                "provider": {"kind": "anthropic", "options": {"base_url": server.url}},
                "model": "stand-in",
                "votes": 1,
                "rule": "single",
                "search": 0,
                "limits": {**LIMITS, **limits},
            },
        )
        panel = build_verifier(spec, workspace=folder)
        return list(run_verifier(panel, claims, context, name="panel", concurrency=50)), server


def counted(found: list[Outcome]) -> Counter[str]:
    return Counter(str(outcome.panel or PanelOutcome.UNVERIFIED) for outcome in found)


def test_a_thousand_claims_all_end_confirmed_or_refuted_under_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = {"429": 0.05, "429-after": 0.05, "529": 0.05, "malformed": 0.02}
    faults = Faults(shares=shares, first=CLAIMS, retry_after=0.02)
    found, server = outcomes(faults, CLAIMS, tmp_path, monkeypatch)
    assert len(found) == len({outcome.claim_id for outcome in found}) == CLAIMS
    assert counted(found) == {"confirmed": 900, "refuted": 100}
    assert server.calls <= 1200


def test_when_every_call_fails_all_is_unverified_and_nothing_refuted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, server = outcomes(Faults(always="529"), 40, tmp_path, monkeypatch, attempts=2)
    assert counted(found) == {"unverified": 40}
    assert {outcome.kind for outcome in found} == {"failure"}
    assert server.calls == 80
