"""How fast the local verifier is: ``python tests/perf/local_verifier.py [benchmark folder]``.

Prints the mean time a claim in milliseconds, first cold (the sources are split and indexed) and
then warm (they are kept). A script to run by hand; nothing is asserted.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from deepfact.records import Claim
from deepfact.store.benchmark import BenchmarkStore
from deepfact.verifiers.base import Context
from deepfact.verifiers.local import LocalVerifier


def main(folder: Path) -> None:
    version = BenchmarkStore(folder).load()
    sources = {source: version.sources[source] for source in version.sources}
    context = Context(sources=sources)
    for scope in ("cited", "all"):
        print(f"scope {scope}")
        time_scope(LocalVerifier(scope=scope, libraries=10_000), context, version.claims)


def time_scope(verifier: LocalVerifier, context: Context, all_claims: Sequence[Claim]) -> None:
    for name in ("first claim and imports", "cold", "warm"):
        claims = all_claims[:1] if name.startswith("first") else all_claims
        began = time.perf_counter()
        for claim in claims:
            verifier.verify(claim, context)
        took = 1000 * (time.perf_counter() - began) / len(claims)
        print(f"{name:<24} {took:7.2f} ms a claim over {len(claims)} claims")


if __name__ == "__main__":
    root = Path(__file__).parents[2]
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else root / "benchmarks" / "deepfact-practice")
