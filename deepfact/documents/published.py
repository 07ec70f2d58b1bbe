"""The sentences of a report as a data set publishes them, in the place of ours. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from deepfact.documents.drafts import Claimed, Draft
from deepfact.documents.records import Place, SegmentKind, Sentence
from deepfact.records import Span


def as_published(draft: Draft) -> None:
    """Put a data set's own sentences in the place of ours, where the text has them."""
    text, at = draft.report.text, 0
    old = draft.sentences
    spans: list[tuple[int, int] | None] = []
    for given in draft.report.given:
        wanted = given.text.strip()
        found = text.find(wanted, at) if wanted else -1
        spans.append((found, found + len(wanted)) if found >= 0 else None)
        at = found + len(wanted) if found >= 0 else at
    missing = sum(span is None for span in spans)
    if missing:
        draft.notes.append(
            f"{missing} of {len(spans)} published sentences are not in the text word for word, in "
            "order; they are kept with an empty place at the end of the one before"
        )
    starts = [sentence.span.start for sentence in old]
    draft.sentences, last = [], 0
    taken: list[Claimed] = []
    for index, (given, span) in enumerate(zip(draft.report.given, spans, strict=True)):
        start, end = span or (last, last)
        near = old[max(0, bisect_right(starts, start) - 1)] if old else None
        marks = [m for m in draft.markers if start <= m.span.start < end]
        draft.sentences.append(
            Sentence(
                index=index,
                span=Span(start=start, end=end),
                text=given.text.strip(),
                place=near.place if near else Place.PARAGRAPH,
                section=near.section if near else (),
                references=tuple(dict.fromkeys(p for m in marks for p in m.references)),
                verifiable=given.annotated,
                why=given.reason,
                relevance=given.relevance,
                rated_by="as published",
            )
        )
        if span:
            taken.append((start, end, SegmentKind.SENTENCE, index, 0))
            last = end
    kept = [one for one in draft.claimed if one[2] is not SegmentKind.SENTENCE]
    draft.claimed = taken + [one for one in kept if not _overlaps(one, taken)]
    draft.markers = [
        marker.model_copy(update={"sentence": _sentence_at(taken, marker.span.start)})
        for marker in draft.markers
    ]


def _overlaps(
    one: Claimed,
    taken: Sequence[Claimed],
) -> bool:
    after = bisect_right([start for start, *_ in taken], one[1] - 1)
    return after > 0 and taken[after - 1][1] > one[0]


def _sentence_at(taken: Sequence[Claimed], position: int) -> int | None:
    place = bisect_right([start for start, *_ in taken], position) - 1
    return taken[place][3] if place >= 0 and position < taken[place][1] else None
