"""A blind case as the audit page shows it: texts cut where quotes and sentences begin and end.

Takes cases and sources, never keys, and hands on nothing of a case that could say what it is for:
not the claim's id, nor its kind. Texts are cut, not changed: each stretch knows where it stands,
so that what an auditor selects is a range of the stored text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise

from deepfact.core.quotes import find_quote
from deepfact.records import Case, Claim, Position, Source, SourceRole, Span
from deepfact.reports.templating import visible
from deepfact.retrievers.passages import sentence_spans
from deepfact.review import source_ids

CONTEXT = 2
"""Sentences shown before and after the claim in the excerpt of its report."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a text that is shown in one way."""

    at: int
    """Where it begins, in characters (code points) of the stored text."""
    raw: int
    """How many characters of the stored text it stands for."""
    text: str
    odd: bool = False
    """A hidden character, written as its code point: it can only be selected as a whole."""
    quotes: tuple[str, ...] = ()
    """Names of the quotes that cover it, such as ``a1``."""
    begins: tuple[str, ...] = ()
    """Those of them that begin here."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, or what stands between two."""

    start: int
    end: int
    stretches: tuple[Stretch, ...]
    between: bool = False


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote of one side, as it is shown."""

    name: str
    """Its anchor, such as ``a1``."""
    text: str
    stance: str
    source: SourceText
    found: bool
    disputed: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """A qualification: context, never a contradiction."""

    kind: str
    text: str
    quote: Quote | None


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a case."""

    letter: str
    label: str
    rationale: str
    contradictions: tuple[Quote, ...]
    evidence: tuple[Quote, ...]
    notes: tuple[Note, ...]


@dataclass(slots=True)
class SourceText:
    """A source that a case cites or quotes. ``source`` is None when the benchmark lacks it."""

    number: int
    id: str
    source: Source | None
    cited: bool
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def generated(self) -> bool:
        """Written by a model: never evidence."""
        return self.source is not None and self.source.role in (
            SourceRole.GENERATED,
            SourceRole.MODEL_ANSWER,
        )

    @property
    def sentences(self) -> list[Sentence]:
        """Its text, cut."""
        return cut(self.source.text, self.spans) if self.source else []


@dataclass(frozen=True, slots=True)
class Report:
    """The report that a claim stood in."""

    title: str
    sentences: list[Sentence]
    excerpt: list[Sentence]
    """The claim's sentence and those around it."""


@dataclass(frozen=True, slots=True)
class CaseView:
    """Everything of a case that the page shows."""

    id: str
    text: str
    context: str
    report: Report | None
    sides: tuple[Side, Side]
    sources: tuple[SourceText, ...]


def case_view(case: Case, sources: Mapping[str, Source]) -> CaseView:
    """A case with its texts."""
    texts = source_texts(case, sources)
    by_id = {text.id: text for text in texts}
    sides = (_side("a", case.a, by_id), _side("b", case.b, by_id))
    claim = case.claim
    report = _report(claim, sources)
    return CaseView(case.id, claim.text, claim.context, report, sides, texts)


def source_texts(case: Case, sources: Mapping[str, Source]) -> tuple[SourceText, ...]:
    """The sources of a case, numbered from 1 in the order of `deepfact.review.source_ids`."""
    return tuple(
        SourceText(number, source, sources.get(source), source in case.claim.cites)
        for number, source in enumerate(source_ids(case), 1)
    )


def _side(letter: str, position: Position, texts: Mapping[str, SourceText]) -> Side:
    count = 0

    def quote(source: str, words: str, stance: str, disputed: str = "") -> Quote:
        nonlocal count
        count += 1
        name, text = f"{letter}{count}", texts[source]
        span = _find(words, text.source) if text.source else None
        if span:
            text.spans[name] = (span.start, span.end)
        return Quote(name, words, stance, text, span is not None, disputed)

    return Side(
        letter.upper(),
        str(position.label),
        position.rationale or "no reason recorded",
        tuple(quote(c.source, c.quote, "contradicts", c.disputed) for c in position.contradictions),
        tuple(quote(e.source, e.quote, str(e.stance)) for e in position.evidence),
        tuple(
            Note(
                str(note.kind).replace("_", " "),
                note.text,
                quote(note.source, note.quote, "context") if note.source and note.quote else None,
            )
            for note in position.qualifications
        ),
    )


