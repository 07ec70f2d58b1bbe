"""Documented edits that make a supported claim unsupported: what was changed, from what, to what.

A rule proposes an edit by a seed, and `deepfact.reading.edit_checks` refuses those that would make
no sense or may leave the claim true. What passes is a proposal: a person should read it before it
counts as micro-gold. Pure functions of texts.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable

from deepfact.reading import changes
from deepfact.reading.edit_checks import (
    Proposal,
    Surroundings,
    difference,
    place,
    sentences_of,
    why_rejected,
)
from deepfact.reading.elements import elements
from deepfact.records import Source
from deepfact.vocabulary import EditKind

TRIES = 12
"""Draws of one rule on one claim before it is given up."""

_ALL_OF = ("some", "most", "many", "several", "half", "part")
_SCOPES = (
    *((f"{word} of the", "all of the") for word in _ALL_OF),
    ("nearly all|almost all", "all"),
    (r"(?:most|some|many|several)(?= [a-z]+s\b)", "all"),
    ("mostly|largely|mainly|partly|partially", "entirely"),
    ("often|usually|typically|generally|sometimes", "always"),
    ("nearly every|almost every", "every"),
    ("rarely|seldom", "never"),
    ("one of the (?:two|three|four|five|six)", "each of the"),
    ("only in", "not only in"),
    ("in one of", "in every one of"),
    ("at one of", "at every one of"),
)
_SCOPE = tuple((re.compile(rf"\b(?:{old})\b", re.IGNORECASE), new) for old, new in _SCOPES)


def propose(
    kind: EditKind, text: str, near: Surroundings, rng: random.Random
) -> tuple[Proposal | None, str]:
    """An edit of one kind, or none with the reason of the last refusal.

    Args:
        kind: what to change.
        text: a supported claim.
        near: what its sources say.
        rng: seeded; the same claim, kind and seed give the same edit.
    """
    why = f"there is no {kind} in it to change"
    for _ in range(TRIES):
        changed = _changed(kind, text, near, rng)
        if changed is None:
            continue
        changed = _with_article(changed, place(text, changed))
        before, after = difference(text, changed)
        proposal = Proposal(kind, text, changed, before, after)
        why = why_rejected(proposal, near)
        if not why:
            return proposal, ""
    return None, why


def _changed(kind: EditKind, text: str, near: Surroundings, rng: random.Random) -> str | None:
    around = near.around()
    if kind is EditKind.NUMBER:
        return changes.number(text, around, rng)
    if kind is EditKind.DATE:
        return changes.date(text, around, rng)
    if kind is EditKind.ENTITY:
        return changes.name(text, around, rng)
    if kind is EditKind.NEGATION:
        return changes.negation(text, around, rng)
    if kind is EditKind.DIRECTION:
        return changes.direction(text, around, rng)
    if kind is EditKind.ATTRIBUTION:
        return _attribution(text, near, rng)
    return _scope(text, rng)


def _attribution(text: str, near: Surroundings, rng: random.Random) -> str | None:
    """Somebody else put in for the one who is said to have said so."""
    spoken = [
        name
        for name in elements(text).names
        if _speaks(name.text, text) and not name.text.endswith("ing")
    ]
    if not spoken:
        return None
    chosen = rng.choice(spoken)
    lowered = text.lower()
    rivals = sorted(
        name
        for name in set(near.names)
        if not any(part in lowered for part in name.lower().split() if len(part) > 3)
    )
    if not rivals:
        return None
    return text[: chosen.start] + rng.choice(rivals) + text[chosen.end :]


def _speaks(name: str, text: str) -> bool:
    return any(name == who or who.startswith(f"{name} ") for who in elements(text).speakers)


def speakers_of(sources: Iterable[Source]) -> tuple[str, ...]:
    """Names that may stand for another speaker: those that the sources say have said something."""
    found: set[str] = set()
    for source in sources:
        for sentence in sentences_of(source.title, source.text):
            taken = elements(sentence)
            named = {
                name.text
                for name in taken.names
                if not name.initial and not re.search(r"\b[Tt]he $", sentence[: name.start])
            }
            found.update(who for who in taken.speakers if who in named)
    return tuple(sorted(name for name in found if not name.endswith("ing")))


def _scope(text: str, rng: random.Random) -> str | None:
    """A wider scope: more of them, more often, for longer."""
    found = [(match, new) for pattern, new in _SCOPE for match in pattern.finditer(text)]
    if not found:
        return None
    match, new = rng.choice(found)
    new = new.capitalize() if match.group()[0].isupper() else new
    return text[: match.start()] + new + text[match.end() :]


def _with_article(text: str, at: int) -> str:
    """ "an decrease" is "a decrease": a wrong article before the change would give it away."""
    article = re.search(r"\b([Aa])n? $", text[:at])
    if article is None:
        return text
    vowel = re.match(r"[aeio](?!ne\b|nce\b|u)|u[^n]|un[^i]", text[at:], re.IGNORECASE)
    return f"{text[: article.start()]}{article[1]}{'n' if vowel else ''} {text[at:]}"
