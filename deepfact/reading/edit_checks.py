"""Which edits of a claim are refused: they make no sense, or may leave the claim true.

A bound ("more than 40"), a rounded number, a date after "since", a hedge, a negated "some", a
name in another's place, or a sentence of the sources that says just what the edited claim says. The
checks read words, not meaning. Pure functions of texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from deepfact.reading.elements import Elements, elements
from deepfact.reading.lexicon import SENTENCE_STARTERS
from deepfact.records import Source
from deepfact.retrievers.passages import sentence_spans
from deepfact.vocabulary import EditKind

SAID = 0.6
"""Share of an edited claim's content words in one sentence from which that sentence may say so."""

_WORD = re.compile(r"\s+|[\w$€£%]+(?:[.,'’\-–][\w%]+)*|\S")
_BOUND = re.compile(
    r"(?:about|around|nearly|roughly|approximately|almost|some|least|most|than|over|under|up to|"
    r"above|below|beyond|exceed(?:s|ed|ing)?|close to|close on|well|just|between|within|every)"
    r"(?: [$€£])?\s*[$€£]?$",
    re.IGNORECASE,
)
_OPEN_DATE = re.compile(
    r"\b(?:by|before|after|since|until|till|from|between|and|to|through|than)"
    r"(?: (?:the|end|start|beginning|close|middle|of|early|late))*\s*$",
    re.IGNORECASE,
)
_IN = r"(?:[^.;]|\.\d)*"
_RANGE = re.compile(rf"\bfrom\b{_IN}\d{_IN}\bto\b{_IN}\d|\bbetween\b{_IN}\d{_IN}\band\b{_IN}\d")
_CONDITION = re.compile(
    r"\b(?:if|unless|whether|provided|would|could|may|might|should|can)\b", re.IGNORECASE
)
_WEAK_SUBJECT = re.compile(
    r"\b(?:some|any|all|every|each|both|either|only|almost|nearly)\b", re.IGNORECASE
)
_SUBORDINATE = re.compile(
    r"\b(?:who|whom|whose|which|that|what|once|when|where|as|than|although|though|while|because|"
    r"since|until|after|before|how)\b[^,;]*$",
    re.IGNORECASE,
)
_MAIN_VERB = re.compile(
    r"\b(?:do|does|did) not\b(?=[ ,.;]*(?:$|[^a-z ]))|\b(?:has|have|had) not "
    r"(?:an?|the|no|its|their|his|her|one|two|three|\d)\b|\bnot [,.;]"
)
_AUXILIARY_LAST = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|could|will|would|do|does|did|been|be|than)\s*$",
    re.IGNORECASE,
)
_NO_DIRECTION_WORDS = """
first last most least raised cut always never likely unlikely more less before after
earlier later ended began ends begins opened closed opens closes positive negative
"""
_NO_DIRECTION = frozenset(_NO_DIRECTION_WORDS.split())
_IDIOM = re.compile(
    r"\b(?:rose|fell|rise|fall|rises|falls|rising|falling|gained|lost|won|passed|failed) "
    r"(?:short|half|a|in|into|on|within|under|outside|through|apart|ground|out)\b"
)
_BROKEN = re.compile(r"\b(?:wo|ca|sha)\b(?!['’])|\b(?:do|does|did) (?:is|are|was|were|has|have)\b")
_BODIES_WORDS = """
office institute institution bank fund registry register group laboratory lab directorate authority
agency university college school council ministry department society partners trust research ratings
systems foods media commission committee board union association company corporation inc ltd survey
service centre center foundation teachers court bureau
"""
_BODIES = frozenset(_BODIES_WORDS.split())
"""Last words of names of bodies: a body is put in for a body, and for nothing else."""
_MONTH_DAYS = {
    "february": 29, "april": 30, "june": 30, "september": 30, "november": 30,
}  # fmt: skip
_CALENDAR_WORDS = """
monday tuesday wednesday thursday friday saturday sunday january february march april may june july
august september october november december
"""
_CALENDAR = frozenset(_CALENDAR_WORDS.split())


@dataclass(frozen=True, slots=True)
class Proposal:
    """An edit that passed the checks."""

    kind: EditKind
    original: str
    text: str
    """The claim with the edit in it."""
    before: str
    after: str