@lru_cache(maxsize=512)
def _find(words: str, source: Source) -> Span | None:
    """A quote in a source; remembered, since a long text takes a while to be normalised."""
    return find_quote(words, source.text)


def _report(claim: Claim, sources: Mapping[str, Source]) -> Report | None:
    origin = claim.origin
    document = sources.get(origin.document) if origin and origin.document else None
    if document is None or origin is None:
        return None
    span = origin.span if origin.span and origin.span.end <= len(document.text) else None
    if span is None or span.start == span.end:
        span = _find(claim.text, document)
    marks = {"claim": (span.start, span.end)} if span else {}
    sentences = cut(document.text, marks)
    return Report(document.title, sentences, _around(sentences))


def _around(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The marked sentences with `CONTEXT` sentences before and after, in one piece."""
    marked = [n for n, s in enumerate(sentences) if any(part.quotes for part in s.stretches)]
    if not marked:
        return []
    reach = 2 * CONTEXT  # what stands between sentences counts as one too
    return list(sentences[max(0, marked[0] - reach) : marked[-1] + reach + 1])


# --- cutting a text ----------------------------------------------------------------------


def cut(text: str, spans: Mapping[str, tuple[int, int]]) -> list[Sentence]:
    """``text`` as sentences and what is between them, each cut where quotes begin and end and
    where a hidden character stands. Put together again, it is the whole text."""
    edges = {edge for span in spans.values() for edge in span}
    result: list[Sentence] = []
    position = 0
    for start, end in _sentences(text):
        if start > position:
            result.append(_sentence(text, position, start, edges, spans, between=True))
        result.append(_sentence(text, start, end, edges, spans))
        position = end
    if position < len(text):
        result.append(_sentence(text, position, len(text), edges, spans, between=True))
    return result


@lru_cache(maxsize=64)
def _sentences(text: str) -> tuple[tuple[int, int], ...]:
    return tuple((span.start, span.end) for span in sentence_spans(text))


def _sentence(
    text: str,
    start: int,
    end: int,
    edges: set[int],
    spans: Mapping[str, tuple[int, int]],
    *,
    between: bool = False,
) -> Sentence:
    cuts = sorted({start, end, *(edge for edge in edges if start < edge < end)})
    stretches: list[Stretch] = []
    for begin, stop in pairwise(cuts):
        quotes = tuple(name for name, (low, high) in spans.items() if low <= begin < high)
        begins = tuple(name for name in quotes if spans[name][0] == begin)
        for part in _shown(text, begin, stop):
            here = begins if part.at == begin else ()
            stretches.append(replace(part, quotes=quotes, begins=here))
    return Sentence(start, end, tuple(stretches), between)


_PART = re.compile(r"\r\n|[^\r]+|\r")


def _shown(text: str, start: int, end: int) -> Iterable[Stretch]:
    """A range of the text, cut so that each stretch is shown as it is or as a code point."""
    for match in _PART.finditer(text, start, end):
        part = match.group()
        if part in ("\r\n", "\r"):
            yield Stretch(match.start(), len(part), visible(part), odd=True)
            continue
        if visible(part) == part:
            yield Stretch(match.start(), len(part), part)
            continue
        yield from _with_hidden(part, match.start())


def _with_hidden(part: str, at: int) -> Iterable[Stretch]:
    """As `_shown`, for a part in which hidden characters stand."""
    plain = 0
    for index, character in enumerate(part):
        if visible(character) == character:
            continue
        if index > plain:
            yield Stretch(at + plain, index - plain, part[plain:index])
        yield Stretch(at + index, 1, visible(character), odd=True)
        plain = index + 1
    if plain < len(part):
        yield Stretch(at + plain, len(part) - plain, part[plain:])
