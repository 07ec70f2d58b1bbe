"""Checks on a judge's answer that need no judge: what it says it read must be there.

Pure: an answer, the claim it was asked about and the texts it was shown in; findings out. A
finding is not a verdict. What becomes of it (an abstention or a flag) is the config's say.

| check         | finds                                                                       |
|---------------|-----------------------------------------------------------------------------|
| `claim`       | the answer is about another claim, or a reworded one                        |
| `quote`       | a quote is not in the source it names, or that source was not shown         |
| `found`       | a number, date or identifier said to be in a source is not there            |
| `consistency` | the answer contradicts itself, or gives a verdict without what it must have |
| `target`      | a refutation rests on a source alone that the claim does not cite           |
| `coverage`    | a claim called supported holds a number or identifier no source shown has   |
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Iterator, Mapping

from deepfact.core.quotes import contains_words, find_quote
from deepfact.records import FailureReason, Grounds, Label, QualificationKind, Span, Stance

REASONS: Mapping[str, FailureReason] = {
    "claim": FailureReason.WRONG_CLAIM,
    "quote": FailureReason.BAD_QUOTE,
    "found": FailureReason.BAD_QUOTE,
    "consistency": FailureReason.SELF_CONTRADICTION,
    "target": FailureReason.BAD_QUOTE,
    "coverage": FailureReason.BAD_QUOTE,
}
"""Why a vote abstains that fails a check, when the config says that it abstains."""

DEFAULT = {
    "claim": "abstain",
    "quote": "abstain",
    "found": "abstain",
    "consistency": "abstain",
    "target": "flag",
    "coverage": "flag",
}
"""Sums and conversions make numbers that no source holds, so `coverage` only flags."""


@dataclass(frozen=True)
class Quoted:
    """Words that an answer puts in a source's mouth."""

    source: str
    """The short id that the answer names."""
    quote: str


@dataclass(frozen=True)
class QuotedEvidence(Quoted):
    """Evidence as an answer gives it."""

    stance: Stance


@dataclass(frozen=True)
class QuotedQualification(Quoted):
    """A qualification as an answer gives it."""

    kind: QualificationKind
    text: str


@dataclass(frozen=True)
class Disputed(Quoted):
    """A contradiction as an answer gives it."""

    disputed: str


@dataclass(frozen=True)
class Answer:
    """A judge's answer, read but not believed."""

    claim_id: str
    claim: str
    label: Label
    refutes: bool
    grounds: Grounds
    rationale: str
    contradiction: Disputed | None = None
    qualifications: tuple[QuotedQualification, ...] = ()
    evidence: tuple[QuotedEvidence, ...] = ()
    found: tuple[Quoted, ...] = ()
    names_contradictions: bool = True
    """Whether the prompt has a place for the disputed words at all."""

    @property
    def quotes(self) -> tuple[Quoted, ...]:
        """Everything that it quotes."""
        qualified = tuple(one for one in self.qualifications if one.quote)
        disputed = (self.contradiction,) if self.contradiction else ()
        return (*disputed, *self.evidence, *qualified)


@dataclass(frozen=True)
class Asked:
    """What the judge was asked and shown."""

    claim_id: str
    claim: str
    texts: Mapping[str, str]
    """Text of each source by short id."""
    cited: frozenset[str]
    """Short ids of the sources that the claim cites."""
    headings: Mapping[str, str] = field(default_factory=dict)
    """Title and date of each source: where a number may stand, but no quote is taken from."""

    def card(self, source: str) -> str | None:
        """Text and heading of a source, or None when it was not shown."""
        text = self.texts.get(source)
        return None if text is None else f"{text}\n{self.headings.get(source, '')}"


@dataclass(frozen=True)
class Finding:
    """A check that an answer fails."""

    check: str
    detail: str

    def __str__(self) -> str:
        return f"{self.check}: {self.detail}"


