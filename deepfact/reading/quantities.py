"""Quantities in text: numbers with scale, unit, stated precision and bounds; their arithmetic.

Pure functions of strings. Years and dates are not quantities (see `dates`), and a number glued
to letters ("IL-6", "v2.1") is part of a name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Sequence

WORD_VALUES = {
    **{w: v for v, w in enumerate(("zero", "one", "two", "three", "four", "five", "six", "seven"))},
    **{w: v for v, w in enumerate(("eight", "nine", "ten", "eleven", "twelve", "thirteen"), 8)},
    **{w: v for v, w in enumerate(("fourteen", "fifteen", "sixteen", "seventeen", "eighteen"), 14)},
    "nineteen": 19,
    **{w: 10 * v for v, w in enumerate(("twenty", "thirty", "forty", "fifty", "sixty"), 2)},
    "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "dozen": 12,
}  # fmt: skip
_PARTS = {
    "half": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10, "twelfth": 12,
}  # fmt: skip
MULTIPLES = {
    "doubled": 2.0, "doubles": 2.0, "double": 2.0, "doubling": 2.0, "twice": 2.0, "twofold": 2.0,
    "tripled": 3.0, "triples": 3.0, "triple": 3.0, "tripling": 3.0, "trebled": 3.0,
    "threefold": 3.0, "quadrupled": 4.0, "quadrupling": 4.0, "fourfold": 4.0, "fivefold": 5.0,
    "tenfold": 10.0, "halved": 0.5, "halves": 0.5, "halve": 0.5, "halving": 0.5,
}  # fmt: skip
"""Words that say how many times; read as a ratio."""
SCALES = {
    "k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6, "millions": 1e6, "b": 1e9,
    "bn": 1e9, "billion": 1e9, "billions": 1e9, "t": 1e12, "tn": 1e12, "trillion": 1e12,
}  # fmt: skip
UNITS: dict[str, tuple[str, float]] = {}
"""``unit as written (lower case) -> (dimension, factor to the dimension's base unit)``."""

_UNIT_TABLE = """
percent: % 1, percent 1, per cent 1, pct 1
points: percentage points 1, percentage point 1, pp 1, ppts 1, basis points 0.01, bps 0.01
time: ns 1e-9, µs 1e-6, us 1e-6, microseconds 1e-6, ms 1e-3, milliseconds 1e-3, millisecond 1e-3
time: s 1, sec 1, secs 1, second 1, seconds 1, min 60, mins 60, minute 60, minutes 60, h 3600
time: hr 3600, hrs 3600, hour 3600, hours 3600, day 86400, days 86400, week 604800, weeks 604800
time: month 2629800, months 2629800, year 31557600, years 31557600, decade 315576000
time: decades 315576000
mass: ng 1e-9, µg 1e-6, mcg 1e-6, mg 1e-3, milligrams 1e-3, g 1, gram 1, grams 1, kg 1000
mass: kilogram 1000, kilograms 1000, kilos 1000, tonne 1e6, tonnes 1e6, tons 907185, ton 907185
mass: lb 453.592, lbs 453.592, pounds 453.592, oz 28.3495
length: nm 1e-9, µm 1e-6, mm 1e-3, millimetres 1e-3, millimeters 1e-3, cm 0.01, centimetres 0.01
length: centimeters 0.01, metre 1, metres 1, meter 1, meters 1, km 1000, kilometre 1000
length: kilometres 1000, kilometer 1000, kilometers 1000, mile 1609.344, miles 1609.344
length: feet 0.3048, foot 0.3048, ft 0.3048, inch 0.0254, inches 0.0254
area: m² 1, m2 1, km² 1e6, km2 1e6, square metres 1, square meters 1, square kilometres 1e6
area: square kilometers 1e6, hectares 1e4, hectare 1e4, ha 1e4, acres 4046.86, acre 4046.86
area: square miles 2589988, square feet 0.092903
volume: ml 1e-3, millilitres 1e-3, milliliters 1e-3, cl 0.01, litre 1, litres 1, liter 1, liters 1
volume: m³ 1000, m3 1000, cubic metres 1000, cubic meters 1000, gallons 3.78541
data: bits 0.125, bytes 1, kb 1e3, mb 1e6, gb 1e9, tb 1e12, kib 1024, mib 1048576, gib 1073741824
frequency: hz 1, khz 1e3, mhz 1e6, ghz 1e9
power: w 1, watts 1, kw 1e3, kilowatts 1e3, mw 1e6, megawatts 1e6, gw 1e9, gigawatts 1e9
energy: wh 1, kwh 1e3, mwh 1e6, gwh 1e9, twh 1e12, joules 0.000277778, kcal 1.163
energy: kilowatt-hours 1e3, kilowatt hours 1e3, megawatt-hours 1e6, megawatt hours 1e6
celsius: °c 1, degrees celsius 1, degrees c 1, degrees 1
fahrenheit: °f 1, degrees fahrenheit 1
volt: v 1, volts 1, mv 1e-3, kv 1e3
ratio: times 1, fold 1, -fold 1, x 1, × 1
$: dollars 1, usd 1, us dollars 1
€: euros 1, euro 1, eur 1
£: pounds sterling 1, gbp 1
"""
for _line in _UNIT_TABLE.strip().splitlines():
    _dimension, _, _body = _line.partition(": ")
    for _entry in _body.split(", "):
        _name, _, _factor = _entry.rpartition(" ")
        UNITS.setdefault(_name, (_dimension, float(_factor)))

_SYMBOLS = {"%", "°c", "°f", "x", "×", "-fold", "m²", "km²", "m³"}
_UNIT = "|".join(
    re.escape(name) if name in _SYMBOLS else rf"{re.escape(name)}(?![\w²³])"
    for name in sorted(UNITS, key=len, reverse=True)
)
_RATES = ("length", "mass", "volume", "data", "energy")
"""Dimensions for which "per" makes another quantity; 3 percent a year is still a percentage."""
_PER = (
    r"(?:(?:\s?/\s?|\sper\s)(?P<per>[a-zµ]+\d?)"
    r"|\san?\s(?P<a>second|minute|hour|day|week|month|year|hectare|acre))(?!\w)"
)
_COMPOUND = r"(?-i:[A-Za-zµ]{1,4}/[A-Za-z]{1,3})(?![\w/])"
"""A unit that no table knows: "t/ha", "dS/m"."""
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_WORDS = "|".join(sorted(WORD_VALUES, key=len, reverse=True))
_SMALL = "one|two|three|four|five|six|seven|eight|nine|ten"
_YEAR_FOLLOWS = rf"(?!\s(?:of\s)?(?:{_SMALL}|of|from)\b\s?\d{{4}})"
_FRACTION = (
    rf"(?:(?:an?|{_SMALL})[\s-])(?:{'|'.join(_PARTS)})s?{_YEAR_FOLLOWS}"
    r"|half(?=\s(?:of|the|a|an|its|their|all)\b)"
    rf"|(?:{_SMALL}|\d{{1,2}})\s(?:in|out\sof|of\severy|in\severy)"
    rf"\s(?:{_SMALL}|twenty|100?|20)\b(?!\s?%)"
)
_MULTIPLE = "|".join(sorted(MULTIPLES, key=len, reverse=True))
QUANTITY = re.compile(
    rf"(?<![\w.,:)\]])(?<![^\W\d][-–])(?P<money>(?:US|A|C)?\$|€|£)?\s?(?P<minus>[-−]|minus\s)?"
    rf"(?:(?P<frac>{_FRACTION})\b|(?P<num>{_NUMBER})(?![\d:]|[.,]\d)|(?P<tens>twenty|thirty|forty|fifty|sixty|seventy|eighty"
    rf"|ninety)-(?P<ones>one|two|three|four|five|six|seven|eight|nine)\b|(?P<multiple>{_MULTIPLE})\b"
    rf"|(?P<word>{_WORDS})\b)"
    rf"(?:[\s-]?(?P<scale>thousand|millions?|billions?|trillion|bn|mn|tn)\b|(?P<short>[kKMBT])(?![\w²³]))?"
    rf"(?:[\s-]?(?:(?P<compound>{_COMPOUND})|(?P<unit>{_UNIT})))?(?:{_PER})?(?!\w)",
    re.I,
)
_ABOUT = re.compile(
    r"(?:about|around|roughly|approximately|some|nearly|almost|close to|just over|just under|~)"
    r"\s*(?:US)?[$€£]?$",
    re.I,
)
_AT_LEAST = re.compile(
    r"(?:more than|over|at least|above|exceed(?:ed|ing|s)?|upwards of|greater than|just over|≥|>)"
    r"\s*(?:US)?[$€£]?$",
    re.I,
)
_AT_MOST = re.compile(
    r"(?:less than|fewer than|under|at most|up to|below|no more than|nearly|almost|just under|≤|<)"
    r"\s*(?:US)?[$€£]?$",
    re.I,
)
_NOUN = re.compile(r"\s+(?:of\s+(?:the|its|their)\s+)?([a-z][a-z-]+)(?:\s+([a-z][a-z-]+))?")
_NO_NOUNS = """
per of to in and or by from for at on is a an the were was are had have has with against than that
which who between within under over more less fewer while where when as after before percent
two three four five six seven eight nine ten through into out off down up only later earlier
did could would may might
"""
_NO_NOUN = frozenset(_NO_NOUNS.split())


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as a text states it, in the base unit of its dimension."""

    text: str
    start: int
    end: int
    value: float
    step: float
    """Half of the last stated digit, in base units: 12.4 million has 50,000."""
    factor: float
    """What the stated number was multiplied with."""
    dimension: str
    """Such as ``percent``, ``time``, ``$``, ``mass/volume``; empty for a bare count."""
    unit: str = ""
    """As written, lower case."""
    noun: str = ""
    """For a count, the one or two words that say of what."""
    size: float = 1.0
    """What of `factor` is due to the unit, rather than to "thousand" or "million"."""
    about: bool = False
    bound: int = 0
    """+1 for "more than", -1 for "less than", else 0."""

    @property
    def stated(self) -> float:
        """The number before its unit, scale applied: 9,750 of "9,750 hectares"."""
        return self.value / self.size

    @property
    def exact(self) -> bool:
        """Stated to three digits or more, so that the same number is no accident."""
        return len(re.sub(r"\D", "", self.text).strip("0")) >= 3


def quantities(text: str, taken: Sequence[tuple[int, int]] = ()) -> list[Quantity]:
    """The quantities of ``text`` in order, leaving out the stretches in ``taken`` (dates)."""
    found = []
    for match in QUANTITY.finditer(text):
        start, end = match.span()
        while start < end and text[start].isspace():
            start += 1
        if any(start < stop and begin < end for begin, stop in taken):
            continue
        quantity = _quantity(text, match, start, end)
        if quantity is not None:
            found.append(quantity)
    return _ranges(text, found)


def _ranges(text: str, found: list[Quantity]) -> list[Quantity]:
    """The first number of "10 to 12 weeks" takes the unit of the second, "61 million to 44 million
    cubic metres" likewise."""
    for at in range(len(found) - 2, -1, -1):
        first, second = found[at], found[at + 1]
        between = text[first.end : second.start].strip().lower()
        if first.dimension or between not in ("-", "–", "to", "and", "or", "against"):
            continue
        size = second.factor if first.factor == 1 else second.size
        found[at] = replace(
            first,
            value=first.value * size,
            step=first.step * size,
            factor=first.factor * size,
            size=second.size,
            dimension=second.dimension,
            noun=second.noun,
        )
    return found


def _quantity(text: str, match: re.Match[str], start: int, end: int) -> Quantity | None:
    stated = _stated(match)
    if stated is None:
        return None
    value, step = stated
    scale = SCALES.get((match["scale"] or match["short"] or "").lower(), 1.0)
    dimension, factor = "", scale
    unit = (match["unit"] or "").lower().replace("μ", "µ")  # Greek mu, micro sign
    per_what = match["per"] or match["a"]
    if unit:
        dimension, size = UNITS[unit]
        factor *= size
    if match["money"]:
        dimension = match["money"][-1]
    elif match["frac"] and not unit:
        dimension, factor = "percent", 100.0
    elif match["multiple"]:
        dimension = "ratio"
    elif match["compound"]:
        dimension = match["compound"].lower()
    if per_what and dimension in _RATES:
        per = UNITS.get(per_what.lower().replace("μ", "µ"))
        dimension = f"{dimension}/{per[0] if per else per_what.lower()}"
        factor /= per[1] if per else 1.0
    bare = not unit and not match["scale"]
    if match["word"] and bare and match["word"].lower() in ("one", "zero"):
        return None  # "one of the sites": a pronoun more often than a count
    if match["short"] and match["short"] in "kt" and not match["money"]:
        return None
    before = text[max(0, start - 16) : start]
    return Quantity(
        text=text[start:end],
        start=start,
        end=end,
        value=-value * factor if match["minus"] else value * factor,
        step=step * factor,
        factor=factor,
        dimension=dimension,
        unit=unit,
        size=factor / scale,
        noun="" if dimension else _noun(text, end),
        about=bool(_ABOUT.search(before)) or bool(match["frac"]),
        bound=1 if _AT_LEAST.search(before) else -1 if _AT_MOST.search(before) else 0,
    )


def _noun(text: str, end: int) -> str:
    """The one or two words after a number that say what is counted."""
    found = _NOUN.match(text, end)
    if found is None or found[1] in _NO_NOUN:
        return ""
    second = found[2] if found[2] and found[2] not in _NO_NOUN else ""
    if found[1].endswith("ed"):  # "7,900 opted out", "9,750 converted hectares"
        return second if second.endswith("s") else ""
    return f"{found[1]} {second}".strip()


def _stated(match: re.Match[str]) -> tuple[float, float] | None:
    """``(value, half of the last stated digit)`` before scale and unit."""
    if match["num"]:
        digits = match["num"].replace(",", "")
        decimals = len(digits.partition(".")[2])
        return float(digits), 0.5 * 10.0**-decimals
    if match["tens"]:
        return WORD_VALUES[match["tens"].lower()] + WORD_VALUES[match["ones"].lower()], 0.5
    if match["frac"]:
        return _fraction(match["frac"].lower()), 0.01
    if match["multiple"]:
        return MULTIPLES[match["multiple"].lower()], 0.05
    if match["word"]:
        return float(WORD_VALUES[match["word"].lower()]), 0.5
    return None


def _fraction(text: str) -> float:
    """ "two thirds", "a fifth", "four in five", "half" as a number."""
    words = re.split(r"[\s-]+", text)
    top = 1.0 if words[0] in ("a", "an", "half") else _plain_number(words[0])
    last = words[-1]
    if last.isdigit() or last in WORD_VALUES:
        return top / _plain_number(last)
    return top / _PARTS["half" if last in ("half", "halfs") else last.removesuffix("s")]


def _plain_number(word: str) -> float:
    return float(word) if word.isdigit() else float(WORD_VALUES[word])


def same_kind(claim: Quantity, source: Quantity) -> bool:
    """Whether the two measure the same sort of thing, so that they can be compared."""
    return claim.dimension == source.dimension


def agrees(claim: Quantity, source: Quantity) -> bool:
    """Whether the source's number bears the claim's out.

    Same dimension (a bare number agrees with a count only), and the claim's value is the
    source's rounded to the claim's own precision; "about" gives 5 %, a bound must hold and
    not be idle (within a quarter).
    """
    if not same_kind(claim, source):
        return False
    return value_agrees(claim, source.value, source_bound=source.bound)


def value_agrees(claim: Quantity, value: float, *, source_bound: int = 0) -> bool:
    """As `agrees`, for a value in the claim's base unit."""
    tolerance = max(claim.step, 1e-9 * abs(value)) * (1 + 1e-9)
    if claim.about:
        tolerance = max(tolerance, 0.05 * abs(claim.value))
    if abs(claim.value - value) <= tolerance:
        return True
    if claim.bound and not source_bound:
        room = 0.25 * abs(claim.value)
        return 0 < claim.bound * (value - claim.value) <= room
    return False
