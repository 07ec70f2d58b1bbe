"""The fuzzer itself: the same seed gives the same bytes, every mutation bites, and a reader that
crashes, hangs or eats memory is found."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import cases
import mutations
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mutations import COMMON, YAML, mutate
from reader import Reader, one_file

from deepfact.errors import InputError

GOOD = b'{"id": "c1", "text": "The mill had 3 wheels.", "cites": ["s1"]}\nkey: value\n'


@given(st.binary(max_size=300), st.integers(0, 2**32))
def test_whatever_the_file_it_can_be_mutated_and_the_seed_decides(data: bytes, seed: int) -> None:
    # The long ones are left out here: they are the same and cost time.
    among = tuple(one for one in YAML if one not in (mutations.nest, mutations.repeat))
    assert mutate(data, random.Random(seed), among) == mutate(data, random.Random(seed), among)


@pytest.mark.parametrize("mutation", [*dict.fromkeys(YAML)], ids=lambda one: one.__name__)
def test_every_mutation_bites(mutation: mutations.Mutation) -> None:
    made = {mutation(GOOD, random.Random(seed)) for seed in range(30)}
    assert len(made - {GOOD}) > 3


def _raises(error: BaseException) -> Reader:
    def read(_folder: Path) -> object:
        raise error

    return Reader("r", one_file("a", GOOD), read)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (InputError("so"), "rejected"), (InputError(" "), "crashed"), (ValueError("so"), "crashed"),
        (OSError("so"), "crashed"), (RecursionError(), "crashed"), (MemoryError(), "crashed"),
        (SystemExit(2), "crashed"),
    ],
)  # fmt: skip
def test_only_the_documented_errors_are_refusals(error: BaseException, outcome: str) -> None:
    assert cases.Case(_raises(error), 0).read(1).outcome == outcome


def test_case_0_is_the_good_files_and_others_are_not() -> None:
    seen: list[bytes] = []
    reader = Reader(
        "r", one_file("a", GOOD), lambda folder: seen.append((folder / "a").read_bytes()),
        mutations=COMMON,
    )  # fmt: skip
    case = cases.Case(reader, 0)
    assert {case.read(number).outcome for number in range(20)} == {"accepted"}
    assert seen[0] == GOOD and len(set(seen)) > 10


@pytest.mark.skipif(not hasattr(__import__("signal"), "setitimer"), reason="needs an alarm")
def test_a_reader_that_does_not_end_is_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "SECONDS", 0.05)

    def read(_folder: Path) -> object:
        while True:
            pass

    found = cases.Case(Reader("r", one_file("a", GOOD), read), 0).read(1)
    assert found.outcome == "crashed" and "TooSlow" in found.detail


def test_a_reader_that_asks_for_all_memory_is_a_crash_and_not_the_end_of_the_machine() -> None:
    pytest.importorskip("resource")
    script = """
import sys
sys.path.insert(0, sys.argv[1])
import cases
from reader import Reader, one_file
cases.bound_memory()
reader = Reader("r", one_file("a", b"x"), lambda folder: b"x" * (2 * cases.MEMORY))
print(cases.Case(reader, 0).read(0).detail.splitlines()[-1])
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(Path(__file__).parent)],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.strip() == "MemoryError", done.stderr
