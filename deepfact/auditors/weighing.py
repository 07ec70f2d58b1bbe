"""What the evidence auditor measures: letters in common, numbers as they are written, and whether
the words of a dispute hold.

Pure, no learnt weights, and of purpose not the measures of the local verifier, whose challenges it
judges: two judges that read alike repeat each other's mistakes.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Iterable

from deepfact.reading.lexicon import DIRECTIONS, HEDGES, NEGATORS
from deepfact.reading.quantities import WORD_VALUES
from deepfact.retrievers.passages import sentence_spans
from deepfact.retrievers.words import STOP, stem, words

GRAM = 4
NOTHING, EVERYTHING = 0.3, 0.75
"""Shares of a claim's letter groups in the sentences that fit best at which it counts as not spoken
of, and as said in full: unrelated English shares some, and a paraphrase never all."""
ANCHORED = 0.5
"""Coverage at least of a claim two of whose numbers stand in one sentence."""
ABOUT = 0.35
"""Share of a claim's letter groups that a quote with its neighbours needs to dispute it at all."""
OWN = 0.12
"""Share that quotes need in their own words, whatever stands next to them."""
ARGUED = 0.6
"""What a dispute counts that quotes what is about the claim, where this reading sees no difference:
it knows no arithmetic and no paraphrase."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True)
class Weighed:
    """A claim against all the texts it may be judged by."""

    covered: float
    """How far the sentences that fit best say it, 0 to 1."""
    numbers_missing: float
    """Share of its numbers that no text holds as they are written, 0 to 1."""
    at_odds: float
    """How far the stretch that fits best differs of itself: a number of the claim that it lacks, an
    opposite, or a negation, 0 to 1."""
    hedged: float
    """How far that stretch hedges what the claim states as fact, 0 to 1."""
    sentences: tuple[str, ...]
    weights: dict[str, float]
    """Letter group of the claim -> how much it says: the rarer in the texts, the more."""


@dataclass(frozen=True, slots=True)
class Dispute:
    """How far a named dispute holds."""

    strength: float
    ground: str
    """``number``, ``direction``, ``negation``, ``name`` or ``words``."""


def weigh(claim: str, texts: Iterable[str]) -> Weighed:
    """The claim against texts: coverage by the best three stretches of two sentences."""
    sentences = [text[span.start : span.end] for text in texts for span in sentence_spans(text)]
    held = [grams(sentence) for sentence in sentences]
    counts = Counter(gram for one in held for gram in one)
    weights = {gram: math.log((len(sentences) + 2) / (counts[gram] + 1)) for gram in grams(claim)}
    pairs = [one | two for one, two in zip(held, [*held[1:], frozenset()], strict=False)]
    best = sorted(pairs, key=lambda pair: -_share(weights, pair))[:3]
    share = _share(weights, frozenset().union(*best)) if best else 0.0
    covered = min(1.0, max(0.0, (share - NOTHING) / (EVERYTHING - NOTHING)))
    mine, theirs = numbers(claim), {n for sentence in sentences for n in numbers(sentence)}
    missing = len(mine - theirs) / len(mine) if mine else 0.0
    shared = max((len(mine & numbers(sentence)) for sentence in sentences), default=0)
    covered = max(covered, ANCHORED if shared > 1 else 0.0)
    fullest = max(range(len(pairs)), key=lambda at: (_share(weights, pairs[at]), -at), default=0)
    nearest = " ".join(sentences[fullest : fullest + 2])
    return Weighed(
        covered=covered,
        numbers_missing=missing,
        at_odds=_at_odds(claim, nearest, mine),
        hedged=covered if _hedges(nearest) and not _hedges(claim) else 0.0,
        sentences=tuple(sentences),
        weights=weights,
    )


def _at_odds(claim: str, nearest: str, mine: set[str]) -> float:
    lacking = 0.6 * len(mine - numbers(nearest)) / len(mine) if mine else 0.0
    return max(lacking, 0.6 * _opposite(claim, nearest), 0.6 * _negated(claim, nearest))


def _hedges(text: str) -> bool:
    return any(word.lower in HEDGES for word in words(text))


def about(quotes: Iterable[str], weighed: Weighed) -> float:
    """How far quotes, taken together with the sentences next to them, are about the claim, 0 to 1;
    0 below `ABOUT`, or when the quotes' own words have next to nothing of it."""
    quotes = list(quotes)
    if _share(weighed.weights, grams(" ".join(quotes))) < OWN:
        return 0.0
    stretch = " ".join(text for quote in quotes for text in _around(quote, weighed.sentences))
    share = _share(weighed.weights, grams(stretch))
    return min(1.0, share / EVERYTHING) if share >= ABOUT else 0.0


