"""``deepfact transfer`` as a user gives it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

SPEC = """
name: trial
data_sets: [{name: mini, benchmark: small@1}]
verifiers: [{kind: quoting}, {kind: majority}]
auditors: [person]
sample: 8
"""


@pytest.fixture
def config(desk: Path) -> Path:
    path = desk / "t.yaml"
    path.write_text(SPEC, "utf-8")
    return path


def test_it_waits_says_how_to_go_on_and_goes_on(config: Path, deepfact: Run) -> None:
    planned = deepfact("transfer", config, "--dry-run")
    assert planned.returncode == 0 and "8 of 60 labelled claims" in planned.stdout
    assert not Path("results").exists()
    done = deepfact("transfer", config)
    assert done.returncode == 3, done.stderr
    assert "deepfact audit review results/trial" in done.stderr
    assert "waiting for a decision" in done.stdout and "report.html" in done.stdout
    again = deepfact("transfer", config, "--json")
    assert again.returncode == 3
    record = json.loads(again.stdout)
    assert record["status"] == "pending" and len(record["bars"]) == 2
    plan = json.loads(deepfact("transfer", config, "--dry-run", "--json").stdout)
    assert plan["cases"] == len(record["cases"]) and plan["calls"] == 0
    state = deepfact("round", "status", "results/trial")
    assert state.returncode == 3 and f"0 decisions on {len(record['cases'])} cases" in state.stdout
    resumed = deepfact("round", "resume", "results/trial")
    assert resumed.returncode == 3 and "deepfact audit serve results/trial" in resumed.stderr
    said = "a\n5\nit stands there\n" * len(record["cases"])
    assert deepfact("audit", "review", "results/trial", said=said).returncode == 0
    assert deepfact("round", "resume", "results/trial").returncode == 0
    assert deepfact("round", "status", "results/trial").returncode == 0
    for words in (("round", "report"), ("round", "replay"), ("audit", "stats")):
        refused = deepfact(*words, "results/trial")
        assert refused.returncode == 2 and "this is a transfer run" in refused.stderr
    for name in ("report.html", "report.md", "record.json"):
        assert (Path("results/trial") / name).is_file()


def test_models_are_asked_only_with_a_yes(config: Path, deepfact: Run) -> None:
    Path("empty.jsonl").write_text('{"when": "never", "say": "{}"}\n', "utf-8")
    config.write_text(
        SPEC.replace("{kind: majority}", "{kind: panel, options: {model: m, votes: 2, provider: "
                     "{kind: scripted, options: {path: empty.jsonl}}}}"), "utf-8",
    )  # fmt: skip
    done = deepfact("transfer", config)
    assert done.returncode == 2 and "up to 16 calls" in done.stderr and "--yes" in done.stderr
    assert not Path("results").exists()
    assert deepfact("transfer", config, "--yes").returncode == 3
    assert Path("results/trial/record.json").is_file()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("sample: 8", "sampel: 8"), "did you mean 'sample'?"),
        (("small@1", "smal@1"), "did you mean 'small'?"),
        (("quoting", "quoteing"), "did you mean 'quoting'?"),
        (("[person]", "[persn]"), "did you mean 'person'?"),
        (("benchmark: small@1", "format: csv, path: nowhere.csv"), "nowhere.csv"),
        (("data_sets", "- data_sets"), "YAML"),
    ],
)
def test_a_mistake_is_told_in_a_line(
    config: Path, deepfact: Run, change: tuple[str, str], said: str
) -> None:
    config.write_text(SPEC.replace(*change), "utf-8")
    for words in (["--dry-run"], []):
        done = deepfact("transfer", config, *words)
        assert done.returncode == 2 and said in done.stderr, done.stderr
        assert "Traceback" not in done.stderr and not Path("results").exists()
