"""Other annotators' labels: kept once, found again, covered by the checksums, broken files told."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deepfact.errors import IntegrityError, RecordError
from deepfact.records import Provenance
from deepfact.store import seal
from deepfact.store.annotators import NAME, add_annotators, read_annotators


@pytest.fixture
def folder(tmp_path: Path, make: Any) -> Path:
    folder: Path = make.store(tmp_path / "small").folder
    return folder


def said(make: Any, label: str, who: str = "second reader", **fields: Any) -> Any:
    when = datetime(2026, 1, 2, tzinfo=UTC)
    return make.annotation(label, provenance=Provenance(who=who, when=when), **fields)


def test_nobody_else_said_anything(folder: Path) -> None:
    assert read_annotators(folder) == {}
    assert add_annotators(folder, {}, who="importer", why="nothing") == 0
    assert not (folder / NAME).exists()


def test_what_others_said_is_found_again_in_order(folder: Path, make: Any) -> None:
    one, two = said(make, "contradictory"), said(make, "inconclusive", "third reader")
    assert add_annotators(folder, {"c1": [one, two], "c3": [one]}, who="importer", why="w") == 3
    assert read_annotators(folder) == {"c1": [one, two], "c3": [one]}
    assert list(seal.complaints(folder)) == []


def test_nothing_is_kept_twice_and_nothing_is_lost(folder: Path, make: Any) -> None:
    one = said(make, "contradictory")
    add_annotators(folder, {"c1": [one, one]}, who="importer", why="w")
    later = one.model_copy(update={"provenance": Provenance(who="second reader", when=make.WHEN)})
    other = said(make, "contradictory", rationale="On second thoughts.")
    assert add_annotators(folder, {"c1": [later, other]}, who="importer", why="w") == 1
    assert read_annotators(folder) == {"c1": [one, other]}


def test_a_broken_file_is_told_with_its_line(folder: Path, make: Any) -> None:
    add_annotators(folder, {"c1": [said(make, "supported")]}, who="importer", why="w")
    path = folder / NAME
    path.write_text(path.read_text("utf-8") + '{"claim_id": "c1"}\n', encoding="utf-8")
    with pytest.raises(RecordError, match=f"{NAME}, line 2"):
        read_annotators(folder)
    assert [path for path, _ in seal.complaints(folder)] == [NAME]


def test_checksums_that_others_changed_are_not_written_over(folder: Path, make: Any) -> None:
    path = folder / seal.NAME
    path.write_text(path.read_text("utf-8").replace("deepfact", "somebody"), encoding="utf-8")
    with pytest.raises(IntegrityError):
        add_annotators(folder, {"c1": [said(make, "supported")]}, who="importer", why="w")