def find_faults(answer: Answer, asked: Asked) -> list[Finding]:
    """Every check that the answer fails, the most serious first."""
    return [
        *(Finding("claim", detail) for detail in _claim(answer, asked)),
        *(Finding("quote", detail) for detail in _quotes(answer, asked)),
        *(Finding("found", detail) for detail in _found(answer, asked)),
        *(Finding("consistency", detail) for detail in _consistency(answer, asked)),
        *(Finding("target", detail) for detail in _target(answer, asked)),
        *(Finding("coverage", detail) for detail in _coverage(answer, asked)),
    ]


@lru_cache(maxsize=4096)
def span_of(quote: str, text: str) -> Span | None:
    """`find_quote`, remembered: the votes of a panel quote the same passages again and again."""
    return find_quote(quote, text)


def is_there(quoted: Quoted, asked: Asked) -> bool:
    """Whether the words stand in the source that is named."""
    text = asked.texts.get(quoted.source)
    return text is not None and span_of(quoted.quote, text) is not None


def _claim(answer: Answer, asked: Asked) -> Iterator[str]:
    if answer.claim_id != asked.claim_id:
        yield f"the answer is about {answer.claim_id[:80]!r}, not {asked.claim_id!r}"
    elif not _same(answer.claim, asked.claim):
        yield f"the answer rewords the claim: {answer.claim[:200]!r}"


def _same(one: str, other: str) -> bool:
    """Equal after the normalisation of quotes: white space, Unicode forms, invisible signs."""
    if one == other:
        return True
    return span_of(one, other) is not None and span_of(other, one) is not None


def _quotes(answer: Answer, asked: Asked) -> Iterator[str]:
    for quoted in dict.fromkeys(answer.quotes):
        if quoted.source not in asked.texts:
            yield f"no source {quoted.source[:80]!r} was shown; quoted as: {quoted.quote[:200]!r}"
        elif not is_there(quoted, asked):
            yield f"not in {quoted.source}: {quoted.quote[:200]!r}"


def _consistency(answer: Answer, asked: Asked) -> Iterator[str]:
    if not answer.rationale.strip():
        yield "the rationale is empty"
    if answer.label is Label.SUPPORTED and answer.contradiction is not None:
        yield "it calls the claim supported and names a contradiction"
    if answer.label is Label.INCONCLUSIVE and answer.contradiction is not None:
        yield "it calls the claim inconclusive and names a contradiction"
    if answer.names_contradictions and answer.label is Label.CONTRADICTORY:
        if answer.contradiction is None:
            yield "it calls the claim contradictory and does not name the disputed part"
        if answer.grounds is not Grounds.CONTRADICTION:
            yield f"it calls the claim contradictory on the grounds {answer.grounds}"
    if answer.refutes and answer.grounds is Grounds.NONE:
        yield "it refutes the claim on no grounds"
    if answer.label is Label.SUPPORTED and answer.grounds is not Grounds.NONE:
        yield f"it calls the claim supported and gives the grounds {answer.grounds}"
    if answer.label is not Label.CONTRADICTORY and answer.grounds is Grounds.CONTRADICTION:
        yield f"it calls the claim {answer.label} on the grounds of a contradiction"
    if answer.label is Label.SUPPORTED and Stance.SUPPORTS not in _stances(answer):
        yield "it calls the claim supported and quotes nothing that supports it"
    if answer.label is Label.SUPPORTED and Stance.CONTRADICTS in _stances(answer):
        yield "it calls the claim supported and quotes what contradicts it"
    disputed = answer.contradiction.disputed if answer.contradiction else ""
    if disputed and not contains_words(disputed, asked.claim):
        yield f"the disputed words are not in the claim: {disputed[:200]!r}"
    if answer.contradiction is not None and not disputed.strip():
        yield "it names no disputed words"


def _stances(answer: Answer) -> set[Stance]:
    return {quoted.stance for quoted in answer.evidence}


