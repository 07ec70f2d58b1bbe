"""How often each retriever finds the gold abstracts of SciFact.

    python tests/perf/retrieval.py DATA [--split dev] [--model wordllama]

DATA is the folder of public data sets, with ``scifact`` in it. Every abstract of the corpus file is
searched for each claim that has gold evidence, by the claim's text alone; an abstract's rank is
that of its best sentence. Recall@k is the share of a claim's gold abstracts among the first k,
averaged over claims; the interval is a 95 % bootstrap over claims (10,000 resamples, seed 0).
A script to run by hand; nothing is asserted. No retriever was tuned on these claims.
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path

import numpy

from deepfact.importers.scifact import read
from deepfact.retrievers.registry import RetrieverSpec, build_retriever

AT = (1, 3, 5, 10)
SENTENCES = 200
"""Passages asked for, so that ten abstracts are surely among them."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--split", choices=("dev", "train", "test"), default="dev")
    parser.add_argument("--model", default="wordllama")
    given = parser.parse_args()
    when = datetime.now(UTC)
    imported = read(given.data / "scifact", when=when, split=given.split, corpus="all")
    sources = {source.id: source for source in imported.sources}
    gold = [
        (claim.text, {evidence.source for evidence in annotation.evidence})
        for claim, annotation in imported.claims
        if annotation is not None and annotation.evidence
    ]
    print(f"{len(gold)} claims of {given.split} with gold evidence, {len(sources)} abstracts")
    print("| retriever | " + " | ".join(f"recall@{k} [95 %]" for k in AT) + " |")
    print("|---|" + "---|" * len(AT))
    for kind in ("bm25", "dense", "hybrid"):
        options = {} if kind == "bm25" else {"model": given.model}
        built = build_retriever(RetrieverSpec(kind=kind, options=options), sources)
        rows = [recalls(built, text, wanted) for text, wanted in gold]
        print(
            f"| {kind} | " + " | ".join(cell(column) for column in zip(*rows, strict=True)) + " |"
        )


def recalls(built: object, text: str, wanted: set[str]) -> list[float]:
    """Recall at each cut for one claim."""
    found = built.search(text, limit=SENTENCES)
    ranked = list(dict.fromkeys(passage.source for passage in found))
    return [len(wanted & set(ranked[:k])) / len(wanted) for k in AT]


def cell(values: tuple[float, ...]) -> str:
    """A mean with its bootstrap interval."""
    data = numpy.array(values)
    draws = numpy.random.default_rng(0).integers(0, len(data), (10_000, len(data)))
    low, high = numpy.quantile(data[draws].mean(axis=1), [0.025, 0.975])
    return f"{data.mean():.3f} [{low:.3f}, {high:.3f}]"


if __name__ == "__main__":
    main()
