"""The documents say what is true: their commands run, and every command is in them.

A fenced block marked ``sh`` is run line by line, in the order of the document, in a copy of the
folders that a clone has; a command exits with 0, or with what a comment ``# exit N`` says. A block
marked ``console`` shows a command that cannot be run here (it needs a key, a server, or a person);
its commands must still exist, with the options it shows.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
BIN = Path(sys.executable).parent


def blocks(document: Path, kind: str) -> list[str]:
    """The fenced blocks of one kind."""
    text = document.read_text(encoding="utf-8")
    return [body for found, body in BLOCK.findall(text) if found == kind]


def commands(body: str) -> list[str]:
    """The commands of a block: continued lines joined, comments and prompts dropped."""
    lines = body.replace("\\\n", " ").splitlines()
    lines = [line.removeprefix("$ ").strip() for line in lines]
    return [line for line in lines if line.startswith("deepfact ")]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The folders that a user stands in after cloning."""
    for name in ("auditors", "benchmarks", "configs", "docs", "tests/research/fixtures"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns(".lock"))
    reference = ROOT / "results" / "reference"
    if reference.is_dir():
        shutil.copytree(reference, tmp_path / "results" / "reference")
    return tmp_path


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_of_a_document_run(document: Path, clone: Path) -> None:
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("DEEPFACT_BENCHMARKS", None)
    for body in blocks(document, "sh"):
        for command in commands(body):
            expected = re.search(r"# exit (\d)", command)
            done = subprocess.run(
                shlex.split(command, comments=True),
                cwd=clone,
                env=environment,
                capture_output=True,
                text=True,
                encoding="utf-8",
                timeout=120,
            )
            wanted = int(expected[1]) if expected else 0
            assert done.returncode == wanted, f"{command}\n{done.stdout}\n{done.stderr}"
            assert "Traceback" not in done.stderr


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_python_of_a_document_compiles(document: Path) -> None:
    for body in blocks(document, "python"):
        compile(body, document.name, "exec")


def leaves(command: object, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], set[str]]:
    """Every command with the options it takes."""
    inner = getattr(command, "commands", None)
    if inner:
        found: dict[tuple[str, ...], set[str]] = {}
        for name, sub in inner.items():
            found |= leaves(sub, (*path, name))
        return found
    options = {o for p in command.params for o in (*p.opts, *p.secondary_opts)}  # type: ignore[attr-defined]
    return {path: options | {"--help", "-h"}}


def known() -> dict[tuple[str, ...], set[str]]:
    from deepfact.cli.app import whole

    return leaves(typer.main.get_command(whole()))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_shown_commands_exist(document: Path) -> None:
    table = known()
    for kind in ("sh", "console"):
        for body in blocks(document, kind):
            for command in commands(body):
                words = shlex.split(command, comments=True)[1:]
                path = next((tuple(words[:n]) for n in (2, 1) if tuple(words[:n]) in table), None)
                if path is None:
                    assert words[0].startswith("--"), f"{document.name}: no such command: {command}"
                    continue
                options = {word.partition("=")[0] for word in words if word.startswith("-")}
                assert options <= table[path], f"{command}: {options - table[path]}"


def test_every_command_is_documented() -> None:
    text = "\n".join(document.read_text(encoding="utf-8") for document in DOCUMENTS)
    missing = [" ".join(path) for path in known() if f"deepfact {' '.join(path)}" not in text]
    assert not missing, f"no document shows: {missing}"


def test_readme_python_runs(clone: Path) -> None:
    bodies = blocks(ROOT / "README.md", "python")
    assert bodies
    for body in bodies:
        done = subprocess.run(
            [sys.executable, "-c", body], cwd=clone, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip()
