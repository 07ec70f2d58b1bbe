"""Direction, comparison and negation: whether a passage says the opposite of what the claim says.

Pure. Only passages that speak of the same things count, and a turned direction under a turned
negation ("did not rise" against "fell") is no opposition.
"""

from __future__ import annotations

import re
from math import fsum
from typing import Iterator, Sequence

from deepfact.reading.elements import Direction, Elements, Negation
from deepfact.reading.findings import Finding, Side, Status, settle
from deepfact.reading.fit import Fit, Read, Span
from deepfact.reading.lexicon import FORBIDDING, RANK_AXES, TURNABLE
from deepfact.reading.library import Vocabulary
from deepfact.reading.names import LEANING, holds
from deepfact.reading.quantities import Quantity, agrees
from deepfact.retrievers.words import stem

NEEDED = 0.3
"""How well a passage must bear on a word for its polarity to say anything."""
ANCHOR = 40
"""Characters within which a number and a direction belong together."""
ANCHORED = 0.25
"""What it adds that both directions go with the same number."""
TURNED = 0.85
"""What a claim's own negation counts where the passage has none."""

COMPARED = 0.3
"""What it counts that a passage gives a number for both things that a claim compares."""
AFFIRMS = 0.7
"""What a passage without a negation counts for a claim that another passage denies."""

_MEASURED = ("amount", "quality")
_OTHER_SIDE = re.compile(
    r"\b(?:than|compared with|compared to|next to|against|unlike|relative to|versus)\s"
    r"(?:(?:the|for|in|at|with|by)\s)*$",
    re.I,
)
_VALUE_FIRST = re.compile(r"\b(?:for|in|at|by|of|from|with)\s(?:the\s)?$")
_FROM_TO = re.compile(r"\bfrom\b(?:[^.;]|\.(?=\d)){1,60}?\bto\b")
_IDLE = re.compile(r"^(?:no (?:later|more|less|fewer) than|hardly any|not (?:only|until))\b", re.I)


def polarity_findings(fit: Fit) -> list[Finding]:
    """One finding for each direction word of the claim, and one for its negation."""
    findings = [_direction(fit, word) for word in fit.claim.directions]
    negation = _negation(fit)
    return [*findings, negation] if negation is not None else findings


# --- directions --------------------------------------------------------------------------


def _direction(fit: Fit, word: Direction) -> Finding:
    bearing: list[Side] = []
    against: list[Side] = []
    mine = (word.start, word.end)
    for read in fit.wide:
        said = fit.relevance(mine, read) >= NEEDED
        found = [*_opposites(fit, word, read)] if said else []
        for other, words, score in (*found, *_by_numbers(fit, word, read, said=said)):
            (bearing if other == word.sign else against).append(Side(score, read[0], words))
    finding = Finding("direction", word.text, *mine, Status.MISSING)
    return settle(finding, bearing, against)


def _opposites(fit: Fit, word: Direction, read: Read) -> Iterator[tuple[int, str, float]]:
    """``(sign, the source's words, fit)`` of each word of a passage on the word's axis."""
    mine = (word.start, word.end)
    passage = read[0].elements
    turned = -1 if _negated(word, fit.claim) else 1
    for other in passage.directions:
        if other.axis != word.axis:
            continue
        score = fit.place(mine, read, (other.start, other.end))
        if _same_anchor(fit.claim, word, passage, other):
            score += ANCHORED
        elif word.axis in RANK_AXES:
            score *= 0.8
        sign = other.sign * (-1 if _negated(other, passage) else 1) * turned
        yield sign, other.text, min(1.0, score)


def _by_numbers(
    fit: Fit, word: Direction, read: Read, *, said: bool
) -> Iterator[tuple[int, str, float]]:
    """The same of what a passage's numbers show: a change from one to another, or two things
    compared, where the sentences around it may say of what."""
    if word.axis not in _MEASURED:
        return
    passage = read[0].elements
    turned = -1 if _negated(word, fit.claim) else 1
    for sign, words in _trend(passage) if said else ():
        yield sign * turned, words, fit.place((word.start, word.end), read)
    clause, whole = fit.claim.clause(word.start), (0, len(fit.claim.text))
    near = COMPARED + 0.35 * fit.nearby(clause, read) + 0.3 * fit.nearby(whole, read)
    for sign, words in _compared(fit.claim, passage):
        yield sign * turned, words, near