def _target(answer: Answer, asked: Asked) -> Iterator[str]:
    if not answer.refutes or not asked.cited:
        return
    against = {one.source for one in answer.evidence if one.stance is Stance.CONTRADICTS}
    if answer.contradiction is not None:
        against.add(answer.contradiction.source)
    if against and not against & asked.cited:
        yield f"refuted by {', '.join(sorted(against))}, which the claim does not cite"


# --- numbers, dates and identifiers ------------------------------------------------------

_NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?![\d])")
_IDENTIFIER = re.compile(
    r"(?<![\w-])(?=[\w./-]*\d)(?=[\w./-]*[A-Z])[A-Za-z0-9]+(?:[./-][A-Za-z0-9]+)*(?![\w])"
)
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_MONTH = "|".join(f"{name}|{name[:3]}" for name in _MONTHS)
_DATES = (
    re.compile(r"(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)(?!\d)"),
    re.compile(rf"(?P<d>\d\d?)(?:st|nd|rd|th)?\s+(?P<n>{_MONTH})\.?,?\s+(?P<y>\d{{4}})", re.I),
    re.compile(rf"(?P<n>{_MONTH})\.?\s+(?P<d>\d\d?)(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}})", re.I),
)


def numbers_in(text: str) -> set[str]:
    """Numbers written in digits, without grouping commas and trailing zeros."""
    return {_plain(match.group()) for match in _NUMBER.finditer(text)}


def _plain(number: str) -> str:
    number = number.replace(",", "")
    return number.rstrip("0").rstrip(".") if "." in number else number


def dates_in(text: str) -> set[str]:
    """Full dates as ISO 8601, in whichever of the usual ways they are written."""
    found = set()
    for pattern in _DATES:
        for match in pattern.finditer(text):
            parts = match.groupdict()
            name = (parts.get("n") or "").lower()
            month = int(parts["m"]) if parts.get("m") else _month(name)
            found.add(f"{parts['y']}-{month:02d}-{int(parts['d']):02d}")
    return found


def _month(name: str) -> int:
    return next(n for n, month in enumerate(_MONTHS, 1) if month.startswith(name))


def identifiers_in(text: str) -> set[str]:
    """Names with digits in them, such as ``SX-9``, ``NCT0417`` or ``v2.1-RC3``, case folded."""
    return {match.group().casefold() for match in _IDENTIFIER.finditer(text)}


def _found(answer: Answer, asked: Asked) -> Iterator[str]:
    for quoted in dict.fromkeys(answer.found):
        text = asked.card(quoted.source)
        if text is None:
            yield f"{quoted.quote[:80]!r} is said to be in {quoted.source[:80]!r}, not shown"
        elif not quoted.quote.strip() or not _states(text, quoted.quote):
            yield f"{quoted.quote[:80]!r} is said to be in {quoted.source} and is not there"


def _states(text: str, element: str) -> bool:
    """Whether ``text`` states ``element``: word for word, or as the same date or number."""
    if dates := dates_in(element):
        return dates <= dates_in(text)
    span = span_of(element.strip(), text)
    if span is not None and _whole(text, span.start, span.end):
        return True
    number = element.strip()
    return bool(_NUMBER.fullmatch(number)) and _plain(number) in numbers_in(text)


def _whole(text: str, start: int, end: int) -> bool:
    """Not a part of a longer number or name: "17" is not stated by "117" or "17.5"."""
    before, after = text[max(start - 2, 0) : start], text[end : end + 2]
    glued = bool(re.search(r"\w$|\d[.,]$", before)) and text[start].isalnum()
    return not (glued or (bool(re.match(r"\w|[.,]\d", after)) and text[end - 1].isalnum()))


def _coverage(answer: Answer, asked: Asked) -> Iterator[str]:
    """Elements of a claim called supported that no source shown holds in any form."""
    if answer.label is not Label.SUPPORTED:
        return
    shown = "\n".join(asked.card(source) or "" for source in asked.texts)
    missing = numbers_in(asked.claim) - numbers_in(shown)
    missing |= identifiers_in(asked.claim) - identifiers_in(shown)
    if missing:
        yield f"in no source shown: {', '.join(sorted(missing))}"
