"""Large versions: read through indexes, with the same results and errors as read whole."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deepfact.core.state import State, StoredEntries, apply, diff
from deepfact.errors import BenchmarkError, InputError, IntegrityError
from deepfact.records import Revision
from deepfact.store import index, large, rows
from deepfact.store.benchmark import BenchmarkStore, BenchmarkVersion
from deepfact.store.integrity import verify

LABELS = ["supported", "contradictory", "inconclusive"]
steps = st.lists(
    st.lists(
        st.tuples(
            st.sampled_from(["add", "add", "relabel", "re-rationale", "retire", "restore"]),
            st.sampled_from(["c1", "c2", "c3", "c4"]),
            st.sampled_from([None, *LABELS]),
        ),
        min_size=1,
        max_size=6,
    ),
    min_size=1,
    max_size=4,
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every benchmark is large; indexes go here."""
    monkeypatch.setenv("DEEPFACT_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(large, "LARGE", 0)
    return tmp_path / "home" / "versions"


@pytest.fixture
def mill(make: Any, tmp_path: Path) -> BenchmarkStore:
    """Three versions in a line, and a fourth from the second."""
    store = empty(tmp_path / "mill")
    signed = {"author": "ada", "date": make.WHEN, "note": "made"}
    store.commit(
        [
            make.add("c1", "supported", domain="history", origin={"report": "r1"}),
            make.add("c2", None, origin={"report": "r1"}, cites=[make.source().id]),
            make.add("c3", "inconclusive", cites=[make.source().id]),
        ],
        parent=None, sources=[make.source()], **signed,
    )  # fmt: skip
    store.commit([make.relabel("c1", "contradictory"), make.add("c4")], parent=1, **signed)
    store.commit([make.revision("retire", "c3"), make.relabel("c2", "supported")], parent=2,
                 **signed)  # fmt: skip
    store.commit([make.relabel("c1", "inconclusive")], parent=2, **signed)
    return BenchmarkStore(store.folder)


def empty(folder: Path) -> BenchmarkStore:
    return BenchmarkStore.create(folder, card="# A mill\n")


def whole(store: BenchmarkStore, version: int, monkeypatch: pytest.MonkeyPatch) -> BenchmarkVersion:
    """A version, read whole."""
    with monkeypatch.context() as patch:
        patch.setattr(large, "LARGE", 1 << 40)
        return BenchmarkStore(store.folder).load(version)


def indexes(cache: Path) -> list[Path]:
    return sorted(cache.rglob("*.index"))


# --- the same as read whole ---------------------------------------------------------------


def assert_same(stored: State, plain: State) -> None:
    assert isinstance(stored.entries, StoredEntries) and isinstance(plain.entries, dict)
    assert list(stored.entries) == list(plain.entries)
    assert len(stored.entries) == len(plain.entries)
    assert dict(stored.entries) == plain.entries
    assert list(stored) == list(plain)
    assert stored.claims == plain.claims
    assert list(stored.outlines()) == list(plain.outlines())
    assert stored.state_hash == plain.state_hash
    assert stored.counts() == plain.counts()
    for claim_id, entry in plain.entries.items():
        digest = stored.entries.digest(claim_id)
        assert digest is not None and f"sha256:{digest.hex()}" == entry.entry_hash()
        assert claim_id in stored.entries


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(plan=steps)
def test_whatever_happens_to_claims_a_large_version_says_what_a_small_one_says(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plan: list[Any]
) -> None:
    """Committed, opened again by index, and opened without one."""
    shutil.rmtree(tmp_path / "mill", ignore_errors=True)
    shutil.rmtree(tmp_path / "home", ignore_errors=True)
    store = empty(tmp_path / "mill")
    state = State({})
    made: list[State] = []
    for number, version in enumerate(plan, 1):
        fit: list[Revision] = []
        for kind, claim_id, label in version:
            annotation = make.annotation(label or "supported", rationale=f"in {number}")
            revision = (
                make.add(claim_id, label, domain=f"d{number % 2}") if kind == "add"
                else make.revision(kind, claim_id, annotation=annotation) if kind.startswith("re-")
                or kind == "relabel" else make.revision(kind, claim_id)
            )  # fmt: skip
            try:
                state = apply(state, [revision])
            except BenchmarkError:
                continue
            fit.append(revision)
        if fit:
            parent = len(made) or None
            made.append(state)
            new = store.commit(fit, parent=parent, author="ada", date=make.WHEN, note=f"v{number}")
            assert_same(new.state, state)
    for number, expected in enumerate(made, 1):
        assert_same(BenchmarkStore(store.folder).load(number).state, expected)
        plain = whole(store, number, monkeypatch).state
        for other, then in enumerate(made, 1):
            stored = BenchmarkStore(store.folder)
            assert diff(stored.load(other).state, stored.load(number).state) == diff(then, plain)
    assert verify(store) == []
    shutil.rmtree(tmp_path / "home", ignore_errors=True)
    for number, expected in enumerate(made, 1):
        assert_same(BenchmarkStore(store.folder).load(number).state, expected)


def test_branches_and_sources(
    mill: BenchmarkStore, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in mill.versions():
        assert_same(mill.load(number).state, whole(mill, number, monkeypatch).state)
        assert list(mill.load(number).sources) == [make.source().id]
    assert verify(mill) == []
    assert [mill.load(n).state.entries["c1"].label for n in (3, 4)] == LABELS[1:]


def test_a_claim_that_is_not_there(mill: BenchmarkStore) -> None:
    entries = mill.load().state.entries
    assert isinstance(entries, StoredEntries)
    assert entries.get("c9") is None and "c9" not in entries and entries.digest("c9") is None
    with pytest.raises(BenchmarkError, match="has no claim 'c9'"):
        mill.history("c9", 3)


def test_one_moment_in_two_time_zones_is_no_difference(make: Any, tmp_path: Path) -> None:
    from datetime import timedelta, timezone

    store = empty(tmp_path / "mill")
    signed = {"author": "ada", "date": make.WHEN, "note": "made"}
    store.commit([make.add("c1")], parent=None, **signed)
    annotation = store.load(1).state.entries["c1"].annotation
    assert annotation is not None
    there = annotation.provenance.when.astimezone(timezone(timedelta(hours=2)))
    moved = annotation.provenance.model_copy(update={"when": there})
    same = annotation.model_copy(update={"provenance": moved})
    store.commit([make.revision("re-rationale", "c1", annotation=same)], parent=1, **signed)
    one, two = store.load(1).state, store.load(2).state
    assert one.state_hash != two.state_hash and diff(one, two) == []


def test_history_is_that_of_the_revisions(
    mill: BenchmarkStore, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in mill.versions():
        for claim_id in mill.load(version).state.entries:
            found = mill.history(claim_id, version)
            with monkeypatch.context() as patch:
                patch.setattr(large, "LARGE", 1 << 40)
                assert mill.history(claim_id, version) == found
    shutil.rmtree(cache)
    assert [number for number, _ in mill.history("c1", 3)] == [1, 2]
    assert len(indexes(cache)) == 3, "made when missing"


def test_many_versions_need_few_open_files(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "_OPEN_FILES", 2)
    store = empty(tmp_path / "mill")
    for number in range(1, 6):
        store.commit(
            [make.add(f"c{number}", f"{LABELS[number % 3]}")], parent=number - 1 or None,
            author="ada", date=make.WHEN, note=f"v{number}",
        )  # fmt: skip
    assert [entry.claim.id for entry in store.load().state] == [f"c{n}" for n in range(1, 6)]


# --- small ones go on from large ones, and the other way round -----------------------------


def test_a_version_grows_large(make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = empty(tmp_path / "mill")
    signed = {"author": "ada", "date": make.WHEN, "note": "made"}
    monkeypatch.setattr(large, "LARGE", 1 << 40)
    small = store.commit([make.add("c1")], parent=None, **signed)
    assert isinstance(small.state.entries, dict)
    monkeypatch.setattr(large, "LARGE", 0)
    grown = store.commit([make.relabel("c1", "inconclusive")], parent=1, **signed)
    assert isinstance(grown.state.entries, StoredEntries)
    assert [change.kind for change in diff(small.state, grown.state)] == ["relabelled"]
    again = store.commit([make.relabel("c1", "inconclusive")], parent=1, **signed)
    assert again.manifest.version == 2
    assert grown.state.entries["c1"].label == "inconclusive"


# --- what is wrong is found ---------------------------------------------------------------


def test_a_line_that_was_changed_is_found_when_it_is_read(mill: BenchmarkStore) -> None:
    path = mill.version_folder(1) / "revisions.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"id":"c3"', b'"id":"c8"'))
    opened = mill.load(3)
    assert opened.state.entries["c1"].label == "contradictory"
    with pytest.raises(IntegrityError, match="revision 3 is not the one"):
        opened.state.entries["c3"]
    with pytest.raises(IntegrityError, match="revision 3 is not the one"):
        mill.history("c3", 3)
    assert any("does not match the hash" in problem.what for problem in verify(mill))


def test_a_file_of_another_length_is_found_at_once(mill: BenchmarkStore) -> None:
    path = mill.version_folder(1) / "revisions.jsonl"
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(IntegrityError, match="the manifest does not match"):
        mill.load(3)


def test_a_file_that_is_gone_is_found(mill: BenchmarkStore) -> None:
    opened = mill.load(3)
    (mill.version_folder(1) / "revisions.jsonl").unlink()
    with pytest.raises(IntegrityError, match="revision 1 is not the one"):
        opened.state.entries["c1"]
    with pytest.raises(InputError, match="no such file"):
        mill.load(3)


def test_a_state_hash_that_is_not_that_of_the_state(mill: BenchmarkStore, make: Any) -> None:
    from deepfact.records import Manifest
    from deepfact.store.files import read_record, write_text
    from deepfact.store.manifests import render_manifest

    path = mill.version_folder(4) / "manifest.json"
    manifest = read_record(path, Manifest)
    wrong = manifest.model_copy(update={"state_hash": f"sha256:{'0' * 64}"})
    write_text(path, render_manifest(wrong))
    for _ in range(2):  # without an index, and with one
        with pytest.raises(IntegrityError, match="the state hash differs"):
            mill.load(4)


# --- indexes are never trusted further than their hashes ------------------------------------

Damage = Callable[[Path], Any]


def flipped(at: int) -> Damage:
    """Changes one byte, counted from the end when negative."""

    def damage(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[at] ^= 1
        path.write_bytes(data)

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        flipped(3), flipped(80), flipped(-1), flipped(-200),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-5]),
        lambda path: path.write_bytes(b"no index at all\n"),
        lambda path: path.unlink(),
    ],
)  # fmt: skip
def test_a_damaged_index_is_made_anew(mill: BenchmarkStore, cache: Path, damage: Damage) -> None:
    expected = dict(mill.load(3).state.entries)
    before = {path: path.read_bytes() for path in indexes(cache)}
    assert len(before) == 4
    for path in before:
        damage(path)
    assert dict(mill.load(3).state.entries) == expected
    mill.load(4)
    assert {path: path.read_bytes() for path in indexes(cache)} == before


def test_an_index_of_another_format_or_version_is_made_anew(
    mill: BenchmarkStore, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, *others = indexes(cache)
    for path in others:
        shutil.copy(one, path)
    assert_same(mill.load(3).state, whole(mill, 3, monkeypatch).state)
    monkeypatch.setattr(index, "FORMAT", 2)
    assert_same(mill.load(3).state, whole(mill, 3, monkeypatch).state)


@pytest.mark.parametrize("column", ["entries", "ids"])
def test_an_index_that_fits_its_hash_but_not_the_state_is_made_anew(
    mill: BenchmarkStore, cache: Path, monkeypatch: pytest.MonkeyPatch, column: str
) -> None:
    """As one that somebody else made might."""
    lineage = mill.lineage(3)
    made = mill.load(3).state.entries
    assert isinstance(made, rows.Rows)
    forged = made.last_index
    if column == "ids":
        forged.ids[0] = "c77"  # retires a claim that is not there
    else:
        forged.entries[0] ^= 1
    large.keep(forged, mill, lineage[-1].version)
    assert_same(mill.load(3).state, whole(mill, 3, monkeypatch).state)


@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(b""), Path.unlink])
def test_an_index_that_is_damaged_while_it_is_used_is_named(
    mill: BenchmarkStore, cache: Path, damage: Damage
) -> None:
    entries = mill.load(3).state.entries
    for path in indexes(cache):
        damage(path)
    with pytest.raises(IntegrityError, match="the index does not match its hash"):
        entries["c1"]


