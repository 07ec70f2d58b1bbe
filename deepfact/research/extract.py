"""Bounded claims from a source's text by rules: sentences, fields and tables, each with its span.

No model and no guess: a claim is a stretch of the text, word for word, and subject, predicate
and object are filled in only where a sentence has one of a few plain forms. Text that gives
orders to its reader is text like any other. Reads no files.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

from deepfact.core.skeptic_values import Period, Quantity, read_value
from deepfact.records import SourceRole, Span, sha256_of
from deepfact.research_records import ClaimKind, ExtractedBy, ResearchClaim, SourceCard
from deepfact.retrievers.passages import sentence_spans
from deepfact.retrievers.words import stems

TABLES = (".csv", ".tsv")
LONGEST = 400
"""Characters of the longest claim: what is longer is no bounded claim."""

_NAME = r"(?:the |an? )?[\w][\w.+'/&-]*(?: [\w.+'/&()-]+){0,6}?"
_BE = r"(?:is|are|was|were)"
_PATTERNS = (
    # The median latency of Indexer A is 12 ms.
    re.compile(
        rf"^the (?P<predicate>[\w -]{{3,40}}?) of (?P<subject>{_NAME}) {_BE}(?P<no> not)? "
        r"(?P<object>.+)$",
        re.IGNORECASE,
    ),
    # Indexer A has a median latency of 12 ms.
    re.compile(
        rf"^(?P<subject>{_NAME}) (?:has|have|had) an? (?P<predicate>[\w -]{{3,40}}?) of "
        r"(?P<object>.+)$",
        re.IGNORECASE,
    ),
    # Indexer A was released in 2021.
    re.compile(
        rf"^(?P<subject>{_NAME}) {_BE}(?P<no> not)? (?P<predicate>founded|established|released|"
        r"launched|published|opened|closed|signed|born|built|discontinued) (?:in|on) "
        r"(?P<object>.+)$",
        re.IGNORECASE,
    ),
    # Indexer A does not support phrase queries.
    re.compile(
        rf"^(?P<subject>{_NAME}) (?P<predicate>(?:does not |do not |did not )?(?:support|use|"
        r"require|contain|include|provide|cost|weigh|allow)(?:s|ed)?) (?P<object>.+)$",
        re.IGNORECASE,
    ),
    # Indexer A is not the fastest implementation.
    re.compile(
        rf"^(?P<subject>{_NAME}) {_BE}(?P<no> not)? (?P<predicate>(?:the|an?) [\w -]{{3,60}})$",
        re.IGNORECASE,
    ),
)
_PRONOUN = re.compile(
    r"^(?:it|he|she|they|this|these|that|those|we|i|you|there|here|who|which|what)\b", re.IGNORECASE
)
_OPINION = re.compile(
    r"\b(?:believe|think|feel|opinion|arguably|in my view|should)\b", re.IGNORECASE
)
_FORECAST = re.compile(r"\b(?:will|is expected to|are expected to|forecast)\b", re.IGNORECASE)
_BENCH = re.compile(r"\bbenchmarks?\b|\bleaderboard\b|\boutperform", re.IGNORECASE)
_FIELD = re.compile(
    r"^[ \t]*[-*]?[ \t]*([A-Z][\w /()-]{1,40}):[ \t]+(\S[^\n]{0,120})$", re.MULTILINE
)
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+)$", re.MULTILINE)
_NUMBER = re.compile(r"\d")
_UNIT_STOP = re.compile(r"\d\s?[a-zµ]{1,4}(\.)\s+(?=[A-Z])")


@dataclass(frozen=True)
class Found:
    """A stretch of a text that states something, and what the rules make of it."""

    start: int
    end: int
    text: str
    """As a claim: the stretch itself, or a row told in words."""
    subject: str = ""
    predicate: str = ""
    object: str = ""


def extract_claims(
    card: SourceCard, question: str, *, name: str = "", limit: int = 5
) -> list[ResearchClaim]:
    """At most ``limit`` claims of a card, those that share most words with the question.

    Args:
        card: generated text gives no claims.
        question: what is asked; a claim that shares no word with it is left out.
        name: the file's name, whose ending tells tables from text.
        limit: so that one long source does not crowd out the others.

    Returns:
        Claims in the order of the text; their ids depend on card and place alone.
    """
    if card.source.role in (SourceRole.GENERATED, SourceRole.MODEL_ANSWER):
        return []
    text = card.source.text
    table = name.lower().endswith(TABLES)
    found = list(_rows(text, name)) if table else _stretches(card)
    asked = set(stems(question))
    ranked = []
    for one in found:
        shared = len(asked & set(stems(f"{one.subject} {one.predicate} {one.text}")))
        if shared or not asked:
            ranked.append((-shared, not one.subject, one.start, one))
    ranked.sort(key=lambda item: item[:3])
    chosen = sorted((item[3] for item in ranked[: max(limit, 0)]), key=lambda one: one.start)
    claims = [_claim(one, card) for one in chosen]
    return list({claim.id: claim for claim in claims}.values())


def _claim(found: Found, card: SourceCard) -> ResearchClaim:
    span = Span(start=found.start, end=found.end)
    place = f"{card.source.id} {found.start} {found.end} {found.predicate}"
    return ResearchClaim(
        id=f"c-{sha256_of(place)[7:19]}",
        text=found.text,
        subject=found.subject,
        predicate=found.predicate,
        object=found.object,
        kind=_kind(found),
        card=card.source.id,
        quote=card.source.text[found.start : found.end],
        span=span,
        extracted_by=ExtractedBy.RULES,
    )


def _kind(found: Found) -> ClaimKind:
    if _OPINION.search(found.text):
        return ClaimKind.OPINION
    if _FORECAST.search(found.text):
        return ClaimKind.FORECAST
    if _BENCH.search(found.text):
        return ClaimKind.BENCHMARK
    value = read_value(found.object)
    if isinstance(value, Period):
        return ClaimKind.EVENT
    if isinstance(value, Quantity) or (value is None and _NUMBER.search(found.text)):
        return ClaimKind.MEASUREMENT
    return ClaimKind.ATTRIBUTE if found.subject else ClaimKind.OTHER


def _stretches(card: SourceCard) -> list[Found]:
    """The fields of a text, and the sentences that are no fields."""
    fields = list(_fields(card))
    taken = [(one.start, one.end) for one in fields]
    free = (
        one
        for one in _sentences(card.source.text)
        if not any(start < one.end and one.start < end for start, end in taken)
    )
    return [*fields, *free]


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Sentences; also cut after a unit and a full stop, which look like an abbreviation."""
    for span in sentence_spans(text):
        start = span.start
        for match in _UNIT_STOP.finditer(text, span.start, span.end):
            yield start, match.end(1)
            start = match.end()
        yield start, span.end


