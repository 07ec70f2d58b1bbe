"""The whole pipeline over real HTTP, with faults: every claim has one outcome, nothing is lost."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from document_kit import CLAIMS, LABELS, SOURCES, TABLE, labels
from document_steps import StepJudge, answer_of

from deepfact.executors.local import run_verifier
from deepfact.run_records import VerifierSpec
from deepfact.verifiers.base import Context, build_verifier
from deepfact.verifiers.document.tracing import read_traces

sys.path.insert(0, str(Path(__file__).parents[2] / "servers"))
from messages_server import Faults, MessagesServer

LIMITS = {"attempts": 8, "backoff": 0.01, "max_backoff": 0.02}


def over_http(kind: str, folder: Path, server: MessagesServer, **limits: Any) -> list[Any]:
    spec = VerifierSpec(
        kind=kind,
        options={
            "provider": {"kind": "anthropic", "options": {"base_url": server.url}},
            "model": "stand-in",
            "limits": {**LIMITS, **limits},
        },
    )
    verifier = build_verifier(spec, workspace=folder)
    found = {
        one.claim_id: one for one in run_verifier(verifier, CLAIMS, Context(SOURCES), name=kind)
    }
    return [found[one.id] for one in CLAIMS]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "no-key-is-needed-here")


@pytest.mark.parametrize("kind", ["document", "grouped"])
def test_labels_under_faults_and_a_second_run_that_pays_nothing(kind: str, tmp_path: Path) -> None:
    faults = Faults(shares={"429": 0.1, "529": 0.1, "malformed": 0.05}, deck=40)
    with MessagesServer(answer_of(StepJudge(TABLE)), faults=faults) as server:
        first = over_http(kind, tmp_path, server)
        assert labels(first) == LABELS
        calls = server.calls
        assert over_http(kind, tmp_path, server) == first
        assert server.calls == calls
    assert set(read_traces(tmp_path / "traces.jsonl")) == {one.id for one in CLAIMS}


@pytest.mark.parametrize("kind", ["document", "grouped", "safe", "veriscore", "factcheck-gpt"])
def test_when_every_call_fails_nothing_has_a_label(kind: str, tmp_path: Path) -> None:
    with MessagesServer(faults=Faults(always="529")) as server:
        found = over_http(kind, tmp_path, server, attempts=2)
    assert {one.kind for one in found} == {"failure"}
