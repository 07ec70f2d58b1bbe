"""One mutated file after the other, each in a folder of its own: made, read, and judged.

Runs in a worker process, which bounds its memory first. A case is named by reader, seed and
number alone, so that any of them can be made again: ``run.py --reader NAME --case N --seed S``.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import random
import shutil
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import answer_readers
import document_readers
import importer_readers
import record_readers
import run_readers
from mutations import mutate
from reader import Files, Reader, refused

MEMORY = 3_000_000_000
"""Bytes of address space that a worker may have. What is loaded takes about half a gigabyte of
it; the rest bounds what a file can make a reader ask for."""
SECONDS = 10.0
"""Most time for one file; twice as long for one that is read in a process of its own."""


class TooSlow(BaseException):
    """A file took longer than it may. Not an `Exception`, so that no reader swallows it."""


@dataclass(frozen=True)
class Verdict:
    """What came of one file.

    Attributes:
        outcome: ``accepted``, ``rejected`` or ``crashed``.
        seconds: for reading it.
        how: the names of its mutations.
        detail: of a refusal its first line, of a crash the traceback.
    """

    outcome: str
    seconds: float
    how: str
    detail: str


def all_readers() -> Iterator[Reader]:
    """Every reader, in the order of the table."""
    for module in (
        record_readers, answer_readers, run_readers, importer_readers, document_readers,
    ):  # fmt: skip
        yield from module.readers()


def bound_memory() -> None:
    """Bound this process, where the system can."""
    try:
        import resource
    except ModuleNotFoundError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


class Case:
    """Makes and reads the cases of one reader.

    Args:
        reader: the reader.
        seed: of all its cases.
    """

    def __init__(self, reader: Reader, seed: int) -> None:
        self.reader, self.seed = reader, seed
        self.files: Files = reader.files()

    def mutated(self, number: int) -> tuple[str, Files]:
        """How the case goes wrong, and its files. Case 0 is the good files as they are."""
        if number == 0:
            return "as it is", self.files
        name = f"{self.reader.name}:{self.seed}:{number}".encode()
        draw = random.Random(hashlib.sha256(name).digest())
        target = draw.choice(self.reader.targets or tuple(self.files))
        how, data = mutate(self.files[target], draw, self.reader.mutations)
        return f"{target}: {how}", {**self.files, target: data}

    def read(self, number: int) -> Verdict:
        """Make a case and read it."""
        how, files = self.mutated(number)
        folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        try:
            for name, data in files.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            return self._judged(folder, how)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _judged(self, folder: Path, how: str) -> Verdict:
        began = time.perf_counter()
        outcome, detail = "accepted", ""
        said = io.StringIO()
        try:
            with _alarm(), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                if self.reader.mend:
                    with contextlib.suppress(ValueError, TypeError, RecursionError):
                        self.reader.mend(folder)
                self.reader.read(folder)
        except BaseException as error:
            outcome = "rejected" if refused(error) else "crashed"
            detail = str(error) if outcome == "rejected" else traceback.format_exc(limit=-12)
        return Verdict(outcome, time.perf_counter() - began, how, detail[-4_000:])


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    """Raise `TooSlow` in the middle of a file that takes too long. A file that holds the process
    in one call of a C library is ended by `run.py` from outside."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def ring(_signal: int, _frame: object) -> None:
        raise TooSlow(f"more than {SECONDS:g} seconds")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def quiet() -> None:
    """Warnings are errors, as in the tests; home and results are nobody's."""
    warnings.simplefilter("error")
    os.environ.setdefault("ANTHROPIC_API_KEY", "none-is-needed-here")