def _sentences(text: str) -> Iterator[Found]:
    """The sentences that can be read alone; taken apart where they have a plain form."""
    for start, end in _spans(text):
        words = " ".join(text[start:end].split())
        if len(words) > LONGEST or len(words.split()) < 4 or words.endswith(("?", ":")):
            continue
        if _PRONOUN.match(words) or words.startswith(("#", "|", "-", "*", ">")):
            continue
        yield _taken_apart(words, start, end)


def _taken_apart(words: str, start: int, end: int) -> Found:
    plain = words.rstrip(".!")
    for pattern in _PATTERNS:
        match = pattern.match(plain)
        if match is None:
            continue
        parts = match.groupdict()
        predicate, value = parts["predicate"], parts.get("object")
        denied = bool(parts.get("no"))
        if value is None:  # being something or not is a truth
            return Found(start, end, words, parts["subject"], predicate, "no" if denied else "yes")
        if denied:
            predicate = f"not {predicate}"
        return Found(start, end, words, parts["subject"], predicate, value)
    return Found(start, end, words)


def _fields(card: SourceCard) -> Iterator[Found]:
    """Lines such as ``License: MIT``, said of the nearest heading above, or of the title."""
    text = card.source.text
    headings = [(match.start(), match[1].strip()) for match in _HEADING.finditer(text)]
    for match in _FIELD.finditer(text):
        above = [name for at, name in headings if at < match.start()]
        subject = above[-1] if above else card.source.title.rpartition(".")[0] or card.source.title
        field, value = match[1].strip(), match[2].strip()
        told = f"{subject}: {field} is {value.rstrip('.')}."
        start = match.start(1)
        yield Found(start, match.end(2), told, subject, field, value.rstrip("."))


def _rows(text: str, name: str) -> Iterator[Found]:
    """The cells of a table with a header: first column the subject, heading the predicate."""
    delimiter = "\t" if name.lower().endswith(".tsv") else ","
    header: list[str] = []
    start = 0
    for line in text.splitlines(keepends=True):
        stretch = line.rstrip("\r\n")
        cells = next(csv.reader(io.StringIO(stretch), delimiter=delimiter), [])
        if not header:
            header = [cell.strip() for cell in cells]
        elif len(cells) == len(header) and cells[0].strip():
            subject = cells[0].strip()
            for column, cell in zip(header[1:], cells[1:], strict=True):
                if column and cell.strip():
                    told = f"{subject}: {column} is {cell.strip()}."
                    end = start + len(stretch)
                    yield Found(start, end, told, subject, column, cell.strip())
        start += len(line)
