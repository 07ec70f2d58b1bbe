"""Versions that go apart and come together, in one folder and in copies of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepfact.errors import BenchmarkError
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.branches import (
    bring_in,
    comes_from,
    common_version,
    identities,
    revisions_beyond,
    revisions_since,
)
from deepfact.store.integrity import verify


def commit(make: Any, store: BenchmarkStore, parent: int, *revisions: Any, **more: Any) -> int:
    given = {"author": "tester", "date": make.WHEN, "note": "a note", **more}
    return store.commit(list(revisions), parent=parent, **given).manifest.version


@pytest.fixture
def store(make: Any, tmp_path: Path) -> BenchmarkStore:
    """1 - 2 - 3, and 4 from 1."""
    store = make.store(tmp_path / "mill", 3)
    assert commit(make, store, 1, make.relabel("c2", "inconclusive")) == 4
    return store


def test_where_two_versions_come_from(make: Any, store: BenchmarkStore) -> None:
    two, three, four = (store.load(number) for number in (2, 3, 4))
    assert common_version(three, four) == 1 and common_version(two, three) == 2
    assert comes_from(three, two) and comes_from(two, two)
    assert not comes_from(two, three) and not comes_from(four, two)
    assert [r.claim_id for r in revisions_since(three, 1)] == ["c1", "c4", "c2", "c3"]
    assert [r.claim_id for r in revisions_beyond(four, three)] == ["c2"]


def test_what_was_merged_already_is_common(make: Any, store: BenchmarkStore) -> None:
    merge = commit(make, store, 3, make.relabel("c1", "supported"), merged=4)
    later = commit(make, store, 4, make.relabel("c3"))
    ours, theirs = store.load(merge), store.load(later)
    assert common_version(ours, theirs) == 4
    assert comes_from(ours, store.load(4))
    assert [r.claim_id for r in revisions_since(theirs, 4)] == ["c3"]
    assert [r.claim_id for r in revisions_beyond(ours, theirs)] == ["c1", "c4", "c2", "c3", "c1"]


def test_a_version_of_a_copy_is_brought_over_with_its_sources(
    make: Any, store: BenchmarkStore, tmp_path: Path
) -> None:
    copy = make.store(tmp_path / "run" / "mill", 1)
    source = make.source("Seen by the run alone.")
    evidence = make.evidence(source, "Seen")
    noted = make.annotation("contradictory", evidence=(evidence,))
    first = commit(make, copy, 1, make.revision("relabel", "c3", annotation=noted),
                   sources=[source], author="round x", note="Round 1")  # fmt: skip
    second = commit(make, copy, first, make.relabel("c1", "inconclusive"))
    side = commit(make, copy, 1, make.relabel("c2"))
    merge = commit(make, copy, second, make.relabel("c2"), merged=side)
    version = copy.load(merge)
    assert common_version(store.load(3), version) == 1
    number = bring_in(store, version)
    assert number == 8 and store.load(8).state.state_hash == version.state.state_hash
    brought = store.manifest(5)
    assert (brought.parent, brought.author, brought.note) == (1, "round x", "Round 1")
    assert source.id in store.load(8).sources and source.id not in store.load(4).sources
    assert (store.manifest(8).parent, store.manifest(8).merged) == (6, 7)
    assert verify(store) == []
    assert bring_in(store, version) == 8  # again: it is there
    assert bring_in(store, store.load(4)) == 4
    assert identities(store, 8)[8] == identities(copy, merge)[merge]


def test_strangers_have_nothing_in_common(make: Any, store: BenchmarkStore, tmp_path: Path) -> None:
    other = BenchmarkStore.create(tmp_path / "other", card="x")
    other.commit([make.add("z")], parent=None, author="x", date=make.WHEN, note="n")
    assert common_version(store.load(1), other.load(1)) is None
    with pytest.raises(BenchmarkError, match="other and mill have no first version in common"):
        bring_in(store, other.load(1))
