"""Simple arithmetic on what passages state: whether a number of a claim follows from two others.

Sum, difference, percentage change, share, ratio, remainder, product with a percentage, quotient,
and the time between two dates or two times of day. Pure; operands must be of one kind, or any
number could be had from any text.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Callable, Iterable, Iterator, Sequence

from deepfact.reading.dates import Clock, Date
from deepfact.reading.quantities import Quantity, value_agrees
from deepfact.retrievers.words import stem

DAY = 86400.0
"""Seconds."""
_MONTH_DAYS = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)


@dataclass(frozen=True, slots=True)
class Stated:
    """A number, date or time of day, and which sentence states it."""

    what: Quantity | Date | Clock
    place: int
    """Number of the sentence; operands of one sentence need not be named alike."""


@dataclass(frozen=True, slots=True)
class Result:
    """What two stated values give."""

    how: str
    first: Stated
    second: Stated
    value: float
    slack: float = 0.0
    """How far the result can be off, since its operands are not stated more closely."""

    @property
    def words(self) -> str:
        """The operands as they stand."""
        if self.first == self.second:
            return self.first.what.text
        return f"{self.first.what.text} and {self.second.what.text}"


Alike = Callable[[str, str], bool]
"""Whether two stems may stand for each other."""


def derived(
    claim: Quantity, stated: Iterable[Quantity], alike: Alike = str.__eq__
) -> tuple[Quantity, Quantity, str] | None:
    """Two numbers of one text whose simple arithmetic gives the claim's, and how; or None."""
    for result in results(claim, [Stated(number, 0) for number in stated], alike):
        first, second = result.first.what, result.second.what
        if isinstance(first, Quantity) and isinstance(second, Quantity) and bears(claim, result):
            return first, second, result.how
    return None


def bears(claim: Quantity, result: Result) -> bool:
    """Whether a result is the claim's number, as closely as the claim states it."""
    if result.slack and abs(claim.value - result.value) <= result.slack:
        return True
    return value_agrees(claim, result.value) and abs(result.value) > claim.step


def results(
    claim: Quantity, stated: Sequence[Stated], alike: Alike = str.__eq__
) -> Iterator[Result]:
    """Everything of the claim's kind that two of the stated values give, in a fixed order."""
    numbers = [(s, s.what) for s in stated if isinstance(s.what, Quantity)]
    for (one, first), (two, second) in combinations(numbers, 2):
        if _comparable(first, second, one.place == two.place, alike):
            for how, value in _of_one_kind(claim, first.value, second.value, first.dimension):
                if how in ("share", "change", "ratio") or _names(claim, first, second, alike):
                    yield Result(how, one, two, value)
        else:
            for how, value in _of_two_kinds(claim, first, second, alike):
                yield Result(how, one, two, value)
    if claim.dimension == "percent":
        for one, number in numbers:
            if number.dimension == "percent" and 0 < number.value < 100:
                yield Result("remainder", one, one, 100 - number.value)
    if claim.dimension == "time":
        yield from _times_between(claim, stated)


def _comparable(first: Quantity, second: Quantity, together: bool, alike: Alike) -> bool:
    """Whether two numbers measure the same sort of thing."""
    if first.dimension != second.dimension:
        return False
    if first.dimension:
        return True
    if first.noun and second.noun:
        return _share_noun(first.noun, second.noun, alike)
    decimals = "." in first.text, "." in second.text
    return together and decimals[0] == decimals[1]


def _share_noun(one: str, other: str, alike: Alike) -> bool:
    return any(alike(stem(a), stem(b)) for a in one.split() for b in other.split())


def _names(claim: Quantity, first: Quantity, second: Quantity, alike: Alike) -> bool:
    """Whether a sum or difference counts what the claim counts, as far as both say."""
    if claim.dimension or not claim.noun:
        return True
    stated = [number.noun for number in (first, second) if number.noun]
    return not stated or any(_share_noun(claim.noun, noun, alike) for noun in stated)


def _of_one_kind(claim: Quantity, a: float, b: float, dimension: str) -> list[tuple[str, float]]:
    """What two numbers of one kind give in the claim's."""
    found = []
    points = dimension == "percent" and claim.dimension == "points"
    if claim.dimension == dimension or points:
        found += [("difference", abs(a - b)), ("sum", a + b)]
    if claim.dimension == "percent" and a and b:
        found += [("change", abs(100 * (b - a) / a)), ("change", abs(100 * (a - b) / b))]
        found += [("share", 100 * min(a, b) / max(a, b))] if a > 0 and b > 0 else []
    if claim.dimension == "ratio" and a > 0 and b > 0:
        found += [("ratio", max(a, b) / min(a, b)), ("ratio", min(a, b) / max(a, b))]
    return found


def _of_two_kinds(
    claim: Quantity, first: Quantity, second: Quantity, alike: Alike
) -> Iterator[tuple[str, float]]:
    """A percentage of an amount, an amount by a rate, and an amount for each of a count."""
    for a, b in ((first, second), (second, first)):
        same = a.dimension == claim.dimension and (
            a.dimension or not claim.noun or _share_noun(claim.noun, a.noun, alike)
        )
        if b.dimension == "percent" and same:
            yield "product", a.value * b.value / 100
        if b.value and b.dimension == f"{a.dimension}/{claim.dimension}" and claim.dimension:
            yield "quotient", a.value / b.value
        if b.value and same and b.dimension != "percent":
            yield "quotient", a.value / b.stated


def _times_between(claim: Quantity, stated: Sequence[Stated]) -> Iterator[Result]:
    clocks = [(s, s.what) for s in stated if isinstance(s.what, Clock)]
    for (one, a), (two, b) in combinations(clocks, 2):
        gap = abs(a.minutes - b.minutes) * 60.0
        yield Result("time between", one, two, gap)
        yield Result("time between", one, two, DAY - gap)
    days = [(s, s.what) for s in stated if isinstance(s.what, Date) and s.what.year]
    for (one, first), (two, second) in combinations(days, 2):
        start, finish = _day(first), _day(second)
        if start is None or finish is None:
            continue
        coarse = (
            0.0 if first.day and second.day else 31.0 if first.month and second.month else 366.0
        )
        gap = abs(finish - start)
        unit = max(1.0, claim.factor / DAY)
        slack = DAY * max(coarse, 0.5 * unit if unit >= 28 else 0.0)
        if claim.bound == 0 and gap:
            yield Result("time between", one, two, gap * DAY, slack)
        elif gap:
            yield Result("time between", one, two, gap * DAY)


def _day(date: Date) -> float | None:
    """Days since the year 0, roughly; a date without a month stands at mid-year."""
    month = date.month or (3 * date.quarter - 1 if date.quarter else 7 if date.year else 0)
    if not month:
        return None
    return date.year * 365.25 + _MONTH_DAYS[month - 1] + (date.day or 15)
