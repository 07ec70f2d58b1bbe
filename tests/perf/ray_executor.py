"""The ray executor beside the local one on this machine, in one run.

    python tests/perf/ray_executor.py [--claims 150] [--workers 2] [--repeat 3]

Two kinds of work: a panel over HTTP against one server process on loopback, where the limits
decide and not the executor; and the local verifier, which is nothing but CPU time. Each way runs
in a process of its own. Prints the median of each, with and without start-up, and its ratio to
local. On one machine with few cores this shows what ray costs; what it brings needs machines.
Exits 1 when the outcomes differ or a call was made twice.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SERVER = ROOT / "tests" / "servers" / "messages_server.py"
VOTES, CONCURRENCY = 3, 16


def panel(url: str) -> Any:
    """A panel whose answers cannot be read: what is measured is the asking."""
    from deepfact.run_records import VerifierSpec

    options = {
        "provider": {"kind": "anthropic", "options": {"base_url": url}},
        "model": "m",
        "votes": VOTES,
        "reask": 0,
        "limits": {"concurrency": CONCURRENCY},
    }
    return VerifierSpec(kind="panel", options=options)


def measure_here(way: str, work: str, url: str, claims: int, workers: int, folder: Path) -> None:
    """Do one way in this process; print seconds in all, seconds of work, and a hash."""
    from deepfact import api
    from deepfact.executors.base import build_executor

    moments: list[float] = []
    began = time.perf_counter()
    executor = build_executor("ray", {"workers": workers}) if way == "ray" else None
    outcomes = api.verify(
        api.load("deepfact-mini@1", root=ROOT / "benchmarks"),
        panel(url) if work == "panel" else "local",
        limit=claims,
        workspace=folder,
        watch=lambda _: moments.append(time.perf_counter()),
        executor=executor,
    )
    total = time.perf_counter() - began
    text = "\n".join(outcome.canonical() for outcome in outcomes)
    found = {
        "total": total,
        "work": moments[-1] - moments[0],
        "n": len(outcomes),
        "hash": hashlib.sha256(text.encode()).hexdigest(),
    }
    print(json.dumps(found))


def measure(way: str, work: str, url: str, options: argparse.Namespace) -> dict[str, Any]:
    """Do one way in a process of its own, with an empty response store."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--way", way, "--work", work, "--url", url]
        command += ["--folder", folder, "--claims", str(options.claims)]
        command += ["--workers", str(options.workers)]
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "PYTHONPATH": path, "ANTHROPIC_API_KEY": "none"}
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False
        )
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def calls_of(url: str) -> int:
    """Calls that the server has had."""
    with urllib.request.urlopen(f"{url}/stats", timeout=10) as reply:
        return int(json.load(reply)["calls"])


def compare(url: str, options: argparse.Namespace) -> int:
    """The table; 1 when ray and local do not come to the same."""
    same = True
    print(
        f"{'work':<7} {'way':<6} {'n':>4} {'in all s':>9} {'ratio':>6} {'work s':>8} {'ratio':>6}"
    )
    for work in ("panel", "local"):
        base: dict[str, float] = {}
        hashes, counts = set(), set()
        for way in ("local", "ray"):
            runs = []
            for _ in range(options.repeat):
                before = calls_of(url)
                runs.append(measure(way, work, url, options))
                counts.add(calls_of(url) - before)
            hashes |= {one["hash"] for one in runs}
            total = statistics.median(one["total"] for one in runs)
            took = statistics.median(one["work"] for one in runs)
            base = base or {"total": total, "work": took}
            print(
                f"{work:<7} {way:<6} {runs[0]['n']:>4} {total:>9.2f} {total / base['total']:>6.2f} "
                f"{took:>8.2f} {took / base['work']:>6.2f}",
                flush=True,
            )
        same &= len(hashes) == 1 and len(counts) == 1
        print(f"{'':>7} outcomes {'equal' if len(hashes) == 1 else 'DIFFER'}, calls: {counts}")
    return 0 if same else 1


def main() -> int:
    """Run all and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claims", type=int, default=150)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--latency", type=float, default=0.1)
    parser.add_argument("--way", choices=["local", "ray"])
    parser.add_argument("--work")
    parser.add_argument("--url", default="")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if options.way:
        measure_here(
            options.way, options.work, options.url, options.claims, options.workers, options.folder
        )
        return 0
    command = [sys.executable, str(SERVER), "--latency", str(options.latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            return compare(server.stdout.readline().strip(), options)
        finally:
            server.terminate()


if __name__ == "__main__":
    sys.exit(main())
