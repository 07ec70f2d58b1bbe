"""``deepfact prompts``: each command, as text and as JSON, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from deepfact.cli.prompts import app
from deepfact.errors import CheckFailed, ConfigError, InputError
from deepfact.prompts.library import LOCK, SHIPPED


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a prompt of one's own, made from a shipped one."""
    text = (SHIPPED / "verifier/split/v1.md").read_text(encoding="utf-8")
    path = tmp_path / "verifier" / "mine" / "v1.md"
    path.parent.mkdir(parents=True)
    path.write_text(text.replace("name: verifier/split", "name: verifier/mine"), encoding="utf-8")
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(app, [*map(str, words)])


def error_of(result: Result) -> BaseException:
    assert result.exception is not None
    return result.exception


def test_list(folder: Path) -> None:
    result = run("list", "--folder", folder, "--json")
    every = {one["prompt"]: one["status"] for one in json.loads(result.stdout)}
    found = {name: status for name, status in every.items() if name.startswith("verifier/")}
    assert found == {
        "verifier/bundled/v1": "released",
        "verifier/mine/v1": "draft",
        "verifier/split/v1": "released",
    }
    assert "verifier/mine/v1" in run("list", "--folder", folder).stdout


def test_show() -> None:
    assert run("show", "verifier/split").stdout.startswith("---\nname: verifier/split\n")
    shown = json.loads(run("show", "verifier/split/v1", "--json").stdout)
    assert shown["verdict"]["refuting"] == ["contradictory", "inconclusive"]
    assert shown["hash"].startswith("sha256:")


def test_diff(folder: Path) -> None:
    text = run("diff", "verifier/split", "verifier/mine", "--folder", folder).stdout
    assert "-name: verifier/split" in text
    assert "+name: verifier/mine" in text
    same = json.loads(run("diff", "verifier/split", "verifier/split/v1", "--json").stdout)
    assert (same["same"], same["diff"]) == (True, [])
    differ = json.loads(run("diff", "verifier/split", "verifier/bundled", "--json").stdout)
    assert differ["output_schema_differs"]


def test_lint_passes_what_ships() -> None:
    result = run("lint", "verifier/split", "verifier/bundled")
    assert (result.exit_code, result.stdout) == (0, "no problems\n")


def test_lint_fails_on_an_error_and_says_where(folder: Path) -> None:
    path = folder / "verifier/mine/v1.md"
    path.write_text(path.read_text(encoding="utf-8").replace("{{sources}}", "{{souces}}"))
    result = run("lint", path)
    assert isinstance(error_of(result), CheckFailed)
    assert "verifier/mine/v1: error: unknown variable {{souces}}" in result.stdout
    report = json.loads(run("lint", path, "--json").stdout)
    checks = [one["check"] for one in report["problems"] if one["level"] == "error"]
    assert checks == ["unknown-variable", "missing-variable"]


def test_release_then_change_is_an_error(folder: Path) -> None:
    path = folder / "verifier/mine/v1.md"
    assert "released" in run("release", path).stdout
    assert "verifier/mine/v1" in (folder / LOCK).read_text(encoding="utf-8")
    assert "already" in run("release", path).stdout
    path.write_text(path.read_text(encoding="utf-8").replace("You work alone", "You work"))
    result = run("lint", path)
    assert isinstance(error_of(result), CheckFailed)
    assert "a released version was changed" in result.stdout
    assert "released, then changed" in run("list", "--folder", folder).stdout


def test_a_prompt_with_errors_is_not_released(folder: Path) -> None:
    path = folder / "verifier/mine/v1.md"
    path.write_text(path.read_text(encoding="utf-8").replace("<sources>", "<material>"))
    assert isinstance(error_of(run("release", path)), CheckFailed)
    assert not (folder / LOCK).exists()


def test_what_is_not_there(tmp_path: Path) -> None:
    assert isinstance(error_of(run("show", "verifier/splitt")), ConfigError)
    assert isinstance(error_of(run("list", "--folder", tmp_path / "no")), InputError)
    assert isinstance(error_of(run("lint", tmp_path / "notes.md")), ConfigError)


@pytest.mark.parametrize("command", ["list", "show", "diff", "lint", "release"])
def test_every_command_shows_an_example(command: str) -> None:
    assert f"deepfact prompts {command}" in run(command, "--help").stdout
