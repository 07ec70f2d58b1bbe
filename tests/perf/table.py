"""One table of what deepfact costs: medians of several runs, each beside a floor of the same run.

    python tests/perf/table.py [--times 3] [--update]

A floor is the least that the same work could cost: a bare HTTP client, an interpreter that starts
and ends, a file that is read line by line. Ratios to it can be compared between machines; seconds
cannot. ``--update`` puts the table into docs/performance.md, with the machine and the date. The
bigger measurements have scripts of their own beside this one. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import engine

HOME = Path(__file__).parents[2]
PAGE = HOME / "docs" / "performance.md"
START, END = "<!-- table -->", "<!-- /table -->"
COMMAND = str(Path(sys.executable).parent / "deepfact")

Timed = Callable[[], float]
"""Does the work once; seconds of wall time."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: what is done, and what the least would be."""

    what: str
    work: Timed
    floor_is: str
    floor: Timed


def process(*words: str, cwd: Path | None = None) -> Timed:
    """A whole process, from its start to its end."""

    def once() -> float:
        began = time.perf_counter()
        subprocess.run(words, check=True, capture_output=True, cwd=cwd)
        return time.perf_counter() - began

    return once


def way(name: str, url: str, claims: int, concurrency: int) -> Timed:
    """One way of `engine`, in a process of its own, with a folder of its own."""

    def once() -> float:
        with tempfile.TemporaryDirectory() as folder:
            return engine.measure(name, url, claims, concurrency, Path(folder))["wall"]

    return once


def warm(url: str, claims: int) -> Timed:
    """A rerun of answered calls."""

    def once() -> float:
        with tempfile.TemporaryDirectory() as folder:
            engine.measure("engine", url, claims, 200, Path(folder))
            return engine.measure("engine, warm", url, claims, 200, Path(folder))["wall"]

    return once


def judging(kind: str) -> Timed:
    """Every claim of the shipped benchmark through a verifier, in this process."""
    import deepfact
    from deepfact.run_records import VerifierSpec
    from deepfact.verifiers.base import Context, build_verifier

    version = deepfact.load("deepfact-mini@1", root=HOME / "benchmarks")
    sources = {source: version.sources[source] for source in version.sources}

    def once() -> float:
        verifier, context = build_verifier(VerifierSpec(kind=kind)), Context(sources)
        began = time.perf_counter()
        for claim in version.claims:
            verifier.verify(claim, context)
        return time.perf_counter() - began

    return once


def reading(path: Path) -> Timed:
    """Every line of a file as JSON, by the standard library."""
    code = "import json, sys\nfor line in open(sys.argv[1], 'rb'): json.loads(line)"
    return process(sys.executable, "-c", code, str(path))


@contextmanager
def server(latency: float) -> Iterator[str]:
    """The Messages server in a process of its own; its address."""
    command = [sys.executable, str(engine.SERVER), "--latency", str(latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout
            yield running.stdout.readline().strip()
        finally:
            running.terminate()


def rows(url: str, desk: Path) -> Iterator[Row]:
    """All that is measured."""
    empty = process(sys.executable, "-c", "pass")
    for words in (("--help",), ("bench", "log", "deepfact-mini"), ("bench", "list")):
        yield Row(f"`deepfact {' '.join(words)}`", process(COMMAND, *words, cwd=HOME),
                  "Python starts and ends", empty)  # fmt: skip
    for claims, concurrency in ((1000, 50), (1000, 200), (5000, 200)):
        yield Row(f"engine: {claims} calls of 50 ms, {concurrency} in flight, each durable",
                  way("engine", url, claims, concurrency),
                  "the same calls by bare aiohttp, nothing kept",
                  way("aiohttp", url, claims, concurrency))  # fmt: skip
    yield Row("engine: 5000 answered calls again", warm(url, 5000),
              "the same calls by bare aiohttp", way("aiohttp", url, 5000, 200))  # fmt: skip
    yield Row("local verifier: 240 claims of deepfact-mini", judging("local"),
              "word overlap", judging("overlap"))  # fmt: skip
    verdicts = desk / "verdicts.jsonl"
    score = ("score", str(verdicts), "--benchmark", "deepfact-mini@1")
    verify = ("verify", "deepfact-mini@1", "--verifier", "overlap", "--out", str(verdicts))
    subprocess.run([COMMAND, *verify], check=True, capture_output=True, cwd=HOME)
    yield Row("`deepfact score` of 240 verdicts", process(COMMAND, *score, cwd=HOME),
              "the file read line by line", reading(verdicts))  # fmt: skip


def table(times: int) -> str:
    """The table in Markdown; a line is printed to standard error when it is done."""
    lines = [
        "| what | median s | floor | median s | ratio |",
        "|---|---:|---|---:|---:|",
    ]
    with server(0.05) as url, tempfile.TemporaryDirectory() as desk:
        for row in rows(url, Path(desk)):
            # In turn, so that a machine that gets busier is so for both.
            pairs = [(row.work(), row.floor()) for _ in range(times)]
            took, least = (statistics.median(column) for column in zip(*pairs, strict=True))
            lines.append(
                f"| {row.what} | {took:.3f} | {row.floor_is} | {least:.3f} | {took / least:.1f} |"
            )
            print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], allow_abbrev=False)
    parser.add_argument("--times", type=int, default=3, help="runs of each")
    parser.add_argument("--update", action="store_true", help="put it into docs/performance.md")
    asked = parser.parse_args()
    busy = os.getloadavg()[0]
    made = table(asked.times)
    machine = (
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, {platform.machine()}, "
        f"Python {platform.python_version()}, {asked.times} runs of each; "
        f"load average before the first: {busy:.1f}."
    )
    print(f"{machine}\n\n{made}")
    if asked.update:
        text = PAGE.read_text(encoding="utf-8")
        before, after = text.partition(START)[0], text.partition(END)[2]
        PAGE.write_text(f"{before}{START}\n{machine}\n\n{made}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
