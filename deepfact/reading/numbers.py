"""Numbers and dates of a claim held against those of the passages that speak of the same.

A number is covered where a fitting passage states it or simple arithmetic gives it, disputed where
a passage that fits clearly better has another in its place, and missing otherwise. Pure.
"""

from __future__ import annotations

from typing import Iterator

from deepfact.reading.arithmetic import Result, Stated, bears, results
from deepfact.reading.dates import Clock, Date, date_agrees, date_conflicts, dates
from deepfact.reading.findings import Finding, Side, Status, settle
from deepfact.reading.fit import Fit, Read, alike
from deepfact.reading.library import Reading
from deepfact.reading.quantities import Quantity, agrees
from deepfact.retrievers.words import stem

ELSEWHERE = 0.2
"""How well an element fits that the sources hold somewhere else than in the passages read."""
SAME = 0.1
"""What the very number counts over another in a place as fitting."""
EXACT = 0.1
"""What it counts more when it is too exact to be there by accident."""
BEARS = 0.35
"""How well a passage must fit for its numbers to be reckoned with; the best few always are."""
ALWAYS = 4
SAME_DIGITS = 0.15
"""What the claim's digits in another unit count more than another number."""
FAR = 6.0
"""How many times another result may be the claim's number and still be what the claim meant."""
OPERANDS = 16
"""At most so many numbers are reckoned with, for any two of many give anything."""


def quantity_findings(fit: Fit) -> Iterator[Finding]:
    """One finding for each quantity of the claim."""
    for quantity in fit.claim.quantities:
        mine = (quantity.start, quantity.end)
        bearing: list[Side] = []
        against: list[Side] = []
        for read in fit.wide:
            for other in read[0].elements.quantities:
                score = fit.place(mine, read, (other.start, other.end))
                if agrees(quantity, other) or _implied(fit, quantity, other):
                    bonus = SAME + EXACT * quantity.exact
                    bearing.append(Side(min(1.0, score + bonus), read[0], other.text))
                elif not _stated_in_claim(fit, other):
                    rivalry = _rivalry(quantity, other, fit.claim.stems)
                    if rivalry > 0:
                        score += SAME_DIGITS * (abs(quantity.stated - other.stated) < 1e-9)
                        against.append(Side(min(1.0, score * rivalry), read[0], other.text))
        if max((side.fit for side in bearing), default=0.0) < BEARS:
            worked_out, differs = _reckoned(fit, quantity)
            if worked_out is not None:
                bearing.append(worked_out)
                against = [side for side in against if side.words not in worked_out.words]
            elif differs is not None and not bearing:
                against.append(differs)
        if not bearing:
            bearing.extend(_elsewhere(fit, quantity))
        finding = Finding("quantity", quantity.text, *mine, Status.MISSING)
        yield settle(finding, bearing, against)


def _implied(fit: Fit, mine: Quantity, other: Quantity) -> bool:
    """Whether a source's number bears one of the claim out without being the same: the claim left
    out a unit that it has just used ("every five minutes instead of every fifteen"), or the number
    keeps within a bound that the source sets ("six hectares" under "less than 8 hectares")."""
    if not mine.dimension and not mine.noun and other.dimension:
        used = any(q.dimension == other.dimension for q in fit.claim.quantities)
        return used and abs(mine.value - other.stated) < 1e-9
    if mine.dimension != other.dimension or not mine.dimension or mine.bound or not other.bound:
        return False
    return 0 < other.bound * (mine.value - other.value) <= 0.5 * abs(other.value)


def _stated_in_claim(fit: Fit, other: Quantity) -> bool:
    """Whether the claim says this number too, or the source says one of its numbers less exactly:
    that neither bears out nor disputes."""
    return any(
        agrees(mine, other)
        or (mine.dimension == other.dimension and abs(mine.value - other.value) <= other.step)
        for mine in fit.claim.quantities
    )


def _rivalry(mine: Quantity, other: Quantity, claim: frozenset[str]) -> float:
    """How far another number can stand in the place of the claim's: 0 not at all, 1 fully."""
    if mine.dimension == other.dimension:
        if mine.dimension:
            return 1.0
        if mine.noun and other.noun:
            shared = any(
                alike(stem(a), stem(b)) for a in mine.noun.split() for b in other.noun.split()
            )
            return 1.0 if shared else 0.5
        counted = any(alike(stem(noun), own) for noun in other.noun.split() for own in claim)
        return 1.0 if counted else 0.75
    same_digits = abs(mine.stated - other.stated) < 1e-9 and mine.dimension and other.dimension
    return 1.0 if same_digits and not {mine.dimension, other.dimension} & {"ratio"} else 0.0


