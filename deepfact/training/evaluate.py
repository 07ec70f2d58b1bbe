"""Measure the local verifier beside the trivial ones.

    python -m deepfact.training.evaluate --data DIR [--benchmark FOLDER]

Every claim goes through `LocalVerifier.verify` as anybody's would; scores are those of
`deepfact.core.metrics`. The majority row gives each set's most frequent label, which is the
strongest constant there is. ``local`` reads the cited sources alone; ``local, x``, on deepfact's
own benchmark, also searches the others for what is at odds with them. See `measured` for what is
read of each set.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, Callable, Sequence

from deepfact.core.metrics import score
from deepfact.records import Claim, Label, Outcome, Verdict
from deepfact.run_records import ScoreSheet
from deepfact.store.files import write_text
from deepfact.training.measured import MeasuredSet, read_sets
from deepfact.verifiers.base import Context
from deepfact.verifiers.local import LocalVerifier
from deepfact.verifiers.trivial import MajorityVerifier, OverlapVerifier, RetrievalVerifier

Judge = Callable[[Claim, Context], Outcome]


def judges(measured: MeasuredSet) -> dict[str, Judge]:
    """The verifiers that are compared on a set, by name."""
    commonest = Counter(measured.key.values()).most_common(1)[0][0]
    crosschecked = {"local, x": LocalVerifier(crosscheck=300).verify} if measured.strata else {}
    return {
        "local": LocalVerifier().verify,
        **crosschecked,
        "majority": MajorityVerifier(commonest).verify,
        "overlap": OverlapVerifier().verify,
        "retrieval": RetrievalVerifier().verify,
    }


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


def _two_way(outcome: Outcome) -> Outcome:
    """The outcome with everything that is not supported taken together as inconclusive."""
    if isinstance(outcome, Verdict) and outcome.label is not Label.SUPPORTED:
        return outcome.model_copy(update={"label": Label.INCONCLUSIVE})
    return outcome


def table_row(sheet: ScoreSheet, took: float) -> str:
    """One line of the table."""
    accuracy, f1 = sheet.accuracy, sheet.macro_f1
    return (
        f"| {sheet.on:<34} | {sheet.n:>4} | {sheet.verifier:<9} | {sheet.unverified:>3} "
        f"| {accuracy.value or 0:.3f} [{accuracy.low:.3f}, {accuracy.high:.3f}] "
        f"| {f1.value or 0:.3f} [{f1.low or 0:.3f}, {f1.high or 0:.3f}] | {took:6.2f} |"
    )


HEAD = (
    "| data set                           |    n | verifier  | unv | accuracy [95 % Wilson] "
    "| macro-F1 [95 % bootstrap] | ms/claim |\n|---|---|---|---|---|---|---|"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; with ``--json`` also write every score sheet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data sets")
    parser.add_argument("--benchmark", type=Path, help="a benchmark folder of deepfact's own")
    parser.add_argument("--json", type=Path, help="where to write the score sheets")
    options = parser.parse_args(arguments)
    sheets: list[dict[str, Any]] = []
    print(HEAD)  # noqa: T201
    for measured in read_sets(options.data, options.benchmark):
        for name, judge in judges(measured).items():
            sheet, took = measure(measured, name, judge)
            print(table_row(sheet, took), flush=True)  # noqa: T201
            sheets.append({**sheet.model_dump(mode="json"), "ms_per_claim": round(took, 3)})
    if options.json is not None:
        write_text(options.json, json.dumps(sheets, indent=2, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
