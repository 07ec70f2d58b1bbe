"""Which words of a claim a sentence disputes, by close reading, where a model only says that it
does. Pure; gives nothing rather than a guess."""

from __future__ import annotations

from deepfact.reading.compare import compare
from deepfact.reading.findings import Status
from deepfact.reading.library import Library
from deepfact.records import Source


def disputed_words(claim: str, sentence: str) -> str:
    """The words of the claim that the sentence has otherwise (another number, date, name or
    direction); the strongest dispute where there are several, and empty where there is none."""
    library = Library([Source.create(title="", text=sentence)])
    comparison = compare(claim, library, query=claim, limit=1)
    found = [
        finding
        for finding in (comparison.findings if comparison else ())
        if finding.status is Status.DISPUTED
        and finding.text.strip() in claim
        and finding.text.strip()
    ]
    if not found:
        return ""
    return max(found, key=lambda finding: (finding.dispute, -finding.start)).text.strip()
