"""``--log-json`` and ``--log-level`` as a user gives them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parents[1] / "servers"))

from messages_server import Faults, MessagesServer

Run = Callable[..., subprocess.CompletedProcess[str]]
KEY = "planted-key-5b1c0e9d7a"


@pytest.fixture
def failing(desk: Path, monkeypatch: pytest.MonkeyPatch):
    """A run of three claims whose server repeats the key that it was sent, and fails for ever."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with MessagesServer(faults=Faults(always="500")) as server:
        options = {
            "provider": {"kind": "anthropic", "options": {"base_url": server.url}},
            "model": "m", "votes": 1, "rule": "single",
            "limits": {"attempts": 2, "concurrency": 1, "backoff": 0.01, "max_backoff": 0.01},
        }  # fmt: skip
        spec = {
            "name": "failing", "benchmark": "small@1", "select": {"limit": 3},
            "arms": [
                {"name": "asks", "verifier": {"kind": "panel", "options": options}},
                {"name": "words", "verifier": {"kind": "overlap"}},
            ],
        }  # fmt: skip
        Path("ab.yaml").write_text(yaml.safe_dump(spec), encoding="utf-8")
        yield server


def test_one_line_for_each_failed_call_with_its_reason(failing, deepfact: Run) -> None:
    done = deepfact("--log-json", "logs/run.log", "ab", "ab.yaml")
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in Path("logs/run.log").read_text("utf-8").splitlines()]
    failed = [one for one in found if one["event"] == "call_failed"]
    assert len(failed) == failing.calls == 6
    assert {(one["reason"], one["status"], one["run"], one["arm"]) for one in failed} == {
        ("error", 500, "failing", "asks")
    }
    assert sorted(one["attempt"] for one in failed) == [1, 1, 1, 2, 2, 2]
    assert sum("wait" not in one for one in failed) == 3
    assert len({one["claim"] for one in failed}) == 3
    unverified = [one for one in found if one["event"] == "claim_done"]
    assert len(unverified) == 3 and all(one["outcome"] == "failure" for one in unverified)
    text = Path("logs/run.log").read_text("utf-8")
    assert KEY not in text and "planned fault" not in text


def test_the_providers_words_only_when_asked_for_and_without_the_key(
    failing, deepfact: Run
) -> None:
    done = deepfact("--log-level", "warning", "--log-details", "ab", "ab.yaml")
    failed = [line for line in done.stderr.splitlines() if line.startswith("warning: call failed")]
    assert len(failed) == 6
    assert "error (HTTP 500), attempt 1 of 2, again in" in failed[0] and "claim " in failed[0]
    assert all("planned fault 500" in line for line in failed)
    assert KEY not in done.stderr


def test_standard_error_holds_nothing_but_json_when_it_is_the_log(failing, deepfact: Run) -> None:
    done = deepfact("--log-json", "-", "--log-level", "info", "ab", "ab.yaml", "--json")
    json.loads(done.stdout)
    found = [json.loads(line) for line in done.stderr.splitlines()]
    assert {"run_started", "call_failed", "run_ended"} <= {one["event"] for one in found}
    done = deepfact("--log-json", "-", "--log-level", "error", "ab", "nowhere.yaml")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert json.loads(line)["message"].startswith("error: nowhere.yaml: no such file")


def test_without_an_option_failed_calls_are_in_the_record_alone(failing, deepfact: Run) -> None:
    done = deepfact("ab", "ab.yaml")
    assert "call failed" not in done.stderr


def test_wrong_options(desk: Path, deepfact: Run) -> None:
    done = deepfact("--log-json", "benchmarks", "bench", "list")
    assert done.returncode == 2 and "the log cannot be written" in done.stderr
    done = deepfact("--log-level", "loud", "bench", "list")
    assert done.returncode == 2 and "loud" in done.stderr and "debug" in done.stderr


def test_options_may_come_from_the_environment(failing, deepfact: Run) -> None:
    env = {"DEEPFACT_LOG_JSON": "env.log", "DEEPFACT_LOG_LEVEL": "warning"}
    assert deepfact("ab", "ab.yaml", env=env).returncode == 0
    assert len(Path("env.log").read_text("utf-8").splitlines()) == 6
