"""A claim's elements held against passages: which are covered, missing or disputed.

Deterministic and free of labels: a verifier or an auditor draws its own conclusion. A hedge
or a caveat is never a finding here, so that it can never become a contradiction.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Iterator, Sequence

from deepfact.reading.dates import Date, date_agrees, date_conflicts, dates
from deepfact.reading.elements import Elements, Name, Quotation, elements
from deepfact.reading.findings import Finding, Side, Status, settle
from deepfact.reading.library import (
    Alignment,
    Library,
    Reading,
    Vocabulary,
    local_match,
    plain,
)
from deepfact.reading.polarity import polarity_findings
from deepfact.reading.quantities import Quantity, agrees, derived
from deepfact.retrievers.words import stem, stems

ELSEWHERE = 0.2
"""How well an element fits that the sources hold somewhere else than in the passages read."""
NAME_CONTEXT = 0.3
"""Share of the words around a name of the claim that must stand around its rival."""
SAME_SPELLING = 0.85
"""Names at least this much alike are spellings of one name."""
DERIVED = 0.4
"""How well a number fits that simple arithmetic on the passages gives."""

_DERIVES = re.compile(
    r"\b(?:by|total\w*|combined|together|differ\w+|gap|sum|increase of|decrease of|rise of|drop of|"
    r"fall of|gain of|cut of|more|fewer|less|longer|shorter|higher|lower|times|fold|double\w*|"
    r"halv\w+|share|proportion|fraction|percent|grew|apart|within|later|after|altogether)\b|%",
    re.I,
)
"""Words of a claim whose number may have been worked out."""


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
        limit: number of passages to read closely.
    """
    claim = elements(claim_text)
    readings = library.read(query or claim_text, claim, limit)
    findings = [
        *_quantity_findings(claim, readings, library),
        *_date_findings(claim, readings, library),
        *_name_findings(claim, readings, library),
        *polarity_findings(claim, readings),
        *(_quotation(quote, readings, library) for quote in claim.quotations),
        *_attribution(claim, readings, library),
    ]
    findings.sort(key=lambda finding: finding.start)
    missing = _missing_words(claim, readings, library)
    return Comparison(claim, tuple(readings), tuple(findings), missing, library)


# --- quantities --------------------------------------------------------------------------


def _fit(
    claim: Elements, mine: tuple[int, int], reading: Reading, theirs: tuple[int, int], near: float
) -> float:
    """How well a place in a passage fits an element: by the passage, and by the words around."""
    local = local_match(claim.around(*mine), reading.elements.around(*theirs))
    return 0.55 * near + 0.45 * local


def _quantity_findings(
    claim: Elements, readings: Sequence[tuple[Reading, Alignment]], library: Library
) -> Iterator[Finding]:
    for quantity in claim.quantities:
        bearing: list[Side] = []
        against: list[Side] = []
        for reading, fit in readings:
            for other in reading.elements.quantities:
                score = _fit(
                    claim,
                    (quantity.start, quantity.end),
                    reading,
                    (other.start, other.end),
                    fit.near,
                )
                if agrees(quantity, other):
                    bearing.append(Side(score + 0.1, reading, other.text))
                elif not any(
                    agrees(mine, other) or _blurs(mine, other) for mine in claim.quantities
                ):
                    rivalry = _rivalry(quantity, other)
                    if rivalry > 0:
                        against.append(Side(score * rivalry, reading, other.text))
        if not bearing:
            bearing.extend(_other_support(claim, quantity, readings, library))
            worked_out = next((side.words for side in bearing if " of " in side.note), "")
            against = [side for side in against if side.words not in worked_out]
        finding = Finding("quantity", quantity.text, quantity.start, quantity.end, Status.MISSING)
        yield settle(finding, bearing, against)


def _blurs(mine: Quantity, other: Quantity) -> bool:
    """Whether the source says the same less exactly: that neither bears out nor disputes."""
    return mine.dimension == other.dimension and abs(mine.value - other.value) <= other.step


