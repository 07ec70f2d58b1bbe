"""The wheel holds everything that the package reads at run time."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import install_wheel

HOME = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    wheel = install_wheel.build(tmp_path_factory.mktemp("wheel"))
    with zipfile.ZipFile(wheel) as held:
        return set(held.namelist())


def test_every_file_of_the_package_is_in_it(names: set[str]) -> None:
    package = HOME / "deepfact"
    files = {
        str(path.relative_to(HOME))
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {Path(name).suffix for name in files} >= {".md", ".json", ".lock", ".css", ".typed"}
    assert files - names == set()


@pytest.mark.parametrize("name", ["deepfact-mini", "deepfact-practice", "deepfact-drill"])
def test_the_shipped_benchmarks_are_in_it(names: set[str], name: str) -> None:
    folder = HOME / "benchmarks" / name
    files = {
        f"deepfact/shipped/benchmarks/{name}/{path.relative_to(folder)}"
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }
    assert files and files - names == set()


def test_nothing_else_is_in_it(names: set[str]) -> None:
    assert {name.partition("/")[0] for name in names} == {
        "deepfact",
        *(name.partition("/")[0] for name in names if ".dist-info/" in name),
    }
    assert not [name for name in names if name.endswith((".pyc", ".sqlite"))]
