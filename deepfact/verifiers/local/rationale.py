"""The reasons for a local verdict in plain English, with the source's words. Pure."""

from __future__ import annotations

from typing import Iterable

from deepfact.reading.compare import Comparison
from deepfact.reading.findings import Finding, Status
from deepfact.records import Label

_KIND_NAMES = {
    "quantity": "number",
    "date": "date",
    "name": "name",
    "direction": "direction",
    "negation": "negation",
    "quotation": "quotation",
    "attribution": "attribution",
}
LONGEST_QUOTE = 240


def rationale(label: Label, comparison: Comparison, disputed: Finding | None) -> str:
    """What was found of the claim's elements, and what follows from it.

    Args:
        label: the conclusion.
        comparison: the claim held against the passages.
        disputed: the finding that a contradiction rests on; None for other labels.
    """
    parts = [_opening(label, comparison, disputed)]
    covered = _listed(f for f in comparison.of(Status.COVERED) if f is not disputed)
    missing = _listed(f for f in comparison.of(Status.MISSING) if f is not disputed)
    at_odds = [f for f in comparison.of(Status.DISPUTED) if f is not disputed]
    if covered:
        parts.append(f"Covered: {covered}.")
    if missing:
        parts.append(f"Not found in the sources: {missing}.")
    if comparison.missing_words:
        words = ", ".join(f"“{word}”" for word in comparison.missing_words[:4])
        parts.append(f"No passage speaks of {words}.")
    if at_odds and label is not Label.CONTRADICTORY:
        parts.append(f"In doubt: {_listed(at_odds)}.")
    if label is Label.INCONCLUSIVE:
        parts.extend(_why_open(comparison))
    return " ".join(parts)


def _opening(label: Label, comparison: Comparison, disputed: Finding | None) -> str:
    if label is Label.CONTRADICTORY and disputed is not None:
        side = disputed.against
        passage = side.reading.passage.text if side and side.reading else ""
        words = f" (there: “{_short(side.words, 60)}”)" if side and side.words else ""
        kind = _KIND_NAMES.get(disputed.kind, disputed.kind)
        return f"The {kind} “{disputed.text}” is disputed{words}: “{_short(passage)}”."
    if comparison.best is None:
        return "No passage of the sources bears on the claim."
    quote = _short(comparison.best[0].passage.text)
    share = round(100 * comparison.best[1].near)
    if label is Label.SUPPORTED:
        return f"The source says: “{quote}”."
    return f"The closest passage covers {share} % of the claim's content words: “{quote}”."


def _why_open(comparison: Comparison) -> Iterable[str]:
    """Why a claim that the passages touch on stays open."""
    if any(finding.conflict >= 0.45 for finding in comparison.findings):
        yield "Two sources are at odds over it."
    if comparison.best is not None:
        hedges = comparison.best[0].elements.hedges
        if hedges and not comparison.claim.hedges:
            yield f"The passage itself is hedged (“{hedges[0].text}”)."


def _listed(findings: Iterable[Finding]) -> str:
    out = []
    for finding in findings:
        kind = _KIND_NAMES.get(finding.kind, finding.kind)
        side = finding.bearing if finding.status is Status.COVERED else finding.against
        note = f" ({side.note})" if side and side.note else ""
        if finding.status is Status.DISPUTED and side and side.words:
            note = f" (the source has “{_short(side.words, 60)}”)"
        out.append(f"{kind} “{finding.text}”{note}")
    return ", ".join(dict.fromkeys(out))


def _short(text: str, longest: int = LONGEST_QUOTE) -> str:
    """One line, cut at a word when it is long; the stored quote stays whole."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[:longest].rpartition(" ")[0] + " …"
