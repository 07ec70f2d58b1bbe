"""Known changes to true sentences: what makes them false, and what leaves them true.

Every function takes a seeded `random.Random` and gives None where it does not apply. Used on
training data only.
"""

from __future__ import annotations

import random
import re
from typing import Sequence

from deepfact.reading.changes import Change, date, direction, name, negation, number, put
from deepfact.reading.elements import Elements, elements
from deepfact.reading.quantities import Quantity

_UNITS = (
    ("percentage points", "percent"), ("percent", "percentage points"), ("million", "billion"),
    ("billion", "million"), ("hours", "minutes"), ("minutes", "hours"), ("days", "weeks"),
    ("weeks", "months"), ("months", "years"), ("years", "months"), ("mg", "g"), ("kg", "g"),
    ("km", "m"), ("seconds", "minutes"), ("ms", "s"), ("dollars", "euros"), ("miles", "kilometres"),
    ("mL", "L"), ("thousand", "million"), ("%", " percentage points"), ("-fold", " %"),
)  # fmt: skip
_HEDGED = re.compile(
    r"\b(?:may|might|could)( have| be)?\b|\b(?:possibly|probably|potentially|perhaps|likely) |"
    r"\b(?:suggests?|suggested|appears?|appeared|seems?|seemed) (?:that|to)\b"
)


def unit(text: str, _around: Sequence[Elements], rng: random.Random) -> str | None:
    """The same digits with another unit or scale."""
    for quantity in rng.sample(elements(text).quantities, len(elements(text).quantities)):
        for old, new in _UNITS:
            if quantity.text.endswith(old) and len(quantity.text) > len(old):
                return put(text, quantity, quantity.text[: -len(old)] + new)
    return None


def unhedged(text: str, _around: Sequence[Elements], _rng: random.Random) -> str | None:
    """The sentence as plain fact, its hedge taken out."""
    there = _HEDGED.search(text)
    if there is None:
        return None
    word = there.group().strip().lower()
    put = {"suggest": "show", "suggests that": "shows that", "suggested that": "showed that"}
    replacement = put.get(word, "will" if word in ("may", "might", "could") else "")
    return re.sub(r"  +", " ", f"{text[: there.start()]}{replacement} {text[there.end() :]}")


CHANGES: dict[str, Change] = {
    "number": number,
    "unit": unit,
    "date": date,
    "name": name,
    "direction": direction,
    "negation": negation,
}
"""Changes that make a true sentence false."""


def reworded(text: str, foreign: Sequence[str], share: float, rng: random.Random) -> str:
    """The sentence with a share of its content words put in words that the source does not have.

    It stands for a paraphrase: the features see only which words are shared, never what they
    mean, so a foreign word looks to them as a synonym does that no list knows. Numbers, dates,
    names, directions and negations stay.
    """
    taken = elements(text)
    kept = [(name.start, name.end) for name in taken.names]
    kept += [(word.start, word.end) for word in taken.directions]
    kept += [(word.start, word.end) for word in taken.negations]
    out = text
    for word in reversed(taken.content):
        if any(start < word.end and word.start < end for start, end in kept):
            continue
        if rng.random() < share and foreign:
            out = out[: word.start] + rng.choice(foreign) + out[word.end :]
    return out


def shortened(text: str) -> str:
    """The sentence without one of its later clauses, where it has any."""
    clauses = re.split(r"(?<=\w), (?=(?:which|who|where|although|while|with|after|and|but) )", text)
    if len(clauses) < 2 or len(clauses[0].split()) < 6:
        return text
    return clauses[0].rstrip(".") + "."


def restated(text: str, rng: random.Random) -> str | None:
    """A number in another true form: rounded with "about", or in words of the same meaning."""
    for quantity in rng.sample(elements(text).quantities, len(elements(text).quantities)):
        changed = _restate(quantity)
        if changed:
            return put(text, quantity, changed)
    return None


def _restate(quantity: Quantity) -> str | None:
    digits = re.match(r"\d+\.\d+", quantity.text)
    if digits and float(digits.group()) >= 3:
        return f"about {float(digits.group()):.0f}{quantity.text[digits.end() :]}"
    if quantity.text.endswith("%"):
        return quantity.text.rstrip("% ") + " percent"
    if quantity.text.endswith(" percent"):
        return quantity.text.removesuffix(" percent") + "%"
    months = re.fullmatch(r"(\d+) years", quantity.text)
    return f"{int(months[1]) * 12} months" if months else None
