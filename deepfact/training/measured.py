"""The sets that the local verifier is measured on. Training never reads them.

- SciFact dev: the abstracts that a claim cites; supports, contradicts, or no evidence.
- Factcheck-Bench: the five web snippets that were retrieved for a claim (``auto_evidence``),
  not the annotators' own notes, which give the answer away.
- WiCE: two-way, supported against the rest, since only partial support and no support stand
  beside it. The public files hold the annotated supporting sentences only, so this is easier
  than reading the article; a claim without any supporting sentence has nothing to read and
  counts as unverified.
- A benchmark of deepfact's own, against its author's key.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Callable, Mapping, Sequence

from deepfact.importers import factcheck_bench, scifact
from deepfact.importers.base import Imported
from deepfact.records import Claim, Label, Source
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import read_lines

_WHEN = datetime(2026, 1, 1, tzinfo=UTC)
"""Provenance date that the importers ask for; no score depends on it."""


@dataclass(frozen=True, slots=True)
class MeasuredSet:
    """Claims with their sources and the answers."""

    name: str
    claims: Sequence[Claim]
    sources: Mapping[str, Source]
    key: Mapping[str, Label]
    two_way: bool = False
    """Only supported against the rest is known."""
    strata: Mapping[str, Sequence[str]] = field(default_factory=dict)


def read_sets(data: Path, benchmark: Path | None = None) -> list[MeasuredSet]:
    """Every set that is there, in a fixed order."""
    readers: list[tuple[Path, Callable[[Path], MeasuredSet]]] = [
        (data / "scifact", _scifact),
        (data / "factcheck-bench", _factcheck_bench),
        (data / "wice", _wice),
    ]
    found = [reader(folder) for folder, reader in readers if folder.is_dir()]
    return [*found, own_benchmark(benchmark)] if benchmark is not None else found


def _scifact(folder: Path) -> MeasuredSet:
    return _imported("SciFact dev", scifact.read(folder, when=_WHEN, split="dev"))


def _factcheck_bench(folder: Path) -> MeasuredSet:
    return _imported("Factcheck-Bench", factcheck_bench.read(folder, when=_WHEN))


def _imported(name: str, imported: Imported) -> MeasuredSet:
    return MeasuredSet(
        name=name,
        claims=[claim for claim, note in imported.claims if note is not None],
        sources={source.id: source for source in imported.sources},
        key={claim.id: note.label for claim, note in imported.claims if note is not None},
    )


def _wice(folder: Path) -> MeasuredSet:
    claims, sources, key = [], {}, {}
    for split in ("dev", "test"):
        for _, line in read_lines(folder / f"claim_{split}.scored100.supporting-only.jsonl"):
            row = json.loads(line)
            numbered = sorted((int(at), text) for at, text in row["supporting_text"].items())
            text = "\n\n".join(sentence for _, sentence in numbered)
            source = Source.create(title="", url=f"wice:{row['meta']['id']}", text=text)
            title, section = row["meta"]["claim_title"], row["meta"]["claim_section"]
            claim = Claim(
                id=row["meta"]["id"],
                text=row["claim"],
                context=f"From the article “{title}”, section “{section}”",
                cites=(source.id,),
            )
            claims.append(claim)
            sources[source.id] = source
            supported = row["label"] == "supported"
            key[claim.id] = Label.SUPPORTED if supported else Label.INCONCLUSIVE
    return MeasuredSet("WiCE (2-way)", claims, sources, key, two_way=True)


def own_benchmark(folder: Path) -> MeasuredSet:
    """The latest version of a benchmark, against its author's key where there is one."""
    store = BenchmarkStore(folder)
    version = store.load()
    entries = store.key("author")
    if entries:
        key = {claim_id: entry.label for claim_id, entry in entries.items()}
    else:
        key = {
            claim_id: entry.annotation.label
            for claim_id, entry in version.state.entries.items()
            if entry.annotation is not None
        }
    return MeasuredSet(
        name=str(version) + (", author's key" if entries else ""),
        claims=[claim for claim in version.claims if claim.id in key],
        sources=version.sources,
        key=key,
        strata={i: (entry.stratum, *entry.needs) for i, entry in entries.items()},
    )
