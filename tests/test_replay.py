"""Policies through the loop, and replays of real runs: what is recorded comes out again, ties wait
for one person, weights are recorded, and nothing on disk changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deepfact.core.revise import decided_label, split
from deepfact.errors import ConfigError, InputError, RecordError
from deepfact.records import Adjudication, Decision, RulingKind
from deepfact.replay import read_policy, replay_run
from deepfact.review import decide, open_desk
from deepfact.round import resume, run_rounds
from deepfact.run_records import (
    AuditorSpec,
    PolicySpec,
    RoundSpec,
    RunRecord,
    RunStatus,
    VerifierSpec,
)
from deepfact.running.audit_stats import read_stats


def simulated(name: str, accuracy: float, seed: int) -> AuditorSpec:
    return AuditorSpec(name=name, kind="policy", options={"accuracy": accuracy, "seed": seed})


ANN, BEN, CLEO = simulated("ann", 0.9, 1), simulated("ben", 0.6, 2), simulated("cleo", 0.5, 3)
ZOE = AuditorSpec(name="zoe", kind="human")


def run(folder: str, policy: Any, auditors: tuple[AuditorSpec, ...], **more: Any) -> RunRecord:
    spec = RoundSpec.model_validate(
        {
            "name": "trial", "benchmark": "small@1", "seed": 5, "commit_to": "run",
            "challenger": VerifierSpec(kind="quoting"), "date": "2026-01-05T00:00:00Z",
            "auditors": tuple(auditor.name for auditor in auditors), "policy": policy,
            "controls": {"agreed": 0.3, "microgold": 1.0}, **more,
        }
    )  # fmt: skip
    return run_rounds(spec, Path(folder), auditors=auditors)


def tree(folder: str) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in Path(folder).rglob("*") if p.is_file()}


PANEL = (ANN, BEN, CLEO)
TWO = {"rounds": [{"challenger": {"kind": "quoting"}},
                  {"challenger": {"kind": "quoting", "name": "turned", "options": {"turn": "x"}}}],
       "scored": [{"kind": "overlap"}]}  # fmt: skip


@pytest.mark.parametrize(
    "policy",
    [
        {"rule": "single"},
        {"rule": "majority", "per_case": 2},
        {"rule": "unanimous"},
        {"rule": "weighted"},
        {"rule": "majority", "tie_breaker": "cleo"},
    ],
    ids=str,
)
def test_a_run_replayed_by_its_own_policy_is_the_run(desk: Path, policy: Any) -> None:
    record = run("run", policy, PANEL, **TWO)
    before = tree("run")
    found = replay_run(Path("run"), None)
    assert found.same and len(found.rounds) == 2
    for replayed, round_ in zip(found.rounds, record.rounds, strict=True):
        assert replayed.rulings == round_.rulings and replayed.weights == round_.weights
        assert round_.policy == PolicySpec.model_validate(policy) == replayed.policy
        assert not (replayed.labels or replayed.missing or replayed.not_applicable)
        assert replayed.scores
        for score in replayed.scores:
            assert score.recorded == score.replayed, (score.of, score.on)
    assert tree("run") == before


@pytest.mark.parametrize("rule", ["single", "unanimous"])
def test_a_what_if_is_what_the_other_run_really_was(desk: Path, rule: Any) -> None:
    run("one", {"rule": "majority"}, PANEL, **TWO)
    other = run("other", {"rule": rule}, PANEL, **TWO)
    found = replay_run(Path("one"), PolicySpec(rule=rule))
    first, second = found.rounds
    assert first.rulings == other.rounds[0].rulings
    assert first.differ and first.labels and not found.same
    after = {score.on: score for score in first.scores if score.of == "quoting"}
    sheets = {sheet.on: sheet.accuracy for sheet in other.rounds[0].scores
              if sheet.verifier == "quoting"}  # fmt: skip
    assert after["after"].replayed == sheets["version 2"]
    own = after["after, without own accepted challenges"].replayed
    # Without accepted challenges there is nothing to leave out.
    assert own == sheets.get("version 2 without own accepted challenges", sheets["version 2"])
    gold = next(score for score in first.scores if score.of == "labels")
    assert gold.replayed == other.microgold[1].accuracy
    # The second round was put on other labels: what no longer fits is named, and not decided.
    ruled = {ruling.case_id for ruling in second.rulings}
    gone = {case.case_id for case in second.not_applicable}
    assert gone and not gone & ruled and len(gone | ruled) == second.cases


def test_decisions_that_a_policy_lacks_are_named(desk: Path) -> None:
    run("run", {"rule": "single"}, PANEL)
    (found,) = replay_run(Path("run"), PolicySpec(rule="majority")).rounds
    assert len(found.missing) == found.cases
    assert all(len(lack.auditors) == 2 for lack in found.missing)
    assert not found.differ  # one vote of one is a majority of what there is


def test_weights_are_recorded_and_measured_as_they_are_stated(desk: Path) -> None:
    record = run("run", {"rule": "weighted"}, PANEL)
    weights = {weight.auditor: weight for weight in record.rounds[0].weights}
    assert weights["ann"].weight > weights["ben"].weight >= weights["cleo"].weight
    assert {weight.basis for weight in weights.values()} == {"measured"}
    scores = {score.auditor: score for score in record.rounds[0].auditors}
    gold = scores["ann"].microgold
    assert weights["ann"].of >= gold.n and weights["ann"].right >= gold.k


# --- ties wait for a person ---------------------------------------------------------------

TIES = {"rule": "majority", "tie_breaker": "zoe"}


def test_only_ties_wait_for_the_tie_breaker(desk: Path) -> None:
    record = run("run", TIES, (ANN, BEN, ZOE))
    assert record.status is RunStatus.PENDING and record.waiting
    desk_of_zoe = open_desk(Path("run"), "zoe")
    assert {case.id for case in desk_of_zoe.waiting} == set(record.waiting)
    for case in desk_of_zoe.cases:
        made = Adjudication(
            case_id=case.id, auditor="zoe", decision=Decision.B, rationale="b is stronger"
        )
        decide(Path("run"), 1, made)
    after = open_desk(Path("run"), "zoe")
    assert not after.waiting and after.decided == len(record.waiting)
    done = resume(Path("run"))
    assert done.status is RunStatus.COMPLETE
    (round_,) = done.rounds
    policy = PolicySpec.model_validate(TIES)
    by_case: dict[str, list[Adjudication]] = {}
    for one in round_.adjudications:
        by_case.setdefault(one.case_id, []).append(one)
    for case, ruling in zip(round_.cases, round_.rulings, strict=True):
        others = [one for one in by_case[case.id] if one.auditor != "zoe"]
        asked = any(one.auditor == "zoe" for one in by_case[case.id])
        assert asked == split(case, others, policy)
        if asked:
            assert ruling.auditors == ("zoe",) and ruling.reason == "b is stronger"
            assert ruling.label == case.b.label
        elif ruling.kind is not RulingKind.UNRESOLVED:
            assert {decided_label(case, one) for one in others} == {ruling.label}
    assert replay_run(Path("run"), None).same


def test_nobody_else_is_shown_a_tie(desk: Path) -> None:
    """A person who votes has every case; the one who breaks ties has none until all have."""
    run("run", TIES, (ANN, AuditorSpec(name="kim", kind="human"), ZOE))
    everything = open_desk(Path("run"), "kim")
    assert len(everything.waiting) == len(everything.cases) > 10
    assert not open_desk(Path("run"), "zoe").cases
    case = everything.waiting[0]
    for decision, expected in ((Decision.CANNOT_TELL, {case.id}),):
        made = Adjudication(case_id=case.id, auditor="kim", decision=decision, rationale="hm")
        decide(Path("run"), 1, made)
        assert {case.id for case in open_desk(Path("run"), "zoe").waiting} == expected


@pytest.mark.parametrize(
    ("policy", "problem"),
    [
        ({"rule": "majority", "tie_breaker": "nobody"}, "no auditor of the round"),
        ({"rule": "single", "tie_breaker": "zoe"}, "no ties to break"),
        ({"rule": "weighted", "weights": {"accuracy": {"zo": 0.9}}}, "'zo', who is no auditor"),
        ({"rule": "majority", "per_case": 3, "tie_breaker": "zoe"}, "3 auditors are to decide"),
    ],
)
def test_a_policy_that_cannot_work_is_refused_before_anything_runs(
    desk: Path, policy: Any, problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        run("run", policy, (ANN, BEN, ZOE))
    assert not Path("run").exists()


# --- what is given ------------------------------------------------------------------------


def test_a_policy_is_a_rule_a_file_or_yaml_in_braces(tmp_path: Path) -> None:
    assert read_policy("majority") == PolicySpec(rule="majority")
    given = read_policy("{rule: majority, tie_breaker: zoe}")
    assert given == PolicySpec(rule="majority", tie_breaker="zoe")
    path = tmp_path / "policy.yaml"
    path.write_text("rule: weighted\nweights: {min_cases: 3}\n", encoding="utf-8")
    assert read_policy(str(path)).weights.min_cases == 3


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("majorty", "neither a rule nor a file"),
        ("{rule: majorty}", "rule"),
        ("{rul: majority}", "unknown key 'rul'"),
        ("{rule: weighted, weights: {accuracy: {ann: 1.0}}}", "less than 1"),
        ("{rule: [}", "invalid YAML"),
    ],
)
def test_a_broken_policy_is_told_with_its_place(given: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem) as caught:
        read_policy(given)
    assert "--policy" in caught.value.where


def test_a_policy_that_the_run_cannot_carry_out_is_refused(desk: Path) -> None:
    run("run", {"rule": "majority"}, PANEL)
    for given, problem in (
        ({"rule": "majority", "tie_breaker": "zoe"}, "no auditor of the round"),
        ({"rule": "majority", "per_case": 9}, "9 auditors are to decide"),
    ):
        with pytest.raises(ConfigError, match=problem):
            replay_run(Path("run"), PolicySpec.model_validate(given))
    for key in (*Path("benchmarks").rglob("microgold.jsonl"),
                *Path("run").rglob("microgold.jsonl")):  # fmt: skip
        key.unlink()
    hidden = PolicySpec.model_validate(
        {"rule": "weighted", "weights": {"measured_on": "microgold"}}
    )
    with pytest.raises(ConfigError, match="its key is not there"):
        replay_run(Path("run"), hidden)
    stated = {"measured_on": "microgold", "accuracy": {"ann": 0.9, "ben": 0.6, "cleo": 0.6}}
    assert replay_run(
        Path("run"), PolicySpec.model_validate({"rule": "weighted", "weights": stated})
    )


def test_a_run_without_a_closed_round_has_nothing_to_replay(desk: Path) -> None:
    run("run", {"rule": "single"}, (ZOE,))
    with pytest.raises(InputError, match="no round of this run is closed yet"):
        replay_run(Path("run"), None)


# --- statistics of a run ------------------------------------------------------------------


def test_statistics_name_no_case_while_somebody_may_have_to_decide_one(desk: Path) -> None:
    run("run", TIES, (ANN, BEN, ZOE))
    stats = read_stats(Path("run"))
    assert (stats.complete, stats.rounds, stats.open_round) == (False, (), 1)
    assert stats.second_look == ()
    run("done", {"rule": "majority"}, PANEL, **TWO)
    stats = read_stats(Path("done"))
    assert stats.complete and stats.simulated and stats.open_round is None
    assert [round_.round for round_ in stats.rounds] == [1, 2]
    agreement = stats.rounds[0].agreement
    assert agreement is not None and len(agreement.pairs) == 3
    assert {bias.auditor for bias in stats.rounds[0].bias} == {"ann", "ben", "cleo"}
    assert any("micro-gold" in reason for case in stats.second_look for reason in case.reasons)


def test_one_auditor_a_case_gives_no_agreement(desk: Path) -> None:
    record = run("run", {"rule": "single"}, PANEL)
    assert record.rounds[0].agreement is None
    assert read_stats(Path("run")).rounds[0].agreement is None


@pytest.mark.parametrize("part", ["keys", "rulings", "adjudications"])
def test_a_record_that_is_not_about_its_own_cases_is_refused(desk: Path, part: str) -> None:
    run("run", {"rule": "single"}, (ANN,))
    path = Path("run/record.json")
    record = json.loads(path.read_text("utf-8"))
    record["rounds"][0][part][0]["case_id"] = "r1-none"
    path.write_text(json.dumps(record), "utf-8")
    with pytest.raises(RecordError, match=r"of round 1 are not about its cases(.|\n)*restore it"):
        replay_run(Path("run"), None)
