"""Measure the local verifier beside the trivial ones.

    python -m deepfact.training.evaluate --data DIR [--benchmark FOLDER] [--retrievers bm25,hybrid]

Every claim goes through `LocalVerifier.verify` as anybody's would; scores are those of
`deepfact.core.metrics`. The majority row gives each set's most frequent label, which is the
strongest constant there is, and which no verifier knows beforehand. ``local, shares told`` is told
as much: how often each label occurs in the set (in a two-way set, how often supported does; the
rest is split as in the fit). The other two baselines compare one score with a fixed threshold and
give no probability that shares could correct. ``local`` reads the cited sources alone, and is told
nothing; ``local, x``, on deepfact's own benchmark, also searches the others for what is at
odds with them. What is read of each set, and which of them training has seen, is in `measured`.

The table is that of docs/local-verifier.md; ``--short`` prints that of the README. ``--update``
puts the tables into documents, between the comments that hold their places.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Callable, Sequence

from deepfact.core.metrics import score
from deepfact.errors import InputError
from deepfact.measure_records import Estimate, Rate
from deepfact.records import Claim, Label, Outcome, Verdict
from deepfact.run_records import ScoreSheet
from deepfact.store.files import read_text, write_text
from deepfact.training.measured import MeasuredSet, read_sets
from deepfact.verifiers.base import Context
from deepfact.verifiers.local import LocalVerifier
from deepfact.verifiers.local.model import shipped_weights
from deepfact.verifiers.trivial import MajorityVerifier, OverlapVerifier, RetrievalVerifier

Judge = Callable[[Claim, Context], Outcome]

HEAD = (
    "| data set | verifier | n | unverified | accuracy | macro-F1 | binary |\n"
    "|---|---|---|---|---|---|---|"
)
PLACE = re.compile(r"(<!-- measured: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
"""Where a document holds a table: ``full`` or ``short``."""

SHORT_HEAD = (
    "| data set | n | unverified | local: accuracy, macro-F1 | best baseline by macro-F1 |\n"
    "|---|---|---|---|---|"
)


def judges(measured: MeasuredSet) -> dict[str, Judge]:
    """The verifiers that are compared on a set, by name."""
    commonest = Counter(measured.key.values()).most_common(1)[0][0]
    crosschecked = {"local, x": LocalVerifier(crosscheck=300).verify} if measured.strata else {}
    return {
        "local": LocalVerifier().verify,
        "local, shares told": LocalVerifier(shares=shares_of(measured)).verify,
        **crosschecked,
        "majority": MajorityVerifier(commonest).verify,
        "overlap": OverlapVerifier().verify,
        "retrieval": RetrievalVerifier().verify,
    }


def shares_of(measured: MeasuredSet) -> dict[Label, float]:
    """The share of each label in a set's key, none of them 0; where only supported is known apart,
    the rest as in the fit."""
    counts = Counter(measured.key.values())
    shares = {label: max(counts[label], 0.5) / counts.total() for label in Label}
    if measured.two_way:
        prior = shipped_weights().prior
        rest = (1 - shares[Label.SUPPORTED]) / (1 - prior[Label.SUPPORTED])
        shares |= {label: rest * prior[label] for label in Label if label is not Label.SUPPORTED}
    return {label: share / sum(shares.values()) for label, share in shares.items()}


def measure(measured: MeasuredSet, name: str, judge: Judge) -> tuple[ScoreSheet, float]:
    """The score of one verifier on one set, and its mean time in milliseconds a claim."""
    context = Context(sources=measured.sources)
    began = time.perf_counter()
    outcomes = {claim.id: judge(claim, context) for claim in measured.claims}
    took = 1000 * (time.perf_counter() - began) / max(1, len(outcomes))
    if measured.two_way:
        outcomes = {claim_id: _two_way(outcome) for claim_id, outcome in outcomes.items()}
    sheet = score(
        measured.key,
        outcomes,
        verifier=name,
        on=measured.name,
        reports={claim.id: claim.report for claim in measured.claims},
        strata=measured.strata,
    )
    return sheet, took


def measure_all(sets: Iterable[MeasuredSet]) -> Iterator[tuple[ScoreSheet, float]]:
    """As `measure`, of every verifier on every set."""
    for measured in sets:
        for name, judge in judges(measured).items():
            yield measure(measured, name, judge)


def _two_way(outcome: Outcome) -> Outcome:
    """The outcome with everything that is not supported taken together as inconclusive."""
    if isinstance(outcome, Verdict) and outcome.label is not Label.SUPPORTED:
        return outcome.model_copy(update={"label": Label.INCONCLUSIVE})
    return outcome


def table_row(sheet: ScoreSheet) -> str:
    """One line of the table. The interval of a rate is Wilson's, of macro-F1 a bootstrap's that
    draws whole reports."""
    return (
        f"| {sheet.on} | {sheet.verifier} | {sheet.n} | {sheet.unverified} "
        f"| {_figure(sheet.accuracy)} | {_figure(sheet.macro_f1)} | {_figure(sheet.binary)} |"
    )


def short_rows(sheets: Sequence[ScoreSheet]) -> Iterator[str]:
    """One line a set: the local verifier, and whichever baseline has the best macro-F1 there."""
    for name in dict.fromkeys(sheet.on for sheet in sheets):
        there = {sheet.verifier: sheet for sheet in sheets if sheet.on == name}
        local = there["local"]
        best = max(
            (sheet for verifier, sheet in there.items() if not verifier.startswith("local")),
            key=lambda sheet: sheet.macro_f1.value or 0.0,
        )
        yield (
            f"| {name} | {local.n} | {local.unverified} "
            f"| {_figure(local.accuracy)}, {_figure(local.macro_f1)} "
            f"| {best.verifier}: {_figure(best.accuracy)}, {_figure(best.macro_f1)} |"
        )


def tables_of(sheets: Sequence[ScoreSheet]) -> dict[str, str]:
    """The tables by the name of their place in a document."""
    return {
        "full": "\n".join([HEAD, *map(table_row, sheets)]) + "\n",
        "short": "\n".join([SHORT_HEAD, *short_rows(sheets)]) + "\n",
    }


def put_into(document: str, sheets: Sequence[ScoreSheet]) -> str:
    """A document with its tables as they are now.

    Raises:
        InputError: it has no place for one, or for one that there is not.
    """
    tables = tables_of(sheets)
    names = [match[2] for match in PLACE.finditer(document)]
    if not names or not set(names) <= set(tables):
        raise InputError(
            "this document has no place for a table",
            fix="write <!-- measured: full --> and <!-- end -->, or short in place of full",
        )
    return PLACE.sub(lambda match: f"{match[1]}{tables[match[2]]}{match[3]}", document)


def _figure(found: Rate | Estimate) -> str:
    """A figure with its interval."""
    if found.value is None or found.low is None or found.high is None:
        return "none"
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; with ``--json`` also write every score sheet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data sets")
    parser.add_argument("--benchmark", type=Path, help="a benchmark folder of deepfact's own")
    parser.add_argument(
        "--retrievers", default="bm25", help="kinds of retriever, with commas between them"
    )
    parser.add_argument("--update", type=Path, nargs="*", default=[], help="documents to update")
    parser.add_argument("--short", action="store_true", help="one line a set")
    parser.add_argument("--json", type=Path, help="where to write the score sheets")
    options = parser.parse_args(arguments)
    sheets: list[ScoreSheet] = []
    written: list[dict[str, Any]] = []
    if not options.short:
        print(HEAD)  # noqa: T201
    sets = read_sets(options.data, options.benchmark, options.retrievers.split(","))
    for sheet, took in measure_all(sets):
        if not options.short:
            print(table_row(sheet), flush=True)  # noqa: T201
        sheets.append(sheet)
        written.append({**sheet.model_dump(mode="json"), "ms_per_claim": round(took, 3)})
    if options.short:
        print("\n".join([SHORT_HEAD, *short_rows(sheets)]))  # noqa: T201
    for document in options.update:
        write_text(document, put_into(read_text(document), sheets))
    if options.json is not None:
        write_text(options.json, json.dumps(written, indent=2, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
