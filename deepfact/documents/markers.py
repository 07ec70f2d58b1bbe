"""Citation markers in a block's reading text. Pure; what they point to is `resolve`'s matter.

A report uses one way of citing by numbers: digits glued to words are only taken for citations
where the whole report cites like that (`Style`), so that ``CO2`` and ``Figure.3`` are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from deepfact.documents.records import MarkerKind
from deepfact.documents.references import identifier_url
from deepfact.documents.units import Unit

LARGEST = 999
"""A larger number in brackets is a year or a quantity."""
LONGEST_RANGE = 60

_LIST = r"\d{1,3}(?:\s?[-–—−,，、;；]\s?\d{1,3}){0,40}"
_BRACKET = re.compile(
    rf"[\[［]\s?(?:(?:refs?\.?|sources?|来源|文献|参考)\s?)?({_LIST})(?:[†‡][^\[\]\n]{{0,80}})?\s?[\]］]"
    rf"|【({_LIST})(?::\d{{1,3}})?(?:[†‡][^【】\n]{{0,80}})?】",
    re.IGNORECASE,
)
_BY_LABEL = re.compile(r"(?<=\])(\[([^\[\]\n]{1,40})\])")
_FOOTNOTE = re.compile(r"\[\^([^\]\s]{1,40})\]")
_STOPPED = re.compile(
    r"(?<=[^\W\d_])[\"”’'»)\]%*]{0,3}[.?!,;:。，；][\"”’'»)\]*]{0,3}"
    r"(\d{1,3}(?:,\s?\d{1,3}|[-–]\d{1,3}){0,20})(?=[\s\"”’)\]|*。，]|$)"
)
_GLUED = re.compile(
    r"(?:(?<=[a-z]{3})|(?<=[a-z]\))|(?<=[a-z][\"”’]))(\d{1,3}(?:,\s?\d{1,3}|[-–]\d{1,3}){0,20})"
    r"(?=[\s.,;:?!)\]|]|$)"
)
_HIGH = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_SUPERSCRIPT = re.compile(
    rf"(?:(?<=[^\W\d_]{{3}})|(?<=[.,;:)\]\"”’。，]))([{_HIGH}]{{1,3}}(?:[,˒'⁻–-][{_HIGH}]{{1,3}}){{0,20}})"
)
_DIGITS = str.maketrans(_HIGH + "⁻˒", "0123456789-,")
_NAME = r"(?:(?:van|von|de|der|den|del|da|di|la|le|al|bin|ten|ter) ){0,2}[A-ZÀ-ÖØ-Þ][\w’'-]{1,30}"
_WHO = rf"{_NAME}(?:(?:,? (?:and|&) {_NAME})|(?:,? et al\.?))?"
_IN_BRACKETS = re.compile(rf"({_WHO}),? ((?:19|20)\d\d)[a-z]?(?=[);,])")
_NARRATED = re.compile(
    rf"({_NAME}(?:(?: (?:and|&) {_NAME})|(?: et al\.?))) \(((?:19|20)\d\d)[a-z]?\)"
)
_BRACKETED_GROUP = re.compile(r"\(([^()]{4,300}?(?:19|20)\d\d[a-z]?)\)")
_IDENTIFIER = re.compile(
    r"\barxiv:\s?(?P<arxiv>\d{4}\.\d{4,5})(?:v\d)?\b"
    r"|\bdoi:\s?(?P<doi>10\.\d{4,9}/[^\s\"<>()]{1,200})",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Found:
    """A marker in the reading text of a unit."""

    kind: MarkerKind
    start: int
    end: int
    numbers: tuple[int, ...] = ()
    target: str = ""
    """URL, footnote label, anchor, or ``name|year``."""
    why: str = ""
    """What is wrong with its numbers."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a report cites by numbers."""

    glued: bool
    superscript: bool
    labels: frozenset[str] = frozenset()
    """Of its link definitions, lower case: ``[the docs][d]`` cites ``[d]: url``."""


def style_of(
    units: Iterable[Unit], numbers: frozenset[int], labels: frozenset[str] = frozenset()
) -> Style:
    """The way of citing, from what is there: brackets, or digits glued to words.

    Glued digits count where at least three stand behind an end mark, they outnumber brackets, and
    most are numbers of the reference list (or, without a list, begin at 1).
    """
    brackets = 0
    stopped: list[int] = []
    high: list[int] = []
    for unit in units:
        text = unit.view.text
        brackets += sum(1 for _ in _BRACKET.finditer(text))
        for match in _STOPPED.finditer(text):
            stopped += [int(one) for one in re.findall(r"\d+", match.group(1))]
        for match in _SUPERSCRIPT.finditer(text):
            high += [int(n) for n in re.findall(r"\d+", match.group(1).translate(_DIGITS))]
        high += [
            int(n)
            for link in unit.view.links
            if link.kind == "sup"
            for n in re.findall(r"\d{1,3}", text[link.start : link.end])
        ]
    return Style(
        glued=len(stopped) >= 3 and len(stopped) > brackets and _plausible(stopped, numbers),
        superscript=bool(high) and len(high) > brackets and _plausible(high, numbers),
        labels=labels,
    )


