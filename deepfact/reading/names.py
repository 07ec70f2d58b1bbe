"""Names of a claim held against those of the passages: covered, missing, or another in its place.

Pure. That a name stands somewhere in a source says little: it counts where the clause that names
it is spoken of, and a rival counts where it does so and the claim's name does not.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Iterator

from deepfact.reading.elements import Elements, Name
from deepfact.reading.findings import Finding, Side, Status, settle
from deepfact.reading.fit import Fit, Read
from deepfact.reading.numbers import ELSEWHERE
from deepfact.retrievers.words import stem

_LEANING = "it its they their he she his her this these the that both"
LEANING = frozenset(_LEANING.split())
"""First words of a sentence that may speak of what the sentence before names."""
SAME_SPELLING = 0.85
"""Names at least this much alike are spellings of one name."""
NO_RIVALS = frozenset(("figure", "fig", "table", "section", "appendix", "supplementary", "chapter"))
"""What parts of a document begin with, which are the names of nothing else."""
ALONE = 0.45
"""How far a passage must say, in its own words, what the claim says of a name to put another in its
place: any text about the same matter has other names in it."""
RIVAL = 0.9
"""What a rival counts beside the name itself in a place as fitting."""


def name_findings(fit: Fit) -> Iterator[Finding]:
    """One finding for each name of the claim."""
    for name in fit.claim.names:
        bearing: list[Side] = []
        against: list[Side] = []
        for read in fit.wide:
            reading = read[0]
            lowered = reading.passage.text.lower()
            if holds(lowered, name) or _abbreviates(name, reading.elements):
                score = 0.1 + 0.9 * _spoken_of(fit, name, read)
                bearing.append(Side(score, reading, name.text))
                continue
            source = fit.library.sources[reading.source]
            if holds(f"{source.title}\n{source.url}".lower(), name):
                bearing.append(Side(0.3 + 0.5 * read[1].near, reading, name.text, "in the title"))
                continue
            if not name.initial or name.identifier:
                against += _rivals(fit, name, read)
        if not bearing and holds(fit.library.lowered, name):
            bearing.append(Side(ELSEWHERE, None, name.text, "elsewhere in the sources"))
        common = fit.library.has_word(name.text[0].lower() + name.text[1:])
        if name.initial and not name.identifier and (common or not bearing):
            continue  # a capital at the start of a sentence need not be a name
        finding = Finding("name", name.text, name.start, name.end, Status.MISSING)
        yield settle(finding, bearing, against)


def _spoken_of(fit: Fit, name: Name, read: Read, *, own: bool = True) -> float:
    """How far a passage, with ``own`` its own words alone, says what the claim says of a name."""
    claim = fit.claim
    itself = {stem(key) for key in name.keys} | {stem(name.text.lower())}
    wanted = claim.within(*claim.clause(name.start)) - itself
    whole = claim.stems - itself
    if len(wanted) < 1:
        wanted = whole
    share = fit.stems_in(frozenset(wanted), read[0], own=own)
    return 0.65 * share + 0.35 * fit.stems_in(frozenset(whole), read[0], own=own)


def _rivals(fit: Fit, name: Name, read: Read) -> Iterator[Side]:
    reading = read[0]
    before = fit.library.neighbour(reading, -1)
    leans = bool(reading.elements.words) and reading.elements.words[0].lower in LEANING
    if leans and before is not None and holds(before.text.lower(), name):
        return  # "It did ..." after a sentence on the claim's own name
    if _heading(reading.elements):
        return
    for other in reading.elements.names:
        if _rival(name, other, fit.claim):
            alone = _spoken_of(fit, name, read)
            if alone >= ALONE:
                score = 0.5 * (alone + _spoken_of(fit, name, read, own=False))
                yield Side(RIVAL * score, reading, other.text)


def holds(lowered: str, name: Name) -> bool:
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


def _heading(passage: Elements) -> bool:
    """Whether a passage is set in capitals, which make no names."""
    capitals = sum(word.text[0].isupper() for word in passage.content)
    if passage.text.startswith("#"):
        return True
    return 2 * capitals > len(passage.content) and passage.text.rstrip()[-1:] not in ".!?"


def _shape(name: Name) -> tuple[bool, bool]:
    """Names of one shape can stand for each other: a code with a digit never for a person."""
    return name.identifier, any(char.isdigit() for char in name.text)


def _rival(mine: Name, other: Name, claim: Elements) -> bool:
    """Whether another name can stand in the place of the claim's."""
    if other.initial or other.keys[0] in NO_RIVALS or _shape(mine) != _shape(other):
        return False
    lowered = claim.text.lower()
    if max(other.keys, key=len) in lowered or sum(k in lowered for k in other.keys) * 2 > len(
        other.keys
    ):
        return False
    return SequenceMatcher(None, mine.text.lower(), other.text.lower()).ratio() < SAME_SPELLING