def _negated(word: Direction, statement: Elements) -> bool:
    """Whether a negation bears on a direction word: it is among the five words after it."""
    return word.axis in TURNABLE and (
        sum(
            negation.end <= word.start and stem(word.text.lower()) in negation.scope
            for negation in statement.negations
        )
        % 2
        == 1
    )


def _same_anchor(claim: Elements, mine: Direction, passage: Elements, other: Direction) -> bool:
    """Whether both directions go with one number: "fell by 3.2 percent", "up by 3.2 percent"."""
    return any(
        agrees(one, two) for one in _anchors(claim, mine) for two in _anchors(passage, other)
    )


def _anchors(statement: Elements, word: Direction) -> list[Quantity]:
    return [
        q
        for q in statement.quantities
        if 0 <= q.start - word.end <= ANCHOR or 0 <= word.start - q.end <= ANCHOR // 4
    ]


def _trend(passage: Elements) -> Iterator[tuple[int, str]]:
    """The sign of "from 1,160 florins to 1,080 florins"."""
    for match in _FROM_TO.finditer(passage.text):
        inside = [q for q in passage.quantities if match.start() <= q.start < match.end()]
        after = [q for q in passage.quantities if q.start >= match.end()]
        if inside and after and inside[-1].dimension == after[0].dimension:
            first, second = inside[-1], after[0]
            if first.value != second.value:
                sign = 1 if second.value > first.value else -1
                yield sign, f"from {first.text} to {second.text}"


def _compared(claim: Elements, passage: Elements) -> Iterator[tuple[int, str]]:
    """How two named things compare by the numbers that a passage gives for each."""
    values = list(_valued(passage))
    others = [n for n in claim.names if _OTHER_SIDE.search(claim.text[: n.start])]
    for other in others:
        theirs = [q for text, q in values if holds(text.lower(), other)]
        named = [n for n in claim.names if n is not other and n not in others]
        ours = [
            (text, q)
            for text, q in values
            if not holds(text.lower(), other)
            and (any(holds(text.lower(), n) for n in named) or len(values) == 2)
        ]
        for text, mine in ours:
            for their in theirs:
                if mine.dimension == their.dimension and mine.value != their.value:
                    sign = 1 if mine.value > their.value else -1
                    yield sign, f"{mine.text} for {text}, {their.text} for {other.text}"


def _valued(passage: Elements) -> Iterator[tuple[str, Quantity]]:
    """Names with the number that a sentence gives for each."""
    names = [n for n in passage.names if not n.initial or n.identifier]
    for at, name in enumerate(names):
        begin = names[at - 1].end if at else 0
        end = names[at + 1].start if at + 1 < len(names) else len(passage.text)
        before = [q for q in passage.quantities if begin <= q.start and q.end <= name.start]
        if before and _VALUE_FIRST.search(passage.text[before[-1].end : name.start]):
            yield name.text, before[-1]
            continue
        after = [q for q in passage.quantities if name.end <= q.start < end]
        if after:
            yield name.text, after[0]


# --- negation ----------------------------------------------------------------------------


