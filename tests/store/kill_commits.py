"""A process that commits, and is killed at every step of it in turn. Run by test_durability.py.

Usage: ``python kill_commits.py FOLDER new|next|race``. Prints one JSON object.

``new`` makes a benchmark and commits its first version; ``next`` commits a further one, with
a source; ``race`` lets two processes commit at once. Killing is by SIGKILL, before and after
each call that changes the disk, and in the middle of each write.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deepfact.records import (
    Annotation,
    Claim,
    Label,
    Provenance,
    Revision,
    RevisionKind,
    Source,
)
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.integrity import verify

WHEN = datetime(2026, 1, 2, tzinfo=UTC)
CALLS = ("open", "fsync", "replace", "mkdir", "unlink", "rmdir")


class Killer:
    """Kills this process at step number ``at`` of what it does to the disk."""

    def __init__(self, at: int) -> None:
        self.left = at
        for name in CALLS:
            setattr(os, name, self._deadly(getattr(os, name)))
        self._fdopen = os.fdopen
        os.fdopen = self._half_written  # type: ignore[assignment]

    def step(self) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def _deadly(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            self.step()
            result = call(*args, **kwargs)
            self.step()
            return result

        return wrapped

    def _half_written(self, handle: int, *args: Any, **kwargs: Any) -> Any:
        file = self._fdopen(handle, *args, **kwargs)
        write = file.write

        class Halting:
            def __enter__(self) -> Any:
                return self

            def __exit__(self, *_: object) -> None:
                file.close()

            def __getattr__(self, name: str) -> Any:
                return getattr(file, name)

            def write(_, data: bytes) -> int:  # noqa: N805
                write(data[: len(data) // 2])
                file.flush()
                self.step()
                return write(data[len(data) // 2 :])

        return Halting()


def in_child(act: Callable[[], object], at: int = 0) -> int:
    """The wait status of a child process that does ``act``; killed at step ``at``."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    try:
        if at:
            Killer(at)
        act()
        os._exit(0)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)


def relabel(claim_id: str, label: Label, source: Source) -> Revision:
    provenance = Provenance(who="tester", when=WHEN)
    evidence = {"source": source.id, "quote": "1902", "stance": "contradicts"}
    annotation = Annotation(label=label, provenance=provenance, evidence=(evidence,))
    return Revision(
        kind=RevisionKind.RELABEL,
        claim_id=claim_id,
        who="tester",
        when=WHEN,
        why="a later survey",
        annotation=annotation,
    )


def add(claim_id: str, source: Source) -> Revision:
    claim = Claim(id=claim_id, text="The mill was built in 1898.", cites=(source.id,))
    return Revision(
        kind=RevisionKind.ADD, claim_id=claim_id, who="tester", when=WHEN, why="new", claim=claim
    )


OLD = Source.create(title="Chronicle", text="The mill was built in 1898.")
NEW = Source.create(title="Survey", text="The mill was built in 1902.")


def commit_first(folder: Path) -> str:
    """What an import does: make the benchmark where there is none, commit."""
    exists = (folder / "versions").is_dir()
    store = BenchmarkStore(folder) if exists else BenchmarkStore.create(folder, card="# Mill\n")
    made = store.commit(
        [add("c1", OLD), add("c2", OLD)],
        parent=None,
        author="tester",
        date=WHEN,
        note="first",
        sources=[OLD],
    )
    return f"{made.manifest.version} {made.manifest.state_hash}"


def commit_next(folder: Path, claim_id: str = "c1") -> str:
    made = BenchmarkStore(folder).commit(
        [relabel(claim_id, Label.CONTRADICTORY, NEW)],
        parent=1,
        author="tester",
        date=WHEN,
        note=f"relabels {claim_id}",
        sources=[NEW],
    )
    return f"{made.manifest.version} {made.manifest.state_hash}"


def kill_everywhere(base: Path, commit: Callable[[Path], str], had: int) -> dict[str, Any]:
    """Kill ``commit`` at each of its steps; check what is there afterwards, and repeat it."""
    whole = base / "undisturbed" / "mill"
    if had:
        commit_first(whole)
    expected = commit(whole)
    seen: set[int] = set()
    at = 0
    while True:
        at += 1
        folder = base / str(at) / "mill"
        if had:
            commit_first(folder)
        status = in_child(lambda folder=folder: commit(folder), at)
        if not os.WIFSIGNALED(status):
            assert status == 0, f"step {at}: the commit failed"
            return {"steps": at - 1, "versions_seen": sorted(seen), "expected": expected}
        if (folder / "versions").is_dir():
            store = BenchmarkStore(folder)
            problems = verify(store)
            assert problems == [], f"step {at}: {problems}"
            versions = store.versions()
            assert versions in (list(range(1, had + 1)), list(range(1, had + 2))), versions
            seen.add(len(versions))
            for version in versions:
                store.load(version)
        repeated = commit(folder)
        assert repeated == expected, f"step {at}: {repeated}"
        assert verify(BenchmarkStore(folder)) == [], f"step {at}"
        litter = [str(p) for p in folder.rglob("*") if ".part" in p.name or "staging" in p.name]
        assert litter == [], f"step {at}: {litter}"
        shutil.rmtree(folder.parent)


def race(base: Path, rounds: int = 8) -> dict[str, Any]:
    """Two processes commit different revisions on one parent at once."""
    found = []
    for number in range(rounds):
        folder = base / str(number) / "mill"
        commit_first(folder)
        ready, go = os.pipe()
        children = []
        for claim_id in ("c1", "c2"):
            child = os.fork()
            if not child:
                os.close(go)
                os.read(ready, 1)  # returns when the parent lets go
                try:
                    commit_next(folder, claim_id)
                    os._exit(0)
                except BaseException as error:
                    print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
                    os._exit(1)
            children.append(child)
        os.close(ready)
        os.close(go)
        statuses = [os.waitpid(child, 0)[1] for child in children]
        store = BenchmarkStore(folder)
        problems = verify(store)
        assert problems == [], problems
        assert len(store.versions()) == 1 + statuses.count(0)
        found.append(store.versions())
    return {"versions": found}


def main() -> None:
    os.fsync = lambda handle: None  # a killed process loses nothing that it wrote; be quick
    base, what = Path(sys.argv[1]), sys.argv[2]
    if what == "new":
        result = kill_everywhere(base, commit_first, had=0)
    elif what == "next":
        result = kill_everywhere(base, commit_next, had=1)
    else:
        result = race(base)
    print(json.dumps(result))


main()
