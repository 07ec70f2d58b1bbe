"""Says so when a benchmark's history goes apart: two people, or two runs, went on from one version.

That is allowed, since who audits for days should not lose it to who was faster; but it is never
silent, and `deepfact bench merge` brings the versions together.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from deepfact.cli.output import note

if TYPE_CHECKING:
    from deepfact.run_records import RunRecord
    from deepfact.store.benchmark import BenchmarkStore, BenchmarkVersion


def note_branches(store: BenchmarkStore) -> None:
    """A remark when a benchmark's history has several ends."""
    heads = store.heads()
    if len(heads) > 1:
        ends = ", ".join(f"{store.name}@{head}" for head in heads)
        note(
            f"note: the history has {len(heads)} ends: {ends}; a name without a version means the "
            f"newest. Bring two together with: "
            f"deepfact bench merge {store.name}@{heads[-2]} {heads[-1]}"
        )


def note_base_taken(base: BenchmarkVersion) -> None:
    """A remark before a run when others went on from its base already."""
    later = _made_from(base.store, base.manifest.version)
    if later:
        made = ", ".join(f"{base.store.name}@{number}" for number in later)
        note(
            f"note: {made} was made from {base} already; what this run makes of {base} will stand "
            "beside it, until both are merged with: deepfact bench merge"
        )


def note_run_branched(record: RunRecord, folder: Path, root: Path | None) -> None:
    """A remark after a run when another version was made from its base too."""
    from deepfact.store.locate import run_benchmark

    made = [done.result.version for done in record.rounds if done.result != done.base]
    if not made:
        return
    store = run_benchmark(record.spec, folder, root)
    base = record.rounds[0].base.version
    others = [number for number in _made_from(store, base) if number != made[0]]
    if others and len(store.heads()) > 1:
        note(
            f"note: {store.name}@{made[0]} and {store.name}@{others[-1]} were both made from "
            f"{store.name}@{base}; bring them together with: "
            f"deepfact bench merge {_called(store, root)}@{others[-1]} {made[-1]} --author NAME"
        )


def _made_from(store: BenchmarkStore, number: int) -> list[int]:
    return [one for one in store.versions() if store.manifest(one).parent == number]


def _called(store: BenchmarkStore, root: Path | None) -> str:
    """How a command can name a benchmark: by its name when that finds it, else by its folder."""
    from deepfact.store.locate import find_benchmarks

    found = find_benchmarks(root).get(store.name)
    same = found is not None and found.resolve() == store.folder.resolve()
    return store.name if same else store.folder.as_posix()
