"""``verify``: every changed, missing, truncated, extra or reordered file is found and named."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deepfact.records import KeyEntry, Label, Manifest, sha256_of
from deepfact.store import seal
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import write_text
from deepfact.store.integrity import verify
from deepfact.store.manifests import render_manifest

FLIPS = 12
"""Bytes flipped in each file."""


@pytest.fixture(scope="module")
def pristine(make: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A benchmark of three versions, not to be changed."""
    store = make.store(tmp_path_factory.mktemp("pristine") / "mill", 3)
    entry = KeyEntry(claim_id="c1", label=Label.SUPPORTED, rationale="„1898“ in the register")
    write_text(store.folder / "keys" / "microgold.jsonl", entry.canonical() + "\n")
    write_text(store.folder / "LICENSE", "Do as you like.\n")
    seal.record(store.folder, who="ada", when=make.WHEN, why="key and licence are complete")
    assert verify(store) == []
    return store.folder


@pytest.fixture
def folder(pristine: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    return Path(shutil.copytree(pristine, tmp_path / "mill"))


def covered(folder: Path) -> list[Path]:
    """Every file of the benchmark."""
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != ".lock"]


def named(folder: Path) -> set[str]:
    """The files and folders that verify complains of, relative to the benchmark."""
    return {
        str(problem.where).removeprefix(f"{folder}/").partition(", line")[0]
        for problem in verify(BenchmarkStore(folder))
    }


def test_a_single_flipped_byte_anywhere_is_found(folder: Path) -> None:
    draw = random.Random(20260102)
    files = covered(folder)
    assert len(files) == 3 * 3 + 2 + len(["card", "changelog", "checksums", "key", "licence"])
    for path in files:
        data = path.read_bytes()
        places = draw.sample(range(len(data)), min(FLIPS, len(data)))
        for place in places:
            flipped = bytearray(data)
            flipped[place] ^= 1 << draw.randrange(8)
            path.write_bytes(flipped)
            name = path.relative_to(folder).as_posix()
            assert name in named(folder), f"{name}, byte {place}: not found"
        path.write_bytes(data)
    assert named(folder) == set()


def test_no_part_of_the_newest_manifest_can_be_changed(folder: Path) -> None:
    """No later version covers it; the changelog does."""
    path = folder / "versions" / "3" / "manifest.json"
    data = path.read_bytes()
    for place in range(0, len(data), 4):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        assert "versions/3/manifest.json" in named(folder), f"byte {place}: not found"


