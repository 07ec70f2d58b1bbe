"""Qualifications: sentences by a matched passage that a reader of the claim needs to know.

A qualification refutes nothing and is never a label. Pure.
"""

from __future__ import annotations

from deepfact.reading.compare import Comparison
from deepfact.reading.elements import Elements, elements
from deepfact.reading.lexicon import CAVEATS
from deepfact.reading.library import Reading
from deepfact.records import Qualification, QualificationKind
from deepfact.retrievers.words import stems

NEEDED = 0.45
"""How well a passage must fit before its neighbours can qualify the claim."""
AT_MOST = 3


def qualifications(comparison: Comparison) -> tuple[Qualification, ...]:
    """What the passages that bear the claim out, and their neighbours, add to it.

    A sentence counts when it reads like a caveat, is not already said in the claim, and is
    next to (or is) a well-fitting passage and shares a content word or a number with the claim
    or with that passage.
    """
    found: dict[str, Qualification] = {}
    library = comparison.library
    for reading, fit in comparison.readings[:3]:
        if fit.near < NEEDED:
            continue
        for step in (0, 1, -1, 2):
            passage = reading.passage if step == 0 else library.neighbour(reading, step)
            if passage is None or passage.text in found:
                continue
            kind = _kind(passage.text)
            if kind is None or not _same_matter(passage.text, comparison.claim, reading):
                continue
            found[passage.text] = Qualification(
                kind=kind,
                text=" ".join(passage.text.split()),
                source=passage.source,
                quote=passage.text,
            )
            if len(found) == AT_MOST:
                return tuple(found.values())
    return tuple(found.values())


def _kind(text: str) -> QualificationKind | None:
    return next((kind for kind, pattern in CAVEATS if pattern.search(text)), None)


def _same_matter(text: str, claim: Elements, reading: Reading) -> bool:
    """Whether a caveat concerns what the claim is about, and says more than the claim does."""
    own = set(stems(text))
    if own and len(own & claim.stems) >= 0.9 * len(own):
        return False
    numbers = {q.text for q in claim.quantities} & {q.text for q in elements(text).quantities}
    return bool(numbers) or bool(own & (claim.stems | reading.elements.stems))
