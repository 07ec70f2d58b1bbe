"""The pytest plugin as others have it: in a pytest of its own, by its entry point."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

pytest_plugins = ["pytester"]

HOME = Path(__file__).parents[1]
CONFIG = HOME / "configs" / "regress-founding.yaml"
FOUNDING = HOME / "results" / "reference" / "founding" / "responses.jsonl"
REFERENCE = Path("results/reference/founding-regress")


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch) -> pytest.Pytester:
    """Somebody's repository with a committed check of ten claims, and a test of their own."""
    for name in ("ANTHROPIC_API_KEY", "PYTEST_ADDOPTS", "DEEPFACT_BENCHMARKS"):
        monkeypatch.delenv(name, raising=False)
    shutil.copytree(HOME / REFERENCE, pytester.path / REFERENCE)
    write(pytester)
    pytester.makepyfile(test_own="def test_own(): pass")
    pytester.makeini("[pytest]\nfilterwarnings = error\naddopts = --strict-markers")
    return pytester


def write(pytester: pytest.Pytester, old: str = "", new: str = "", name: str = "") -> None:
    """The committed spec on the claims of one report, with a change."""
    text = CONFIG.read_text("utf-8")
    ids = [f"fin-1-{number:02}" for number in range(1, 11)]
    text = text.replace("domains: [finance, environment]", f"ids: {json.dumps(ids)}")
    assert old in text
    path = pytester.path / (name or "deepfact_regress.yaml")
    path.write_text(text.replace(old, new) if old else text, "utf-8")


def answers_of_the_bundled_prompt(pytester: pytest.Pytester) -> None:
    shutil.copy(FOUNDING, pytester.path / REFERENCE / "responses.jsonl")


def run(pytester: pytest.Pytester, *words: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", *words, timeout=120)


def test_the_entry_point_is_declared():
    declared = tomllib.loads((HOME / "pyproject.toml").read_text("utf-8"))
    points = declared["project"]["entry-points"]["pytest11"]
    assert points == {"deepfact": "deepfact.pytest_plugin"}


def test_each_pin_and_each_gate_is_an_item_that_passes(project):
    result = run(project, "-v")
    result.assert_outcomes(passed=9)
    result.stdout.fnmatch_lines_random(
        [
            "deepfact_regress.yaml::every answer is there PASSED*",
            "deepfact_regress.yaml::fin-1-01 must be confirmed PASSED*",
            "deepfact_regress.yaml::fin-1-07 must be refuted PASSED*",
            "deepfact_regress.yaml::gate significance PASSED*",
            "test_own.py::test_own PASSED*",
        ]
    )
    assert result.ret == 0


def test_a_regression_is_a_failure_that_can_be_read(project):
    answers_of_the_bundled_prompt(project)
    write(project, "prompt: verifier/split/v1", "prompt: verifier/bundled/v1")
    result = run(project, "--junitxml=junit.xml")
    result.assert_outcomes(failed=2, passed=7)
    text = result.stdout.str()
    assert "fin-1-01 must be confirmed, and is refuted" in text
    assert "pinned because: The founding case" in text
    assert "“A source disputes or qualifies this: Effective 1 July 2031" in text
    assert "prompt: verifier/split/v1" in text
    assert "gate max_loss" in text
    assert "Traceback" not in text
    assert "pytest_plugin.py" not in text
    failed = [
        case.get("name")
        for case in ET.parse(project.path / "junit.xml").iter("testcase")
        if case.find("failure") is not None
    ]
    assert failed == ["fin-1-01 must be confirmed", "gate max_loss"]


def test_missing_answers_are_errors_and_neither_passed_nor_failed_nor_skipped(project):
    write(project, "prompt: verifier/split/v1", "prompt: verifier/bundled/v1")
    result = run(project)
    result.assert_outcomes(errors=8, passed=1)
    text = result.stdout.str()
    assert "30 live calls to anthropic needed" in text
    assert "deepfact regress deepfact_regress.yaml --live" in text
    assert result.ret == 1


def test_a_pin_rests_on_its_own_answers_alone(project):
    path = project.path / REFERENCE / "responses.jsonl"
    lines = path.read_text("utf-8").splitlines(keepends=True)
    kept = [line for line in lines if "11.4 percent under GAAP and of 19.8" not in line]
    assert len(kept) == len(lines) - 3
    path.write_text("".join(kept), "utf-8")
    result = run(project, "-k", "must")
    result.assert_outcomes(errors=1, passed=2, deselected=6)


def test_a_broken_spec_is_a_collection_error_with_its_place(project):
    write(project, "pins:", "pin:")
    result = run(project)
    assert result.ret == 2
    text = result.stdout.str()
    assert "unknown key 'pin'" in text
    assert "did you mean 'pins'?" in text
    assert "Traceback" not in text


def test_a_baseline_that_does_not_fit_is_an_error_of_every_item(project):
    path = project.path / REFERENCE / "baseline.jsonl"
    text = path.read_text("utf-8")
    path.write_text(text.replace("deepfact-mini@1", "deepfact-mini@2", 1), "utf-8")
    result = run(project, "-k", "gate or must")
    result.assert_outcomes(errors=7, deselected=2)
    assert "this is a baseline of deepfact-mini@2" in result.stdout.str()


def test_a_gate_that_cannot_be_measured_is_skipped_with_the_reason(project):
    write(project, "  max_new_false_confirmations: 0\n", "")
    text = (project.path / "deepfact_regress.yaml").read_text("utf-8")
    ids = text[text.index("ids: ") : text.index("]", text.index("ids: ")) + 1]
    few = text.replace(ids, "ids: [fin-1-01, fin-1-02]").replace(
        text[text.index("  - claim: fin-1-07") : text.index("gates:")], ""
    )
    (project.path / "deepfact_regress.yaml").write_text(few, "utf-8")
    result = run(project, "-rs")
    result.assert_outcomes(passed=7, skipped=1)
    assert "max_new_false_confirmations is not measured: it needs" in result.stdout.str()


def test_other_files_are_left_alone_and_the_ini_option_names_others(project):
    (project.path / "deepfact_regress.yaml").rename(project.path / "config.yaml")
    run(project).assert_outcomes(passed=1)
    project.makeini("[pytest]\ndeepfact_regress = checks/*.yaml")
    (project.path / "checks").mkdir()
    (project.path / "config.yaml").rename(project.path / "checks" / "mine.yaml")
    (project.path / "checks" / "other.yml").write_text("- not ours\n", "utf-8")
    run(project).assert_outcomes(passed=9)
    run(project, "-m", "not deepfact").assert_outcomes(passed=1, deselected=8)
    run(project, "-p", "no:deepfact").assert_outcomes(passed=1)


def test_from_any_working_folder_and_with_xdist(project):
    (project.path / "sub").mkdir()
    os.chdir(project.path / "sub")
    result = run(project, "..", "-n", "2", "--rootdir", str(project.path))
    result.assert_outcomes(passed=9)


def test_the_plugin_loads_nothing_until_it_is_needed():
    code = (
        "import sys, pytest, deepfact.pytest_plugin\n"
        "heavy = {'pydantic', 'yaml', 'numpy', 'jinja2', 'anthropic', 'deepfact.records'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


def test_nothing_is_written_beside_the_tests(project):
    before = {path for path in project.path.rglob("*") if "__pycache__" not in path.parts}
    run(project, "-k", "must")
    after = {path for path in project.path.rglob("*") if "__pycache__" not in path.parts}
    new = {path.name for path in after - before if not path.name.startswith("runpytest-")}
    assert new <= {"stdout", "stderr"}
