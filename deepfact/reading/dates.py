"""Dates in text, as far as they are stated: year, half, quarter, month, day.

Pure functions of strings. A date that says less agrees with one that says more when nothing
they both say differs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            ("january", "jan"), ("february", "feb"), ("march", "mar"), ("april", "apr"), ("may",),
            ("june", "jun"), ("july", "jul"), ("august", "aug"), ("september", "sept", "sep"),
            ("october", "oct"), ("november", "nov"), ("december", "dec"),
        ),
        1,
    )
    for name in names
}  # fmt: skip
ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}
ORDINALS |= {"1st": 1, "2nd": 2, "3rd": 3, "4th": 4}

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_YEAR = r"(?:1[5-9]|20|21)\d\d"
_PATTERNS = (
    re.compile(rf"\b(?P<year>{_YEAR})-(?P<m>0[1-9]|1[0-2])(?:-(?P<day>0[1-9]|[12]\d|3[01]))?\b"),
    re.compile(
        rf"\b(?P<day>[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{_MONTH})\b\.?"
        rf"(?:,?\s+(?P<year>{_YEAR})\b)?",
        re.I,
    ),
    re.compile(
        rf"\b(?P<month>{_MONTH})\b\.?\s+(?P<day>[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?\b(?!\s?%)"
        rf"(?:,?\s+(?P<year>{_YEAR})\b)?",
        re.I,
    ),
    re.compile(rf"\b(?P<month>{_MONTH})\b\.?,?\s+(?:of\s+)?(?P<year>{_YEAR})\b", re.I),
    re.compile(
        rf"\b(?:Q(?P<q>[1-4])|(?P<qw>first|second|third|fourth|1st|2nd|3rd|4th)[ -]quarter)"
        rf"(?:\s+(?:of\s+)?(?:fiscal\s+|FY\s?)?(?P<year>{_YEAR}))?",
        re.I,
    ),
    re.compile(rf"\b(?P<year>{_YEAR})[ -]?Q(?P<q>[1-4])\b", re.I),
    re.compile(
        rf"\b(?:H(?P<h>[12])|(?P<hw>first|second)[ -]half)(?:\s+(?:of\s+)?(?:fiscal\s+)?(?P<year>"
        rf"{_YEAR}))?\b",
        re.I,
    ),
    re.compile(
        rf"(?<![\w.,$€£-])(?:FY\s?)?(?P<year>{_YEAR})(?![\w%]|[.,]\d|\s?(?:%|percent|km|kg|ms)\b)"
    ),
    re.compile(
        r"\b(?P<month>January|February|April|June|July|August|September|October|November|December"
        r"|(?<=in )March|(?<=in )May)\b"
    ),
)


@dataclass(frozen=True, slots=True)
class Date:
    """A date as far as a text states it; 0 where it does not."""

    text: str
    start: int
    end: int
    year: int = 0
    month: int = 0
    day: int = 0
    quarter: int = 0
    half: int = 0

    @property
    def parts(self) -> tuple[tuple[str, int], ...]:
        """What is stated, by name."""
        return tuple(
            (name, getattr(self, name))
            for name in ("year", "half", "quarter", "month", "day")
            if getattr(self, name)
        )


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day, in minutes since midnight."""

    text: str
    start: int
    end: int
    minutes: int


_CLOCK = re.compile(
    r"(?<![\w:.])(?P<h>[01]?\d|2[0-3])(?::|\.(?=\d\d\s?[ap]\.?m))(?P<m>[0-5]\d)(?![\d:])"
    r"(?:\s?(?P<half>[ap])\.?m\b)?",
    re.I,
)


def clocks(text: str) -> list[Clock]:
    """The times of day of ``text`` in order, such as "04:39" and "9.30 pm"."""
    found = []
    for match in _CLOCK.finditer(text):
        hour = int(match["h"])
        if match["half"]:
            hour = hour % 12 + (12 if match["half"].lower() == "p" else 0)
        minutes = hour * 60 + int(match["m"])
        found.append(Clock(match.group(), match.start(), match.end(), minutes))
    return found


def dates(text: str) -> list[Date]:
    """The dates of ``text`` in order, each stretch read once, the fullest reading first."""
    found: list[Date] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if any(match.start() < d.end and d.start < match.end() for d in found):
                continue
            if not _is_count(text, match):
                found.append(_date(match))
    return sorted(found, key=lambda date: date.start)


def _is_count(text: str, match: re.Match[str]) -> bool:
    """A bare year number before a plural ("2000 people", "1800 samples") that no "in" leads in."""
    if not re.fullmatch(r"\d{4}", match.group()):
        return False
    if not re.match(r"\s(?:[a-z]+s|people|men|women|children)\b", text[match.end() :]):
        return False
    before = text[: match.start()].rstrip().rpartition(" ")[2].lower().strip("(")
    return before not in _LEADS_YEAR


_LEADING = """
in since by until from to of during for and early late fiscal fy through the before after year
between its their
"""
_LEADS_YEAR = frozenset(_LEADING.split())


def _date(match: re.Match[str]) -> Date:
    groups = match.groupdict()
    month = MONTHS.get((groups.get("month") or "").lower(), 0) or int(groups.get("m") or 0)
    quarter = int(groups.get("q") or 0) or ORDINALS.get((groups.get("qw") or "").lower(), 0)
    half = int(groups.get("h") or 0) or ORDINALS.get((groups.get("hw") or "").lower(), 0)
    return Date(
        text=match.group(),
        start=match.start(),
        end=match.end(),
        year=int(groups.get("year") or 0),
        month=month,
        day=int(groups.get("day") or 0),
        quarter=quarter,
        half=half,
    )


def date_agrees(claim: Date, source: Date) -> bool:
    """Whether everything the claim states of the date is stated, or follows, in the source's.

    A year that the source leaves out ("12 March" within a text on 2031) is no disagreement.
    """
    shared = False
    for name, value in claim.parts:
        stated = _part(source, name)
        if stated == value:
            shared = True
        elif stated or name != "year":
            return False
    return shared


def date_conflicts(claim: Date, source: Date) -> bool:
    """Whether some part that both state differs."""
    pairs = [(value, _part(source, name)) for name, value in claim.parts]
    return any(stated and stated != value for value, stated in pairs)


def _part(date: Date, name: str) -> int:
    """A part of a date, worked out of a finer one where it follows."""
    if stated := int(getattr(date, name)):
        return stated
    if name == "quarter" and date.month:
        return (date.month + 2) // 3
    if name == "half" and (date.month or date.quarter):
        return 1 if (date.month or date.quarter * 3) <= 6 else 2
    return 0
