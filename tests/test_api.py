"""The Python API, in the few lines that the README shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import deepfact
from deepfact import api
from deepfact.cli.output import show_cost
from deepfact.errors import BenchmarkError, ConfigError, InputError
from deepfact.records import Claim, FailureReason, Label, Usage, Verdict, VerificationFailure
from deepfact.running.run_state import Tally
from deepfact.verifiers.base import Context

CONFIG = """
name: trial
benchmark: small@1
challenger: {kind: quoting}
auditors: [simulated-expert]
commit_to: run
date: 2026-01-05T00:00:00Z
"""


def test_load_verify_and_score_in_five_lines(desk: Path) -> None:
    version = deepfact.load("small@1")
    outcomes = deepfact.verify(version, "overlap")
    sheet = deepfact.score(version, outcomes)
    assert [outcome.claim_id for outcome in outcomes] == [claim.id for claim in version.claims]
    assert sheet.n == 60 and sheet.on == "small@1" and sheet.verifier == "overlap"
    assert sheet.accuracy.value == pytest.approx(sheet.accuracy.k / 60)


def test_run_a_round_and_read_it_in_five_lines(desk: Path) -> None:
    Path("trial.yaml").write_text(CONFIG, "utf-8")
    record = deepfact.run_round("trial.yaml")
    again = deepfact.read_run("results/trial")
    assert again == record
    assert record.rounds[0].result.version == 2


def test_a_verifier_of_ones_own_without_any_packaging(desk: Path) -> None:
    class Yes:
        def verify(self, claim: Claim, context: Context) -> Verdict:
            return Verdict(claim_id=claim.id, label=Label.SUPPORTED, rationale="yes")

    class Later:
        async def verify(self, claim: Claim, context: Context) -> Verdict:
            return Verdict(claim_id=claim.id, label=Label.SUPPORTED, rationale="yes")

    version = deepfact.load("small")
    told: list[Any] = []
    plain = deepfact.verify(version, Yes(), limit=5, watch=told.append)
    assert [outcome.verifier for outcome in plain] == ["Yes"] * 5
    assert [(step.done, step.total) for step in told] == [(n, 5) for n in range(1, 6)]
    later = deepfact.verify(version, Later(), limit=5)
    assert [outcome.claim_id for outcome in later] == [outcome.claim_id for outcome in plain]


def test_scores_take_outcomes_in_any_order_and_miss_none(desk: Path) -> None:
    version = deepfact.load("small")
    outcomes = deepfact.verify(version, "overlap")
    whole = deepfact.score(version, outcomes)
    assert deepfact.score(version, reversed(outcomes)) == whole
    part = deepfact.score(version, outcomes[:50])
    assert (part.n, part.missing, part.unverified) == (60, 10, 10)
    key = deepfact.score(version, outcomes, key="author", name="mine")
    assert key.on == "small@1, key author" and key.verifier == "mine"
    assert deepfact.score(version, []).binary.k == 0


def test_a_folder_or_another_root_can_be_named(desk: Path, tmp_path: Path) -> None:
    (desk / "benchmarks").rename(tmp_path / "elsewhere")
    by_root = deepfact.load("small@1", root=tmp_path / "elsewhere")
    by_folder = deepfact.load(f"{tmp_path}/elsewhere/small@1")
    assert by_root.ref == by_folder.ref


def test_mistakes_are_errors_of_one_family(desk: Path) -> None:
    version = deepfact.load("small")
    with pytest.raises(BenchmarkError, match="did you mean 'small'"):
        deepfact.load("smal")
    with pytest.raises(ConfigError, match="unknown kind"):
        deepfact.verify(version, "overlapp")
    with pytest.raises(BenchmarkError, match="no key"):
        deepfact.score(version, [], key="autor")
    with pytest.raises(InputError, match="no such file"):
        deepfact.read_run("results/none")
    with pytest.raises(AttributeError, match="laod"):
        _ = deepfact.laod


def test_all_that_is_promised_is_there() -> None:
    for name in deepfact.__all__:
        assert getattr(deepfact, name) is not None
    assert set(deepfact.__all__) <= set(dir(deepfact))


def test_progress_says_what_was_paid_and_when_a_price_is_unknown() -> None:
    tally = Tally()
    tally.take(VerificationFailure(claim_id="a", reason=FailureReason.TIMEOUT))
    assert show_cost(tally.progress("verify", 1, 4)) == "" and tally.failed == 1
    tally.take(Verdict(claim_id="b", label=Label.SUPPORTED, usage=Usage(calls=3, usd=0.25)))
    tally.take(Verdict(claim_id="c", label=Label.SUPPORTED, usage=Usage(calls=3, usd=0.5)))
    assert show_cost(tally.progress("verify", 3, 4)) == "6 calls, $0.75"
    tally.take(Verdict(claim_id="d", label=Label.SUPPORTED, usage=Usage(calls=1)))
    tally.take(Verdict(claim_id="e", label=Label.SUPPORTED, usage=Usage(calls=1, usd=9.0)))
    assert show_cost(tally.progress("verify", 4, 4)) == "8 calls, price unknown"


@pytest.mark.parametrize("change", [-1, 1])
def test_answers_are_one_for_each_claim(small_benchmarks: Path, change: int) -> None:
    version = api.load("small@1", root=small_benchmarks)
    answers = [Label.SUPPORTED] * (len(version.claims) + change)
    with pytest.raises(InputError, match="answers, but small@1 has"):
        api.score_answers(version, answers)