def _negation(fit: Fit) -> Finding | None:
    """The finding on negation: the best passage that agrees, and the best that differs."""
    bearing: list[Side] = []
    flips: list[tuple[float, Span, Side]] = []
    affirming: list[Read] = []
    for read in fit.wide:
        if _turned_direction(fit.claim, read[0].elements):
            continue
        theirs = [n for n in read[0].elements.negations if not _idle(read[0].elements, n)]
        if fit.claim.negations or _forbids(fit.claim):
            own = _unnegated(fit, read) if not theirs and not _forbids(read[0].elements) else None
            if own is not None:
                flips.append(own)
            else:
                bearing.append(Side(0.9 * read[1].near, read[0]))
            continue
        if len(theirs) > 1:
            continue  # two negations may undo each other
        found = [flip for n in theirs if (flip := _denied(fit, read, n)) is not None]
        if found:
            flips.append(max(found, key=lambda flip: flip[0]))
        elif not theirs:
            affirming.append(read)
    if flips:
        _, span, _ = max(flips, key=lambda flip: flip[0])
        bearing += [Side(AFFIRMS * _affirmed(fit, span, read), read[0]) for read in affirming]
    elif fit.claim.negations and bearing:
        span = (fit.claim.negations[0].start, fit.claim.negations[0].end)
    else:
        return None
    finding = Finding("negation", fit.claim.text[slice(*span)], *span, Status.MISSING)
    return settle(finding, bearing, [side for _, _, side in flips])


def _affirmed(fit: Fit, span: Span, read: Read) -> float:
    """How far a passage says, of the words that another denies, what the claim says."""
    words = frozenset(w.stem for w in fit.claim.content if span[0] <= w.start < span[1])
    said = fit.clause(span[0], read[0], own=True)
    return min(said, fit.stems_in(words, read[0], own=True)) if words else said


def _idle(statement: Elements, negation: Negation) -> bool:
    """ "no later than", "hardly any", "without": negations that turn no statement round."""
    return negation.text.lower() == "without" or bool(
        _IDLE.match(statement.text[negation.start : negation.start + 24])
    )


def _forbids(statement: Elements) -> bool:
    return any(word.stem in FORBIDDING for word in statement.words)


def _turned_direction(claim: Elements, passage: Elements) -> bool:
    """Whether a direction of the claim is turned too, so that a negation may undo it."""
    return any(
        other.axis == word.axis and other.sign != word.sign
        for word in claim.directions
        for other in passage.directions
    )


def _denied(fit: Fit, read: Read, negation: Negation) -> tuple[float, Span, Side] | None:
    """What a passage denies of a claim that denies nothing: by how much of the denying clause is
    in the claim, and how much of the claim's clause is in the passage."""
    passage = read[0].elements
    begin, end = passage.clause(negation.start)
    denied = passage.within(begin, end)
    mine = Vocabulary(fit.claim.stems)
    shared = {s for s in denied if mine.match(s)}
    after = {s for s in negation.scope if mine.match(s)}
    if not shared or not (after or len(shared) > 1):
        return None
    there = Vocabulary(after or shared)
    matched = [w for w in fit.claim.content if there.match(w.stem)]
    if not matched:
        return None
    weigh = fit.library.weight
    share = fsum(weigh(s) for s in shared) / fsum(weigh(s) for s in denied)
    clauses = {fit.claim.clause(word.start) for word in matched}
    clause = max(clauses, key=lambda c: (fit.clause(c[0], read[0]), -c[0]))
    inside = [w for w in matched if clause[0] <= w.start < clause[1]] or matched
    leans = passage.words[0].lower in LEANING
    said = fit.nearby(clause, read) if leans else fit.clause(clause[0], read[0], own=True)
    score = 0.5 * share + 0.35 * said + 0.15 * read[1].near
    words = passage.text[begin:end].strip()
    return score, (inside[0].start, inside[-1].end), Side(min(1.0, score), read[0], words)


def _unnegated(fit: Fit, read: Read) -> tuple[float, Span, Side] | None:
    """A claim that denies what a passage says plainly."""
    for own in fit.claim.negations:
        clause = fit.claim.clause(own.start)
        share = fit.clause(own.start, read[0], own=True)
        known = [s for s in own.scope if read[0].vocabulary.match(s)]
        if share < 0.6 or 2 * len(known) <= len(own.scope):
            continue
        last: Sequence[int] = [
            w.end for w in fit.claim.words if own.start < w.start < clause[1] and w.stem in known
        ]
        span = (own.start, max(last, default=own.end))
        score = TURNED * (0.6 * share + 0.4 * read[1].near)
        return score, span, Side(score, read[0])
    return None
