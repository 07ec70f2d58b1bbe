"""A claim's elements held against passages: which are covered, missing or disputed.

Deterministic and free of labels: a verifier or an auditor draws its own conclusion. A hedge
or a caveat is never a finding here, so that it can never become a contradiction.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Sequence

from deepfact.reading.elements import Elements, elements
from deepfact.reading.findings import Finding, Status
from deepfact.reading.fit import Fit
from deepfact.reading.library import Alignment, Library, Reading
from deepfact.reading.names import name_findings
from deepfact.reading.numbers import date_findings, quantity_findings
from deepfact.reading.polarity import polarity_findings
from deepfact.reading.sayings import attribution_findings, quotation_findings


@dataclass(frozen=True)
class Comparison:
    """A claim held against the passages that bear on it."""

    claim: Elements
    readings: tuple[tuple[Reading, Alignment], ...]
    """Best first: how well they fit, then how relevant, then their order."""
    findings: tuple[Finding, ...]
    missing_words: tuple[str, ...]
    """Content words of the claim that no passage read holds, weightiest first."""
    library: Library
    fit: Fit
    """What was measured of the passages, clause by clause."""

    @property
    def best(self) -> tuple[Reading, Alignment] | None:
        """The passage that fits best."""
        return self.readings[0] if self.readings else None

    def of(self, status: Status) -> list[Finding]:
        """Findings with a status, in the order of the claim."""
        return [finding for finding in self.findings if finding.status is status]


def compare(claim_text: str, library: Library, *, query: str = "", limit: int = 5) -> Comparison:
    """Hold a claim against the passages of ``library`` that bear on it.

    Args:
        claim_text: the claim as it stands; findings point into it.
        library: the sources it may be judged by.
        query: what to search for; the claim itself when empty.
        limit: number of passages to read closely for the claim as a whole; those that fit one of
            its clauses best are read besides.
    """
    claim = elements(claim_text)
    fit = Fit(claim, library.read(query or claim_text, claim, limit), library, limit)
    findings = [
        *quantity_findings(fit),
        *date_findings(fit),
        *name_findings(fit),
        *polarity_findings(fit),
        *quotation_findings(fit),
        *attribution_findings(fit),
    ]
    findings.sort(key=lambda finding: finding.start)
    missing = _missing_words(claim, fit.wide, library)
    return Comparison(claim, tuple(fit.readings), tuple(findings), missing, library, fit)


def _missing_words(
    claim: Elements, readings: Sequence[tuple[Reading, Alignment]], library: Library
) -> tuple[str, ...]:
    """Content words that no passage read, nor its title, holds: weightiest first."""
    missing: Counter[str] = Counter()
    for word in claim.content:
        held = any(
            reading.vocabulary.match(word.stem) or reading.neighbours.match(word.stem)
            for reading, _ in readings
        )
        if not held:
            missing[word.text] = max(missing[word.text], round(1000 * library.weight(word.stem)))
    return tuple(word for word, _ in sorted(missing.items(), key=lambda item: (-item[1], item[0])))
