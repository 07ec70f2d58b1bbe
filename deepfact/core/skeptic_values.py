"""What the object of a structured claim is worth: a truth, a quantity, a period, or words.

Pure. A text is read as a quantity or a date only when the whole of it is one; whatever is
left over is kept as what the figure is of. Units are a small closed table: what is not in it is
a noun of its own, which can be compared with itself and with nothing else.
"""

from __future__ import annotations

import re
import unicodedata
from calendar import monthrange
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"))

TRUTHS = {
    **dict.fromkeys(("yes", "true", "y", "correct", "1 (true)"), True),
    **dict.fromkeys(("no", "false", "n", "incorrect", "not", "none", "never"), False),
}

_SCALES = {
    "hundred": 1e2, "thousand": 1e3, "k": 1e3, "million": 1e6, "mn": 1e6, "mio": 1e6, "m": 1e6,
    "billion": 1e9, "bn": 1e9, "b": 1e9, "trillion": 1e12, "tn": 1e12,
}  # fmt: skip

_UNIT_TABLE = """
ratio: % 0.01, percent 0.01, pct 0.01, permille 0.001, ppm 1e-6
point: percentage point 1, pp 1, basis point 0.01, bp 0.01
time: ns 1e-9, nanosecond 1e-9, us 1e-6, µs 1e-6, microsecond 1e-6, ms 1e-3, msec 1e-3
time: millisecond 1e-3, s 1, sec 1, second 1, min 60, minute 60, h 3600, hr 3600, hour 3600
time: day 86400, week 604800, month 2629800, year 31557600, yr 31557600, decade 315576000
data: bit 0.125, byte 1, kb 1e3, mb 1e6, gb 1e9, tb 1e12, pb 1e15, kib 1024, mib 1048576
data: gib 1073741824, tib 1099511627776, kilobyte 1e3, megabyte 1e6, gigabyte 1e9, terabyte 1e12
data: kbit 125, mbit 125e3, gbit 125e6
mass: ng 1e-9, µg 1e-6, ug 1e-6, mg 1e-3, milligram 1e-3, g 1, gram 1, kg 1e3, kilogram 1e3
mass: t 1e6, tonne 1e6, lb 453.59237, pound 453.59237, oz 28.349523125
length: nm 1e-9, µm 1e-6, um 1e-6, mm 1e-3, millimetre 1e-3, millimeter 1e-3, cm 0.01
length: centimetre 0.01, centimeter 0.01, m 1, metre 1, meter 1, km 1e3, kilometre 1e3
length: kilometer 1e3
length: mile 1609.344, mi 1609.344, ft 0.3048, foot 0.3048, feet 0.3048, inch 0.0254
area: m² 1, m2 1, sqm 1, km² 1e6, km2 1e6, ha 1e4, hectare 1e4, acre 4046.8564224
volume: ml 1e-3, cl 0.01, l 1, litre 1, liter 1, m³ 1e3, m3 1e3
frequency: hz 1, khz 1e3, mhz 1e6, ghz 1e9
power: milliwatt 1e-3, w 1, watt 1, kw 1e3, kilowatt 1e3, mw 1e6, megawatt 1e6, gw 1e9, gigawatt 1e9
energy: j 1, kj 1e3, mj 1e6, wh 3600, kwh 3.6e6, mwh 3.6e9, gwh 3.6e12, twh 3.6e15
usd: $ 1, usd 1, dollar 1, us dollar 1
eur: € 1, eur 1, euro 1
gbp: £ 1, gbp 1
times: x 1, times 1, fold 1
"""


_MONTHS = {
    name: number
    for number, names in enumerate(
        ("jan january", "feb february", "mar march", "apr april", "may", "jun june", "jul july",
         "aug august", "sep sept september", "oct october", "nov november", "dec december"), 1
    )
    for name in names.split()
}  # fmt: skip

