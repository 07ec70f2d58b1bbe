"""A round that waits for people, its audit page in this process or in one of its own, and a
browser. Tests in a browser are skipped, with the reason, where there is none."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deepfact.records import Claim, Revision, RevisionKind, Source
from deepfact.round import run_rounds
from deepfact.run_records import AuditorSpec, RoundSpec, RunRecord, VerifierSpec
from deepfact.store.benchmark import BenchmarkStore

RUN = Path("run")
CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="session")
def begun(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[Any, RunRecord]]:
    """Runs that a test has begun, by what they were begun with: each is begun once and copied."""
    return tmp_path_factory.mktemp("begun"), {}


@pytest.fixture
def begin(desk: Path, begun: tuple[Path, dict[Any, RunRecord]]) -> Callable[..., RunRecord]:
    """Begins a run in `run` that waits for the people named: ``begin("ada", rule="majority")``."""
    folder, known = begun

    def start(*names: str, benchmark: str = "small@1", **policy: Any) -> RunRecord:
        spec = RoundSpec(
            name="trial", benchmark=benchmark, challenger=VerifierSpec(kind="quoting"),
            auditors=names, policy=policy or {"rule": "single"}, commit_to="run",
            date=datetime(2026, 1, 5, tzinfo=UTC),
        )  # fmt: skip
        people = tuple(AuditorSpec(name=name, kind="human") for name in names)
        what = (benchmark, names, *sorted(policy.items()))
        if benchmark == "small@1" and what in known:
            if not RUN.exists():
                shutil.copytree(folder / str(list(known).index(what)), RUN)
            return known[what]
        record = run_rounds(spec, RUN, auditors=people)
        if benchmark == "small@1":
            shutil.copytree(RUN, folder / str(len(known)))
            known[what] = record
        return record

    return start


@pytest.fixture
def benchmark_of(desk: Path) -> Callable[..., str]:
    """Makes a benchmark of its own: ``benchmark_of(claims, sources)``; all labels are supported,
    by whom ``who`` says."""

    def make(claims: list[Claim], sources: list[Source], who: str = "annotator") -> str:
        when = datetime(2026, 1, 2, tzinfo=UTC)
        store = BenchmarkStore.create(desk / "benchmarks" / "own", card="# own\n")
        revisions = [
            Revision(
                kind=RevisionKind.ADD, claim_id=claim.id, who=who, when=when, why="labelled",
                claim=claim,
                annotation={
                    "label": "supported", "rationale": claim.context or "the source says so",
                    "provenance": {"who": who, "when": when},
                },
            )
            for claim in claims
        ]  # fmt: skip
        store.commit(
            revisions, parent=None, author=who, date=when, note="made", sources=sources
        )  # fmt: skip
        return "own@1"

    return make


# --- a server of its own ------------------------------------------------------------------


class Server:
    """``deepfact audit serve run`` as a process that can be killed and started again."""

    def __init__(self, command: str) -> None:
        self.command, self.port = command, 0
        self.links: dict[str, str] = {}
        self.log = Path("serve.log")
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Starts it, on the port that it had before if it was killed; waits until it listens."""
        with self.log.open("a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [self.command, "audit", "serve", "run", "--port", str(self.port)],
                stdout=subprocess.PIPE, stderr=log, encoding="utf-8",
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )  # fmt: skip
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.match(r"audit page: (http://\S+:(\d+))", line):
                self.address, self.port = found[1], int(found[2])
            elif found := re.match(r"  (\S+): (http\S+)", line):
                self.links[found[1]] = found[2]
            if line.startswith("ready"):
                return
        raise AssertionError(f"it did not start: {self.log.read_text('utf-8')}")

    def kill(self) -> None:
        """Kills it without warning."""
        assert self.process is not None and self.process.stdout is not None
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture
def server(begin: object, deepfact_command: str) -> Iterator[Server]:
    """The server of the run in `run`, not started yet."""
    made = Server(deepfact_command)
    yield made
    if made.process:
        made.kill()


# --- a browser ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser, started once for each module that asks for one. While it runs its thread has an
    event loop, in which other tests could start neither another browser nor a loop of their own."""
    if not Path(CHROMIUM).is_file():
        pytest.skip(f"there is no {CHROMIUM}; install the distribution's package chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def shots() -> Path:
    """Where screenshots are kept: ``$DEEPFACT_SHOTS``, or the test's own folder."""
    folder = Path(os.environ.get("DEEPFACT_SHOTS", "shots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def openssl() -> str:
    """The command that makes a certificate for a test."""
    found = shutil.which("openssl")
    if found is None or sys.platform == "win32":
        pytest.skip("openssl is not installed")
    return found
