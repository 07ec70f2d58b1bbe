"""``docs/own-verifier.md``, done to the letter: its code is taken from the page and run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

PAGE = (Path(__file__).parent.parent / "docs/own-verifier.md").read_text(encoding="utf-8")

Run = Callable[..., subprocess.CompletedProcess[str]]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def named(name: str, language: str = "python") -> str:
    """The code block whose first line is a comment with its file name."""
    return next(block for block in blocks(language) if block.startswith(f"# {name}\n"))


def lines_of_code(code: str) -> int:
    return sum(bool(line.strip()) and not line.startswith("#") for line in code.splitlines())


@pytest.fixture
def installed(desk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page's package, as an installer leaves it."""
    site = tmp_path / "installed"
    info = site / "shout-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "shout.py").write_text(named("shout.py"), encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shout\nVersion: 1.0\n")
    project = tomllib.loads(blocks("toml")[0])["project"]["entry-points"]
    (info / "entry_points.txt").write_text(
        "".join(
            f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in points.items())
            for group, points in project.items()
        )
    )
    monkeypatch.setenv("PYTHONPATH", f"{site}{os.pathsep}{os.environ['PYTHONPATH']}")
    return desk


def test_the_samples_are_as_short_as_promised() -> None:
    assert lines_of_code(named("shout.py")) <= 20
    assert lines_of_code(named("years.py")) <= 15


def test_a_verifier_by_entry_point(installed: Path, deepfact: Run) -> None:
    done = deepfact("verify", "small@1", "--verifier", "shout", "--out", "shout.jsonl")
    assert done.returncode == 0, done.stderr
    outcomes = [json.loads(line) for line in Path("shout.jsonl").read_text("utf-8").splitlines()]
    assert len(outcomes) == 60 and {o["verifier"] for o in outcomes} == {"shout"}
    assert {o["rationale"] for o in outcomes if "rationale" in o} == {
        "THE WORDS ARE THERE", "WORDS ARE MISSING",
    }  # fmt: skip
    scored = deepfact("score", "shout.jsonl", "--benchmark", "small@1", "--json")
    assert json.loads(scored.stdout)["score"]["n"] == 60


def test_its_options_are_the_arguments_of_its_class(installed: Path, deepfact: Run) -> None:
    options = next(block for block in blocks("yaml") if "kind: shout" in block)
    Path("long.yaml").write_text(options, "utf-8")
    done = deepfact("verify", "small", "--verifier", "long.yaml", "--out", "long.jsonl")
    assert done.returncode == 0, done.stderr
    assert '"verifier":"shout-strictly"' in Path("long.jsonl").read_text("utf-8")
    for wrong, said in (("shar: 0.9", "did you mean 'share'"), ("share: all", "option 'share'")):
        Path("long.yaml").write_text(options.replace("share: 0.95", wrong), "utf-8")
        done = deepfact("verify", "small", "--verifier", "long.yaml", "--out", "wrong.jsonl")
        assert done.returncode == 2 and said in done.stderr, done.stderr
        assert not Path("wrong.jsonl").exists()


def test_it_challenges_in_a_round(installed: Path, deepfact: Run) -> None:
    Path("round.yaml").write_text(
        "name: loud\nbenchmark: small@1\nchallenger: {kind: shout}\n"
        "auditors: [simulated-expert]\ncommit_to: run\n", "utf-8"
    )  # fmt: skip
    done = deepfact("round", "run", "round.yaml")
    assert done.returncode == 0, done.stderr
    record = json.loads(Path("results/loud/record.json").read_text("utf-8"))
    (made,) = record["rounds"]
    assert made["challenger"] == "shout" and made["cases"] and made["inadmissible"] == []


def test_a_package_that_cannot_be_imported_is_named(installed: Path, deepfact: Run) -> None:
    site = Path(os.environ["PYTHONPATH"].split(os.pathsep)[0])
    (site / "shout.py").write_text("import no_such_module_anywhere\n", encoding="utf-8")
    done = deepfact("verify", "small", "--verifier", "shout", "--out", "shout.jsonl")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "'shout:Shout'" in done.stderr and "no_such_module_anywhere" in done.stderr


def test_a_program_of_any_language(desk: Path, deepfact: Run) -> None:
    Path("years.py").write_text(named("years.py"), "utf-8")
    config = named("years.yaml", "yaml").replace(
        "[python,", json.dumps([sys.executable])[:-1] + ","
    )
    Path("years.yaml").write_text(config, "utf-8")
    done = deepfact("verify", "small@1", "--verifier", "years.yaml", "--out", "years.jsonl")
    assert done.returncode == 0, done.stderr
    outcomes = [json.loads(line) for line in Path("years.jsonl").read_text("utf-8").splitlines()]
    assert len(outcomes) == 60 and {o["verifier"] for o in outcomes} == {"years"}
    labels = {o["label"] for o in outcomes}
    assert labels == {"supported", "inconclusive"}
    assert all(o["evidence"] for o in outcomes if o["label"] == "supported")


def test_the_commands_of_the_page_are_commands(desk: Path, deepfact: Run) -> None:
    shown = [line for block in blocks("console") for line in block.splitlines()]
    assert len(shown) == 3
    for line in shown:
        command, sub, *_ = line.split()
        assert command == "deepfact"
        usage = deepfact(sub, "--help").stdout
        for option in re.findall(r"--[a-z-]+", line):
            assert option in usage, line
