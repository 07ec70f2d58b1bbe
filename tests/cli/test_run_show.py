"""``deepfact run show`` as a user calls it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import yaml

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_what_a_person_and_a_program_see(desk: Path, deepfact: Run) -> None:
    spec = {
        "name": "two", "benchmark": "small@1", "select": {"limit": 4},
        "arms": [
            {"name": name, "verifier": {"kind": kind}}
            for name, kind in (("words", "overlap"), ("broken", "failing"))
        ],
    }  # fmt: skip
    Path("ab.yaml").write_text(yaml.safe_dump(spec), encoding="utf-8")
    assert deepfact("ab", "ab.yaml").returncode == 0
    before = {path: path.read_bytes() for path in Path("results/two").iterdir()}
    shown = deepfact("run", "show", "results/two")
    assert shown.returncode == 0, shown.stderr
    words = " ".join(shown.stdout.split())
    for part in (
        "two: ab, complete",
        "arms: words (overlap); broken (failing)",
        "UTC with deepfact",
        "outcomes per second while asking",
        "4 error claim broken",
        "RuntimeError: the server is on fire",
        "cost in all: 0 calls, -",
    ):
        assert part in words, part
    found = json.loads(deepfact("run", "show", "results/two", "--json").stdout)
    assert found["failures"][0]["count"] == 4
    assert found["started"]["code"]["deepfact"]
    assert {path: path.read_bytes() for path in Path("results/two").iterdir()} == before


def test_no_run_there_is_wrong_input(desk: Path, deepfact: Run) -> None:
    for folder, what in (("nowhere", "no such folder"), ("benchmarks", "no run in this folder")):
        done = deepfact("run", "show", folder)
        assert done.returncode == 2 and done.stdout == ""
        assert what in done.stderr and "Traceback" not in done.stderr