def test_without_a_cache_everything_is_read_from_the_revisions(
    mill: BenchmarkStore, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(cache)

    def refuses(*_: Any, **__: Any) -> None:
        raise OSError(errno.EROFS, "read-only file system")

    monkeypatch.setattr(index.Index, "write", refuses)
    assert_same(mill.load(3).state, whole(mill, 3, monkeypatch).state)
    assert [number for number, _ in mill.history("c1", 3)] == [1, 2]
    assert indexes(cache) == []


def test_where_indexes_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert index.cache_folder() == tmp_path / "home" / "versions"
    monkeypatch.delenv("DEEPFACT_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert index.cache_folder() == tmp_path / "cache" / "deepfact" / "versions"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert index.cache_folder() == Path.home() / ".cache" / "deepfact" / "versions"


def test_a_benchmark_folder_holds_no_index(mill: BenchmarkStore) -> None:
    """A download brings none, and `bench verify` would complain of one."""
    mill.load(3)
    assert [path for path in mill.folder.rglob("*") if "index" in path.name] == []


def test_a_long_first_reading_is_told_once(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    store = empty(tmp_path / "mill")
    signed = {"author": "ada", "date": make.WHEN, "note": "made"}
    store.commit([make.add("c1")], parent=None, sources=[make.source()], **signed)
    monkeypatch.setattr(large, "LONG", 1)
    shutil.rmtree(tmp_path / "home", ignore_errors=True)
    for _ in range(2):
        BenchmarkStore(store.folder).load(1)
    told = [record.getMessage() for record in caplog.records]
    assert told == ["mill@1: reading 0 MB of revisions, once, to index them"]
