"""Negation and direction: whether a passage says the opposite of what the claim says.

Pure. Only passages that speak of the same things count, and a turned direction under a turned
negation ("did not rise" against "fell") is no opposition.
"""

from __future__ import annotations

from typing import Sequence

from deepfact.reading.elements import Direction, Elements, Negation
from deepfact.reading.findings import Finding, Side, Status, settle
from deepfact.reading.lexicon import RANK_AXES
from deepfact.reading.library import Alignment, Reading, Vocabulary, local_match
from deepfact.retrievers.words import stem

NEEDED = 0.3
"""How well a passage must fit the claim for its polarity to say anything."""


def polarity_findings(
    claim: Elements, readings: Sequence[tuple[Reading, Alignment]]
) -> list[Finding]:
    """One finding for each direction word of the claim, and one for its negation."""
    near = [(reading, fit) for reading, fit in readings if fit.near >= NEEDED]
    flips = {id(reading): _negation_flip(claim, reading) for reading, _ in near}
    findings = [_direction(claim, word, near) for word in claim.directions]
    negation = _negation(claim, near, flips)
    return [*findings, negation] if negation is not None else findings


def _direction(
    claim: Elements,
    word: Direction,
    near: Sequence[tuple[Reading, Alignment]],
) -> Finding:
    bearing: list[Side] = []
    against: list[Side] = []
    around = claim.around(word.start, word.end)
    for reading, fit in near:
        for other in reading.elements.directions:
            if other.axis != word.axis:
                continue
            local = local_match(around, reading.elements.around(other.start, other.end))
            score = 0.55 * fit.near + 0.45 * local
            turned = _negated(word, claim) != _negated(other, reading.elements)
            opposed = (other.sign != word.sign) != turned
            if opposed and word.axis in RANK_AXES:
                score *= 0.8
            side = Side(score, reading, other.text)
            (against if opposed else bearing).append(side)
    finding = Finding("direction", word.text, word.start, word.end, Status.MISSING)
    return settle(finding, bearing, against)


def _negated(word: Direction, statement: Elements) -> bool:
    """Whether a negation bears on a direction word: it is among the five words after it."""
    return (
        sum(
            negation.end <= word.start and stem(word.text.lower()) in negation.scope
            for negation in statement.negations
        )
        % 2
        == 1
    )


def _negation_flip(claim: Elements, reading: Reading) -> tuple[Finding, Side] | None:
    """A finding when claim and passage differ in negation of the same words, else None."""
    mine, theirs = claim.negations, reading.elements.negations
    for negation in theirs:
        shared = _shared(negation, claim.stems)
        if shared and not any(_touch(negation, own, claim) for own in mine):
            word = next((w for w in claim.content if Vocabulary(shared).match(w.stem)), None)
            if word is not None:
                text = claim.text[word.start : word.end]
                finding = Finding("negation", text, word.start, word.end, Status.MISSING)
                return finding, Side(
                    len(shared) / max(1, len(negation.scope)), reading, negation.text
                )
    for own in mine:
        shared = frozenset(s for s in own.scope if reading.vocabulary.match(s))
        if 2 * len(shared) > len(own.scope) and not any(
            _touch(other, own, claim) for other in theirs
        ):
            end = max(w.end for w in claim.words if w.stem in shared and w.start > own.start)
            end = min(end, own.end + 40) if end > own.end else own.end
            end = max((w.end for w in claim.words if w.end <= end), default=own.end)
            finding = Finding(
                "negation", claim.text[own.start : end], own.start, end, Status.MISSING
            )
            return finding, Side(len(shared) / max(1, len(own.scope)), reading)
    return None


def _shared(negation: Negation, claim_stems: frozenset[str]) -> frozenset[str]:
    vocabulary = Vocabulary(claim_stems)
    return frozenset(s for s in negation.scope if vocabulary.match(s))


def _touch(theirs: Negation, own: Negation, claim: Elements) -> bool:
    """Whether two negations may be the same one: their scopes meet, or both are unclear."""
    if not own.scope or not theirs.scope:
        return True
    vocabulary = Vocabulary(own.scope)
    return any(vocabulary.match(s) for s in theirs.scope) or len(claim.negations) > 2


def _negation(
    claim: Elements,
    near: Sequence[tuple[Reading, Alignment]],
    flips: dict[int, tuple[Finding, Side] | None],
) -> Finding | None:
    """The finding on negation: the best passage that agrees, and the best that differs."""
    bearing: list[Side] = []
    against: list[Side] = []
    found: Finding | None = None
    best = 0.0
    for reading, fit in near:
        flip = flips[id(reading)]
        turned = any(
            other.axis == word.axis and other.sign != word.sign
            for word in claim.directions
            for other in reading.elements.directions
        )
        if flip is None or turned:
            if not turned:
                bearing.append(Side(0.9 * fit.near, reading))
            continue
        finding, side = flip
        score = fit.near * (0.6 + 0.4 * side.fit)
        against.append(Side(score, reading, side.words))
        if score > best:
            found, best = finding, score
    if found is None:
        if not claim.negations or not bearing:
            return None
        own = claim.negations[0]
        found = Finding(
            "negation", claim.text[own.start : own.end], own.start, own.end, Status.MISSING
        )
    return settle(found, bearing, against)
