"""The store at size: wall time and peak memory of each command on a large benchmark.

    python tests/perf/store.py [--claims 1000000] [--versions 100] [--changes 10000] [--limit 3600]
                               [--times 3] [--keep DIR]

Makes a benchmark claim by claim in a temporary folder (with its own cache of indexes), runs each
command in a process of its own, prints a table, and deletes it all; with ``--keep`` it stays, and
the next run with the same folder measures what is there. Times are by the clock and of the
processor, of the run in the middle where a command runs several times (those that change the
benchmark, or take minutes, run once); the first line says how busy the machine was. Peak memory is
the process's own. Exits 1 when memory is above 2 GB, or a version takes more disk than its changes
explain; with a million claims also when an aim for time is missed.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

WHEN = datetime(2026, 1, 2, tzinfo=UTC)
MEMORY = 2048
"""MB; the aim for every command."""
AIMS = {"open": 5.0, "diff, both open": 2.0, "bench blame": 1.0, "score": 5.0}
"""Seconds, at a million claims on two idle cores."""
ONCE = ("bench export", "bench revert", "bench verify", "open, no index yet")
LABELS = ("supported", "contradictory", "inconclusive")
NAME = "large"

OPEN = "import deepfact; deepfact.load({reference!r})"
DIFF = """
import time, deepfact
from deepfact.core.state import diff
old, new = deepfact.load({before!r}), deepfact.load({reference!r})
start, busy = time.perf_counter(), time.process_time()
changes = diff(old.state, new.state)
took, busy = time.perf_counter() - start, time.process_time() - busy
print("SECONDS", took, busy, len(changes))
"""


@dataclass
class Measured:
    """What one command took."""

    name: str
    seconds: float
    """By the clock; on a busy machine, mostly waiting."""
    cpu: float
    """Seconds of processor time, of the whole process."""
    megabytes: float
    said: str


# --- making it ----------------------------------------------------------------------------


def claim_revisions(claims: int, sources: list[str]) -> Iterator[object]:
    """One `add` for each claim, twenty claims to a report, each citing a source."""
    from deepfact.records import Claim, Revision, RevisionKind

    for number in range(claims):
        source = sources[number // 20 % len(sources)]
        claim = Claim(
            id=f"c{number:07}",
            text=f"Revenue of company {number // 20} rose by {number % 97} per cent to "
            f"{number % 1009} million euro in the year to March.",
            origin={"report": f"report-{number // 20}", "sentence": number % 20},
            cites=(source,),
            domain=("business", "medicine", "law", "science")[number % 4],
        )
        label = LABELS[number % 7 % 3]
        yield Revision(
            kind=RevisionKind.ADD, claim_id=claim.id, who="perf", when=WHEN, why="imported",
            claim=claim, annotation=annotation(label, source, f"the report says {number}"),
        )  # fmt: skip


def annotation(label: str, source: str, rationale: str) -> object:
    """A label with a reason and a quote."""
    from deepfact.records import Annotation

    stance = {"supported": "supports", "contradictory": "contradicts"}.get(label, "context")
    return Annotation(
        label=label, rationale=rationale, provenance={"who": "perf", "when": WHEN},
        evidence=({"source": source, "quote": "Revenue rose by four per cent.", "stance": stance},),
    )  # fmt: skip


def relabels(claims: int, changes: int, version: int, sources: list[str]) -> Iterator[object]:
    """So many claims, drawn anew for each version, get another reason and mostly another label."""
    from deepfact.records import Revision, RevisionKind

    for number in random.Random(version).sample(range(claims), min(changes, claims)):
        label = LABELS[(number + version) % 3]
        yield Revision(
            kind=RevisionKind.RELABEL, claim_id=f"c{number:07}", who="perf", when=WHEN,
            why="audited", run=f"round-{version}", case=f"case-{version}-{number}",
            annotation=annotation(label, sources[0], f"version {version} found otherwise"),
        )  # fmt: skip


def make(root: Path, claims: int, versions: int, changes: int, seconds: float) -> None:
    """A benchmark of so many versions, or of as many as there is time for; and verdicts on it."""
    from deepfact.records import Source
    from deepfact.store.benchmark import BenchmarkStore

    until = time.monotonic() + seconds
    cards = [
        Source.create(title=f"Annual report {number}", text="Revenue rose by four per cent. " * 20)
        for number in range(max(1, claims // 500))
    ]
    ids = [card.id for card in cards]
    store = BenchmarkStore.create(root / NAME, card="# large\n\nMade to measure with.\n")
    signed = {"author": "perf", "date": WHEN, "note": "made"}
    store.commit(claim_revisions(claims, ids), parent=None, sources=cards, **signed)
    for version in range(2, versions + 1):
        if time.monotonic() > until:
            break
        store.commit(relabels(claims, changes, version, ids), parent=version - 1, **signed)
    write_verdicts(root / "verdicts.jsonl", claims)


def write_verdicts(path: Path, claims: int) -> None:
    """A stored verdict for each claim, as `deepfact verify` writes them."""
    from deepfact.records import Verdict

    draft = Verdict(
        claim_id="c0", verifier="perf", label="supported", rationale="the report says so",
        evidence=annotation("supported", f"sha256:{'0' * 64}", "").evidence,
    ).canonical()  # fmt: skip
    with path.open("w", encoding="utf-8") as file:
        for number in range(claims):
            line = draft.replace('"claim_id":"c0"', f'"claim_id":"c{number:07}"')
            label = f'"label":"{LABELS[number % 3]}"'
            file.write(line.replace('"label":"supported"', label) + "\n")


# --- measuring ----------------------------------------------------------------------------


def run(name: str, words: list[str], folder: Path, limit: float) -> Measured:
    """A command in a process of its own; its output goes to a file."""
    out = folder / "out.txt"
    start = time.perf_counter()
    with out.open("wb") as file:
        done = subprocess.Popen(words, cwd=folder, stdout=file, stderr=subprocess.STDOUT)
        while True:
            pid, status, usage = os.wait4(done.pid, os.WNOHANG)
            if pid:
                break
            if time.perf_counter() - start > limit:
                done.kill()
            time.sleep(0.01)
    done.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    said = out.read_text(encoding="utf-8", errors="replace")
    if done.returncode:
        raise SystemExit(f"{name} failed ({done.returncode}): {said[-2000:]}")
    megabytes, cpu = usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime
    if found := [line.split() for line in said.splitlines() if line.startswith("SECONDS")]:
        seconds, cpu = float(found[0][1]), float(found[0][2])
        said = f"{found[0][3]} changes"
    return Measured(name, seconds, cpu, megabytes, said.splitlines()[-1] if said else "")


def commands(versions: int) -> Iterator[tuple[str, list[str]]]:
    """What is measured, in order; the last ones change the benchmark."""
    python = [sys.executable, "-c"]
    deepfact = [*python, "from deepfact.cli.app import main; main()"]
    reference, before = f"{NAME}@{versions}", f"{NAME}@{max(1, versions - 1)}"
    yield "python: nothing", [*python, "pass"]
    yield "deepfact --version", [*deepfact, "--version"]
    yield "open", [*python, OPEN.format(reference=reference)]
    yield "diff, both open", [*python, DIFF.format(reference=reference, before=before)]
    yield "bench log", [*deepfact, "bench", "log", NAME]
    yield "bench show", [*deepfact, "bench", "show", reference]
    yield "bench show CLAIM", [*deepfact, "bench", "show", reference, "c0000077"]
    yield "bench blame", [*deepfact, "bench", "blame", reference, "c0000077"]
    yield "bench diff", [*deepfact, "bench", "diff", before, reference]
    yield "score", [*deepfact, "score", "verdicts.jsonl", "--benchmark", reference]
    yield "bench export", [*deepfact, "bench", "export", reference, "--to", "claims.jsonl"]
    yield "bench revert", [
        *deepfact, "bench", "revert", NAME, "--version", str(versions), "--author", "perf",
        "--why", "measured",
    ]  # fmt: skip
    yield "bench verify", [*deepfact, "bench", "verify", NAME]


def measure(folder: Path, versions: int, until: float, times: int) -> Iterator[Measured]:
    """Each command, then opening without any index."""
    for name, words in commands(versions):
        runs = []
        for _ in range(1 if name in ONCE else times):
            left = until - time.monotonic()
            if left <= 0:
                print(f"out of time before: {name}")
                return
            runs.append(run(name, words, folder, left))
        runs.sort(key=lambda one: one.seconds)
        yield runs[len(runs) // 2]
    shutil.rmtree(folder / "home", ignore_errors=True)
    words = [sys.executable, "-c", OPEN.format(reference=f"{NAME}@{versions}")]
    yield run("open, no index yet", words, folder, max(1.0, until - time.monotonic()))


def sizes_of(folder: Path) -> list[int]:
    """Bytes of each version, first one first."""
    versions = sorted((folder / NAME / "versions").iterdir(), key=lambda path: int(path.name))
    return [sum(path.stat().st_size for path in version.iterdir()) for version in versions]


def measured(chosen: argparse.Namespace, folder: Path) -> bool:
    """Makes, measures, prints; whether something was as it should not be."""
    start = time.monotonic()
    until = start + chosen.limit
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before; {chosen.claims} claims, "
          f"{chosen.changes} changes a version", flush=True)  # fmt: skip
    sized = [str(chosen.claims), str(chosen.versions), str(chosen.changes), str(chosen.limit / 2)]
    # In a process of its own: a child's peak memory counts what its parent had.
    words = [sys.executable, __file__, "--make", *sized]
    there = (folder / "verdicts.jsonl").exists()
    made = None if there else run("making it", words, folder, chosen.limit)
    sizes = sizes_of(folder)
    index = sum(path.stat().st_size for path in (folder / "home").rglob("*.index"))
    how = f"made in {made.seconds:.0f} s and {made.megabytes:.0f} MB of memory" if made else "kept"
    print(f"{len(sizes)} versions, {how}; first {sizes[0] / 1e6:.1f} MB, last "
          f"{sizes[-1] / 1e6:.2f} MB, all {sum(sizes) / 1e6:.0f} MB, indexes {index / 1e6:.0f} MB",
          flush=True)  # fmt: skip
    failed = len(sizes) > 1 and sizes[-1] > 1.5 * sizes[0] * chosen.changes / chosen.claims
    failed = failed or (made is not None and made.megabytes > MEMORY)
    for one in measure(folder, len(sizes), until, chosen.times):
        aim = AIMS.get(one.name)
        late = aim is not None and chosen.claims >= 1_000_000 and one.seconds > aim
        failed = failed or one.megabytes > MEMORY or late
        said = f"  (aim {aim:.0f} s)" if aim else ""
        print(f"{one.name:20} {one.seconds:8.2f} s {one.cpu:8.2f} s CPU {one.megabytes:8.0f} MB"
              f"{said}", flush=True)  # fmt: skip
    print(f"load {os.getloadavg()[0]:.1f} after")
    return failed


def main() -> int:
    """Reads the options; 1 when an aim is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--claims", type=int, default=100_000)
    options.add_argument("--versions", type=int, default=20)
    options.add_argument("--changes", type=int, default=0, help="a version; 1 %% by default")
    options.add_argument("--limit", type=float, default=3600, help="seconds in all")
    options.add_argument("--times", type=int, default=3, help="runs of each command")
    options.add_argument("--keep", type=Path, help="a folder to make it in, or where it is")
    options.add_argument("--make", nargs=4, type=float, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.make:
        make(Path(), *map(int, chosen.make))
        return 0
    chosen.changes = chosen.changes or max(1, chosen.claims // 100)
    with tempfile.TemporaryDirectory(prefix="deepfact-perf-") as name:
        folder = (chosen.keep or Path(name)).absolute()
        folder.mkdir(exist_ok=True)
        os.environ.update(DEEPFACT_HOME=str(folder / "home"), DEEPFACT_BENCHMARKS=str(folder))
        return int(measured(chosen, folder))


if __name__ == "__main__":
    raise SystemExit(main())