_NUMBER = r"\d{1,3}(?:[, ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:e[+-]?\d{1,2})?"
_SIGNED = rf"[+-]?(?:{_NUMBER})"
_SIZE = r"(?:\s*(?:hundred|thousand|million|billion|trillion|mn|mio|bn|tn)\b|(?:[kmb]\b)|)"
_CASED = (
    (re.compile(r"(\d)\s?([KMB])(?=\s|$)"), lambda m: f"{m[1]}{m[2].lower()}"),
    (re.compile(r"\bmW\b"), lambda _: "milliwatt"),
    (re.compile(r"\b([KMG])b(?=/|ps|\s|$)"), lambda m: f"{m[1].lower()}bit"),
)
"""What is told apart by its capitals alone, written so that it survives lower case."""
_APPROXIMATE = re.compile(
    r"^(?:about|approximately|approx\.?|around|roughly|nearly|almost|circa|c\.|ca\.?|~|≈|some|"
    r"an estimated|estimated)\s*"
)
_BOUND = re.compile(
    r"^(?:(at least|no less than|not less than|minimum|min\.|≥|>=)|"
    r"(more than|over|above|exceeds|greater than|>)|"
    r"(at most|no more than|not more than|up to|maximum|max\.|≤|<=)|"
    r"(less than|under|below|fewer than|<))\s*"
)
_RANGE = re.compile(
    rf"^(?:between\s+|from\s+)?([$€£]?)({_SIGNED})({_SIZE})\s*([^\W\d]*|%)\s*"
    rf"(?:-|to|and|\.\.)\s*[$€£]?({_SIGNED})({_SIZE})"
)
_PLUS_MINUS = re.compile(rf"^([$€£]?)({_SIGNED})({_SIZE})\s*(?:±|\+/-)\s*({_NUMBER})({_SIZE})")
_ONE = re.compile(rf"^([$€£]?)({_SIGNED})({_SIZE})(?!\.?\d)")
_FILLERS = frozenset(("a", "an", "the", "of", "in", "on", "at", "with", "about", "total", "per"))


@dataclass(frozen=True)
class Quantity:
    """A figure as an interval in the base unit of its dimension."""

    low: float
    high: float
    dimension: str
    """Of the table, ``noun/dimension`` for a rate, a noun, or empty for a bare number."""
    approximate: bool = False
    percent: bool = False
    bare: bool = False
    """Written without any unit."""
    of: frozenset[str] = frozenset()
    """What else is said of the figure, such as ``p99``."""


@dataclass(frozen=True)
class Period:
    """A stretch of days, both ends included."""

    first: date
    last: date


@dataclass(frozen=True)
class Words:
    """Anything else: the words, normalised, and whether they are negated."""

    words: tuple[str, ...]
    negated: bool = False


Value = bool | Quantity | Period | Words


def plain(text: str) -> str:
    """``text`` in lower case, NFKC, dashes plain, white space folded."""
    return " ".join(unicodedata.normalize("NFKC", text).translate(DASHES).casefold().split())


