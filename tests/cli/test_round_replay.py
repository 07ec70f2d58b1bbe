"""``deepfact round replay`` and ``deepfact audit stats`` as people and scripts use them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

SPEC = """
name: trial
benchmark: small@1
challenger: {kind: quoting}
auditors: [simulated-expert, ben, cleo]
policy: {rule: POLICY}
controls: {agreed: 0.3, microgold: 1.0}
seed: 5
commit_to: run
date: 2026-01-05T00:00:00Z
rounds: [{}, {challenger: {kind: quoting, name: turned, options: {turn: x}}}]
"""


@pytest.fixture
def trial(desk: Path, deepfact: Run) -> Callable[[str], Path]:
    """Runs ``results/trial`` under a policy."""

    def make(policy: str = "majority") -> Path:
        for name, accuracy in (("ben", 0.6), ("cleo", 0.5)):
            Path(f"auditors/{name}.yaml").write_text(
                f"name: {name}\nkind: policy\noptions: {{accuracy: {accuracy}, seed: 3}}\n", "utf-8"
            )
        Path("trial.yaml").write_text(SPEC.replace("POLICY", policy), encoding="utf-8")
        done = deepfact("round", "run", "trial.yaml")
        assert done.returncode == 0, done.stderr
        return desk / "results" / "trial"

    return make


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_replay_shows_what_would_differ_and_changes_nothing(
    trial: Callable[..., Path], deepfact: Run
) -> None:
    folder = trial()
    before = tree(folder)
    own = deepfact("round", "replay", "results/trial")
    assert own.returncode == 0, own.stderr
    assert "every ruling is as recorded" in own.stdout and "nothing was changed" in own.stderr
    other = deepfact("round", "replay", "trial.yaml", "--policy", "unanimous")
    assert other.returncode == 0, other.stderr
    assert "round 1: unanimous" in other.stdout and "instead of majority" in other.stdout
    assert "as recorded" not in other.stdout
    assert "would not have been put in this form" in other.stdout
    assert "micro-gold, after round 1" in other.stdout
    assert "simulated auditor" in other.stderr
    assert tree(folder) == before


def test_json_holds_every_difference(trial: Callable[..., Path], deepfact: Run) -> None:
    trial()
    said = json.loads(
        deepfact(
            "round", "replay", "results/trial", "--policy", "{rule: weighted}", "--json"
        ).stdout
    )
    assert said["same"] is False
    first = said["rounds"][0]
    assert first["policy"]["rule"] == "weighted" and first["recorded_policy"]["rule"] == "majority"
    assert {weight["auditor"] for weight in first["weights"]} == {"simulated-expert", "ben", "cleo"}
    assert all(one["recorded"] != one["replayed"] for one in first["differ"])
    assert first["differ"] and {"votes", "why", "claim"} <= set(first["differ"][0])
    assert first["scores"][0]["recorded"]["n"] == 60


@pytest.mark.parametrize(
    ("policy", "problem"),
    [
        ("plurality", "neither a rule nor a file"),
        ("{rule: majority, tie_breaker: zoe}", "no auditor of the round"),
        ("broken.yaml", "unknown key 'weight'"),
    ],
)
def test_a_policy_that_does_not_fit_is_exit_code_2(
    trial: Callable[..., Path], deepfact: Run, policy: str, problem: str
) -> None:
    trial()
    Path("broken.yaml").write_text("rule: weighted\nweight: 3\n", encoding="utf-8")
    done = deepfact("round", "replay", "results/trial", "--policy", policy)
    assert done.returncode == 2 and problem in done.stderr
    assert "Traceback" not in done.stderr and done.stdout == ""


def test_a_folder_without_a_run_is_exit_code_2(desk: Path, deepfact: Run) -> None:
    for words in (("round", "replay"), ("audit", "stats")):
        done = deepfact(*words, "results/none")
        assert done.returncode == 2 and "there is no run in this folder" in done.stderr


def test_statistics_of_a_run(trial: Callable[..., Path], deepfact: Run) -> None:
    trial("weighted")
    done = deepfact("audit", "stats", "results/trial")
    assert done.returncode == 0, done.stderr
    for words in (
        "Krippendorff's alpha", "Cohen's kappa", "domain: ", "label: supported",
        "bias, on micro-gold challenges", "worth a second look", "weights of votes",
        "time per case: nobody's time is known",
    ):  # fmt: skip
        assert words in done.stdout, words
    said = json.loads(deepfact("audit", "stats", "trial.yaml", "--json").stdout)
    assert [round_["round"] for round_ in said["rounds"]] == [1, 2]
    assert said["complete"] and said["simulated"] and said["second_look"]


def test_statistics_of_a_run_that_waits(desk: Path, deepfact: Run) -> None:
    text = SPEC.replace("[simulated-expert, ben, cleo]", "[person]").replace("POLICY", "single")
    Path("trial.yaml").write_text(text, encoding="utf-8")
    assert deepfact("round", "run", "trial.yaml").returncode == 3
    done = deepfact("audit", "stats", "results/trial")
    assert done.returncode == 0
    assert "named when the run is complete" in done.stdout
    assert "round 1 waits for decisions" in done.stderr
