"""From citation markers to entries of the reference lists. Pure; nothing is guessed.

A number means the entry that carries it. Where several lists number from 1, it means the one that
follows it next. What has no entry stays unresolved, with the reason.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from deepfact.documents.dates import find_date
from deepfact.documents.markers import Found
from deepfact.documents.records import MarkerKind, Reference
from deepfact.documents.references import Entry, same_url, title_of, urls_of
from deepfact.documents.units import Unit
from deepfact.records import Span

_NAME_OR_YEAR = re.compile(r"(?<!\w)(?:[^\W\d_][\w’'-]+|(?:19|20)\d\d(?=[a-z]?\b))")


def as_reference(entry: Entry) -> Reference:
    """An entry as a record."""
    urls = urls_of(entry)
    dated = find_date(entry.text)
    return Reference(
        numbers=tuple(dict.fromkeys(entry.numbers)),
        label=entry.label,
        title=title_of(entry),
        url=urls[0] if urls else "",
        further_urls=tuple(urls[1:]),
        date=dated[0] if dated else "",
        accessed=dated[1] if dated else False,
        span=Span(start=entry.start, end=entry.end),
    )


@dataclass(slots=True)
class Resolver:
    """The references so far, and how they are found. Links add to them as they are met."""

    entries: Sequence[Entry]
    references: list[Reference] = field(default_factory=list)
    named: dict[str, Found] = field(default_factory=dict)
    """Author and year -> the marker that stands with them, see `named_targets`."""
    _numbers: dict[int, list[int]] = field(default_factory=dict)
    _labels: dict[str, int] = field(default_factory=dict)
    _names: dict[str, int] = field(default_factory=dict)
    _urls: dict[str, int] = field(default_factory=dict)
    _words: dict[str, set[int]] = field(default_factory=dict)
    """Names and years of the entries -> their places."""

    def __post_init__(self) -> None:
        for place, entry in enumerate(self.entries):
            made = as_reference(entry)
            self.references.append(made)
            for number in made.numbers:
                self._numbers.setdefault(number, []).append(place)
            if made.label:
                self._labels.setdefault(made.label.lower(), place)
            for name in entry.names:
                self._names.setdefault(name, place)
            for url in (made.url, *made.further_urls):
                if url:
                    self._urls.setdefault(same_url(url), place)
            for word in _NAME_OR_YEAR.findall(entry.text):
                self._words.setdefault(word, set()).add(place)

    def resolve(self, found: Found, at: Span) -> tuple[tuple[int, ...], str]:
        """The places of a marker's references, and why some are missing."""
        if found.kind is MarkerKind.AUTHOR_YEAR:
            return self._author_year(found.target, at)
        if found.kind.carries_target:
            return (self._by_url(found.target, at),), ""
        if found.target.startswith("#") and found.target[1:] in self._names:
            return (self._names[found.target[1:]],), ""
        if found.kind is MarkerKind.FOOTNOTE and not found.numbers:
            place = self._labels.get(found.target.lower())
            return ((place,), "") if place is not None else ((), f"no footnote {found.target!r}")
        return self._by_number(found, at)

    def _by_number(self, found: Found, at: Span) -> tuple[tuple[int, ...], str]:
        places, missing = [], []
        for number in found.numbers:
            candidates = self._numbers.get(number)
            if candidates:
                places.append(self._next(candidates, at.start))
            else:
                missing.append(str(number))
        why = [found.why] if found.why else []
        if missing:
            what = "no reference list" if not self.entries else "no entry"
            why.append(f"{what} with number {', '.join(missing)}")
        return tuple(dict.fromkeys(places)), "; ".join(why)

    def _next(self, candidates: Sequence[int], start: int) -> int:
        """The entry that follows next; else the last one before."""
        after = bisect_left(candidates, start, key=self._start)
        return candidates[min(after, len(candidates) - 1)]

    def _start(self, place: int) -> int:
        return self.references[place].span.start

    def _by_url(self, url: str, at: Span) -> int:
        key = same_url(url)
        if key not in self._urls:
            self._urls[key] = len(self.references)
            self.references.append(Reference(url=url, listed=False, span=at))
        return self._urls[key]

    def _author_year(self, target: str, at: Span) -> tuple[tuple[int, ...], str]:
        who, _, year = target.partition("|")
        names = [name for name in _NAME_OR_YEAR.findall(who) if name[0].isupper()]
        having = [self._words.get(word, set()) for word in (year, *names)]
        fitting = set.intersection(*sorted(having, key=len))
        if len(fitting) == 1:
            return tuple(fitting), ""
        if target in self.named:
            places, _ = self.resolve(self.named[target], at)
            if places:
                return places, ""
        if fitting:
            return (), f"{len(fitting)} entries fit {who} {year}"
        return (), f"no entry of {who} {year}"


def named_targets(units: Sequence[Unit], found_in: Sequence[Sequence[Found]]) -> dict[str, Found]:
    """What author and year mean where a report says it once beside a marker that has a target:
    ``Kaushal et al. (2019), "Shuttling..." (arXiv:1912.04712)``, ``Xu et al. (2021). ... [112]``.

    The marker follows in the same line with no other author between; or, where author and year
    are a heading, it is the first one of the next block.
    """
    named: dict[str, Found] = {}
    for number, (unit, found) in enumerate(zip(units, found_in, strict=True)):
        for place, one in enumerate(found):
            if one.kind is not MarkerKind.AUTHOR_YEAR or one.target in named:
                continue
            after = next(iter(found[place + 1 : place + 2]), None)
            between = unit.view.text[one.end : after.start] if after else ""
            if after is None and unit.kind == "heading" and number + 1 < len(units):
                after, between = next(iter(found_in[number + 1]), None), ""
            if after and after.kind is not MarkerKind.AUTHOR_YEAR and "\n" not in between:
                named[one.target] = after
    return named