def _rivalry(mine: Quantity, other: Quantity) -> float:
    """How far another number can stand in the place of the claim's: 0 not at all, 1 fully."""
    if mine.dimension == other.dimension:
        if mine.dimension:
            return 1.0
        nouns = Vocabulary([stem(other.noun)]) if other.noun else None
        if mine.noun and nouns:
            return 1.0 if nouns.match(stem(mine.noun)) else 0.55
        return 0.75
    same_digits = abs(mine.value / mine.factor - other.value / other.factor) < 1e-9
    return 1.0 if same_digits and mine.dimension and other.dimension else 0.0


def _other_support(
    claim: Elements,
    quantity: Quantity,
    readings: Sequence[tuple[Reading, Alignment]],
    library: Library,
) -> Iterator[Side]:
    """Arithmetic on the numbers read, or the same number elsewhere in the sources."""
    near = [(reading, fit) for reading, fit in readings[:4] if fit.near >= 0.25]
    stated = [number for reading, _ in near for number in reading.elements.quantities]
    worked_out = derived(quantity, stated[:16])
    if worked_out is not None:
        first, second, how = worked_out
        reading = next(r for r, _ in near if first in r.elements.quantities)
        note = f"{how} of {first.text} and {second.text}"
        cued = bool(_DERIVES.search(claim.text))
        fit = max(DERIVED, 0.9 * next(f.near for r, f in near if r is reading)) if cued else DERIVED
        yield Side(fit, reading, f"{first.text} and {second.text}", note)
        return
    for reading in library.with_numbers():
        for other in reading.elements.quantities:
            if agrees(quantity, other):
                yield Side(ELSEWHERE, reading, other.text, "elsewhere in the sources")
                return


# --- dates -------------------------------------------------------------------------------


def _date_findings(
    claim: Elements, readings: Sequence[tuple[Reading, Alignment]], library: Library
) -> Iterator[Finding]:
    for date in claim.dates:
        bearing: list[Side] = []
        against: list[Side] = []
        for reading, fit in readings:
            for other in reading.elements.dates:
                score = _fit(
                    claim, (date.start, date.end), reading, (other.start, other.end), fit.near
                )
                if date_agrees(date, other):
                    bearing.append(Side(score + 0.1, reading, other.text))
                elif date_conflicts(date, other) and not any(
                    date_agrees(mine, other) for mine in claim.dates
                ):
                    against.append(Side(score, reading, other.text))
        if not bearing:
            bearing.extend(_other_date(date, readings, library))
        finding = Finding("date", date.text, date.start, date.end, Status.MISSING)
        yield settle(finding, bearing, against)


def _other_date(
    date: Date, readings: Sequence[tuple[Reading, Alignment]], library: Library
) -> Iterator[Side]:
    """The same date in a source's own date or title, or elsewhere in its text."""
    for source in library.sources.values():
        for other in (*dates(source.published), *dates(source.title)):
            if date_agrees(date, other):
                reading = next((r for r, _ in readings if r.source == source.id), None)
                yield Side(0.35, reading, other.text, "date of the source")
                return
    for reading in library.with_numbers():
        for other in reading.elements.dates:
            if date_agrees(date, other):
                yield Side(ELSEWHERE, reading, other.text, "elsewhere in the sources")
                return


# --- names -------------------------------------------------------------------------------


