"""Finding benchmarks by name, version and folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepfact.errors import BenchmarkError
from deepfact.run_records import RoundSpec
from deepfact.store import locate
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.integrity import verify
from deepfact.store.locate import (
    find_benchmarks,
    load_version,
    open_benchmark,
    roots,
    run_benchmark,
    run_copy,
    split_reference,
)


@pytest.fixture
def root(make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of benchmarks; nothing ships beside it."""
    monkeypatch.setattr(locate, "_PACKAGE", tmp_path / "nowhere" / "deepfact")
    monkeypatch.delenv("DEEPFACT_BENCHMARKS", raising=False)
    monkeypatch.chdir(tmp_path)
    make.store(tmp_path / "root" / "mill", 2)
    make.store(tmp_path / "root" / "forge", 1)
    return tmp_path / "root"


@pytest.mark.parametrize(
    ("reference", "parts"),
    [
        ("mill", ("mill", None)),
        ("mill@1", ("mill", 1)),
        ("some/folder@12", ("some/folder", 12)),
        ("a@b@3", ("a@b", 3)),
    ],
)
def test_references(reference: str, parts: tuple[str, int | None]) -> None:
    assert split_reference(reference) == parts


@pytest.mark.parametrize(
    "reference", ["mill@", "mill@0", "mill@01", "mill@x", "mill@-1", "mill@٣", "mill@" + "9" * 5000]
)
def test_what_is_no_version_number(reference: str) -> None:
    with pytest.raises(BenchmarkError, match="is no version number") as caught:
        split_reference(reference)
    assert caught.value.where == reference


def test_benchmarks_are_found_by_name(root: Path) -> None:
    (root / ".mill.part" / "versions").mkdir(parents=True)  # what a killed import left
    (root / "notes").mkdir()
    (root / "readme.txt").write_text("x", encoding="utf-8")
    assert find_benchmarks(root) == {"forge": root / "forge", "mill": root / "mill"}
    assert open_benchmark("mill", root).folder == root / "mill"
    assert str(load_version("mill", root)) == "mill@2"
    assert str(load_version("mill@1", root)) == "mill@1"
    assert str(load_version(f"{root / 'mill'}@1")) == "mill@1"
    with pytest.raises(BenchmarkError, match="mill has no version 3"):
        load_version("mill@3", root)


def test_a_folder_of_that_name_here_comes_first(root: Path, make: Any) -> None:
    make.store(root.parent / "mill", 1)
    assert open_benchmark("mill", root).versions() == [1]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("milll", "no benchmark is called 'milll'\n  did you mean 'mill'?"),
        ("../root/nothing", "there is no benchmark in this folder"),
        ("..\\root", "there is no benchmark in this folder"),
        ("..", "'..' is no benchmark name"),
        ("Mill 2", "'Mill 2' is no benchmark name"),
    ],
)
def test_what_is_not_there(root: Path, name: str, problem: str) -> None:
    with pytest.raises(BenchmarkError) as caught:
        open_benchmark(name, root)
    assert problem in str(caught.value)


def test_where_there_are_none_the_way_to_make_one_is_told(root: Path, tmp_path: Path) -> None:
    with pytest.raises(BenchmarkError, match="make one with: deepfact bench init NAME"):
        open_benchmark("mill", tmp_path / "empty")


def test_roots_in_their_order(
    root: Path, make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert roots() == [Path("benchmarks")]
    monkeypatch.setenv("DEEPFACT_BENCHMARKS", str(root))
    package = tmp_path / "site" / "deepfact"
    monkeypatch.setattr(locate, "_PACKAGE", package)
    shipped = package / "shipped" / "benchmarks"
    make.store(shipped / "mill", 1)
    make.store(shipped / "quarry", 1)
    make.store(package.parent / "benchmarks" / "quarry", 1)
    assert roots() == [root, shipped, package.parent / "benchmarks"]
    assert roots(tmp_path)[0] == tmp_path
    found = find_benchmarks()
    assert found["mill"] == root / "mill"
    assert found["quarry"] == shipped / "quarry"


def test_looking_creates_nothing(root: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    find_benchmarks(root)
    load_version("mill@1", root)
    with pytest.raises(BenchmarkError):
        open_benchmark("nothing", root)
    assert sorted(tmp_path.rglob("*")) == before


def test_the_benchmark_that_ships_is_found_from_anywhere_and_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DEEPFACT_BENCHMARKS", raising=False)
    assert verify(BenchmarkStore(find_benchmarks()["deepfact-mini"])) == []


@pytest.mark.parametrize("commit_to", ["run", "benchmark"])
def test_a_run_works_on_its_own_copy_where_it_has_one(
    root: Path, tmp_path: Path, commit_to: Any
) -> None:
    folder = tmp_path / "results" / "run-1"
    spec = RoundSpec(name="run-1", benchmark="mill@1", auditors=("a",), commit_to=commit_to)
    assert run_benchmark(spec, folder, root).folder == root / "mill"
    copy = run_copy(folder, "mill")
    open_benchmark("mill", root).fork(copy)
    own = copy if commit_to == "run" else root / "mill"
    assert run_benchmark(spec, folder, root).folder == own
    by_folder = spec.model_copy(update={"benchmark": f"{root / 'mill'}@1"})
    assert run_benchmark(by_folder, folder, root).folder == own


def test_a_name_that_no_file_can_have_is_no_benchmarks_name(tmp_path: Path) -> None:
    spec = RoundSpec(
        name="r", benchmark="s" * 5000, challenger={"kind": "local"}, auditors=("a",),
        commit_to="run",
    )  # fmt: skip
    with pytest.raises(BenchmarkError):
        run_benchmark(spec, tmp_path, tmp_path)
