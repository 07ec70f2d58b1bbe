"""A few mutated files through every reader, always the same ones; thousands are `run.py`'s."""

from __future__ import annotations

import pytest
from cases import Case, all_readers
from reader import Reader

from deepfact.importers import FORMATS

FEW = 6
SEED = 20
PARTS = 8
"""Tests that share the readers, so that they can run side by side."""


@pytest.fixture(scope="session")
def readers() -> list[Reader]:
    """All of them; their good files take a second or two to make."""
    return list(all_readers())


@pytest.mark.parametrize("part", range(PARTS))
def test_good_files_are_accepted_and_broken_ones_never_crash(
    readers: list[Reader], part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none-is-needed-here")
    for reader in readers[part::PARTS]:
        case = Case(reader, SEED)
        whole = case.read(0)
        assert whole.outcome == "accepted", f"{reader.name}: {whole.detail}"
        for number in range(1, 1 + (FEW if reader.weight >= 0.5 else 2)):
            found = case.read(number)
            where = f"{reader.name}, case {number}, {found.how}\n{found.detail}"
            assert found.outcome != "crashed", where


def test_names_are_unique_and_every_reader_has_something_to_break(readers: list[Reader]) -> None:
    names = [reader.name for reader in readers]
    assert len(set(names)) == len(names) > 80
    of_the_hub = {"hf"}
    imported = {name.split()[1] for name in names if name.startswith("import ")}
    assert set(FORMATS) - imported == of_the_hub | {"research"}, "research is read as a ledger"
    for reader in readers:
        assert set(reader.targets) <= set(reader.files())
