"""What a claim is about: its subject and predicate in one spelling, and under which conditions.

Pure. "The Indexer-A (v2.1)" and "Indexer A" are one subject under two conditions; "does not
support" and "supports" are one predicate with opposite signs. Nothing is guessed by
resemblance: two names are one only by these rules, by an acronym spelt out in a claim, or by
an alias that the ledger gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from deepfact.core.skeptic_values import (
    Period,
    plain,
    read_period,
    read_value,
    singular,
)
from deepfact.research_records import ResearchClaim

_ARTICLES = re.compile(r"^(?:the|a|an|this|that|its)\s+")
_LEGAL = re.compile(r",?\s+(?:inc|ltd|llc|corp|corporation|gmbh|plc|co|ag|sa)\.?$")
_VERSION = re.compile(r"\b(?:version|release|v\.?)\s*(\d+(?:\.\w+)*)\b|\b(\d+\.\d+(?:\.\w+)*)\b")
_DATE = re.compile(
    r"\b(?:(?:in|as of|during|since|by|until|at the end of)\s+)?"
    r"((?:(?:\d{1,2}\s+)?(?:january|february|march|april|may|june|july|august|september|october|"
    r"november|december)\s+(?:\d{1,2},?\s+)?)?(?:19|20)\d{2}(?:-\d{2}(?:-\d{2})?)?"
    r"|q[1-4]\s+(?:19|20)\d{2})\b"
)
_TEXT_VERSION = re.compile(r"\b(?:version|release|v)\s*\.?\s*(\d+(?:\.\w+)*)\b")
_SCOPE = re.compile(r"\s+(?:on|in|for|under|within|among|at)\s+(.+)$")
_PARENTHESIS = re.compile(r"\s*\(([^()]*)\)")
_NEGATION = re.compile(
    r"\b(?:not|never|cannot|no longer|without|lacks|lack|fails to|fail to|unable to|isn't|aren't|"
    r"doesn't|don't|didn't|wasn't|weren't|can't|won't|hasn't|haven't|no)\b"
)
_AUXILIARY = frozenset(
    ("is", "are", "was", "were", "be", "been", "being", "do", "does", "did", "has", "have", "had",
     "can", "could", "will", "would", "the", "a", "an", "of", "to", "in", "on", "at", "by", "for",
     "currently", "it", "its")
)  # fmt: skip
_SYNONYMS = {
    "establish": "found", "creat": "found", "launch": "releas", "publish": "releas",
    "ship": "releas", "quick": "fast", "quickest": "fastest", "quicker": "faster",
    "headcount": "employee", "staff": "employee", "cost": "price",
}  # fmt: skip
"""Stem of a predicate's word -> the stem it is compared as."""


@dataclass(frozen=True)
class Topic:
    """What a claim is about."""

    subject: str
    """In one spelling; the claim's whole text where it names no subject."""
    predicate: frozenset[str]
    """Stems of its words, without those that carry no meaning."""
    negated: bool
    conditions: Mapping[str, frozenset[str]]
    """By kind (``version``, ``date``, ``scope``...): each condition that is stated."""


def topics(claims: Iterable[ResearchClaim], aliases: Mapping[str, str]) -> dict[str, Topic]:
    """The topic of each claim by id.

    Args:
        claims: of one ledger; acronyms that one of them spells out hold for all, and what
            follows "on", "in", "for" in a subject is a scope when another claim is about the
            same thing without it.
        aliases: other names of subjects, as the ledger gives them.
    """
    every = list(claims)
    names = {bare_name(short): bare_name(name) for short, name in aliases.items()}
    subjects: set[str] = set()
    for claim in every:
        subject = plain(claim.subject)
        for match in _PARENTHESIS.finditer(claim.subject):
            outside = bare_name(_PARENTHESIS.sub("", claim.subject))
            if _is_acronym(match[1], outside):
                names.setdefault(bare_name(match[1]), outside)
        subjects.add(bare_name(_conditioned(subject, {})))
    return {claim.id: _topic(claim, names, subjects) for claim in every}


def _topic(claim: ResearchClaim, names: Mapping[str, str], subjects: set[str]) -> Topic:
    conditions: dict[str, set[str]] = {}
    for kind, value in claim.conditions.items():
        conditions.setdefault(plain(kind), set()).add(plain(value))
    subject = _conditioned(plain(claim.subject), conditions)
    if (tail := _SCOPE.search(subject)) and bare_name(subject[: tail.start()]) in subjects:
        conditions.setdefault("scope", set()).add(bare_name(tail[1]))
        subject = subject[: tail.start()]
    predicate = _conditioned(plain(claim.predicate), conditions)
    if not isinstance(read_value(claim.object), Period):
        _from_text(claim, conditions)
    subject = bare_name(subject)
    return Topic(
        subject=names.get(subject, subject) or " ".join(_tokens(plain(claim.text))),
        predicate=stems(predicate),
        negated=len(_NEGATION.findall(predicate)) % 2 == 1,
        conditions={kind: frozenset(values) for kind, values in conditions.items()},
    )