def disputes_in(claim: str, named: str, quote: str, weighed: Weighed, close: float) -> Dispute:
    """How far a quote disputes the named words of a claim.

    The side's quotes have to be about the claim (``close``, see `about`); and this one to differ in
    the named words: another number where the texts hold the claim's nowhere, an opposite, a
    negation that the claim has not, or another name.
    """
    if not close:
        return Dispute(0.0, "words")
    found = [
        (strength, ground)
        for ground, strength in (
            ("number", _other_number(named or claim, quote, weighed)),
            ("direction", _opposite(named or claim, quote)),
            ("negation", _negated(claim, quote)),
            ("name", _other_name(named, quote)),
        )
        if strength
    ]
    strength, ground = max(found, default=(ARGUED, "words"))
    strength = max(strength, ARGUED)
    return Dispute(close * strength, ground)


def grams(text: str) -> frozenset[str]:
    """Groups of four letters of the content words, word ends marked; short words whole."""
    found: set[str] = set()
    for word in words(text):
        if word.lower in STOP or word.lower[0].isdigit():
            continue
        marked = f" {word.lower} "
        found.update(marked[at : at + GRAM] for at in range(max(1, len(marked) - GRAM + 1)))
    return frozenset(found)


def numbers(text: str) -> set[str]:
    """The numbers of a text as digits without thousands separators, number words included."""
    found = {match.group().replace(",", "").rstrip(".") for match in _NUMBER.finditer(text)}
    found |= {str(WORD_VALUES[w.lower]) for w in words(text) if w.lower in WORD_VALUES}
    return found


def _share(weights: dict[str, float], held: frozenset[str]) -> float:
    total = math.fsum(weights.values())
    return (
        math.fsum(weight for gram, weight in weights.items() if gram in held) / total
        if total
        else 0.0
    )


def _around(quote: str, sentences: tuple[str, ...]) -> list[str]:
    """The quote, and the sentences before and after the one that it stands in."""
    at = next((i for i, s in enumerate(sentences) if quote in s or s in quote), None)
    return [quote] if at is None else [quote, *sentences[max(0, at - 1) : at + 2]]


def _other_number(named: str, quote: str, weighed: Weighed) -> float:
    mine, theirs = numbers(named), numbers(quote)
    if not mine or not theirs or mine <= theirs:
        return 0.0
    everywhere = {n for sentence in weighed.sentences for n in numbers(sentence)}
    return 0.9 if not mine <= everywhere else 0.45


def _opposite(named: str, quote: str) -> float:
    mine = {DIRECTIONS[w.stem] for w in words(named) if w.stem in DIRECTIONS}
    theirs = {DIRECTIONS[w.stem] for w in words(quote) if w.stem in DIRECTIONS}
    opposed = any((axis, -sign) in theirs and (axis, sign) not in theirs for axis, sign in mine)
    return 0.8 if opposed else 0.0


def _negated(claim: str, quote: str) -> float:
    mine = sum(w.lower in NEGATORS or w.lower.endswith("n't") for w in words(claim))
    theirs = sum(w.lower in NEGATORS or w.lower.endswith("n't") for w in words(quote))
    return 0.7 if (mine % 2) != (theirs % 2) else 0.0


def _other_name(named: str, quote: str) -> float:
    capitals = [w for w in words(named) if w.text[0].isupper()]
    stems = {w.stem for w in words(quote)}
    rivals = [w for w in words(quote)[1:] if w.text[0].isupper() and stem(w.lower) not in stems]
    absent = capitals and not any(w.stem in stems for w in capitals)
    return 0.7 if absent and (rivals or len(words(quote)) > 3) else 0.0