@pytest.mark.parametrize(
    "name", ["README.md", "LICENSE", "CHANGELOG.md", "keys/microgold.jsonl", "checksums.json"]
)
def test_every_byte_of_what_no_manifest_covers_is(folder: Path, name: str) -> None:
    path = folder / name
    data = path.read_bytes()
    for place in range(len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
        assert name in named(folder), f"byte {place}: not found"


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_is_done_to_one_file_is_found(folder: Path, data: st.DataObject) -> None:
    """Bytes overwritten, put in, taken out or swapped, at any place of any file."""
    path = data.draw(st.sampled_from(covered(folder)))
    before = path.read_bytes()
    start = data.draw(st.integers(0, len(before)))
    end = data.draw(st.integers(start, min(len(before), start + 40)))
    after = before[:start] + data.draw(st.binary(max_size=8)) + before[end:]
    path.write_bytes(after)
    try:
        found = path.relative_to(folder).as_posix() in named(folder)
        mended = path.name == "CHANGELOG.md" and path.read_bytes() == before
        assert found or mended or after == before
    finally:
        path.write_bytes(before)


def test_a_missing_file_is_found(folder: Path) -> None:
    for path in covered(folder):
        data = path.read_bytes()
        path.unlink()
        assert path.relative_to(folder).as_posix() in named(folder)
        path.write_bytes(data)
    (folder / "README.md").unlink()
    assert named(folder) == {"README.md"}
    (folder / "checksums.json").unlink()
    assert named(folder) == {"README.md", "checksums.json"}


def test_a_truncated_file_is_found_or_completed(folder: Path) -> None:
    """A changelog that ends before its last line is completed on opening, like after a kill."""
    for path in covered(folder):
        data = path.read_bytes()
        if not data:  # version 3 adds no sources
            continue
        for keep in (0, len(data) // 2, len(data) - 1):
            path.write_bytes(data[:keep])
            found = path.relative_to(folder).as_posix() in named(folder)
            assert found or (path.name == "CHANGELOG.md" and path.read_bytes() == data)
        path.write_bytes(data)


def test_a_longer_file_is_found(folder: Path) -> None:
    for path in covered(folder):
        data = path.read_bytes()
        path.write_bytes(data + b"\n")
        assert path.relative_to(folder).as_posix() in named(folder)
        path.write_bytes(data)


@pytest.mark.parametrize(
    "name",
    [
        "versions/1/notes.txt",
        "versions/notes.txt",
        "versions/1/more/manifest.json",
        "versions/x/manifest.json",
        "sources/readme.txt",
        "sources/ab/cd.json",
        f"sources/ab/{'0' * 64}.json",
        f"sources/00/{'0' * 64}.txt",
        "keys/more.txt",
        "notes/today.md",
        ".hidden",
    ],
)
def test_an_extra_file_is_found(folder: Path, name: str) -> None:
    write_text(folder / name, "x")
    assert name in named(folder)


def test_a_source_that_no_version_added_is_found(folder: Path, make: Any) -> None:
    BenchmarkStore(folder).sources.add(make.source("Nobody's."))
    (problem,) = verify(BenchmarkStore(folder))
    assert problem.what == "no version added this source"


def test_reordered_lines_and_swapped_files_are_found(folder: Path) -> None:
    path = folder / "versions" / "1" / "revisions.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[::-1]))
    assert "versions/1/revisions.jsonl" in named(folder)
    path.write_bytes(b"".join(lines))
    other = folder / "versions" / "2" / "revisions.jsonl"
    one, two = path.read_bytes(), other.read_bytes()
    path.write_bytes(two)
    other.write_bytes(one)
    assert {"versions/1/revisions.jsonl", "versions/2/revisions.jsonl"} <= named(folder)
    path.write_bytes(one)
    other.write_bytes(two)
    cards = sorted((folder / "sources").rglob("*.json"))
    texts = [card.read_bytes() for card in cards]
    for card, text in zip(cards, texts[::-1], strict=True):
        card.write_bytes(text)
    assert {card.relative_to(folder).as_posix() for card in cards} <= named(folder)


def test_a_card_that_is_written_otherwise_is_found(folder: Path, make: Any) -> None:
    """The same card, but not byte for byte."""
    path = BenchmarkStore(folder).sources.path(make.source().id)
    path.write_text(json.dumps(json.loads(path.read_text("utf-8"))), encoding="utf-8")
    (problem,) = verify(BenchmarkStore(folder))
    assert (problem.where, problem.what) == (str(path), "not as deepfact wrote it")


def test_folders_out_of_order_are_found(folder: Path) -> None:
    versions = folder / "versions"
    (versions / "2").rename(versions / "4")
    found = verify(BenchmarkStore(folder))
    assert any("numbers with gaps: [1, 3, 4]" in problem.what for problem in found)
    assert any("missing; version 3 was made from it" in problem.what for problem in found)
    (versions / "4").rename(versions / "2")
    shutil.copytree(versions / "2", versions / "02")
    (problem,) = verify(BenchmarkStore(folder))
    assert problem.what == "two versions have the number 2: 02 and 2"


def rewrite(folder: Path, revisions: str | None = None, **change: Any) -> Path:
    """A newest version whose manifest was made to fit a change."""
    path = folder / "versions" / "3" / "manifest.json"
    data = json.loads(path.read_text("utf-8"))
    if revisions is not None:
        write_text(path.with_name("revisions.jsonl"), revisions)
        data["revisions_hash"] = sha256_of(revisions)
    write_text(path, render_manifest(Manifest.model_validate({**data, **change})))
    write_text(folder / "CHANGELOG.md", BenchmarkStore(folder).expected_changelog())
    return path


def whats(folder: Path) -> list[str]:
    return [problem.what for problem in verify(BenchmarkStore(folder))]


def test_a_forged_manifest_does_not_fit_its_state(folder: Path, make: Any) -> None:
    counts = json.loads((folder / "versions/3/manifest.json").read_text("utf-8"))["counts"]
    rewrite(folder, revisions=make.relabel("c1", "supported").canonical() + "\n")
    assert whats(folder) == [
        "1 revisions, 2 declared",
        "the state hash is not that of the state",
        "the counts are not those of the state",
    ]
    rewrite(folder, counts={**counts, "claims": 99})
    assert "the counts are not those of the state" in whats(folder)


def test_a_forged_revision_may_not_refer_to_what_is_not_there(folder: Path, make: Any) -> None:
    unknown = make.source("Unknown.")
    rewrite(folder, revisions=make.add("c9", cites=(unknown.id,)).canonical() + "\n")
    assert f"claim 'c9' refers to unknown {unknown.id}" in whats(folder)


def test_a_forged_revision_must_fit_its_parent(folder: Path, make: Any) -> None:
    rewrite(folder, revisions=make.add("c1").canonical() + "\n")
    assert "claim 'c1' is there already: duplicate claim id" in whats(folder)


def test_a_version_of_a_damaged_parent_is_reported_not_guessed(folder: Path) -> None:
    path = folder / "versions" / "2" / "revisions.jsonl"
    path.write_text("{\n", encoding="utf-8")
    assert "version 2, its parent, cannot be read" in whats(folder)


def test_keys_are_checked_against_the_claims(folder: Path) -> None:
    entries = [KeyEntry(claim_id=name, label=Label.SUPPORTED) for name in ("c1", "c2", "c1", "c9")]
    path = folder / "keys" / "microgold.jsonl"
    write_text(path, "".join(entry.canonical() + "\n" for entry in entries[:2]))
    seal.record(folder, who="ada", why="a key")
    assert whats(folder) == []  # retired claims have known answers too
    write_text(path, "".join(entry.canonical() + "\n" for entry in entries))
    seal.record(folder, who="ada", why="another key")
    assert whats(folder) == ["claim 'c1' stands twice", "no version has claim 'c9'"]
    path.write_text("{\n", encoding="utf-8")
    assert named(folder) == {"keys/microgold.jsonl"}


def test_an_empty_benchmark_with_a_key_has_no_such_claim(tmp_path: Path) -> None:
    store = BenchmarkStore.create(tmp_path / "mill", card="x")
    entry = KeyEntry(claim_id="c1", label=Label.SUPPORTED)
    write_text(store.folder / "keys" / "k.jsonl", entry.canonical() + "\n")
    seal.record(store.folder, who="ada", why="a key")
    assert whats(store.folder) == ["no version has claim 'c1'"]


def test_both_parents_of_a_merge_are_checked(folder: Path, make: Any) -> None:
    store = BenchmarkStore(folder)
    given = {"author": "x", "date": make.WHEN}
    branch = [make.relabel("c1", "inconclusive")]
    store.commit(branch, parent=2, note="a branch", **given)
    made = store.commit(branch, parent=3, merged=4, note="a merge", **given)
    assert (made.manifest.version, made.manifest.merged) == (5, 4)
    assert whats(folder) == []
    path = folder / "versions" / "4" / "manifest.json"
    data = json.loads(path.read_text("utf-8"))
    write_text(path, render_manifest(Manifest.model_validate({**data, "note": "forged"})))
    write_text(folder / "CHANGELOG.md", BenchmarkStore(folder).expected_changelog())
    assert whats(folder) == ["not the manifest that version 5 was made from"]
