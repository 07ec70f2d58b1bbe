"""What a round does with an auditor that breaks, answers about another case, or misquotes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from deepfact.api import run_round
from deepfact.auditors.policy import PolicyAuditor
from deepfact.errors import DeepFactError
from deepfact.records import Adjudication, Case, Evidence, Stance

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A round on deepfact-practice, audited by a simulation."""
    monkeypatch.chdir(tmp_path)
    spec = {
        "name": "trial",
        "benchmark": "deepfact-practice@1",
        "challenger": {"kind": "overlap"},
        "auditors": ["simulated-expert"],
        "commit_to": "run",
        "controls": {"agreed": 0.0, "microgold": 0.0},
    }
    path = tmp_path / "trial.yaml"
    path.write_text(yaml.safe_dump(spec), encoding="utf-8")
    return path


def go(config: Path) -> Any:
    return run_round(config, root=ROOT / "benchmarks", auditors=ROOT / "auditors")


def test_one_that_breaks_stops_the_run_and_loses_nothing(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adjudicate, asked = PolicyAuditor.adjudicate, 0

    def breaks(self: PolicyAuditor, case: Case) -> Adjudication:
        nonlocal asked
        asked += 1
        if asked == 4:
            raise ZeroDivisionError("no cases left to divide by")
        return adjudicate(self, case)

    monkeypatch.setattr(PolicyAuditor, "adjudicate", breaks)
    with pytest.raises(
        DeepFactError, match="'simulated-expert' failed: ZeroDivisionError"
    ) as error:
        go(config)
    assert error.value.where.startswith("case r1-")
    record = go(config)
    cases = len(record.rounds[0].cases)
    assert cases > 4 and len(record.rounds[0].adjudications) == cases
    assert asked == cases + 1  # the one that broke was asked again, the three before were not


def test_one_that_answers_about_another_case_is_not_believed(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adjudicate = PolicyAuditor.adjudicate

    def strays(self: PolicyAuditor, case: Case) -> Adjudication:
        return adjudicate(self, case).model_copy(update={"case_id": "r9-0001"})

    monkeypatch.setattr(PolicyAuditor, "adjudicate", strays)
    with pytest.raises(DeepFactError, match="answered about case 'r9-0001'"):
        go(config)


def test_a_quote_that_is_in_no_source_is_left_out_with_a_note(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adjudicate = PolicyAuditor.adjudicate

    def misquotes(self: PolicyAuditor, case: Case) -> Adjudication:
        source = case.claim.cites[0]
        quote = Evidence(source=source, quote="said nobody ever", stance=Stance.SUPPORTS)
        return adjudicate(self, case).model_copy(update={"evidence": (quote,)})

    monkeypatch.setattr(PolicyAuditor, "adjudicate", misquotes)
    for made in go(config).rounds[0].adjudications:
        assert made.evidence == ()
        assert made.notes.startswith("left out: the quote is not in ")