@dataclass(frozen=True)
class Surroundings:
    """What a claim is edited against: the sources that it cites, and the names of others."""

    cited: tuple[Source, ...]
    names: tuple[str, ...] = ()
    """Who else may be said to have said so: names out of other sources' titles."""

    def sentences(self) -> tuple[str, ...]:
        """The sentences of the cited sources, titles included."""
        return tuple(s for source in self.cited for s in sentences_of(source.title, source.text))

    def around(self) -> list[Elements]:
        """The same, taken apart."""
        return [elements(sentence) for sentence in self.sentences()]


@lru_cache(maxsize=512)
def sentences_of(title: str, text: str) -> tuple[str, ...]:
    """The sentences of a source, its title first."""
    return (title, *(text[span.start : span.end] for span in sentence_spans(text)))


def difference(before: str, after: str) -> tuple[str, str]:
    """The words in which two texts differ, from the first that does to the last."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return (
        "".join(old[head : len(old) - tail]).strip(),
        "".join(new[head : len(new) - tail]).strip(),
    )


def place(original: str, text: str) -> int:
    """Where two texts begin to differ, at the start of a word."""
    length = 0
    for old, new in zip(_WORD.findall(original), _WORD.findall(text), strict=False):
        if old != new:
            break
        length += len(old)
    return length


def why_rejected(proposal: Proposal, near: Surroundings) -> str:
    """Why an edit does not count: it makes no sense, or may leave the claim true. Empty when it
    passes."""
    if " ".join(proposal.text.split()).lower() == " ".join(proposal.original.split()).lower():
        return "it changes nothing"
    if _BROKEN.search(proposal.text) or re.search(r"\b(\w+) \1\b", proposal.text):
        return "it is no sentence any more"
    taken = elements(proposal.original)
    if proposal.kind in (EditKind.NEGATION, EditKind.DIRECTION) and (
        taken.hedges or _CONDITION.search(proposal.original)
    ):
        return "the claim is hedged or conditional: it may be true either way"
    return next(iter(_by_kind(proposal, near)), "") or _still_said(proposal, near)


def _by_kind(proposal: Proposal, near: Surroundings) -> Iterator[str]:
    at = place(proposal.original, proposal.text)
    ahead = proposal.original[:at]
    if proposal.kind is EditKind.NUMBER:
        yield from _bad_number(proposal, ahead)
    elif proposal.kind is EditKind.DATE:
        yield from _bad_date(proposal, ahead)
    elif proposal.kind in (EditKind.ENTITY, EditKind.ATTRIBUTION):
        yield from _bad_name(proposal, near, at)
    elif proposal.kind is EditKind.NEGATION:
        yield from _bad_negation(proposal, ahead)
    elif proposal.kind is EditKind.DIRECTION:
        yield from _bad_direction(proposal, ahead)
    elif _BOUND.search(ahead.rstrip()):
        yield "what was widened is a bound"
    elif re.search(r"\b(?:as|too|how|so|very|not) $", ahead, re.IGNORECASE):
        yield "it is no sentence any more"


def _bad_number(proposal: Proposal, ahead: str) -> Iterator[str]:
    if re.sub(r"[\d,.]", "", proposal.before) != re.sub(r"[\d,.]", "", proposal.after):
        yield "the other number is of something else"
    digits = [re.search(r"\d[\d,]*(?:\.\d+)?", part) for part in (proposal.before, proposal.after)]
    if _BOUND.search(ahead.rstrip()) or _BOUND.search(ahead):
        yield "the number is rounded or a bound, so that another may be true as well"
    if _RANGE.search(proposal.original):
        yield "the number belongs to a range or a change, which would no longer make sense"
    if digits[0] is None or digits[1] is None:
        return
    old, new = (float(found.group().replace(",", "")) for found in digits if found)
    if new == 0 or 1 in (old, new):
        yield "none, or a single one, would not fit the words around it"
    percent = proposal.after.rstrip().endswith(("%", "percent")) or "percent" in proposal.text
    if percent and new > 100 >= old:
        yield "more than all of it"
    if "." not in proposal.before and 1900 < old < 2100 and old == int(old):
        yield "the number may be a year"


def _bad_date(proposal: Proposal, ahead: str) -> Iterator[str]:
    if _OPEN_DATE.search(ahead):
        yield "the date is a bound, so that another may be true as well"
    if _RANGE.search(proposal.original):
        yield "the date belongs to a range, which would no longer make sense"
    if re.search(r"[-–/]", proposal.before):
        yield "one end of a span of years would be before the other"
    others = [date.text for date in elements(proposal.original).dates]
    if proposal.after in others:
        yield "the other date is in the claim already"
    tail = proposal.text[len(ahead) :]
    for day, month in re.findall(r"(\d{1,2})(?:st|nd|rd|th)? ([A-Z][a-z]+)", f"{ahead[-4:]}{tail}"):
        if int(day) > _MONTH_DAYS.get(month.lower(), 31):
            yield "there is no such day"


def _bad_name(proposal: Proposal, near: Surroundings, at: int) -> Iterator[str]:
    after = proposal.after
    if any(part.lower() in _CALENDAR | SENTENCE_STARTERS for part in after.split()):
        yield "the other name is no name"
    if proposal.kind is EditKind.ATTRIBUTION:
        return
    bodies = [words[-1] in _BODIES for words in map(_parts, (proposal.before, after))]
    digits = [any(c.isdigit() for c in name) for name in (proposal.before, after)]
    if bodies[0] != bodies[1] or digits[0] != digits[1] or after.lower() in _BODIES:
        yield "the other name is of another sort"
    word = _word_before(proposal.original, at)
    used = {
        _word_before(sentence, match.start())
        for sentence in near.sentences()
        for match in re.finditer(re.escape(after), sentence)
    }
    if word not in used:
        yield "the sources do not use the other name in such a place"
    if abs(len(proposal.before.split()) - len(after.split())) > 1:
        yield "the other name is of another sort"


def _parts(name: str) -> list[str]:
    return name.lower().split() or [""]


def _word_before(text: str, at: int) -> str:
    """The word before a place, in small letters; empty at the start of a sentence."""
    found = re.search(r"([\w.!?]+)[\s“\"(]*$", text[:at])
    return "" if found is None or found[1][-1] in ".!?" else found[1].lower()


def _bad_negation(proposal: Proposal, ahead: str) -> Iterator[str]:
    original = proposal.original
    if re.search(r"\bnot only\b|\bnothing but\b", original, re.IGNORECASE):
        yield "its negation is no denial"
    if _WEAK_SUBJECT.search(original):
        yield "negating a claim about some or all of them may leave it true"
    if _SUBORDINATE.search(ahead):
        yield "the negation would fall into a subordinate clause"
    if _MAIN_VERB.search(proposal.text):
        yield "it is no sentence any more"
    taken_out = not proposal.after
    if (
        taken_out
        and proposal.before == "no"
        and not re.match(r"\w+s\b", proposal.text[len(ahead) :])
    ):
        yield "it is no sentence any more"
    if taken_out and proposal.before == "not" and not _AUXILIARY_LAST.search(ahead):
        yield "what is left denies nothing"


def _bad_direction(proposal: Proposal, ahead: str) -> Iterator[str]:
    if _NO_DIRECTION & {word.lower() for word in re.findall(r"\w+", proposal.before)}:
        yield "turning that word round says nothing that is surely false"
    if _RANGE.search(proposal.original):
        yield "the numbers beside it would contradict the word"
    rest = proposal.original[place(proposal.original, proposal.text) :]
    if (
        re.match(rf"{re.escape(proposal.before)} or\b", rest)
        or _IDIOM.match(rest)
        or re.search(r"\bor $", ahead)
    ):
        yield "the word has no opposite there"


def _still_said(proposal: Proposal, near: Surroundings) -> str:
    """Whether a sentence of the sources says what the edited claim says."""
    if proposal.kind in (EditKind.NEGATION, EditKind.SCOPE) or not proposal.after:
        return ""
    wanted = elements(proposal.text).stems - elements(proposal.after).stems
    for sentence in near.sentences():
        if proposal.after.lower() not in sentence.lower():
            continue
        if proposal.before and proposal.before.lower() in sentence.lower():
            continue
        shared = len(wanted & elements(sentence).stems) / len(wanted) if wanted else 1.0
        if shared >= SAID:
            return "a sentence of the sources may say just that"
    return ""
