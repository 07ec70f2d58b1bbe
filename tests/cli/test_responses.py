"""``deepfact responses``: the four commands, text and JSON, and their errors."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from deepfact.cli.responses import app
from deepfact.errors import InputError
from deepfact.model_records import Completion, Message, Request
from deepfact.store.responses import ResponseStore


def request(number: int) -> Request:
    return Request(model="m", messages=(Message(role="user", content=f"claim {number}"),))


@pytest.fixture
def path(tmp_path):
    with ResponseStore(tmp_path / "r.sqlite") as store:
        for number in range(3):
            store.put(request(number), 0, Completion(text="yes", stop_reason="end_turn"))
    return str(tmp_path / "r.sqlite")


def run(*args: str) -> str:
    result = CliRunner().invoke(app, list(args), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_stats(path):
    assert "3 answers" in run("stats", path)
    assert json.loads(run("stats", path, "--json"))["models"] == {"m": 3}


def test_export_import_and_prune(path, tmp_path):
    export = str(tmp_path / "x.jsonl")
    assert json.loads(run("export", path, export, "--json"))["exported"] == 3
    other = str(tmp_path / "other.sqlite")
    assert "3 answers imported, 0 were there" in run("import", other, export)
    assert json.loads(run("import", other, export, "--json")) == {"new": 0, "known": 3}

    keep = tmp_path / "keep.txt"
    keep.write_text(request(0).key() + "\n")
    few = str(tmp_path / "few.jsonl")
    assert "1 answers" in run("export", path, few, "--keys", str(keep))
    assert "2 answers would be deleted" in run("prune", other, "--keep", few, "--dry-run")
    assert json.loads(run("prune", other, "--keep", few, "--json"))["deleted"] == 2
    assert "1 answers" in run("stats", other)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["stats", "no.sqlite"], "no such response store"),
        (["import", "new.sqlite", "no.jsonl"], "no such file"),
    ],
)
def test_errors_say_what_is_wrong(args, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, args)
    assert isinstance(result.exception, InputError)
    assert says in str(result.exception)
    assert list(tmp_path.iterdir()) == []


def test_prune_needs_a_condition(path):
    result = CliRunner().invoke(app, ["prune", path])
    assert isinstance(result.exception, InputError)
    assert result.exception.exit_code == 2


def test_a_bad_list_of_keys_is_named(path, tmp_path):
    (tmp_path / "keys").write_text("sha256:x\noops\n")
    result = CliRunner().invoke(app, ["export", path, "x", "--keys", str(tmp_path / "keys")])
    assert "line 2" in str(result.exception)


def test_help_has_examples():
    for command in ("stats", "export", "import", "prune"):
        assert f"deepfact responses {command}" in run(command, "--help")
