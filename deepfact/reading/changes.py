"""Changes to a true sentence that make it false: another number, date or name, the opposite
direction, a negation put in or taken out.

Every function takes a seeded `random.Random` and gives None where it does not apply. Pure; what
comes out is a proposal, which may still be true or make no sense: `deepfact.reading.edits` checks
that for micro-gold, and training counts on most being right.
"""

from __future__ import annotations

import random
import re
from typing import Callable, Sequence

from deepfact.reading.dates import MONTHS
from deepfact.reading.elements import Elements, elements
from deepfact.reading.quantities import Quantity

_PAIRS = """
increase/decrease increased/decreased increases/decreases increasing/decreasing higher/lower
rise/fall rose/fell rises/falls rising/falling more/less greater/smaller improved/worsened
improve/worsen improves/worsens growth/decline grew/shrank before/after earlier/later above/below
largest/smallest highest/lowest positive/negative first/last most/least majority/minority
promotes/inhibits promote/inhibit promoted/inhibited activates/suppresses activate/suppress
enhanced/reduced enhances/reduces enhance/reduce upregulated/downregulated effective/ineffective
significant/insignificant likely/unlikely possible/impossible safe/unsafe approved/rejected
accepted/refused allowed/prohibited allows/prohibits allow/prohibit permitted/banned
began/ended begins/ends opened/closed opens/closes passed/failed won/lost longer/shorter
faster/slower stronger/weaker older/younger mandatory/voluntary permanent/temporary
include/exclude includes/excludes included/excluded direct/indirect profit/loss always/never
maximum/minimum internal/external northern/southern eastern/western gained/lost raised/cut
"""
OPPOSITE: dict[str, str] = {}
for _pair in _PAIRS.split():
    _one, _other = _pair.split("/")
    OPPOSITE.setdefault(_one, _other)
    OPPOSITE.setdefault(_other, _one)

_AUXILIARY = re.compile(
    r"\b(is|are|was|were|has|have|had|can|could|will|would|should|may|might|must|do|does|did)"
    r"\b(?! not)"
)
_NOT = re.compile(r"\b(?:not|no longer|never) |n't\b|(?<=\b)(?:no) (?=\w)")

Change = Callable[[str, Sequence[Elements], random.Random], "str | None"]


def number(text: str, around: Sequence[Elements], rng: random.Random) -> str | None:
    """Another number in the same form, or one of the same kind out of the source."""
    found = [q for q in elements(text).quantities if any(c.isdigit() for c in q.text)]
    if not found:
        return None
    chosen = rng.choice(found)
    rivals = [
        q.text
        for passage in around
        for q in passage.quantities
        if q.dimension == chosen.dimension and abs(q.value - chosen.value) > 3 * chosen.step
    ]
    if rivals and rng.random() < 0.4:
        return put(text, chosen, rng.choice(rivals))
    digits = re.search(r"\d[\d,]*(?:\.\d+)?", chosen.text)
    if digits is None:
        return None
    stated = float(digits.group().replace(",", ""))
    decimals = len(digits.group().partition(".")[2])
    factor = rng.choice((0.4, 0.6, 0.75, 0.85, 0.92, 1.08, 1.15, 1.3, 1.6, 2.0))
    other = round(stated * factor, decimals)
    if abs(other - stated) < 10.0**-decimals:
        other = stated + 10.0**-decimals * rng.choice((1, 2))
    form = f"{other:,.{decimals}f}" if "," in digits.group() else f"{other:.{decimals}f}"
    return put(text, chosen, chosen.text.replace(digits.group(), form, 1))


def date(text: str, _around: Sequence[Elements], rng: random.Random) -> str | None:
    """Another year, month or quarter."""
    found = elements(text).dates
    if not found:
        return None
    chosen = rng.choice(found)
    changed = chosen.text
    month = next((m for m in MONTHS if len(m) > 3 and m in changed.lower()), None)
    if month and (rng.random() < 0.5 or not chosen.year):
        other = rng.choice([m for m in MONTHS if len(m) > 3 and m != month and m != "sept"])
        changed = re.sub(month, other.capitalize(), changed, flags=re.I)
    elif chosen.quarter and rng.random() < 0.6:
        for word in ("first", "second", "third", "fourth"):
            if word in changed:
                changed = changed.replace(
                    word, rng.choice([w for w in ("first", "second", "third") if w != word])
                )
                break
        else:
            changed = re.sub(r"Q\d", f"Q{chosen.quarter % 4 + 1}", changed)
    elif chosen.year:
        shift = rng.choice((-3, -2, -1, 1, 2, 3))
        changed = changed.replace(str(chosen.year), str(chosen.year + shift))
    if changed == chosen.text:
        return None
    return text[: chosen.start] + changed + text[chosen.end :]


def name(text: str, around: Sequence[Elements], rng: random.Random) -> str | None:
    """Another name of the same sort, most often one that the source mentions elsewhere."""
    found = [n for n in elements(text).names if not n.initial]
    if not found:
        return None
    chosen = rng.choice(found)
    lowered = text.lower()
    rivals = [
        n.text
        for passage in around
        for n in passage.names
        if n.identifier == chosen.identifier
        and not n.initial
        and not any(key in lowered for key in n.keys)
    ]
    if not rivals:
        return None
    return text[: chosen.start] + rng.choice(rivals) + text[chosen.end :]


def direction(text: str, _around: Sequence[Elements], rng: random.Random) -> str | None:
    """A direction word turned into its opposite."""
    found = [word for word in elements(text).words if word.lower in OPPOSITE]
    if not found:
        return None
    chosen = rng.choice(found)
    other = OPPOSITE[chosen.lower]
    other = other.capitalize() if chosen.text[0].isupper() else other
    return text[: chosen.start] + other + text[chosen.end :]


def negation(text: str, _around: Sequence[Elements], _rng: random.Random) -> str | None:
    """A negation put in, or taken out."""
    there = _NOT.search(text)
    if there is not None:
        return re.sub(r"  +", " ", text[: there.start()] + text[there.end() :])
    auxiliary = _AUXILIARY.search(text)
    if auxiliary is None:
        return None
    return text[: auxiliary.end()] + " not" + text[auxiliary.end() :]


def put(text: str, quantity: Quantity, words: str) -> str:
    return text[: quantity.start] + words + text[quantity.end :]