def _plausible(found: list[int], numbers: frozenset[int]) -> bool:
    if numbers:
        return sum(number in numbers for number in found) > len(found) / 2
    return 1 in found and 2 in found


def find_markers(unit: Unit, style: Style) -> list[Found]:
    """The markers of a unit, in order, none inside another."""
    text = unit.view.text
    found = [*_linked(unit), *_bracketed(text), *_identified(text), *_author_years(text)]
    if style.labels:
        found += [
            Found(MarkerKind.FOOTNOTE, match.start(1), match.end(1), target=match.group(2))
            for match in _BY_LABEL.finditer(text)
            if match.group(2).lower() in style.labels
        ]
    if style.superscript:
        found += _high(unit)
    if style.glued:
        for pattern in (_STOPPED, _GLUED):
            found += [
                _numbered(MarkerKind.GLUED, match.start(1), match.end(1), match.group(1))
                for match in pattern.finditer(text)
            ]
    kept: list[Found] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def _linked(unit: Unit) -> Iterator[Found]:
    text = unit.view.text
    for link in unit.view.links:
        if link.kind == "sup" or link.end <= link.start:
            continue
        shown = text[link.start : link.end].strip()
        numeric = re.fullmatch(rf"[\[［(]?\s?({_LIST})\s?[\]］)]?", shown)
        if link.target.startswith("#"):
            if numeric:
                made = _numbered(MarkerKind.BRACKET, link.start, link.end, numeric.group(1))
                made.target = link.target
                yield made
            continue
        kind = MarkerKind.URL if link.kind == "url" else MarkerKind.LINK
        numbers = tuple(map(int, re.findall(r"\d+", numeric.group(1)))) if numeric else ()
        if re.match(r"(?:https?:|arxiv:|doi:|www\.)", link.target, re.IGNORECASE):
            yield Found(kind, link.start, link.end, numbers, link.target)


def _bracketed(text: str) -> Iterator[Found]:
    for match in _BRACKET.finditer(text):
        before = text[match.start() - 1 : match.start()]
        if before == "!" or (before == "_" and text[match.start()] == "["):
            continue
        numbers = match.group(1) or match.group(2)
        made = _numbered(MarkerKind.BRACKET, match.start(), match.end(), numbers)
        if made.numbers or made.why:
            yield made
    for match in _FOOTNOTE.finditer(text):
        label = match.group(1)
        numbers = (int(label),) if label.isdecimal() and len(label) < 4 else ()
        yield Found(MarkerKind.FOOTNOTE, match.start(), match.end(), numbers, label)


def _numbered(kind: MarkerKind, start: int, end: int, written: str) -> Found:
    """A marker with its numbers; a range written downwards, or a very long one, is a fault."""
    numbers: list[int] = []
    faults = []
    for part in re.split(r"[,，、;；]", written):
        ends = [int(one) for one in re.findall(r"\d+", part)]
        if len(ends) == 1:
            numbers.append(ends[0])
        elif len(ends) == 2 and ends[0] < ends[1] <= ends[0] + LONGEST_RANGE:
            numbers += range(ends[0], ends[1] + 1)
        elif ends:
            faults.append(f"{part.strip()} is no rising range")
    if 0 in numbers and len(numbers) > 1:  # an interval such as [0, 1]
        return Found(kind, start, end)
    return Found(kind, start, end, tuple(dict.fromkeys(numbers)), why="; ".join(faults))


def _high(unit: Unit) -> Iterator[Found]:
    text = unit.view.text
    for match in _SUPERSCRIPT.finditer(text):
        written = match.group(1).translate(_DIGITS)
        yield _numbered(MarkerKind.SUPERSCRIPT, match.start(), match.end(), written)
    for link in unit.view.links:
        shown = text[link.start : link.end]
        digit_before = text[link.start - 1 : link.start].isdigit()
        if link.kind == "sup" and not digit_before and re.fullmatch(_LIST, shown.strip()):
            yield _numbered(MarkerKind.SUPERSCRIPT, link.start, link.end, shown)


def _identified(text: str) -> Iterator[Found]:
    for match in _IDENTIFIER.finditer(text):
        url = identifier_url(match)
        yield Found(MarkerKind.IDENTIFIER, match.start(), match.end(), target=url)


def _author_years(text: str) -> Iterator[Found]:
    for group in _BRACKETED_GROUP.finditer(text):
        for match in _IN_BRACKETS.finditer(text, group.start(1), group.end()):
            if "et al" in match.group(1) or re.search(r" (?:and|&) ", match.group(1)):
                yield _named(match)
    for match in _NARRATED.finditer(text):
        yield _named(match)


def _named(match: re.Match[str]) -> Found:
    target = f"{match.group(1)}|{match.group(2)}"
    return Found(MarkerKind.AUTHOR_YEAR, match.start(), match.end(), target=target)
