"""Thousands of mutated files through every reader: ``python tests/fuzz/run.py --files 10000``.

Each worker process takes the cases of one reader at a time, with bounded memory; a worker that
does not answer in time is ended and the case counts as crashed. Prints a table and exits with 1
when anything crashed. ``--reader NAME --case N`` shows one case; ``--keep FOLDER`` saves its files.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import sys
import time
from collections import Counter
from dataclasses import asdict
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from cases import SECONDS, Case, Verdict, all_readers, bound_memory, quiet
from reader import Reader
from run_readers import put

SILENCE = 4 * SECONDS
"""Seconds after which a worker that says nothing is ended."""


class Worker:
    """A forked process that reads cases of one reader and tells of each. Forked, so that good
    files are made once and every worker runs the same code.

    Attributes:
        found: what came of the cases so far, in order.
        pipe: through which the process tells.
    """

    def __init__(self, case: Case, count: int) -> None:
        self.case, self.count = case, count
        self.found: list[Verdict] = []
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("fork")
        self.pipe, theirs = context.Pipe(duplex=False)
        numbers = range(len(self.found), self.count + 1)
        self.process = context.Process(target=_work, args=(self.case, numbers, theirs))
        self.process.start()
        theirs.close()
        self.heard = time.monotonic()

    def listen(self) -> bool:
        """Take in one case, or note that the process died; True when all cases are done."""
        try:
            self.found.append(Verdict(**self.pipe.recv()))
            self.heard = time.monotonic()
        except EOFError:
            self.process.join()
            self._lost(f"the worker died: exit code {self.process.exitcode}")
        return self._done()

    def hangs(self) -> bool:
        """End a process that says nothing for too long, and note it; True when all are done."""
        if time.monotonic() - self.heard < SILENCE:
            return False
        self._lost("the worker hangs")
        return self._done()

    def _lost(self, why: str) -> None:
        self.found.append(Verdict("crashed", time.monotonic() - self.heard, "", why))
        self.process.kill()
        self.process.join()
        self.pipe.close()
        if len(self.found) <= self.count:
            self._start()

    def _done(self) -> bool:
        if len(self.found) <= self.count:
            return False
        self.process.kill()
        self.process.join()
        return True


def _work(case: Case, numbers: range, pipe: Connection) -> None:
    bound_memory()
    for number in numbers:
        pipe.send(asdict(case.read(number)))
    pipe.close()


def fuzz(cases: dict[str, Case], counts: dict[str, int], workers: int) -> dict[str, list[Verdict]]:
    """For each reader case 0 and as many mutated ones as it has to get, a few at a time."""
    waiting, running = list(cases), dict[str, Worker]()
    found: dict[str, list[Verdict]] = {}
    while waiting or running:
        while waiting and len(running) < workers:
            name = waiting.pop(0)
            running[name] = Worker(cases[name], counts[name])
        ready = wait([one.pipe for one in running.values()], timeout=1.0)
        for name, worker in list(running.items()):
            if worker.listen() if worker.pipe in ready else worker.hangs():
                found[name] = running.pop(name).found
                print(f"{len(found)} of {len(cases)}: {name}", file=sys.stderr)
    return {name: found[name] for name in cases}


def shares(readers: list[Reader], files: int) -> dict[str, int]:
    """How many files each reader gets, by its weight."""
    whole = sum(reader.weight for reader in readers)
    return {reader.name: max(1, math.ceil(files * reader.weight / whole)) for reader in readers}


def table(found: dict[str, list[Verdict]]) -> str:
    """Counts by reader. The good files themselves are not counted."""
    lines = ["| reader | files | accepted | rejected | crashed | slowest |",
             "|---|---:|---:|---:|---:|---:|"]  # fmt: skip
    total: Counter[str] = Counter()
    slowest = 0.0
    for name, verdicts in found.items():
        counted = Counter(one.outcome for one in verdicts[1:])
        total += counted
        longest = max(one.seconds for one in verdicts)
        slowest = max(slowest, longest)
        lines.append(
            f"| {name} | {len(verdicts) - 1} | {counted['accepted']} | {counted['rejected']} "
            f"| {counted['crashed']} | {longest:.2f} s |"
        )
    lines.append(
        f"| **all** | {total.total()} | {total['accepted']} | {total['rejected']} "
        f"| {total['crashed']} | {slowest:.2f} s |"
    )
    return "\n".join(lines)


def show(arguments: argparse.Namespace, reader: Reader) -> int:
    """One case, and what came of it."""
    case = Case(reader, arguments.seed)
    how, files = case.mutated(arguments.case)
    if arguments.keep:
        put(arguments.keep, files)
    verdict = case.read(arguments.case)
    print(f"{how}\n{verdict.outcome} after {verdict.seconds:.2f} s\n{verdict.detail}")
    return int(verdict.outcome == "crashed")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", type=int, default=1_000, help="mutated files, about")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reader", default="", help="only readers whose name holds this")
    parser.add_argument("--case", type=int, help="show this case of that reader")
    parser.add_argument("--keep", type=Path, help="with --case: write its files into this folder")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", type=Path, help="write every crash and slow file here")
    arguments = parser.parse_args()
    quiet()
    readers = [one for one in all_readers() if arguments.reader in one.name]
    if not readers:
        print(f"no reader is called {arguments.reader!r}")
        return 2
    if arguments.case is not None:
        return show(arguments, readers[0])
    began = time.perf_counter()
    counts = shares(readers, arguments.files)
    cases = {reader.name: Case(reader, arguments.seed) for reader in readers}
    found = fuzz(cases, counts, arguments.workers)
    print(table(found))
    print(f"\nseed {arguments.seed}, {time.perf_counter() - began:.0f} s")
    crashes: list[dict[str, Any]] = []
    for name, verdicts in found.items():
        for number, one in enumerate(verdicts):
            if one.outcome == "crashed" or (number == 0 and one.outcome != "accepted"):
                crashes.append({"reader": name, "case": number, **asdict(one)})
    for one in crashes[:40]:
        print(f"\n--- {one['reader']}, case {one['case']} ({one['how']})\n{one['detail']}")
    if arguments.json:
        arguments.json.write_text(json.dumps(crashes, indent=1), encoding="utf-8")
    return int(bool(crashes))


if __name__ == "__main__":
    sys.exit(main())