def _reckoned(fit: Fit, quantity: Quantity) -> tuple[Side | None, Side | None]:
    """Arithmetic on the numbers of the fitting passages: what gives the claim's number, and where
    the numbers to work it out stand when nothing does."""
    mine = (quantity.start, quantity.end)
    reads = sorted(fit.wide, key=lambda read: -round(fit.relevance(mine, read), 9))
    stated: list[Stated] = []
    fits: list[float] = []
    for place, read in enumerate(reads):
        found = read[0].elements
        fits.append(fit.relevance(mine, read))
        if fits[-1] < BEARS and place >= ALWAYS:
            continue
        stating: list[Quantity | Date | Clock] = [*found.quantities, *found.dates, *found.clocks]
        for what in stating:
            if len(stated) < OPERANDS:
                stated.append(Stated(what, place))
    best: tuple[float, Result] | None = None
    nearest: tuple[float, Result] | None = None
    for result in results(quantity, stated, alike):
        first, second = fits[result.first.place], fits[result.second.place]
        score = 0.7 * max(first, second) + 0.3 * min(first, second)
        if bears(quantity, result):
            if best is None or score > best[0]:
                best = score, result
        elif _asked_for(quantity, result) and (nearest is None or score > nearest[0]):
            nearest = score, result
    if best is not None:
        return _side(reads, fits, best[1], 0.3 + 0.5 * best[0]), None
    if nearest is not None:
        return None, _side(reads, fits, nearest[1], 0.1 + 0.8 * nearest[0])
    return None, None


def _asked_for(quantity: Quantity, result: Result) -> bool:
    """Whether a result is what such a number of a claim would be reckoned from: operands of one
    sentence, or times that two passages state, and no accident of unlike things."""
    if result.how in ("remainder", "sum", "product", "share") and quantity.dimension != "percent":
        return False
    small, large = sorted((abs(quantity.value), abs(result.value)))
    if large > FAR * small and result.how != "time between":
        return False
    operand = result.first.what
    if isinstance(operand, Quantity) and operand.dimension == quantity.dimension == "percent":
        return False
    together = result.first.place == result.second.place
    return together or result.how in ("time between", "share", "difference")


def _side(reads: list[Read], fits: list[float], result: Result, score: float) -> Side:
    place = max((result.first.place, result.second.place), key=lambda at: fits[at])
    note = f"{result.how} of {result.words}"
    return Side(min(1.0, score), reads[place][0], result.words, note)


def _elsewhere(fit: Fit, quantity: Quantity) -> Iterator[Side]:
    for reading in fit.library.with_numbers():
        for other in reading.elements.quantities:
            if agrees(quantity, other):
                score = ELSEWHERE + EXACT * quantity.exact
                yield Side(score, reading, other.text, "elsewhere in the sources")
                return


def date_findings(fit: Fit) -> Iterator[Finding]:
    """One finding for each date of the claim."""
    for date in fit.claim.dates:
        mine = (date.start, date.end)
        bearing: list[Side] = []
        against: list[Side] = []
        for read in fit.wide:
            for other in read[0].elements.dates:
                score = fit.place(mine, read, (other.start, other.end))
                if date_agrees(date, other):
                    bonus = SAME + EXACT * bool(date.day)
                    bearing.append(Side(min(1.0, score + bonus), read[0], other.text))
                elif date_conflicts(date, other) and not any(
                    date_agrees(stated, other) for stated in fit.claim.dates
                ):
                    against.append(Side(score, read[0], other.text))
        if not bearing:
            bearing.extend(_other_date(fit, date))
        finding = Finding("date", date.text, *mine, Status.MISSING)
        yield settle(finding, bearing, against)


def _other_date(fit: Fit, date: Date) -> Iterator[Side]:
    """The same date in a source's own date or title, or elsewhere in its text."""
    for source in fit.library.sources.values():
        for other in (*dates(source.published), *dates(source.title)):
            if date_agrees(date, other):
                reading: Reading | None = next(
                    (r for r, _ in fit.readings if r.source == source.id), None
                )
                yield Side(0.35, reading, other.text, "date of the source")
                return
    for reading in fit.library.with_numbers():
        for other in reading.elements.dates:
            if date_agrees(date, other):
                yield Side(ELSEWHERE, reading, other.text, "elsewhere in the sources")
                return
