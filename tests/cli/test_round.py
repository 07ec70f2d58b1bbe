"""``deepfact round`` as people and scripts use it: exit codes, what is printed, what is written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from deepfact.store.journal import Journal

Run = Callable[..., subprocess.CompletedProcess[str]]

SPEC = """
name: trial
benchmark: small@1
challenger: {kind: quoting}
auditors: [AUDITOR]
seed: 5
commit_to: run
date: 2026-01-05T00:00:00Z
"""


@pytest.fixture
def config(desk: Path) -> Callable[[str], Path]:
    """Writes the spec ``trial.yaml`` with an auditor and more lines."""

    def make(auditor: str = "simulated-expert", more: str = "") -> Path:
        path = desk / "trial.yaml"
        path.write_text(SPEC.replace("AUDITOR", auditor) + more, encoding="utf-8")
        return path

    return make


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_run_says_what_changed_and_where_the_report_is(
    config: Callable[..., Path], deepfact: Run
) -> None:
    done = deepfact("round", "run", config())
    assert done.returncode == 0, done.stderr
    assert "trial: complete" in done.stdout
    assert "report: " in done.stdout and "results/trial/report.html" in done.stdout
    assert "verify: quoting: 60/60, 0 failed" in done.stderr
    made = {path.name for path in Path("results/trial").iterdir()}
    assert {"spec.json", "journal.jsonl", "record.json", "report.html", "report.md"} <= made

    again = deepfact("round", "run", "trial.yaml")
    assert (again.returncode, again.stdout) == (0, done.stdout)
    for words in (("round", "status", "results/trial"), ("round", "status", "trial.yaml")):
        status = deepfact(*words)
        assert status.returncode == 0 and "trial: complete" in status.stdout
    report = Path("results/trial/report.md").read_bytes()
    Path("results/trial/report.md").unlink()
    assert deepfact("round", "report", "results/trial").returncode == 0
    assert Path("results/trial/report.md").read_bytes() == report


def test_json_is_all_that_is_printed(config: Callable[..., Path], deepfact: Run) -> None:
    done = deepfact("round", "run", config(), "--json")
    said = json.loads(done.stdout)
    assert said["status"] == "complete" and said["waiting"] == 0
    assert Path(said["record"]).is_file() and Path(said["report"]).is_file()
    status = json.loads(deepfact("round", "status", "results/trial", "--json").stdout)
    assert status["complete"] is True and status["answered"] == {"quoting": 60}
    assert status["decided"] == status["cases"] > 0
    resumed = json.loads(deepfact("round", "resume", "results/trial", "--json").stdout)
    assert resumed["status"] == "complete"


def test_a_dry_run_says_what_it_would_do_and_writes_nothing(
    config: Callable[..., Path], desk: Path, deepfact: Run
) -> None:
    config(more="scored: [{kind: majority}]\nrounds: [{}, {}]\n")
    before = files(desk)
    done = deepfact("round", "run", "trial.yaml", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "2 rounds on small@1, 60 claims" in done.stdout
    assert "simulated-expert (policy)" in done.stdout and "majority" in done.stdout
    assert files(desk) == before


def test_a_changed_spec_in_the_same_folder_is_refused(
    config: Callable[..., Path], deepfact: Run
) -> None:
    deepfact("round", "run", config())
    record = Path("results/trial/record.json").read_bytes()
    done = deepfact("round", "run", config(more="scored: [{kind: majority}]\n"))
    assert done.returncode == 2 and "another spec" in done.stderr and "--out" in done.stderr
    assert Path("results/trial/record.json").read_bytes() == record
    assert deepfact("round", "run", "trial.yaml", "--out", "results/second").returncode == 0


def test_a_folder_in_use_is_refused(config: Callable[..., Path], deepfact: Run) -> None:
    deepfact("round", "run", config())
    with Journal(Path("results/trial")):
        done = deepfact("round", "run", "trial.yaml")
        status = deepfact("round", "status", "results/trial")  # only looks
    assert done.returncode == 2 and "in use by another process" in done.stderr
    assert status.returncode == 0


def test_waiting_for_people_is_exit_code_3(config: Callable[..., Path], deepfact: Run) -> None:
    done = deepfact("round", "run", config("person"))
    assert done.returncode == 3
    assert "trial: pending" in done.stdout
    assert "deepfact audit review results/trial" in done.stderr
    status = deepfact("round", "status", "results/trial")
    assert status.returncode == 3 and "not complete" in status.stdout
    assert deepfact("round", "resume", "results/trial").returncode == 3
    said = json.loads(deepfact("round", "resume", "results/trial", "--json").stdout)
    assert said["status"] == "pending" and said["waiting"] > 0


def test_a_program_that_fails_everywhere_ends_in_a_round_without_challenges(
    config: Callable[..., Path], deepfact: Run
) -> None:
    config()
    text = Path("trial.yaml").read_text("utf-8").replace("quoting", "failing")
    Path("trial.yaml").write_text(text, "utf-8")
    done = deepfact("round", "run", "trial.yaml")
    assert done.returncode == 0
    assert "60/60, 60 failed" in done.stderr
    assert "60 unverified" in done.stdout
    record = json.loads(Path("results/trial/record.json").read_text("utf-8"))
    assert record["rounds"][0]["cases"] == record["rounds"][0]["revisions"] == []
    kinds = {outcome["kind"] for outcome in record["rounds"][0]["outcomes"]}
    assert kinds == {"failure"}


@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
def test_ctrl_c_keeps_what_was_done_and_says_how_to_go_on(
    config: Callable[..., Path], deepfact: Run, deepfact_command: str
) -> None:
    config()
    text = Path("trial.yaml").read_text("utf-8")
    Path("trial.yaml").write_text(
        text.replace("{kind: quoting}", "{kind: quoting, options: {pause: 0.05}}"), "utf-8"
    )
    process = subprocess.Popen(
        [deepfact_command, "round", "run", "trial.yaml"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip
    journal = Path("results/trial/journal.jsonl")
    deadline = time.monotonic() + 20
    while not journal.is_file() or journal.read_bytes().count(b"\n") < 3:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Traceback" not in said and "what was done is kept" in said
    assert deepfact("round", "status", "results/trial").returncode == 3
    kept = journal.read_bytes()
    assert deepfact("round", "resume", "results/trial").returncode == 0
    assert journal.read_bytes().startswith(kept)
