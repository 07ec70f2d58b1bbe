"""Shared fixtures. Tests never reach beyond loopback: a socket to anywhere else raises."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from deepfact import records
from deepfact.store.benchmark import BenchmarkStore

# A busy machine is no failure: the first example may pay for heavy imports.
settings.register_profile("deepfact", deadline=None)
settings.load_profile("deepfact")

_connect = socket.socket.connect


def _loopback_only(self: socket.socket, address: object) -> None:
    """Refuse every connection that leaves this machine."""
    if self.family in (socket.AF_INET, socket.AF_INET6):
        host = str(address[0]) if isinstance(address, tuple) else str(address)
        if host not in ("127.0.0.1", "::1", "localhost"):
            raise RuntimeError(f"a test tried to reach {host}")
    _connect(self, address)


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "connect", _loopback_only)


@pytest.fixture
def no_hang() -> Iterator[None]:
    """Fails a test that takes two minutes: for what takes for ever, or grows with the square of a
    long text, when something is wrong. It measures nothing."""

    if not hasattr(signal, "SIGALRM"):  # where there is none, a hang is seen soon enough
        yield
        return

    def give_up(*_: object) -> None:
        pytest.fail("it hangs")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of public data sets, named by DEEPFACT_DATA."""
    folder = os.environ.get("DEEPFACT_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("DEEPFACT_DATA does not name the folder of public data sets")
    return Path(folder)


# --- end-to-end tests: a small benchmark, verifiers of a third party, the command line -----

JUDGES = '''
import hashlib
import time

from deepfact.records import Contradiction, Evidence, FailureReason, Label, Stance
from deepfact.records import Verdict, VerificationFailure


class Quoting:
    """Always argues for itself; its label depends on the claim's id alone."""

    def __init__(self, pause: float = 0.0, turn: str = "", model: str = "") -> None:
        self.pause, self.turn = pause, turn

    def verify(self, claim, context):
        time.sleep(self.pause)
        source = next(iter(context.cited(claim)), None)
        if source is None:
            return VerificationFailure(claim_id=claim.id, reason=FailureReason.NO_SOURCE)
        label = list(Label)[hashlib.sha256((self.turn + claim.id).encode()).digest()[0] % 3]
        quote = source.text.split(". ")[0]
        found = {}
        if label is Label.SUPPORTED:
            stance = Stance.SUPPORTS
            found["evidence"] = (Evidence(source=source.id, quote=quote, stance=stance),)
        if label is Label.CONTRADICTORY:
            disputed = Contradiction(disputed=claim.text, source=source.id, quote=quote)
            found["contradictions"] = (disputed,)
        return Verdict(claim_id=claim.id, label=label, rationale="it says so", **found)


class Failing:
    def verify(self, claim, context):
        raise RuntimeError("the server is on fire")
'''


@pytest.fixture(scope="session")
def judges(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PYTHONPATH with an installed distribution: verifiers `quoting`, `failing`."""
    site = tmp_path_factory.mktemp("site")
    info = site / "house_judges-1.0.dist-info"
    info.mkdir()
    (site / "house_judges.py").write_text(JUDGES, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: house-judges\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[deepfact.verifiers]\nquoting = house_judges:Quoting\nfailing = house_judges:Failing\n"
    )
    return site


@pytest.fixture(scope="session")
def small_benchmarks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds `small`: the first 60 claims of the shipped benchmark, with its keys."""
    from deepfact.records import Revision, RevisionKind
    from deepfact.store import seal
    from deepfact.store.benchmark import BenchmarkStore
    from deepfact.store.files import jsonl, write_text
    from deepfact.store.locate import load_version
    from deepfact.store.manifests import sources_of

    shipped = load_version("deepfact-mini@1", Path(__file__).parent.parent / "benchmarks")
    entries = list(shipped.state)[:60]
    when = shipped.manifest.date
    revisions = [
        Revision(
            kind=RevisionKind.ADD, claim_id=entry.claim.id, who="fixture", when=when,
            why="cut", claim=entry.claim, annotation=entry.annotation,
        )
        for entry in entries
    ]  # fmt: skip
    needed = sorted(set().union(*map(sources_of, revisions)))
    root = tmp_path_factory.mktemp("small") / "benchmarks"
    store = BenchmarkStore.create(root / "small", card="# small\n")
    store.commit(
        revisions, parent=None, author="fixture", date=when, note="A cut",
        sources=[shipped.sources[source] for source in needed],
    )  # fmt: skip
    kept = {entry.claim.id for entry in entries}
    for which in ("author", "microgold"):
        key = [entry for entry in shipped.store.key(which).values() if entry.claim_id in kept]
        write_text(root / "small" / "keys" / f"{which}.jsonl", jsonl(e.canonical() for e in key))
    seal.record(root / "small", who="fixture", why="cut")
    return root


@pytest.fixture
def desk(
    tmp_path: Path, small_benchmarks: Path, judges: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A working folder like a user's, entered: `benchmarks/small`, `auditors`, third party's
    verifiers installed, and nothing else."""
    folder = tmp_path / "desk"
    shutil.copytree(small_benchmarks, folder / "benchmarks")
    shutil.copytree(Path(__file__).parent.parent / "auditors", folder / "auditors")
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(judges))
    before = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(judges), before))))
    monkeypatch.delenv("DEEPFACT_BENCHMARKS", raising=False)
    return folder


@pytest.fixture(scope="session")
def deepfact_command() -> str:
    """The console script that users run, next to the interpreter."""
    script = Path(sys.executable).parent / ("deepfact.exe" if os.name == "nt" else "deepfact")
    if not script.is_file():
        pytest.fail(f"deepfact is not installed beside {sys.executable}")
    return str(script)


@pytest.fixture
def deepfact(deepfact_command: str) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the command line as a process of its own: ``deepfact("bench", "list")``."""

    def run(
        *words: str | Path, said: str | None = None, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [deepfact_command, *map(str, words)],
            input=said, capture_output=True, encoding="utf-8", timeout=60, check=False,
            env={**os.environ, "COLUMNS": "200", **(env or {})},
        )  # fmt: skip

    return run


# --- factories of records ----------------------------------------------------------------


class Make:
    """Small records for tests, with only what a test cares about spelt out."""

    WHEN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    TEXT = "The mill was built in 1898. It closed in 1931 after the flood."

    def source(self, text: str = TEXT, **card: Any) -> records.Source:
        return records.Source.create(**{"title": "Mill history", "text": text, **card})

    def claim(self, claim_id: str = "c1", **fields: Any) -> records.Claim:
        return records.Claim(**{"id": claim_id, "text": "The mill was built in 1898.", **fields})

    def annotation(self, label: str = "supported", **fields: Any) -> records.Annotation:
        given = {"provenance": records.Provenance(who="annotator", when=self.WHEN), **fields}
        return records.Annotation(label=records.Label(label), **given)

    def revision(self, kind: str, claim_id: str = "c1", **fields: Any) -> records.Revision:
        given = {"who": "annotator", "when": self.WHEN, "why": "a reason", **fields}
        return records.Revision(kind=records.RevisionKind(kind), claim_id=claim_id, **given)

    def add(
        self, claim_id: str = "c1", label: str | None = "supported", **fields: Any
    ) -> records.Revision:
        annotation = self.annotation(label) if label else None
        claim = self.claim(claim_id, **fields)
        return self.revision("add", claim_id, claim=claim, annotation=annotation)

    def relabel(self, claim_id: str = "c1", label: str = "contradictory") -> records.Revision:
        return self.revision("relabel", claim_id, annotation=self.annotation(label))

    def evidence(
        self, source: records.Source, quote: str, stance: str = "supports"
    ) -> records.Evidence:
        return records.Evidence(source=source.id, quote=quote, stance=records.Stance(stance))

    def verdict(
        self, claim_id: str = "c1", label: str = "supported", **fields: Any
    ) -> records.Verdict:
        return records.Verdict(claim_id=claim_id, label=records.Label(label), **fields)

    def failure(self, claim_id: str = "c1", reason: str = "timeout") -> records.VerificationFailure:
        return records.VerificationFailure(claim_id=claim_id, reason=records.FailureReason(reason))

    def refutation(self, source: records.Source, **fields: Any) -> records.Verdict:
        """A verdict that `claim` is wrong in its year, admissible with `source`."""
        given: dict[str, Any] = {
            "rationale": "the source says 1898, not 1899",
            "contradictions": (
                records.Contradiction(
                    disputed="in 1899", source=source.id, quote="The mill was built in 1898."
                ),
            ),
            **fields,
        }
        return self.verdict(given.pop("claim_id", "c1"), "contradictory", **given)

    def store(self, folder: Path, versions: int = 1) -> BenchmarkStore:
        """A benchmark of three claims; later versions relabel, add, retire."""
        store = BenchmarkStore.create(folder, card="# A small benchmark\n")
        old, new = self.source(), self.source("A later survey dates the mill to 1902.")
        steps: list[tuple[list[records.Revision], list[records.Source]]] = [
            ([self.add(f"c{n}", cites=(old.id,)) for n in (1, 2, 3)], [old]),
            ([self.relabel("c1"), self.add("c4", "inconclusive", cites=(new.id,))], [new]),
            ([self.revision("retire", "c2"), self.relabel("c3", "inconclusive")], []),
        ]
        for number, (revisions, sources) in enumerate(steps[:versions], 1):
            store.commit(
                revisions,
                parent=number - 1 or None,
                author="tester",
                date=self.WHEN,
                note=f"version {number}",
                sources=sources,
            )
        return store


@pytest.fixture(scope="session")
def make() -> Make:
    """Factories of small records."""
    return Make()
