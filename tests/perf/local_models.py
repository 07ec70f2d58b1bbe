"""How fast a classification model runs through the ``nli`` verifier, and how that scales.

    python tests/perf/local_models.py MODEL [--claims 60]

MODEL is a folder with an ONNX model. Four ways over the same claims and sources, in one run: one
pair at a time with nothing kept (the floor that a plain loop would be), one claim at a time, all
claims at once as the verifier does by itself, and in batches of 16 by length. Then the verifier as
it is over claims and sources of other lengths. Prints claims a second and the ratio to the floor.
A script to run by hand; nothing is asserted.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

from deepfact.records import Claim, Source
from deepfact.verifiers.base import Context
from deepfact.verifiers.nli.verifier import NliVerifier

SENTENCE = "The mill at station {number} ground {number} sacks of barley before the frost came. "


def case(claims: int, claim_words: int, source_words: int) -> tuple[list[Claim], Context]:
    """So many claims of about so many words, six to a source of about so many words."""
    sources, made = {}, []
    for number in range((claims + 5) // 6):
        text = "".join(SENTENCE.format(number=100 * number + i) for i in range(source_words // 14))
        source = Source.create(title=f"Mill {number}", text=text or SENTENCE.format(number=number))
        sources[source.id] = source
    ids = list(sources)
    for number in range(claims):
        # Lengths vary, as they do in real claims: batches by length have something to gain.
        words = max(5, claim_words * (1 + number % 4) // 2)
        text = " ".join((SENTENCE.format(number=number) * (words // 14 + 1)).split()[:words])
        made.append(Claim(id=f"c{number}", text=text, cites=(ids[number // 6],)))
    return made, Context(sources)


def rate(ask: Callable[[], Iterator[Any]], claims: int) -> float:
    """Claims a second."""
    began = time.perf_counter()
    count = sum(1 for _ in ask())
    assert count == claims
    return claims / (time.perf_counter() - began)


def plain(model: str, claims: list[Claim], context: Context) -> Iterator[Any]:
    """One pair at a time, and a verifier that remembers nothing from one claim to the next."""
    verifier = NliVerifier(model, batch=1)
    for claim in claims:
        verifier._windows.clear()
        verifier._indexes.clear()
        verifier._scorer.encoder._encoded.cache_clear()
        yield verifier.verify(claim, context)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], allow_abbrev=False)
    parser.add_argument("model")
    parser.add_argument("--claims", type=int, default=60)
    asked = parser.parse_args()
    claims, context = case(asked.claims, 20, 200)
    alone, together = NliVerifier(asked.model), NliVerifier(asked.model, batch=16)
    ways: dict[str, Callable[[], Iterator[Any]]] = {
        "one pair at a time, nothing kept": lambda: plain(asked.model, claims, context),
        "one claim at a time": lambda: (alone.verify(claim, context) for claim in claims),
        "all claims, as by default": lambda: alone.verify_all(claims, context),
        "all claims, batches of 16": lambda: together.verify_all(claims, context),
    }
    floor = 0.0
    print("| way | claims a second | x floor |\n|---|---:|---:|")
    for name, ask in ways.items():
        found = rate(ask, len(claims))
        floor = floor or found
        print(f"| {name} | {found:.1f} | {found / floor:.2f} |", flush=True)
    print("\n| words of a claim | words of a source | claims a second |\n|---:|---:|---:|")
    for claim_words in (10, 40):
        for source_words in (50, 200, 800, 3200):
            claims, context = case(asked.claims // 3, claim_words, source_words)
            verifier = NliVerifier(asked.model)
            found = rate(lambda v=verifier, c=claims, s=context: v.verify_all(c, s), len(claims))
            print(f"| {claim_words} | {source_words} | {found:.1f} |", flush=True)


if __name__ == "__main__":
    main()
