"""What `deepfact doctor` finds on a machine that is well, and on ones that are not."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from deepfact import doctor
from deepfact.doctor import Finding, Health, examine


def found(folder: Path, **given: object) -> dict[str, Finding]:
    return {one.check: one for one in examine(folder, **given)}


@pytest.fixture
def answering() -> object:
    """An address that answers 404, and counts what it was sent."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.seen.append(dict(self.headers))
            self.send_response(404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    server.seen = []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def test_a_machine_that_is_well(desk: Path) -> None:
    all_of_it = found(desk)
    assert not [one for one in all_of_it.values() if one.health is Health.BAD]
    assert "pydantic " in all_of_it["dependencies"].found
    assert all_of_it["extra web"].found == "installed"
    assert all_of_it["benchmark small"].found == "1 versions, the newest can be read"
    assert "connection" not in all_of_it
    left = {path.name for path in desk.iterdir()}
    assert left == {"benchmarks", "auditors"}, "it left something behind"


def test_a_key_is_told_but_never_shown(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "planted-key-0192")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    all_of_it = found(desk)
    assert all_of_it["key ANTHROPIC_API_KEY"].found == "present"
    assert all_of_it["key OPENAI_API_KEY"].health is Health.NOTE
    assert "planted" not in "".join(one.canonical() for one in all_of_it.values())


def test_what_is_not_installed(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_version", lambda name: None if "ette" in name else "1")
    extra = found(desk)["extra web"]
    assert (extra.health, extra.found) == (Health.NOTE, "not installed: starlette")
    assert extra.fix == "pip install 'deepfact[web]'"
    monkeypatch.setattr(doctor, "_version", lambda name: None if name == "numpy" else "1")
    assert found(desk)["dependencies"].health is Health.BAD


def test_a_folder_that_cannot_be_written(desk: Path) -> None:
    place = found(desk / "nowhere")["working folder"]
    assert place.health is Health.BAD and "nowhere cannot be written" in place.found


def test_little_space_is_a_note(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(desk)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage._replace(free=10**8))
    place = found(desk)["working folder"]
    assert place.health is Health.NOTE and "0.1 GB free" in place.found


def test_a_clock_behind_a_journal_is_bad(desk: Path) -> None:
    journal = desk / "results" / "run" / "journal.jsonl"
    journal.parent.mkdir(parents=True)
    journal.touch()
    assert found(desk)["clock"].health is Health.GOOD
    later = time.time() + 86400
    os.utime(journal, (later, later))
    clock = found(desk)["clock"]
    assert clock.health is Health.BAD and str(journal) in clock.found


def test_a_broken_benchmark_is_bad(desk: Path) -> None:
    path = desk / "benchmarks" / "small" / "versions" / "1" / "revisions.jsonl"
    path.write_bytes(path.read_bytes()[:-40])
    broken = found(desk)["benchmark small"]
    assert broken.health is Health.BAD and broken.fix == "deepfact bench verify small"


def test_an_address_is_reached_without_a_key(
    desk: Path, answering: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "planted-key-0192")
    address = f"http://127.0.0.1:{answering.server_port}/v1"
    reached = found(desk, connect=(address,))["connection"]
    assert reached.health is Health.GOOD and f"{address} answers (404" in reached.found
    assert "planted" not in str(answering.seen) and len(answering.seen) == 1


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("http://127.0.0.1:9/", "cannot be reached"),
        ("file:///etc/passwd", "is no http or https address"),
        ("http://[broken", "cannot be reached"),
        ("http://ann:hunter22@127.0.0.1:9/", "[secret]@127.0.0.1"),
    ],
)
def test_an_address_that_does_not_answer(desk: Path, address: str, problem: str) -> None:
    reached = found(desk, connect=(address,))["connection"]
    assert reached.health is Health.BAD and problem in reached.found
    assert "hunter22" not in reached.canonical()


def test_the_command(desk: Path, deepfact: object) -> None:
    done = deepfact("doctor", "--json")
    assert done.returncode == 0, done.stdout
    assert {one["check"] for one in json.loads(done.stdout)} >= {"versions", "clock"}
    done = deepfact("doctor", "--connect", "http://127.0.0.1:9/")
    assert done.returncode == 1 and "cannot be reached" in done.stdout