def _conditioned(text: str, conditions: dict[str, set[str]]) -> str:
    """``text`` without the version and date it names, which are added to ``conditions``."""
    for match in _PARENTHESIS.finditer(text):
        _note(match[1], conditions)
    text = _PARENTHESIS.sub("", text)
    for kind, pattern in (("date", _DATE), ("version", _VERSION)):
        for match in pattern.finditer(text):
            conditions.setdefault(kind, set()).add(next(filter(None, match.groups())))
        text = " ".join(pattern.sub(" ", text).split())
    return text


def _note(aside: str, conditions: dict[str, set[str]]) -> None:
    """A date or version that stands in parentheses."""
    for kind, pattern in (("date", _DATE), ("version", _VERSION)):
        if match := pattern.fullmatch(aside.strip()):
            conditions.setdefault(kind, set()).add(next(filter(None, match.groups())))
            return


def _from_text(claim: ResearchClaim, conditions: dict[str, set[str]]) -> None:
    """The date and version that only the claim's text tells, where it tells one of each and the
    claim is not about that date or version itself."""
    text = plain(claim.text)
    for kind, pattern in (("date", _DATE), ("version", _TEXT_VERSION)):
        found = {match[1] for match in pattern.finditer(text)}
        if len(found) == 1 and not any(one in plain(claim.object) for one in found):
            conditions.setdefault(kind, found)


def bare_name(text: str) -> str:
    """A name in one spelling: no article, no legal form, no punctuation, singular."""
    words = _LEGAL.sub("", _ARTICLES.sub("", plain(text)))
    words = re.sub(r"['’]s\b", "", words)
    return " ".join(singular(token) for token in _tokens(words))


def _tokens(text: str) -> list[str]:
    return re.findall(r"\w[\w+#]*", text)


def _is_acronym(short: str, name: str) -> bool:
    """Whether ``short`` is made of the first letters of ``name``."""
    letters = "".join(word[0] for word in name.split() if word not in ("of", "the", "and", "for"))
    return len(short) >= 2 and short.isupper() and plain(short) == letters


@lru_cache(maxsize=4096)
def stems(predicate: str) -> frozenset[str]:
    """What a predicate is compared by: stems of its words, without those that carry no meaning
    and without its negations."""
    words = plain(predicate)
    tokens = _tokens(_NEGATION.sub(" ", words))
    kept = frozenset(_stem(token) for token in tokens if token not in _AUXILIARY)
    return kept or (frozenset({"be"}) if words else frozenset())


def _stem(word: str) -> str:
    """A rough stem: enough for ``released``, ``releases`` and ``releasing`` to be one."""
    stem = singular(word)
    for ending in ("ing", "ed", "e"):
        if len(stem) > len(ending) + 3 and stem.endswith(ending):
            stem = stem[: -len(ending)]
            break
    return _SYNONYMS.get(stem, stem)


def differing(one: Topic, other: Topic) -> list[str]:
    """The kinds of condition by which two claims may both be true.

    A date, version or other condition tells them apart when both state it and share none. A
    scope does so when one alone states it, too: what holds for the whole need not hold for a
    part of it.
    """
    kinds = []
    for kind in sorted(set(one.conditions) | set(other.conditions)):
        here, there = one.conditions.get(kind), other.conditions.get(kind)
        both = here is not None and there is not None
        if (both and not _meet(kind, here or frozenset(), there or frozenset())) or (
            kind == "scope" and not both
        ):
            kinds.append(kind)
    return kinds


def _meet(kind: str, here: frozenset[str], there: frozenset[str]) -> bool:
    """Whether two sets of conditions of one kind have anything in common."""
    if here & there:
        return True
    return any(_same(kind, one, other) for one in here for other in there)


def _same(kind: str, one: str, other: str) -> bool:
    if kind == "date":
        first, second = read_period(one), read_period(other)
        if first and second:
            return first.first <= second.last and second.first <= first.last
    if kind == "version":
        return _inside(one, other) or _inside(other, one)
    return bare_name(one) == bare_name(other)


def _inside(version: str, series: str) -> bool:
    """Whether a version is of a series: 2.1.3 of 2.1."""
    numbers, prefix = (re.sub(r"^(?:version|v)\.?\s*", "", v).split(".") for v in (version, series))
    return numbers[: len(prefix)] == prefix
