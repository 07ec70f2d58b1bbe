"""``deepfact ab`` as a user calls it: output, exit codes, what goes to which stream."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

HOME = Path(__file__).parents[2]


@pytest.fixture
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of the checkout, where the shipped configs are used."""
    monkeypatch.chdir(HOME)
    monkeypatch.delenv("DEEPFACT_BENCHMARKS", raising=False)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def write_spec(**changes: Any) -> None:
    """Two plain verifiers on the desk's benchmark, which need no model."""
    spec = {
        "name": "plain",
        "benchmark": "small@1",
        "key": "author",
        "arms": [
            {"name": "words", "verifier": {"kind": "overlap"}},
            {"name": "quotes", "verifier": {"kind": "quoting"}},
        ],
        **changes,
    }
    Path("ab.yaml").write_text(yaml.safe_dump(spec), encoding="utf-8")


def test_the_shipped_founding_run_needs_no_key_and_no_network(at_home, deepfact, tmp_path) -> None:
    done = deepfact("ab", "configs/ab-founding.yaml", "--out", tmp_path / "run", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["arms"]["bundled"] == {
        "confirmed": 66,
        "refuted": 174,
        "unverified": 0,
        "usd": None,
    }
    assert found["arms"]["split"] == {
        "confirmed": 114,
        "refuted": 126,
        "unverified": 0,
        "usd": None,
    }
    (comparison,) = found["comparisons"]
    assert comparison["flips"] == 48
    assert comparison["newly_confirmed_contradictory"] == []
    assert found["passed"] is True
    assert Path(found["report"]).is_file()
    # A second time: the same, from the journal.
    again = deepfact("ab", "configs/ab-founding.yaml", "--out", tmp_path / "run")
    assert again.returncode == 0
    assert "rule-following stand-in, not of a model" in again.stderr
    assert "+42.1 points" in again.stdout
    assert "gate holds" in again.stdout


def test_a_replay_without_answers_is_incomplete_and_not_a_result(
    at_home, deepfact, tmp_path
) -> None:
    spec = yaml.safe_load(Path("configs/ab-founding.yaml").read_text(encoding="utf-8"))
    spec |= {"responses": [], "select": {"ids": ["fin-1-01", "fin-1-02"]}}
    (tmp_path / "ab.yaml").write_text(yaml.safe_dump(spec), encoding="utf-8")
    done = deepfact("ab", tmp_path / "ab.yaml", "--out", tmp_path / "run")
    assert done.returncode == 3
    assert "4 outcomes are not there yet: 12 answers are missing" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run" / "record.json").exists()


def test_a_gate_that_does_not_hold_is_exit_1(desk, deepfact) -> None:
    write_spec(gates={"min_confirmed_gain": 1.0})
    done = deepfact("ab", "ab.yaml")
    assert done.returncode == 1
    assert "gate does not hold: min_confirmed_gain of arm 'quotes'" in done.stderr
    assert (desk / "results" / "plain" / "report.html").is_file()


def test_repeat_and_out_on_the_command_line(desk, deepfact) -> None:
    write_spec(select={"limit": 5})
    done = deepfact("ab", "ab.yaml", "--repeat", "2", "--out", "twice")
    assert done.returncode == 0, done.stderr
    record = json.loads((desk / "twice" / "record.json").read_text(encoding="utf-8"))
    assert record["spec"]["repeat"] == 2
    assert len(record["arms"][0]["outcomes"]) == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"armz": []}, "unknown key 'armz'"),
        ({"arms": [{"name": "a", "verifier": {"kind": "overlap"}}]}, "at least 2"),
        ({"select": {"domains": ["alchemy"]}}, "alchemy"),
        ({"benchmark": "nowhere@1"}, "nowhere"),
    ],
)
def test_wrong_input_is_exit_2_with_a_message(desk, deepfact, changes, message) -> None:
    write_spec(**changes)
    done = deepfact("ab", "ab.yaml")
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (desk / "results").exists()


def test_dry_run_asks_nothing_and_writes_nothing(desk, deepfact) -> None:
    write_spec()
    done = deepfact("ab", "ab.yaml", "--dry-run")
    assert done.returncode == 0
    assert "asks no model" in done.stdout
    assert not (desk / "results").exists()


def test_help_has_an_example(deepfact) -> None:
    done = deepfact("ab", "--help")
    assert done.returncode == 0
    assert "deepfact ab configs/ab-founding.yaml" in done.stdout
