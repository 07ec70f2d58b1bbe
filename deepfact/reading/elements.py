"""What a statement asserts, taken apart: quantities, dates, names, directions, negation,
quotations, attribution and content words, each with its place in the text.

Pure functions of one string, for claims and for passages alike; anything that audits or
verifies may use them. Nothing here looks at a source or decides anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from deepfact.reading.dates import Clock, Date, clocks, dates
from deepfact.reading.lexicon import (
    DIRECTIONS,
    DOCUMENT,
    HEDGES,
    IDLE_AFTER,
    IDLE_BEFORE,
    MOVING,
    NEGATORS,
    SENTENCE_STARTERS,
    SPEECH,
)
from deepfact.reading.quantities import WORD_VALUES, Quantity, quantities
from deepfact.retrievers.words import Word, stem, words

_CAPITALISED = re.compile(
    r"(?:[A-Z][\w’'.&]*(?:[-–/][\w]+)*|\b[a-z]*\d*[A-Z]+[\w\-–]*|\b[A-Za-z]+[-–]?\d[\w\-–.]*)"
)
_TAIL = re.compile(
    r"[-–](?:mediated|related|associated|induced|positive|negative|based|like|dependent|specific|"
    r"containing|deficient|treated|infected|driven|led|owned|wide|style|type)$"
)
"""What a compound adds to a name: "Parkin-mediated" names Parkin."""
_NUMBERED = re.compile(
    r"\b(?P<word>[A-Z][\w’'-]*[a-z][\w’'-]*)\s(?P<number>\d{1,4}(?:[-/]\d+)?)"
    r"(?![\d:]|[.,]\d|\s?%|\s(?:percent|million|thousand|billion|per)\b)"
)
"""A name that ends in a number: "Airon 9", "Article 8", "Report 41"."""
_NO_NAMES = """
nearly about around almost roughly another only just up than least some since until approximately
every further altogether of with by off up
"""
_NO_NAME = SENTENCE_STARTERS | frozenset(_NO_NAMES.split())
_CLAUSE_END = re.compile(
    r"[;:()—–]\s|,\s(?!\d)|\s(?=(?:and|but|while|whereas|where|when|which|who|although|though|"
    r"because|after|before|rather than|instead of)\s)"
)
_JOIN = re.compile(r"^(?:\s|\s(?:of|for|de|van|von|&)\s|\s(?:of|for)\sthe\s)$")
_QUOTED = re.compile(r"[“\"]([^“”\"]{8,400})[”\"]")
_MARKERS = re.compile(r"\[?<\|\w+\|>[\],\d]*|\[\d+(?:[,–-]\s?\d+)*\]")
_NAME = r"((?:[A-Z][\w’'.&-]*)(?:\s(?:of|for|the|and)?\s?[A-Z][\w’'.&-]*)*)"
_ATTRIBUTED = (
    re.compile(rf"\b[Aa]ccording to (?:the |its |an? )?(?:\w+ ){{0,2}}?{_NAME}"),
    re.compile(rf"\b[Tt]he {_NAME}['’]s (?:\w+ ){{0,2}}?{DOCUMENT} \w+s\b"),
    re.compile(rf"(?:\b[Tt]he )?{_NAME}(?:'s|’s)?(?: \w+){{0,3}}? {SPEECH}\b(?! (?:at|by)\b)"),
)


CLAUSE = 3
"""Content words that a clause needs to be one."""


@dataclass(frozen=True, slots=True)
class Name:
    """A proper name or identifier: "Halden Institute", "IL-6", "v2.1"."""

    text: str
    start: int
    end: int
    keys: tuple[str, ...]
    """Lower-case significant parts."""
    initial: bool
    """A single word at the start of the text, whose capital may mean nothing."""

    @property
    def identifier(self) -> bool:
        """Has a digit, or a word with several capitals: a code rather than a name."""
        parts = self.text.split()
        return any(c.isdigit() for c in self.text) or any(
            sum(c.isupper() for c in part) > 1 for part in parts
        )


@dataclass(frozen=True, slots=True)
class Direction:
    """A word with an opposite: on which axis, and on which side."""

    text: str
    start: int
    end: int
    axis: str
    sign: int


@dataclass(frozen=True, slots=True)
class Negation:
    """A word that turns a statement round, and the stems that it may bear on."""

    text: str
    start: int
    end: int
    scope: frozenset[str]
    """Stems of the content words up to five words after it."""


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words in quotation marks, without the marks."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Elements:
    """A statement taken apart."""

    text: str
    words: tuple[Word, ...]
    quantities: tuple[Quantity, ...]
    dates: tuple[Date, ...]
    names: tuple[Name, ...]
    directions: tuple[Direction, ...]
    negations: tuple[Negation, ...]
    hedges: tuple[Word, ...]
    quotations: tuple[Quotation, ...]
    speakers: tuple[str, ...]
    """Who is said to have said so."""
    clocks: tuple[Clock, ...] = ()

    @cached_property
    def clauses(self) -> tuple[tuple[int, int], ...]:
        """Stretches between commas and conjunctions that hold three content words or more."""
        ends = [match.end() for match in _CLAUSE_END.finditer(self.text)]
        found: list[tuple[int, int]] = []
        begin = 0
        for end in (*ends, len(self.text)):
            size = sum(w.content for w in self.words if begin <= w.start < end)
            if size >= CLAUSE or end == len(self.text):
                found.append((begin, end))
                begin = end
        if len(found) > 1:
            last = sum(w.content for w in self.words if w.start >= found[-1][0])
            if last < CLAUSE:
                found[-2:] = [(found[-2][0], found[-1][1])]
        return tuple(found)

    def clause(self, at: int) -> tuple[int, int]:
        """The clause that holds a character."""
        return next((c for c in self.clauses if c[0] <= at < c[1]), (0, len(self.text)))

    def within(self, start: int, end: int) -> frozenset[str]:
        """Stems of the content words, quantities and dates left out, in a stretch."""
        return frozenset(w.stem for w in self.content if start <= w.start < end)

    @cached_property
    def content(self) -> tuple[Word, ...]:
        """Content words outside quantities and dates."""
        taken = [(q.start, q.end) for q in self.quantities] + [(d.start, d.end) for d in self.dates]
        return tuple(
            word
            for word in self.words
            if word.content and not any(s < word.end and word.start < e for s, e in taken)
        )

    @cached_property
    def stems(self) -> frozenset[str]:
        """Stems of the content words, and of the parts of compounds."""
        found = set()
        for word in self.content:
            found.add(word.stem)
            if "-" in word.lower or "–" in word.lower or "/" in word.lower:
                found.update(stem(p) for p in re.split(r"[-–/]", word.lower) if len(p) > 2)
        return frozenset(found)

    def around(self, start: int, end: int, reach: int = 6) -> frozenset[str]:
        """Stems of the content words within ``reach`` words of a stretch, and not in it."""
        near = set()
        before = [w for w in self.words if w.end <= start][-reach:]
        after = [w for w in self.words if w.start >= end][:reach]
        for word in (*before, *after):
            if word.content:
                near.add(word.stem)
        return frozenset(near)


def without_markers(text: str) -> str:
    """``text`` with citation markers ("[3]", "<|cit|>") blanked out, offsets unchanged."""
    return _MARKERS.sub(lambda match: " " * len(match.group()), text)


@lru_cache(maxsize=4096)
def elements(text: str) -> Elements:
    """``text`` taken apart. Cached, for passages are read again for every claim."""
    plain = without_markers(text)
    found_dates = dates(plain)
    found_words = words(plain)
    found_clocks = clocks(plain)
    numbered = list(_numbered(plain, found_dates))
    taken = [(d.start, d.end) for d in found_dates] + [(c.start, c.end) for c in found_clocks]
    found_quantities = quantities(plain, [*taken, *numbered])
    names = _names(plain, [*taken, *((q.start, q.end) for q in found_quantities)])
    return Elements(
        text=text,
        words=found_words,
        quantities=tuple(found_quantities),
        dates=tuple(found_dates),
        clocks=tuple(found_clocks),
        names=tuple(names),
        directions=tuple(
            word
            for word in _directions(found_words)
            if not any(name.start <= word.start < name.end for name in names if not name.initial)
        ),
        negations=tuple(_negations(found_words)),
        hedges=tuple(_hedges(found_words)),
        quotations=tuple(
            Quotation(match[1], match.start(1), match.end(1))
            for match in _QUOTED.finditer(plain)
            if len(match[1].split()) >= 3
        ),
        speakers=tuple(dict.fromkeys(_speakers(plain))),
    )


def _numbered(text: str, found: list[Date]) -> Iterator[tuple[int, int]]:
    """Where the number of a name stands, so that it is not read as a quantity."""
    for match in _NUMBERED.finditer(text):
        start, end = match.span("number")
        word = match["word"].lower()
        if word in _NO_NAME:
            continue
        if not any(d.start < end and match.start() < d.end for d in found):
            yield start, end


def _names(text: str, taken: list[tuple[int, int]]) -> list[Name]:
    """Capitalised stretches and identifiers, joined over "of", "and" and the like."""
    stretches: list[tuple[int, int]] = []
    for match in _CAPITALISED.finditer(text):
        start, end = match.span()
        numbered = _NUMBERED.match(text, start)
        if numbered and numbered["word"].lower() not in _NO_NAME:
            stretch = numbered.span()
            if not any(stretch[0] < stop and begin < stretch[1] for begin, stop in taken):
                end = stretch[1]
        while end > start and text[end - 1] in ".'’&-–":
            end -= 1
        if end <= start or any(start < stop and begin < end for begin, stop in taken):
            continue
        if start and (text[start - 1].isalnum() or text[start - 1] in "$€£"):
            continue
        joins = stretches and _JOIN.match(text[stretches[-1][1] : start])
        if joins and not (
            _starts_sentence(text, stretches[-1][0]) and _starter(text, stretches[-1])
        ):
            stretches[-1] = (stretches[-1][0], end)
        else:
            stretches.append((start, end))
    names = []
    for start, end in stretches:
        initial = _starts_sentence(text, start)
        if initial and _starter(text, (start, end)):
            continue
        name = text[start:end].removesuffix("'s").removesuffix("’s")
        keys = tuple(
            key
            for part in re.split(r"[\s&/]+", name.lower().replace("’", "'"))
            if len(key := _TAIL.sub("", part).removesuffix("'s")) > 1
            and key not in ("of", "the", "for", "and", "de", "van", "von")
        )
        if keys and name.lower() not in ("i",):
            names.append(Name(name, start, start + len(name), keys, initial and len(keys) == 1))
    return names


def _starter(text: str, stretch: tuple[int, int]) -> bool:
    return text[stretch[0] : stretch[1]].lower().rstrip("'s") in SENTENCE_STARTERS or (
        text[stretch[0] : stretch[1]].lower() in SENTENCE_STARTERS
    )


def _starts_sentence(text: str, start: int) -> bool:
    before = text[:start].rstrip(" \t\n\"'“‘(-•*")
    return not before or before[-1] in ".!?:"


def _directions(found: tuple[Word, ...]) -> list[Direction]:
    out = []
    for at, word in enumerate(found):
        entry = DIRECTIONS.get(word.stem) or DIRECTIONS.get(word.lower)
        before = found[at - 1].lower if at else ""
        following = found[at + 1].lower if at + 1 < len(found) else ""
        if word.lower in ("up", "down") and following and before not in IDLE_BEFORE["up"]:
            leads_in = ("from", "by", "to") if before in MOVING else ("from", "by")
            if following[0].isdigit() or following in leads_in:
                entry = ("amount", 1 if word.lower == "up" else -1)
        if before in IDLE_BEFORE.get(word.lower, ()) or following in IDLE_AFTER.get(word.lower, ()):
            continue
        if entry is not None and not _bounds_a_number(found, at):
            out.append(Direction(word.text, word.start, word.end, *entry))
    return out


def _bounds_a_number(found: tuple[Word, ...], at: int) -> bool:
    """ "more than 12", "above 12", "at most": read with the number, not as a direction."""
    if at and found[at - 1].lower == "at":
        return True
    following = [word.lower for word in found[at + 1 : at + 3]]
    if following[:1] == ["than"]:
        following = following[1:]
    elif found[at].lower not in ("above", "below", "under", "over"):
        return False
    return bool(following) and (following[0][0].isdigit() or following[0] in WORD_VALUES)


def _hedges(found: tuple[Word, ...]) -> Iterator[Word]:
    """Hedging words; "may" under a negation forbids, and hedges nothing."""
    forbids = any(word.lower in NEGATORS for word in found)
    for word in found:
        if word.lower in HEDGES and word.text != "May" and not (word.lower == "may" and forbids):
            yield word


def _negations(found: tuple[Word, ...]) -> list[Negation]:
    out = []
    for at, word in enumerate(found):
        following = found[at + 1].lower if at + 1 < len(found) else ""
        contrast = (word.lower, following) in (("rather", "than"), ("instead", "of"))
        if contrast or word.lower in NEGATORS or word.lower.endswith("n't"):
            if word.lower == "not" and at + 1 < len(found) and found[at + 1].lower == "only":
                continue
            scope = frozenset(w.stem for w in found[at + 1 : at + 6] if w.content)
            out.append(Negation(word.text, word.start, word.end, scope))
    return out


def _speakers(text: str) -> list[str]:
    out = []
    for pattern in _ATTRIBUTED:
        for match in pattern.finditer(text):
            if match[1].lower() not in SENTENCE_STARTERS:
                out.append(match[1].removesuffix("'s").removesuffix("’s"))
    return out
