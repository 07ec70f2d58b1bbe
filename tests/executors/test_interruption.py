"""Runs that are killed, interrupted, or run beside each other: nothing is paid for twice."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from messages_server import MessagesServer
from run_panel import run

from deepfact.store.response_exports import export_responses, store_stats
from deepfact.store.responses import ResponseStore

SCRIPT = Path(__file__).with_name("run_panel.py")
ROOT = Path(__file__).parents[2]
CLAIMS, VOTES, CONCURRENCY = 100, 3, 10


def start(url: str, path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), url, str(path), str(CLAIMS), str(CONCURRENCY)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def wait_for_calls(server: MessagesServer, calls: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 30
    while server.calls < calls and process.poll() is None:
        assert time.monotonic() < deadline, "the run makes no calls"
        time.sleep(0.002)


def exported(path: Path, to: Path) -> bytes:
    with ResponseStore(path) as store:
        export_responses(store, to, requests=True)
    return to.read_bytes()


def test_a_run_killed_again_and_again_ends_as_an_undisturbed_one(tmp_path):
    draw = random.Random(4)
    path, kills = tmp_path / "killed.sqlite", 3
    with MessagesServer(latency=0.01, keep=False) as server:
        for _ in range(kills):
            process = start(server.url, path)
            wait_for_calls(server, server.calls + draw.randint(1, 60), process)
            time.sleep(draw.uniform(0, 0.01))
            process.kill()
            process.communicate()
        out, err = start(server.url, path).communicate()
        assert out.startswith(f"{CLAIMS * VOTES} "), err
        assert server.calls <= CLAIMS * VOTES + kills * CONCURRENCY
        undisturbed = tmp_path / "undisturbed.sqlite"
        asyncio.run(run(server.url, undisturbed, CLAIMS, CONCURRENCY))
    assert exported(path, tmp_path / "a.jsonl") == exported(undisturbed, tmp_path / "b.jsonl")


def test_ctrl_c_finishes_what_is_in_flight_and_can_be_resumed(tmp_path):
    path = tmp_path / "responses.sqlite"
    with MessagesServer(latency=0.05, keep=False) as server:
        process = start(server.url, path)
        wait_for_calls(server, 25, process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        assert process.returncode == 130
        assert "Traceback" not in err
        with ResponseStore(path) as store:
            kept = len(store)
        assert 25 <= kept < CLAIMS * VOTES
        assert kept == server.calls  # every call that was made is kept
        out, err = start(server.url, path).communicate()
        assert out.startswith(f"{CLAIMS * VOTES} "), err
        assert server.calls == CLAIMS * VOTES


def test_processes_that_share_a_store_agree(tmp_path):
    path = tmp_path / "responses.sqlite"
    processes = [start("scripted", path) for _ in range(3)]
    results = [process.communicate() for process in processes]
    # Each process makes up other answers; what counts is the one that was stored first.
    assert len({out for out, _ in results}) == 1, results
    assert results[0][0].startswith(f"{CLAIMS * VOTES} ")
    with ResponseStore(path) as store:
        assert store_stats(store).responses == CLAIMS * VOTES