def _name_findings(
    claim: Elements, readings: Sequence[tuple[Reading, Alignment]], library: Library
) -> Iterator[Finding]:
    for name in claim.names:
        bearing: list[Side] = []
        against: list[Side] = []
        for reading, fit in readings:
            if _holds(reading.passage.text.lower(), name) or _abbreviates(name, reading.elements):
                bearing.append(Side(0.4 + 0.6 * fit.near, reading, name.text))
                continue
            source = library.sources[reading.source]
            titled = _holds(f"{source.title}\n{source.url}".lower(), name)
            if titled:
                bearing.append(Side(0.3 + 0.5 * fit.near, reading, name.text, "in the title"))
                continue
            for other in reading.elements.names:
                if not _rival(name, other, claim):
                    continue
                around = reading.elements.around(other.start, other.end)
                local = local_match(claim.around(name.start, name.end), around)
                if local >= NAME_CONTEXT:
                    score = 0.9 * (0.55 * fit.near + 0.45 * local)
                    against.append(Side(score, reading, other.text))
        if not bearing and _holds(library.lowered, name):
            bearing.append(Side(ELSEWHERE, None, name.text, "elsewhere in the sources"))
        common = library.has_word(name.text[0].lower() + name.text[1:])
        if name.initial and not name.identifier and (common or not bearing):
            continue  # a capital at the start of a sentence need not be a name
        finding = Finding("name", name.text, name.start, name.end, Status.MISSING)
        yield settle(finding, bearing, against)


def _holds(lowered: str, name: Name) -> bool:
    """Whether a lower-case text holds the name: whole, or its longest part and half the rest."""
    if name.text.lower() in lowered:
        return True
    found = [key for key in name.keys if key in lowered]
    return len(found) * 2 > len(name.keys) and max(name.keys, key=len) in found


def _abbreviates(name: Name, passage: Elements) -> bool:
    """Whether a passage spells out an abbreviation of three letters or more, word by word."""
    letters = name.text.rstrip("s").replace(".", "")
    if not (3 <= len(letters) <= 6 and letters.isupper() and letters.isalpha()):
        return False
    initials = "".join(word.lower[0] for word in passage.words)
    return letters.lower() in initials


def _rival(mine: Name, other: Name, claim: Elements) -> bool:
    """Whether another name can stand in the place of the claim's."""
    if other.initial or mine.identifier != other.identifier:
        return False
    lowered = claim.text.lower()
    if any(key in lowered for key in other.keys):
        return False
    return SequenceMatcher(None, mine.text.lower(), other.text.lower()).ratio() < SAME_SPELLING


# --- quotations and attribution ----------------------------------------------------------


def _quotation(
    quote: Quotation,
    readings: Sequence[tuple[Reading, Alignment]],
    library: Library,
) -> Finding:
    """A quotation is covered when its words stand in a source in their order."""
    wanted = plain(quote.text)
    bearing = [Side(1.0, reading, quote.text) for reading in library.holding(wanted)]
    against: list[Side] = []
    for reading, _ in readings if not bearing else ():
        matcher = SequenceMatcher(None, wanted, plain(reading.passage.text), autojunk=False)
        alike = sum(block.size for block in matcher.get_matching_blocks() if block.size > 4)
        share = alike / max(1, len(wanted))
        if share >= 0.5:
            against.append(Side(min(0.95, share), reading, reading.passage.text))
    finding = Finding("quotation", quote.text, quote.start, quote.end, Status.MISSING)
    return settle(finding, bearing, against)


def _attribution(
    claim: Elements, readings: Sequence[tuple[Reading, Alignment]], library: Library
) -> Iterator[Finding]:
    """Who is said to have said it, against who says it in the passages."""
    for speaker in claim.speakers:
        start = claim.text.find(speaker)
        keys = tuple(stems(speaker)) or (speaker.lower(),)
        if start < 0:
            continue
        bearing: list[Side] = []
        against: list[Side] = []
        for reading, fit in readings[:3]:
            source = library.sources[reading.source]
            own = Vocabulary((*reading.vocabulary.stems, *stems(f"{source.title} {source.url}")))
            if sum(own.match(key) for key in keys) >= 0.6 * len(keys):
                bearing.append(Side(fit.near, reading, speaker))
            elif reading.elements.speakers:
                against.append(Side(0.9 * fit.near, reading, reading.elements.speakers[0]))
        if not bearing and all(library.vocabulary.match(key) for key in keys):
            bearing.append(Side(ELSEWHERE, None, speaker, "elsewhere in the sources"))
        finding = Finding("attribution", speaker, start, start + len(speaker), Status.MISSING)
        yield settle(finding, bearing, against)


# --- words -------------------------------------------------------------------------------


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
