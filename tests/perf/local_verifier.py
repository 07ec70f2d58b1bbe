"""How fast the local verifier is: ``python tests/perf/local_verifier.py [benchmark folder]``.

Prints the mean time a claim in milliseconds, first cold (the sources are split and indexed) and
then warm (they are kept). A script to run by hand; nothing is asserted.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from deepfact.store.benchmark import BenchmarkStore
from deepfact.verifiers.base import Context
from deepfact.verifiers.local import LocalVerifier


def main(folder: Path) -> None:
    version = BenchmarkStore(folder).load()
    sources = {source: version.sources[source] for source in version.sources}
    context = Context(sources=sources)
    verifier = LocalVerifier(libraries=10_000)
    for name in ("first claim and imports", "cold", "warm"):
        claims = version.claims[:1] if name.startswith("first") else version.claims
        began = time.perf_counter()
        for claim in claims:
            verifier.verify(claim, context)
        took = 1000 * (time.perf_counter() - began) / len(claims)
        print(f"{name:<24} {took:7.2f} ms a claim over {len(claims)} claims")


if __name__ == "__main__":
    root = Path(__file__).parents[2]
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else root / "benchmarks" / "deepfact-mini")
