"""A snapshot can be read by those it is for: `datasets` and the Croissant reference reader."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deepfact.publish.build import Options, Snapshot, build
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.locate import load_version

ROOT = Path(__file__).parent.parent.parent

LOAD = """
import json, sys
from datasets import load_dataset, load_dataset_builder, get_dataset_config_names

folder = sys.argv[1]
claims = load_dataset(folder, "claims", split="test")
sources = load_dataset(folder, "sources", split="corpus")
default = load_dataset(folder)
print(json.dumps({
    "configs": sorted(get_dataset_config_names(folder)),
    "default": {split: rows.num_rows for split, rows in default.items()},
    "claims": list(claims), "sources": list(sources),
}))
"""

CROISSANT = """
import json, logging, sys, warnings
warnings.simplefilter("ignore")
import mlcroissant

data = mlcroissant.Dataset(sys.argv[1] + "/croissant.json")
issues = data.metadata.issues
plain = lambda value: value.decode() if isinstance(value, bytes) else str(value)
print(json.dumps({
    "errors": sorted(map(str, issues.errors)), "warnings": sorted(map(str, issues.warnings)),
    "claims": list(data.records("claims")), "sources": list(data.records("sources")),
}, default=plain))
"""


def run(code: str, folder: Path, home: Path) -> Any:
    """What a program prints that has no network: any connection would fail."""
    import os

    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, encoding="utf-8",
        timeout=120, env={**os.environ, **offline}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def lines(snapshot: Snapshot, config: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in snapshot.files[f"jsonl/{config}.jsonl"].splitlines()]


@pytest.mark.parametrize("which", ["mills", "deepfact-mini"])
def test_datasets_loads_every_config_offline(
    mills: BenchmarkStore, put: Callable[[Snapshot], Path], tmp_path: Path, which: str
) -> None:
    version = mills.load() if which == "mills" else load_version(which, ROOT / "benchmarks")
    snapshot = build(version, Options())
    found = run(LOAD, put(snapshot), tmp_path / "home")
    assert found["configs"] == ["claims", "sources"]
    assert found["default"] == {"test": snapshot.record.claims}
    for config in ("claims", "sources"):
        assert found[config] == lines(snapshot, config)


def test_a_version_without_sources_has_no_config_for_them(
    put: Callable[[Snapshot], Path], tmp_path: Path, make: Any
) -> None:
    """`datasets` cannot load a split of no rows."""
    store = BenchmarkStore.create(tmp_path / "bare", card="---\nlicense: mit\n---\n")
    store.commit([make.add("c1")], parent=None, author="t", date=make.WHEN, note="n")
    snapshot = build(store.load(), Options())
    assert not any("sources" in name for name in snapshot.files)
    assert '"sources"' not in snapshot.files["README.md"].decode()
    folder = put(snapshot)
    load = LOAD.replace('load_dataset(folder, "sources", split="corpus")', "[]")
    found = run(load, folder, tmp_path / "home")
    assert found["configs"] == ["claims"] and [row["id"] for row in found["claims"]] == ["c1"]
    read = CROISSANT.replace('list(data.records("sources"))', "[]")
    found = run(read, folder, tmp_path / "home")
    assert [row["claims/id"] for row in found["claims"]] == ["c1"] and found["errors"] == []


def named(row: dict[str, Any], prefix: str) -> dict[str, Any]:
    """A row as Croissant names its fields: each by the path to it."""

    def under(value: Any, path: str) -> Any:
        if isinstance(value, dict):
            return {f"{path}/{key}": inner for key, inner in value.items()}
        return [under(one, path) for one in value] if isinstance(value, list) else value

    return {f"{prefix}/{key}": under(value, f"{prefix}/{key}") for key, value in row.items()}


@pytest.mark.parametrize("which", ["mills", "deepfact-mini"])
def test_the_croissant_reader_accepts_it_and_reads_every_record(
    mills: BenchmarkStore, put: Callable[[Snapshot], Path], tmp_path: Path, which: str
) -> None:
    version = mills.load() if which == "mills" else load_version(which, ROOT / "benchmarks")
    snapshot = build(version, Options())
    found = run(CROISSANT, put(snapshot), tmp_path / "home")
    assert found["errors"] == [] and found["warnings"] == []
    for config in ("claims", "sources"):
        expected = [named(row, config) for row in lines(snapshot, config)]
        for row in expected:  # a record that is not there has no parts either
            if row.get("claims/provenance", 0) is None:
                parts = ("who", "when", "run", "case")
                row["claims/provenance"] = {f"claims/provenance/{part}": None for part in parts}
        assert found[config] == expected


def test_croissant_names_files_sizes_and_hashes(mills: BenchmarkStore) -> None:
    snapshot = build(mills.load(), Options(repo="team/mills"))
    data = json.loads(snapshot.files["croissant.json"])
    for one in data["distribution"]:
        content = snapshot.files[one["contentUrl"]]
        assert one["sha256"] == hashlib.sha256(content).hexdigest()
        assert one["contentSize"] == f"{len(content)} B"
    assert data["license"] == "https://spdx.org/licenses/CC-BY-4.0.html"
    assert (data["version"], data["datePublished"]) == ("2.0.0", "2026-01-02")
    assert data["url"] == "https://huggingface.co/datasets/team/mills"
    assert "5 claims" in data["description"]
