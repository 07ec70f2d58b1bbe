"""The sets that the local verifier is measured on, and what it reads of each.

- SciFact dev, cited: the abstracts that a claim cites; supports, contradicts, or no evidence.
- SciFact dev, found: nothing that a claim cites is looked up; a search over the whole corpus (the
  published sample: every abstract in the file, those that no claim cites among them) gives it
  `DOCUMENTS` abstracts to read.
- Factcheck-Bench, cited: the five web snippets that were retrieved for a claim (``auto_evidence``),
  not the annotators' own notes, which give the answer away.
- Factcheck-Bench, found: a search over the snippets of all claims gives it `DOCUMENTS`.
- ExpertQA, found: a search over the passages that all answers cite gives it `DOCUMENTS`; the label
  is whether the claim is correct. **Not held out**: the weights were fitted on these claims and
  their passages, with the label "is it supported by its citation".
- WiCE: two-way, supported against the rest, since only partial support and no support stand
  beside it. The public files hold the annotated supporting sentences only, so this is easier
  than reading the article; a claim without any supporting sentence has nothing to read and
  counts as unverified.
- AVeriTeC dev: the questions and answers that annotators wrote down of web pages; refuted is
  contradictory, and conflicting or not enough evidence inconclusive. For non-commercial use: it is
  measured where its folder is, and nothing is ever fitted on it.
- A benchmark of deepfact's own, against its author's key.

Training reads none of them but ExpertQA. A search is by words (``bm25``), and, where the extra
``dense`` is installed, by words and vectors (``hybrid``).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Callable, Iterator, Mapping, Sequence

from deepfact.importers import averitec, expertqa, factcheck_bench, scifact
from deepfact.importers.base import Imported
from deepfact.records import Claim, Label, Source
from deepfact.retrievers.citing import citing
from deepfact.retrievers.registry import RetrieverSpec, build_retriever
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import read_lines

_WHEN = datetime(2026, 1, 1, tzinfo=UTC)
"""Provenance date that the importers ask for; no score depends on it."""

DOCUMENTS = 3
"""Documents that a search gives each claim: as few as a reader would open, and chosen before
anything was measured."""


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


def read_sets(
    data: Path, benchmark: Path | None = None, retrievers: Sequence[str] = ("bm25",)
) -> Iterator[MeasuredSet]:
    """Every set that is there, in a fixed order, read when its turn comes.

    Args:
        data: folder of the public data sets.
        benchmark: folder of a benchmark of deepfact's own.
        retrievers: kinds of retriever that the sets with a search are measured with.
    """
    readers: list[tuple[Path, Callable[[Path], MeasuredSet], bool, bool]] = [
        (data / "scifact", _scifact, True, True),
        (data / "factcheck-bench", _factcheck_bench, True, True),
        (data / "expertqa", _expertqa, False, True),
        (data / "wice", _wice, True, False),
        (data / "averitec" / "nc", _averitec, True, False),
    ]
    for folder, reader, cited, found in readers:
        if not folder.is_dir():
            continue
        read = reader(folder)
        if cited:
            yield replace(read, name=f"{read.name}, cited" if found else read.name)
        for kind in retrievers if found else ():
            yield searched(read, kind)
    if benchmark is not None:
        yield own_benchmark(benchmark)


def searched(read: MeasuredSet, kind: str) -> MeasuredSet:
    """A set whose claims cite what a search finds for them, whatever they cited before."""
    retriever = build_retriever(RetrieverSpec(kind=kind), read.sources)
    claims = list(citing(read.claims, retriever, DOCUMENTS))
    return replace(read, name=f"{read.name}, found by {kind}", claims=claims)


def _scifact(folder: Path) -> MeasuredSet:
    return _imported("SciFact dev", scifact.read(folder, when=_WHEN, split="dev", corpus="all"))


def _factcheck_bench(folder: Path) -> MeasuredSet:
    return _imported("Factcheck-Bench", factcheck_bench.read(folder, when=_WHEN))


def _expertqa(folder: Path) -> MeasuredSet:
    return _imported("ExpertQA (not held out)", expertqa.read(folder, when=_WHEN))


def _averitec(folder: Path) -> MeasuredSet:
    return _imported("AVeriTeC dev, answers", averitec.read(folder, when=_WHEN))


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
