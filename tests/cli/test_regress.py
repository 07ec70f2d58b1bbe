"""``deepfact regress`` as CI uses it: exit codes, files, and what is said of missing answers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from filelock import FileLock

HOME = Path(__file__).parents[2]
FOUNDING = HOME / "results" / "reference" / "founding" / "responses.jsonl"


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """A repository with the founding check committed, entered; no key, and proxies to nowhere."""
    folder = tmp_path / "project"
    (folder / "configs").mkdir(parents=True)
    shutil.copy(HOME / "configs" / "regress-founding.yaml", folder / "configs" / "check.yaml")
    shutil.copytree(
        HOME / "results" / "reference" / "founding-regress",
        folder / "results" / "reference" / "founding-regress",
    )
    monkeypatch.chdir(folder)
    for name in ("ANTHROPIC_API_KEY", "GITHUB_STEP_SUMMARY", "DEEPFACT_BENCHMARKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    return folder


def change(project: Path, old: str, new: str) -> None:
    path = project / "configs" / "check.yaml"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


OUT = Path("results/regress-founding")


def test_the_unchanged_prompt_passes_without_a_key_and_writes_everything(
    project, deepfact, tmp_path
):
    summary = tmp_path / "summary.md"
    summary.write_text("# earlier step\n", "utf-8")
    done = deepfact(
        "regress", "configs/check.yaml", env={"GITHUB_STEP_SUMMARY": str(summary)}
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "regress-founding: passed; 80 claims; 0 flips" in done.stdout
    record = json.loads((OUT / "record.json").read_text("utf-8"))
    assert record["status"] == "passed"
    suite = ET.parse(OUT / "junit.xml").getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("8", "0", "0")
    report = (OUT / "report.md").read_text("utf-8")
    assert summary.read_text("utf-8") == f"# earlier step\n{report}\n"


def test_a_changed_prompt_fails_with_the_flips_and_their_reasons(project, deepfact):
    change(project, "prompt: verifier/split/v1", "prompt: verifier/bundled/v1")
    done = deepfact("regress", "configs/check.yaml", "--responses", FOUNDING)
    assert done.returncode == 1, done.stderr
    assert "fin-1-01: confirmed -> refuted; label supported, qualified" in done.stdout
    assert "“A source disputes or qualifies this: Effective 1 July 2031" in done.stdout
    assert "pin does not hold: fin-1-01 must be confirmed, and is refuted" in done.stderr
    assert "McNemar's exact p" in done.stderr
    failures = {
        case.get("name")
        for case in ET.parse(OUT / "junit.xml").iter("testcase")
        if case.find("failure") is not None
    }
    assert failures == {"fin-1-01 must be confirmed", "gate significance", "gate max_loss"}


def test_missing_answers_exit_3_and_say_how_many_calls_it_takes(project, deepfact):
    assert deepfact("regress", "configs/check.yaml").returncode == 0
    change(project, "prompt: verifier/split/v1", "prompt: verifier/bundled/v1")
    change(project, "    replay: true ", "    # ")
    done = deepfact("regress", "configs/check.yaml")
    assert done.returncode == 3, done.stdout
    assert "INCOMPLETE: neither passed nor regressed" in done.stdout
    assert "240 live calls to anthropic needed" in done.stderr
    assert "unknown price of rule-following-stand-in" in done.stderr
    assert "deepfact regress configs/check.yaml --live" in done.stderr
    assert "Traceback" not in done.stderr
    suite = ET.parse(OUT / "junit.xml").getroot().find("testsuite")
    assert (suite.get("failures"), suite.get("errors")) == ("0", "8")
    as_json = json.loads(deepfact("regress", "configs/check.yaml", "--json").stdout)
    assert (as_json["status"], as_json["shortage"]["calls"]) == ("incomplete", 240)
    assert as_json["pins"][0] == {
        "claim": "fin-1-01", "must": "confirmed", "is": None, "holds": None,
    }  # fmt: skip


def test_a_provider_that_is_down_exits_3(project, deepfact):
    change(project, "{kind: anthropic}", "{kind: anthropic, options: {base_url: BASE}}")
    change(project, "BASE", "'http://127.0.0.1:9'")
    change(project, "prompt: verifier/split/v1", "prompt: verifier/bundled/v1")
    change(project, "    replay: true ", "    limits: {attempts: 1, timeout: 5}  # ")
    change(project, "domains: [finance, environment]", "ids: [fin-1-01, fin-1-02, fin-1-07]")
    env = {"ANTHROPIC_API_KEY": "none-at-all", "HTTPS_PROXY": "", "NO_PROXY": "127.0.0.1"}
    done = deepfact("regress", "configs/check.yaml", "--live", env=env)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "9 answers were lost on the way" in done.stderr
    assert "REGRESSED" not in done.stdout
    refused = deepfact(
        "regress", "configs/check.yaml", "--live", "--update-baseline", env=env
    )  # fmt: skip
    assert refused.returncode == 3
    assert "the baseline was not updated" in refused.stderr


def test_recording_and_what_git_would_show(project, deepfact):
    committed = project / "results" / "reference" / "founding-regress"
    before = {path.name: path.read_bytes() for path in committed.iterdir()}
    done = deepfact("regress", "configs/check.yaml", "--update-baseline")
    assert done.returncode == 0, done.stderr
    assert {path.name: path.read_bytes() for path in committed.iterdir()} == before
    change(project, "prompt: verifier/split/v1", "prompt: verifier/bundled/v1")
    refused = deepfact("regress", "configs/check.yaml", "--update-baseline")
    assert refused.returncode == 3
    assert {path.name: path.read_bytes() for path in committed.iterdir()} == before
    pinned = deepfact("regress", "configs/check.yaml", "--update-baseline", "--responses", FOUNDING)
    assert pinned.returncode == 1
    assert "would not pass itself: fin-1-01 must be confirmed" in pinned.stderr
    kept = deepfact("regress", "configs/check.yaml", "--save-answers")
    assert (kept.returncode, "480 answers in" in kept.stderr) == (1, True)
    assert (committed / "baseline.jsonl").read_bytes() == before["baseline.jsonl"]


def test_input_that_does_not_fit_exits_2_and_leaves_no_pass_behind(project, deepfact):
    assert deepfact("regress", "configs/check.yaml").returncode == 0
    baseline = Path("results/reference/founding-regress/baseline.jsonl")
    whole = baseline.read_text("utf-8")
    baseline.write_text(whole.replace("deepfact-mini@1", "deepfact-mini@2", 1), "utf-8")
    done = deepfact("regress", "configs/check.yaml")
    assert done.returncode == 2
    assert "a baseline of deepfact-mini@2, and the claims are deepfact-mini@1" in done.stderr
    assert not (OUT / "junit.xml").exists()
    assert not (OUT / "record.json").exists()
    baseline.write_text(whole, "utf-8")
    change(project, "gates:", "gate:")
    wrong = deepfact("regress", "configs/check.yaml")
    assert (wrong.returncode, "did you mean 'gates'?" in wrong.stderr) == (2, True)
    missing = deepfact("regress", "none.yaml")
    assert (missing.returncode, "no such file" in missing.stderr) == (2, True)


def test_the_results_folder_is_guarded(project, deepfact):
    other = Path("elsewhere")
    other.mkdir()
    (other / "thesis.txt").write_text("mine", "utf-8")
    taken = deepfact("regress", "configs/check.yaml", "--out", other)
    assert (taken.returncode, "holds something other" in taken.stderr) == (2, True)
    (other / "spec.json").write_text("{}", "utf-8")
    assert deepfact("regress", "configs/check.yaml", "--out", other).returncode == 2
    assert (other / "thesis.txt").read_text("utf-8") == "mine"
    assert deepfact("regress", "configs/check.yaml").returncode == 0
    with FileLock(OUT / ".lock"):
        busy = deepfact("regress", "configs/check.yaml")
    assert (busy.returncode, "in use by another process" in busy.stderr) == (2, True)
    assert (OUT / "junit.xml").is_file()


@pytest.mark.parametrize("broken", ["full", "folder"])
def test_a_summary_that_cannot_be_written_changes_nothing(project, deepfact, tmp_path, broken):
    summary = tmp_path / "summary.md"
    if broken == "full":
        summary.write_bytes(b"x" * 1_000_001)
    else:
        summary.mkdir()
    done = deepfact("regress", "configs/check.yaml", env={"GITHUB_STEP_SUMMARY": str(summary)})
    assert done.returncode == 0, done.stderr
    assert "summary" in done.stderr


def test_no_key_is_written_anywhere(project, deepfact):
    key = "sk-ant-planted-0123456789abcdef"
    done = deepfact("regress", "configs/check.yaml", env={"ANTHROPIC_API_KEY": key})
    assert done.returncode == 0
    written = [path for path in project.rglob("*") if path.is_file()]
    assert len(written) > 6
    assert not [path for path in written if key.encode() in path.read_bytes()]
    assert key not in done.stdout + done.stderr


# --- the GitHub action -------------------------------------------------------------------

ACTION = HOME / "docs" / "github-action"


@pytest.mark.parametrize(
    ("prompt", "exports", "status", "code"),
    [
        ("split", [], "passed", 0),
        ("bundled", [FOUNDING], "regressed", 1),
        ("bundled", [], "incomplete", 3),
        ("no-such-prompt", [], "invalid", 2),
    ],
)
def test_the_action_says_what_was_found(
    project, deepfact_command, tmp_path, prompt, exports, status, code
):
    """The step of the action as a runner runs it, with bash and nothing but its environment."""
    change(project, "verifier/split/v1\n", f"verifier/{prompt}/v1\n")
    for export in exports:
        shutil.copy(export, project / "results/reference/founding-regress/responses.jsonl")
    steps = yaml.safe_load((ACTION / "action.yml").read_text("utf-8"))["runs"]["steps"]
    script = tmp_path / "step.sh"
    script.write_text(next(one for one in steps if one.get("id") == "check")["run"], "utf-8")
    said = tmp_path / "output.txt"
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
        env={
            "PATH": f"{Path(deepfact_command).parent}{os.pathsep}{os.environ['PATH']}",
            "CONFIG": "configs/check.yaml",
            "LIVE": "false",
            "SAVE": "false",
            "RESULTS": "out",
            "GITHUB_OUTPUT": str(said),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        },
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert said.read_text("utf-8") == f"status={status}\n"
    assert ("::error" in done.stdout) == (status == "incomplete")
    assert (tmp_path / "summary.md").exists() == (code != 2)


def test_nothing_of_the_actions_inputs_is_read_as_shell():
    action = yaml.safe_load((ACTION / "action.yml").read_text("utf-8"))
    for step in action["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        assert ("run" in step) == ("shell" in step) == ("uses" not in step)
    workflow = yaml.safe_load((ACTION / "workflow.yml").read_text("utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    used = {
        name
        for job in workflow["jobs"].values()
        for step in job["steps"]
        if step.get("uses", "").endswith("deepfact-regress")
        for name in step["with"]
    }
    assert used <= set(action["inputs"])
    assert "secrets." not in json.dumps(workflow["jobs"]["replay"])
