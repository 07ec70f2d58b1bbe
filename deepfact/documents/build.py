"""A report's text into its record: units, citations, sentences, segments, ratings. Pure."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from deepfact.documents.drafts import Claimed, Draft, Report
from deepfact.documents.html_units import html_units
from deepfact.documents.markers import Found, find_markers, style_of
from deepfact.documents.published import as_published
from deepfact.documents.ratings import relevances, verifiable
from deepfact.documents.records import (
    Marker,
    MarkerKind,
    Place,
    ReportRecord,
    Segment,
    SegmentKind,
    Sentence,
)
from deepfact.documents.references import read_lists
from deepfact.documents.resolve import Resolver, named_targets
from deepfact.documents.sentences import sentence_spans
from deepfact.documents.units import Unit, markdown_units, text_units
from deepfact.documents.views import HARD_BREAK
from deepfact.records import Span, sha256_of

_PLACES = {"list": Place.LIST, "quote": Place.QUOTE}
_KINDS = {"heading": SegmentKind.HEADING, "table": SegmentKind.TABLE, "code": SegmentKind.CODE}
_IN_CODE = re.compile(r"(?<!\w)\[\d{1,3}(?:[-,]\s?\d{1,3})*\]")


def build_record(report: Report) -> ReportRecord:
    """The record of a report.

    Raises:
        MissingExtraError: Markdown, and markdown-it-py is not installed.
    """
    page_title = ""
    if report.form == "html":
        units, page_title = html_units(report.text)
    elif report.form == "markdown":
        units = markdown_units(report.text)
    else:
        units = text_units(report.text, wrapped=report.form == "page")
    lists = read_lists(units)
    draft = Draft(report, units, lists, Resolver(lists.entries), notes=list(report.notes))
    _walk(draft)
    draft.title = report.title or _title(units, page_title)
    if report.given:
        as_published(draft)
    _rate(draft)
    _note(draft)
    return ReportRecord(
        id=report.id,
        title=draft.title,
        question=report.question,
        author=report.author,
        original=report.original,
        text=report.text,
        text_hash=sha256_of(report.text),
        segments=_tiled(report.text, draft.claimed),
        sentences=tuple(draft.sentences),
        markers=tuple(draft.markers),
        references=tuple(draft.resolver.references),
        notes=tuple(draft.notes),
    )


def _title(units: Sequence[Unit], page_title: str) -> str:
    headings = [unit for unit in units if unit.kind == "heading" and unit.view.text.strip()]
    marked = [unit for unit in headings if unit.level == 1] or headings
    shown = " ".join(marked[0].view.text.split()) if marked else page_title
    return shown[:300]


# --- units into segments, sentences and markers --------------------------------------------


def _walk(draft: Draft) -> None:
    numbers = frozenset(n for entry in draft.lists.entries for n in entry.numbers)
    prose = [u for n, u in enumerate(draft.units) if n not in draft.lists.taken]
    labels = frozenset(entry.label.lower() for entry in draft.lists.entries if entry.label)
    style = style_of(prose, numbers, labels)
    found_in = [[] if u.kind == "code" else find_markers(u, style) for u in draft.units]
    draft.resolver.named = named_targets(draft.units, found_in)
    path: list[tuple[int, str]] = []
    for number, unit in enumerate(draft.units):
        if unit.kind == "code":
            draft.claimed.append((*unit.span, SegmentKind.CODE, None, 0))
            continue
        if not unit.view.text.strip():
            continue
        found = found_in[number]
        taken = draft.lists.taken.get(number, [])
        if unit.kind == "heading":
            shown = " ".join(unit.view.text.split())
            while path and (not unit.level or path[-1][0] >= unit.level or not path[-1][0]):
                if not unit.level and path[-1][0]:
                    break
                path.pop()
            path.append((unit.level, shown))
        titles = draft.lists.titles.get(number, [])
        _claim(draft, unit, titles, SegmentKind.HEADING)
        _claim(draft, unit, taken, SegmentKind.REFERENCE)
        taken = sorted([*taken, *titles])
        if taken:
            found = [one for one in found if not _inside(one, taken)]
        section = tuple(name for _, name in path)
        if unit.kind in _KINDS:
            if not taken:
                _whole(draft, unit, found)
        else:
            _prose(draft, unit, found, taken, section)


def _inside(one: Found, stretches: Sequence[tuple[int, int]]) -> bool:
    place = bisect_right(stretches, (one.start, sys.maxsize)) - 1
    return place >= 0 and one.start < stretches[place][1]


def _claim(
    draft: Draft, unit: Unit, stretches: Sequence[tuple[int, int]], kind: SegmentKind
) -> None:
    for start, end in stretches:
        raw = unit.view.raw_with_markup(start, end)
        draft.claimed.append((*raw, kind, None, 0))


def _whole(draft: Draft, unit: Unit, found: Sequence[Found]) -> None:
    text = unit.view.text
    start = len(text) - len(text.lstrip())
    raw = unit.view.raw_with_markup(start, len(text.rstrip()))
    draft.claimed.append((*raw, _KINDS[unit.kind], None, unit.level))
    for one in found:
        _mark(draft, unit, one, None)


def _mark(draft: Draft, unit: Unit, one: Found, sentence: int | None) -> tuple[int, ...]:
    start, end = unit.view.raw(one.start, one.end)
    span = Span(start=start, end=end)
    references, why = draft.resolver.resolve(one, span)
    draft.markers.append(
        Marker(
            kind=one.kind,
            text=unit.view.text[one.start : one.end],
            span=span,
            sentence=sentence,
            numbers=one.numbers,
            references=references,
            unresolved=why,
        )
    )
    return references


def _prose(
    draft: Draft,
    unit: Unit,
    found: Sequence[Found],
    taken: Sequence[tuple[int, int]],
    section: tuple[str, ...],
) -> None:
    text = unit.view.text
    marks = [(one.start, one.end) for one in found if _is_mark(one)]
    opaque = [(link.start, link.end) for link in unit.view.links if link.kind == "url"]
    at = 0
    # Entries of a reference list are no sentences: they separate those around them.
    for start, end in (
        sentence_spans(text, marks, opaque) if not taken else _around(text, taken, marks, opaque)
    ):
        first = at
        while at < len(found) and found[at].start < end:
            at += 1
        inside = found[first:at]
        shown = reading_text(text, start, end, marks)
        raw = unit.view.raw_with_markup(start, end)
        if not re.search(r"\w", shown):
            for one in inside:
                _mark(draft, unit, one, None)
            continue
        index = len(draft.sentences)
        references = [place for one in inside for place in _mark(draft, unit, one, index)]
        draft.claimed.append((*raw, SegmentKind.SENTENCE, index, 0))
        draft.sentences.append(
            Sentence(
                index=index,
                span=Span(start=raw[0], end=raw[1]),
                text=shown,
                place=_PLACES.get(unit.kind, Place.PARAGRAPH),
                section=section,
                references=tuple(dict.fromkeys(references)),
            )
        )


def _is_mark(one: Found) -> bool:
    """Whether a marker is no part of what the sentence says."""
    if one.kind in (MarkerKind.LINK, MarkerKind.URL):
        return bool(one.numbers)
    return one.kind not in (MarkerKind.AUTHOR_YEAR, MarkerKind.IDENTIFIER)


def _around(
    text: str,
    taken: Sequence[tuple[int, int]],
    marks: Sequence[tuple[int, int]],
    opaque: Sequence[tuple[int, int]],
) -> list[tuple[int, int]]:
    """The sentences outside of what entries take."""
    spans: list[tuple[int, int]] = []
    at = 0
    for start, end in [*taken, (len(text), len(text))]:
        part = text[at:start]
        if part.strip():
            moved = _within(marks, at, start)
            hidden = _within(opaque, at, start)
            spans += [(s + at, e + at) for s, e in sentence_spans(part, moved, hidden)]
        at = end
    return spans


def _within(stretches: Sequence[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """The stretches between two places, counted from the first."""
    first, last = bisect_left(stretches, (start,)), bisect_left(stretches, (end,))
    return [(s - start, e - start) for s, e in stretches[first:last] if e <= end]


def reading_text(text: str, start: int, end: int, marks: Sequence[tuple[int, int]]) -> str:
    """A sentence without its citation marks, on one line."""
    parts, at = [], start
    for number in range(bisect_right(marks, (start, -1)), len(marks)):
        mark_start, mark_end = marks[number]
        if mark_start >= end:
            break
        parts.append(text[at:mark_start])
        at = mark_end
    parts.append(text[at:end])
    shown = " ".join("".join(parts).replace(HARD_BREAK, " ").replace("\ufeff", "").split())
    return re.sub(r"\(\s*[,;]?\s*\)", "", re.sub(r" +(?=[.,;:!?)。，])", "", shown)).strip()


# --- tiling, rating, notes -------------------------------------------------------------------


def _tiled(text: str, claimed: Sequence[Claimed]) -> tuple[Segment, ...]:
    """The claimed stretches in order, and what lies between them as space or markup."""
    segments: list[Segment] = []
    at = 0
    for start, end, kind, sentence, level in sorted(claimed, key=lambda one: one[:2]):
        start = max(start, at)
        if end <= start:
            continue
        segments += _between(text, at, start)
        made = Segment(kind=kind, start=start, end=end, sentence=sentence, level=level)
        segments.append(made)
        at = end
    return (*segments, *_between(text, at, len(text)))


def _between(text: str, start: int, end: int) -> list[Segment]:
    if end <= start:
        return []
    bare = text[start:end].strip("\ufeff").isspace() or text[start:end] == "\ufeff"
    kind = SegmentKind.SPACE if bare else SegmentKind.MARKUP
    return [Segment(kind=kind, start=start, end=end)]


def _rate(draft: Draft) -> None:
    """Rate what nobody has rated yet."""
    question = draft.report.question or draft.title
    # The title stands over all sentences alike: it says nothing of one of them.
    sections = [
        " / ".join(name for name in sentence.section if name != draft.title)
        for sentence in draft.sentences
    ]
    cites = {marker.sentence for marker in draft.markers}
    cited = [sentence.index in cites for sentence in draft.sentences]
    texts = [sentence.text for sentence in draft.sentences]
    ratings = relevances(question, texts, sections, cited)
    rated = []
    for sentence, relevance, has in zip(draft.sentences, ratings, cited, strict=True):
        if sentence.rated_by == "as published":
            can, why = verifiable(sentence.text, cites=has)
            published = {"verifiable": sentence.verifiable or can}
            if not sentence.verifiable:
                published["why"] = sentence.why or why  # type: ignore[assignment]
            rated.append(sentence.model_copy(update=published))
            continue
        can, why = verifiable(sentence.text, cites=has)
        update = {"verifiable": can, "why": why, "relevance": relevance}
        rated.append(sentence.model_copy(update=update))
    draft.sentences = rated


def _note(draft: Draft) -> None:
    if draft.lists.by_position:
        draft.notes.append(
            f"{draft.lists.by_position} entries of reference lists have no numbers: they are "
            "numbered by their place"
        )
    in_code = sum(
        len(_IN_CODE.findall(draft.report.text, *unit.span))
        for unit in draft.units
        if unit.kind == "code"
    )
    if in_code:
        draft.notes.append(f"{in_code} numbers in brackets stand in code and are no citations")