def singular(word: str) -> str:
    """A noun without its plural ending; words of three letters and fewer are left alone."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 4 and word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _units() -> dict[str, tuple[str, float]]:
    table: dict[str, tuple[str, float]] = {}
    for line in _UNIT_TABLE.strip().splitlines():
        dimension, _, units = line.partition(": ")
        for unit in units.split(", "):
            name, _, factor = unit.rpartition(" ")
            table[plain(name)] = (dimension, float(factor))
    return table


UNITS = _units()
"""``unit -> (dimension, factor to the dimension's base unit)``, singular, lower case."""


@lru_cache(maxsize=4096)
def read_value(text: str) -> Value | None:
    """What an object says; None when it is empty."""
    words = plain(text).rstrip(".!;,")
    if not words:
        return None
    if words in TRUTHS:
        return TRUTHS[words]
    return read_period(words) or read_quantity(text) or _words(words)


def _words(text: str) -> Words:
    tokens = re.findall(r"[\w+#.-]*\w[+#]*", text)
    negated = bool(tokens) and tokens[0] in ("not", "non", "no", "never")
    kept = (singular(token) for token in tokens[negated:] if token not in _FILLERS)
    return Words(tuple(kept), negated)


# --- dates -------------------------------------------------------------------------------


def read_period(text: str) -> Period | None:
    """The days that a text names when the whole of it is a date: a year, a month or a day."""
    words = re.sub(r"^(?:in|on|since|as of|from|during|by)\s+", "", plain(text)).replace(",", " ")
    if iso := re.fullmatch(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?:t[\d:.+z-]*)?", words):
        year, month, day = (int(part) if part else 0 for part in iso.groups())
        return _period(year, month, day)
    if quarter := re.fullmatch(r"q([1-4])\s+(\d{4})|(\d{4})[\s-]q([1-4])", words):
        number = int(quarter[1] or quarter[4])
        year = int(quarter[2] or quarter[3])
        return _join(_period(year, 3 * number - 2, 0), _period(year, 3 * number, 0))
    tokens = re.sub(r"\b(\d{1,2})(?:st|nd|rd|th)\b", r"\1", words).replace(".", " ").split()
    months = [_MONTHS[token] for token in tokens if token in _MONTHS]
    numbers = [int(token) for token in tokens if token.isdecimal() and len(token) <= 4]
    if len(months) != 1 or len(months) + len(numbers) != len(tokens):
        return None
    years = [number for number in numbers if number >= 1000]
    days = [number for number in numbers if number < 1000]
    if len(years) != 1 or len(days) > 1:
        return None
    return _period(years[0], months[0], days[0] if days else 0)


def _period(year: int, month: int, day: int) -> Period | None:
    if not 1500 <= year <= 2100 or month > 12:
        return None
    last = monthrange(year, month)[1] if month else 31
    if day > last:
        return None
    return Period(date(year, month or 1, day or 1), date(year, month or 12, day or last))


def _join(first: Period | None, last: Period | None) -> Period | None:
    return Period(first.first, last.last) if first and last else None


# --- quantities --------------------------------------------------------------------------


def read_quantity(text: str) -> Quantity | None:
    """The figure that a text begins with, with its unit and what else is said of it."""
    for pattern, spelt in _CASED:
        text = pattern.sub(spelt, text)
    words = plain(text)
    approximate = bool(match := _APPROXIMATE.match(words))
    words = words[match.end() :] if match else words
    bound = _BOUND.match(words)
    words = words[bound.end() :] if bound else words
    if match := _RANGE.match(words):
        sign, low, size, unit, high, size_high = match.groups()
        ends = (_number(low, size or size_high), _number(high, size_high or size))
        rest = f"{sign} {words[match.end() :].strip() or unit}"
        spread = 0.0
    elif match := _PLUS_MINUS.match(words):
        sign, middle, size, error, error_size = match.groups()
        spread = _number(error, error_size or size)
        ends = (_number(middle, size) - spread, _number(middle, size) + spread)
        rest = f"{sign} {words[match.end() :]}"
    elif match := _ONE.match(words):
        sign, figure, size = match.groups()
        spread = 0.0 if bound else _rounding(figure, size)
        ends = (_number(figure, size) - spread, _number(figure, size) + spread)
        rest = f"{sign} {words[match.end() :]}"
    else:
        return None
    found = _unit(rest.strip())
    if found is None:
        return None
    dimension, factor, of = found
    low_end, high_end = sorted(end * factor for end in ends)
    if bound:
        low_end, high_end = (
            (low_end, float("inf")) if bound[1] or bound[2] else (float("-inf"), high_end)
        )
    percent = dimension == "ratio"
    return Quantity(
        low=low_end,
        high=high_end,
        dimension="" if percent else dimension,
        approximate=approximate,
        percent=percent,
        bare=not dimension and not percent,
        of=of,
    )


def _number(figure: str, size: str) -> float:
    return float(figure.replace(",", "").replace(" ", "")) * _SCALES.get(size.strip(), 1.0)


def _rounding(figure: str, size: str) -> float:
    """Half a unit of the last place that a decimal or scaled figure states; whole numbers
    without a scale are taken as exact."""
    decimals = len(figure.partition(".")[2].partition("e")[0])
    if not decimals and not size.strip():
        return 0.0
    return 0.5 * 10.0**-decimals * _SCALES.get(size.strip(), 1.0)


def _unit(rest: str) -> tuple[str, float, frozenset[str]] | None:
    """Dimension, factor and remaining words; None when what follows is no plain text."""
    if not re.fullmatch(r"[^\d]*(?:[pv]?\d+[^\d]*){0,2}", rest):
        return None
    above, slash, below = re.sub(r"\s+per\s+|(?<=bit)ps\b", "/", rest).partition("/")
    dimension, factor, of = _one_unit(above)
    if slash:
        under, divisor, more = _one_unit(below or "s")
        return f"{dimension}/{under}", factor / divisor, of | more
    return dimension, factor, of


def _one_unit(text: str) -> tuple[str, float, frozenset[str]]:
    tokens = [singular(token) for token in re.findall(r"[%$€£]|[^\s%$€£.,;()]+", text)]
    tokens = [token for token in tokens if token not in _FILLERS]
    for size in (2, 1):
        name = " ".join(tokens[:size])
        if name in UNITS:
            dimension, factor = UNITS[name]
            return dimension, factor, frozenset(tokens[size:])
    if not tokens:
        return "", 1.0, frozenset()
    return tokens[0], 1.0, frozenset(tokens[1:])
