"""Versions: committed whole, checked when read, never written again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from deepfact.errors import BenchmarkError, InputError, IntegrityError
from deepfact.records import KeyEntry, Label, Manifest, Qualification, sha256_of
from deepfact.store.benchmark import BenchmarkStore, check_name
from deepfact.store.files import write_text
from deepfact.store.integrity import verify
from deepfact.store.manifests import changelog_line, render_manifest, sources_of


def commit(make: Any, store: BenchmarkStore, revisions: list[Any], parent: int | None, **more: Any):
    given = {"author": "tester", "date": make.WHEN, "note": "a note", **more}
    return store.commit(revisions, parent=parent, **given)


def edit_manifest(store: BenchmarkStore, version: int, **change: Any) -> None:
    path = store.version_folder(version) / "manifest.json"
    data = {**json.loads(path.read_text("utf-8")), **change}
    write_text(path, render_manifest(Manifest.model_validate(data)))


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


# --- making and reading ------------------------------------------------------------------


def test_versions_are_the_fold_of_their_revisions(make: Any, tmp_path: Path) -> None:
    store = make.store(tmp_path / "mill", 3)
    assert store.versions() == [1, 2, 3]
    labels = [
        {entry.claim.id: str(entry.label) for entry in store.load(n).state} for n in (1, 2, 3)
    ]
    assert labels[0] == dict.fromkeys(["c1", "c2", "c3"], "supported")
    assert labels[1] == {**labels[0], "c1": "contradictory", "c4": "inconclusive"}
    assert labels[2] == {"c1": "contradictory", "c3": "inconclusive", "c4": "inconclusive"}
    assert store.load().manifest.version == 3
    assert str(store.load()) == "mill@3"
    ref = store.load(2).ref
    assert (ref.benchmark, ref.version) == ("mill", 2)
    assert ref.state_hash == store.load(2).state.state_hash == store.manifest(2).state_hash
    assert [claim.id for claim in store.load(3).claims] == ["c1", "c3", "c4"]
    assert verify(store) == []


def test_a_version_costs_what_changed(make: Any, tmp_path: Path) -> None:
    store = make.store(tmp_path / "mill", 3)
    lines = [len(list(store.revisions(n))) for n in (1, 2, 3)]
    assert lines == [3, 2, 2]
    assert store.manifest(3).counts.retired == 1


def test_committing_leaves_earlier_versions_byte_for_byte(make: Any, tmp_path: Path) -> None:
    store = make.store(tmp_path / "mill", 2)
    before = snapshot(store.folder)
    commit(make, store, [make.relabel("c2")], 2)
    after = snapshot(store.folder)
    changelog = before.pop("CHANGELOG.md")
    assert after.pop("CHANGELOG.md").startswith(changelog)
    assert {name: after[name] for name in before} == before


def test_a_version_sees_no_later_source(make: Any, tmp_path: Path) -> None:
    store = make.store(tmp_path / "mill", 2)
    assert [len(store.load(n).sources) for n in (1, 2)] == [1, 2]
    assert len(store.sources) == 2
    assert len(store.sources_added(2)) == 1


def test_history_of_a_claim(make: Any, tmp_path: Path) -> None:
    store = make.store(tmp_path / "mill", 3)
    history = store.history("c3", 3)
    assert [(n, str(revision.kind)) for n, revision in history] == [(1, "add"), (3, "relabel")]
    with pytest.raises(BenchmarkError, match="mill@3 has no claim 'c33'\n  did you mean 'c3'"):
        store.history("c33", 3)
    with pytest.raises(BenchmarkError, match="no claim 'c4'"):
        store.history("c4", 1)


def test_two_versions_of_one_parent(make: Any, tmp_path: Path) -> None:
    store = make.store(tmp_path / "mill", 2)
    branch = commit(make, store, [make.relabel("c3")], 1)
    assert (branch.manifest.version, branch.manifest.parent) == (3, 1)
    assert "c4" not in branch.state.entries
    assert len(branch.sources) == 1
    assert verify(store) == []


def test_heads_are_the_versions_that_nobody_went_on_from(make: Any, tmp_path: Path) -> None:
    store = make.store(tmp_path / "mill", 2)
    assert store.heads() == [2]
    commit(make, store, [make.relabel("c3")], 1)
    assert store.heads() == [2, 3]
    commit(make, store, [make.relabel("c3")], 2, merged=3)
    assert store.heads() == [4]


def test_a_merge_has_the_history_of_both_its_parents(make: Any, tmp_path: Path) -> None:
    store = make.store(tmp_path / "mill", 2)
    branch = commit(make, store, [make.relabel("c3"), make.relabel("c1", "inconclusive")], 1)
    merge = [make.relabel("c3"), make.relabel("c1", "inconclusive").model_copy(update={"why": "!"})]
    made = commit(make, store, merge, 2, merged=branch.manifest.version)
    assert [m.version for m in store.lineage(4)] == [1, 2, 4]
    assert [m.version for m in store.ancestry(4)] == [1, 2, 3, 4]
    assert [(n, r.why) for n, r in store.history("c3", 4)] == [(1, "a reason"), (3, "a reason")]
    assert [n for n, _ in store.history("c1", 4)] == [1, 2, 3, 4]
    line = (store.folder / "CHANGELOG.md").read_text("utf-8").splitlines()[-1]
    assert line.startswith("- **4** (2026-01-02, tester, from 2 and 3; 2 revisions, 4 claims)")
    assert commit(make, store, merge, 2, merged=3).manifest == made.manifest
    assert verify(store) == []
    with pytest.raises(BenchmarkError, match="has no version 9"):
        commit(make, store, [make.relabel("c2")], 2, merged=9)


def test_notes_and_names_stay_on_the_versions_one_line(make: Any, tmp_path: Path) -> None:
    store = make.store(tmp_path / "mill", 1)
    commit(make, store, [make.relabel("c1")], 1, note="two\nlines\u2028here", author="a\nb")
    line = (store.folder / "CHANGELOG.md").read_text("utf-8").splitlines()[-1]
    assert line.startswith(
        "- **2** (2026-01-02, a b, from 1; 1 revisions, 3 claims): two lines here"
    )
    assert line + "\n" == changelog_line(store.manifest(2))
    assert verify(store) == []


def test_keys_lie_apart(make: Any, tmp_path: Path) -> None:
    store = make.store(tmp_path / "mill", 1)
    assert store.key("microgold") == {}
    entry = KeyEntry(claim_id="c1", label=Label.SUPPORTED)
    write_text(store.folder / "keys" / "microgold.jsonl", entry.canonical() + "\n")
    assert store.key("microgold") == {"c1": entry}


# --- what is refused ---------------------------------------------------------------------


def test_no_benchmark_there(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkError, match="there is no benchmark in this folder"):
        BenchmarkStore(tmp_path)


def test_an_empty_benchmark_has_no_version_to_load(tmp_path: Path) -> None:
    store = BenchmarkStore.create(tmp_path / "mill", card="# Mill\n")
    assert (store.folder / "README.md").read_text("utf-8") == "# Mill\n"
    with pytest.raises(BenchmarkError, match="has no versions yet"):
        store.load()
    with pytest.raises(BenchmarkError, match="mill has no version 1\n  it has: none"):
        store.load(1)
    assert verify(store) == []


@pytest.mark.parametrize(
    "name", ["", "..", "a/b", "a\\b", "Mill", "a b", "-x", ".mill", "mill\n", "mü", "x" * 101]
)
def test_names_that_are_none(tmp_path: Path, name: str) -> None:
    with pytest.raises(BenchmarkError, match="is no benchmark name"):
        check_name(name)


def test_create_does_not_touch_what_is_there(make: Any, tmp_path: Path) -> None:
    (tmp_path / "mill").mkdir()
    BenchmarkStore.create(tmp_path / "mill", card="x")  # an empty folder is free
    with pytest.raises(BenchmarkError, match="exists and is not empty"):
        BenchmarkStore.create(tmp_path / "mill", card="y")
    with pytest.raises(BenchmarkError, match="no benchmark name"):
        BenchmarkStore.create(tmp_path / "Mill 2", card="y")
    assert [path.name for path in tmp_path.iterdir()] == ["mill"]


def test_a_version_that_is_not_there_names_those_that_are(make: Any, tmp_path: Path) -> None:
    store = make.store(tmp_path / "mill", 2)
    with pytest.raises(BenchmarkError, match="mill has no version 7\n  it has: 1, 2"):
        store.load(7)


def test_a_commit_that_does_not_fit_changes_nothing(make: Any, tmp_path: Path) -> None:
    store = make.store(tmp_path / "mill", 2)
    before = snapshot(store.folder)
    unknown, added = make.source("Never added."), make.source("Added in vain.")
    attempts = [
        ([], 2, "a version needs at least one revision"),
        ([make.add("c1")], 2, "duplicate claim id"),
        ([make.add("c9"), make.add("c9")], 2, "mill, revision 2: claim 'c9' is there already"),
        ([make.relabel("c9")], 2, "is not there"),
        ([make.relabel("c1")], 5, "has no version 5"),
        ([make.add("c9", cites=(unknown.id,))], 2, f"refers to an unknown source: {unknown.id}"),
        ([make.add("c9", origin={"report": "r", "document": unknown.id})], 2, "unknown source"),
    ]
    for revisions, parent, problem in attempts:
        with pytest.raises(BenchmarkError) as caught:
            commit(make, store, revisions, parent, sources=[added])
        assert problem in str(caught.value)
        assert snapshot(store.folder) == before
    forged = added.model_copy(update={"title": "Another"})
    with pytest.raises(BenchmarkError, match="not the hash of its card"):
        commit(make, store, [make.relabel("c2")], 2, sources=[added, forged])
    assert snapshot(store.folder) == before
    assert verify(store) == []


def test_sources_that_a_revision_refers_to(make: Any) -> None:
    cited, document, quoted, qualifying = (make.source(str(n)) for n in range(4))
    annotation = make.annotation(
        evidence=(make.evidence(quoted, "2"),),
        qualifications=(
            Qualification(kind="scope", text="x", source=qualifying.id),
            Qualification(kind="hedge", text="y"),
        ),
    )
    origin = {"report": "r", "document": document.id}
    claim = make.claim(cites=(cited.id,), origin=origin)
    revision = make.revision("add", claim=claim, annotation=annotation)
    assert sources_of(revision) == {cited.id, document.id, quoted.id, qualifying.id}
    assert sources_of(make.revision("retire")) == set()


# --- what lies there and does not fit ----------------------------------------------------


def test_two_folders_for_one_number(make: Any, tmp_path: Path) -> None:
    store = make.store(tmp_path / "mill", 2)
    store.version_folder(2).with_name("02").mkdir()
    with pytest.raises(IntegrityError, match="two versions have the number 2: 02 and 2"):
        store.versions()
    with pytest.raises(IntegrityError, match="two versions"):
        commit(make, store, [make.relabel("c2")], 2)


@pytest.mark.parametrize("name", ["²", "٣", "notes", ".DS_Store"])
def test_other_folders_are_no_versions(make: Any, tmp_path: Path, name: str) -> None:
    store = make.store(tmp_path / "mill", 1)
    (store.folder / "versions" / name).mkdir()
    again = BenchmarkStore(store.folder)
    assert again.versions() == [1]
    assert [Path(problem.where).name for problem in verify(again)] == [name]


def test_a_manifest_in_another_versions_folder(make: Any, tmp_path: Path) -> None:
    store = make.store(tmp_path / "mill", 2)
    store.version_folder(2).rename(store.version_folder(3))
    with pytest.raises(IntegrityError, match="manifest of version 2, in the folder of 3"):
        store.load(3)


@pytest.mark.parametrize("name", ["revisions.jsonl", "sources.txt"])
def test_a_file_that_the_manifest_was_not_made_with(make: Any, tmp_path: Path, name: str) -> None:
    store = make.store(tmp_path / "mill", 2)
    path = store.version_folder(1) / name
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(IntegrityError, match="the manifest does not match") as caught:
        store.load(2)
    assert caught.value.where == str(path)


def test_a_parent_that_is_not_the_one_it_was_made_from(make: Any, tmp_path: Path) -> None:
    store = make.store(tmp_path / "mill", 3)
    edit_manifest(store, 1, note="another history")
    with pytest.raises(IntegrityError, match="not the manifest that version 2 was made from"):
        store.load(3)
    store = make.store(tmp_path / "other", 3)
    edit_manifest(store, 3, parent=1)
    with pytest.raises(IntegrityError, match="not the manifest that version 3 was made from"):
        store.load(3)


def test_a_state_hash_that_is_not_that_of_the_state(make: Any, tmp_path: Path) -> None:
    store = make.store(tmp_path / "mill", 1)
    edit_manifest(store, 1, state_hash=sha256_of("something else"))
    with pytest.raises(IntegrityError, match="the state hash differs"):
        store.load(1)


# --- interrupted and repeated commits ----------------------------------------------------


def test_repeating_a_commit_gives_the_version_that_is_there(make: Any, tmp_path: Path) -> None:
    store = make.store(tmp_path / "mill", 2)
    before = snapshot(store.folder)
    again = commit(
        make, store, [make.revision("retire", "c2"), make.relabel("c3", "inconclusive")], 2
    )
    assert again.manifest.version == 3
    third = snapshot(store.folder)
    repeated = commit(
        make,
        store,
        [make.revision("retire", "c2"), make.relabel("c3", "inconclusive")],
        2,
        author="another hand",
        sources=[make.source("brought along in vain")],
    )
    assert repeated.manifest == again.manifest
    assert snapshot(store.folder) == third
    assert set(before) < set(third)


def test_opening_clears_what_a_killed_commit_left(make: Any, tmp_path: Path) -> None:
    store = make.store(tmp_path / "mill", 2)
    before = snapshot(store.folder)
    litter = store.folder / "versions" / ".staging-3"
    litter.mkdir()
    (litter / "revisions.jsonl").write_text("half", encoding="utf-8")
    store.sources.add(make.source("of the commit that was killed"))
    half = store.sources.path(make.source().id).with_name(".x.json.abc.part")
    half.write_text("half", encoding="utf-8")
    again = BenchmarkStore(store.folder)
    assert snapshot(again.folder) == before
    assert not litter.exists()


def test_opening_completes_a_changelog_one_line_short(make: Any, tmp_path: Path) -> None:
    store = make.store(tmp_path / "mill", 1)
    commit(make, store, [make.relabel("c1")], 1, note="as announced in **3** (see there)")
    path = store.folder / "CHANGELOG.md"
    short = path.read_text("utf-8")
    commit(make, store, [make.relabel("c2")], 2)
    whole = path.read_text("utf-8")
    path.write_text(short, encoding="utf-8")
    (store.folder / ".CHANGELOG.md.abc.part").write_text("half", encoding="utf-8")
    BenchmarkStore(store.folder)
    assert path.read_text("utf-8") == whole
    assert list(store.folder.glob("*.part")) == []


def test_opening_rewrites_no_changelog_that_somebody_edited(make: Any, tmp_path: Path) -> None:
    store = make.store(tmp_path / "mill", 2)
    path = store.folder / "CHANGELOG.md"
    path.write_text("# My own words\n", encoding="utf-8")
    again = BenchmarkStore(store.folder)
    assert path.read_text("utf-8") == "# My own words\n"
    assert str(path) in [problem.where for problem in verify(again)]


def test_opening_disturbs_no_commit_in_progress(make: Any, tmp_path: Path) -> None:
    store = make.store(tmp_path / "mill", 1)
    staging = store.folder / "versions" / ".staging-2"
    with FileLock(store.folder / ".lock"):
        staging.mkdir()
        assert BenchmarkStore(store.folder).versions() == [1]
        assert staging.is_dir()


def test_a_damaged_benchmark_can_be_opened_to_be_checked(make: Any, tmp_path: Path) -> None:
    store = make.store(tmp_path / "mill", 2)
    (store.folder / "versions" / ".staging-3").mkdir()
    (store.folder / "CHANGELOG.md").unlink()
    manifest = store.version_folder(1) / "manifest.json"
    manifest.write_text("{", encoding="utf-8")
    again = BenchmarkStore(store.folder)
    assert str(manifest) in [problem.where for problem in verify(again)]
    with pytest.raises(InputError, match="not JSON"):
        again.load()


def test_a_fork_is_a_whole_copy_that_goes_its_own_way(make: Any, tmp_path: Path) -> None:
    store = make.store(tmp_path / "mill", 2)
    before = snapshot(store.folder)
    leftover = tmp_path / "run" / "benchmarks" / ".mill.part"
    leftover.mkdir(parents=True)
    copy = store.fork(tmp_path / "run" / "benchmarks" / "mill")
    assert snapshot(copy.folder) == before
    assert not leftover.exists()
    commit(make, copy, [make.relabel("c2")], 2)
    assert (copy.versions(), store.versions()) == ([1, 2, 3], [1, 2])
    assert snapshot(store.folder) == before


def test_a_benchmark_without_a_card_can_be_forked(make: Any, tmp_path: Path) -> None:
    store = make.store(tmp_path / "mill", 1)
    (store.folder / "README.md").unlink()
    copy = store.fork(tmp_path / "copy")
    assert snapshot(copy.folder) == snapshot(store.folder)
    assert copy.load().ref.state_hash == store.load().ref.state_hash
