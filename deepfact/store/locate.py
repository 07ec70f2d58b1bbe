"""Finding benchmarks by name: ``name@version``, in the working folder or among the shipped ones.

Only looks; creates nothing.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from deepfact.errors import BenchmarkError, did_you_mean
from deepfact.records import BENCHMARK_NAME
from deepfact.run_records import RoundSpec
from deepfact.store.benchmark import BenchmarkStore, BenchmarkVersion, check_name

_PACKAGE = Path(__file__).resolve().parent.parent


def roots(root: Path | None = None) -> list[Path]:
    """The folders that hold benchmarks, first one first: the one given (or
    ``$DEEPFACT_BENCHMARKS``, or ``benchmarks`` here), then what ships with deepfact."""
    first = root or Path(os.environ.get("DEEPFACT_BENCHMARKS", "benchmarks"))
    shipped = [_PACKAGE / "shipped" / "benchmarks", _PACKAGE.parent / "benchmarks"]
    return [first, *(folder for folder in shipped if folder.is_dir())]


def find_benchmarks(root: Path | None = None) -> dict[str, Path]:
    """All benchmarks by name; the first root that has a name wins."""
    found: dict[str, Path] = {}
    for folder in roots(root):
        if folder.is_dir():
            for path in sorted(folder.iterdir()):
                if BENCHMARK_NAME.fullmatch(path.name) and (path / "versions").is_dir():
                    found.setdefault(path.name, path)
    return found


def split_reference(reference: str) -> tuple[str, int | None]:
    """``name@3`` as name and version; the version is None when left out.

    Raises:
        BenchmarkError: what follows the @ is no version number.
    """
    name, at, number = reference.rpartition("@")
    if not at:
        return reference, None
    if not re.fullmatch(r"[1-9][0-9]{0,8}", number):
        raise BenchmarkError(
            f"{number!r} is no version number", where=reference, fix="write it like deepfact-mini@2"
        )
    return name, int(number)


def open_benchmark(name: str, root: Path | None = None) -> BenchmarkStore:
    """The benchmark of that name, or in that folder when ``name`` is a path to one.

    Raises:
        BenchmarkError: there is none.
    """
    if _is_folder(Path(name) / "versions"):
        return BenchmarkStore(Path(name))
    known = find_benchmarks(root)
    if name in known:
        return BenchmarkStore(known[name])
    if "/" in name or "\\" in name:
        raise BenchmarkError("there is no benchmark in this folder", where=name)
    check_name(name)
    raise BenchmarkError(
        f"no benchmark is called {name!r}",
        where=str(roots(root)[0]),
        fix=did_you_mean(name, known) or "make one with: deepfact bench init NAME",
    )


def load_version(reference: str, root: Path | None = None) -> BenchmarkVersion:
    """The version that ``name@version`` (or ``folder@version``) refers to.

    Raises:
        BenchmarkError: no such benchmark or version.
        IntegrityError: its files do not match its hashes.
    """
    name, version = split_reference(reference)
    return open_benchmark(name, root).load(version)


def run_copy(folder: Path, name: str) -> Path:
    """Where a run that commits to its own folder keeps its copy of a benchmark."""
    return folder / "benchmarks" / name


def run_benchmark(spec: RoundSpec, folder: Path, root: Path | None = None) -> BenchmarkStore:
    """The benchmark that a run works on: its own copy where it has one.

    Args:
        spec: the run's.
        folder: the run's results folder.
        root: folder that holds benchmarks.
    """
    name, _ = split_reference(spec.benchmark)
    copy = run_copy(folder, Path(name).name)
    if spec.commit_to == "run" and _is_folder(copy):
        return BenchmarkStore(copy)
    return open_benchmark(name, root)


def _is_folder(path: Path) -> bool:
    """Whether there is such a folder; a name that no file can have is the name of none."""
    try:
        return path.is_dir()
    except OSError:
        return False
