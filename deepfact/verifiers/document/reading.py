"""Reading a document at length, and the passages copied out of it, each checked. Pure.

A document within the budget is read whole and in one piece. A longer one is read in windows that
overlap and end at sentences; when there are more than may be read, those in which a search found
something come first, and what was left out is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deepfact.core.vote_checks import span_of
from deepfact.prompts.fence import unescape
from deepfact.records import Source, Span, Stance
from deepfact.retrievers.passages import sentence_spans
from deepfact.trace_records import TracedExtract
from deepfact.verifiers.document.items import Document, Item

OVERLAP = 400
"""Characters that two neighbouring windows share at least, where sentences allow it."""
OMISSION = "\n[...]\n"


@dataclass(frozen=True)
class Window:
    """A stretch of a document that is read at once."""

    document: Document
    span: Span
    number: int
    """From 1."""
    of: int
    """How many windows the document has."""

    @property
    def text(self) -> str:
        """What is shown; that there is more before and after is marked."""
        text = self.document.source.text
        before = OMISSION.lstrip("\n") if self.span.start > 0 else ""
        after = OMISSION.rstrip("\n") if self.span.end < len(text) else ""
        return f"{before}{text[self.span.start : self.span.end]}{after}"


def windows_of(document: Document, *, characters: int, most: int) -> list[Window]:
    """The stretches of a document to read, in its order.

    Args:
        document: to be read.
        characters: of the longest stretch; a document of at most so many is one.
        most: stretches to read.
    """
    text = document.source.text
    spans = cut(text, characters)
    kept = list(range(len(spans)))
    if len(spans) > most:
        hits = [text.find(one) for one in document.snippets]
        at = [n for hit in hits for n, span in enumerate(spans) if span.start <= hit < span.end]
        kept = sorted(list(dict.fromkeys([*at, *kept]))[:most])
    return [Window(document, spans[n], n + 1, len(spans)) for n in kept]


def cut(text: str, characters: int) -> list[Span]:
    """Overlapping stretches of a text that begin and end with a sentence where they can.

    Every character is in one of them. A sentence that alone is too long is cut.
    """
    if len(text) <= characters:
        return [Span(start=0, end=len(text))]
    ends = [span.end for span in sentence_spans(text)]
    starts = [span.start for span in sentence_spans(text)]
    spans, start = list[Span](), 0
    while True:
        end = start + characters
        if end >= len(text):
            return [*spans, Span(start=start, end=len(text))]
        whole = [one for one in ends if start + characters // 2 < one <= end]
        end = whole[-1] if whole else end
        spans.append(Span(start=start, end=end))
        shared = min(OVERLAP, characters // 4)
        again = [one for one in starts if end - 2 * shared <= one <= end - shared]
        start = max(again[-1] if again else end - shared, start + 1)


def extracts_of(
    item: Item, answer: Mapping[str, Any], source: Source, *, most: int
) -> list[TracedExtract]:
    """The passages that an answer copied out of a source for a claim.

    One that is not in the source, or names no element of the claim, is kept without an id: it
    does not count. A passage that was copied out before is not counted twice.

    Args:
        item: the claim, with the extracts so far.
        answer: about this claim.
        source: the document; its whole text decides, not only the stretch that was shown.
        most: extracts to take of one answer.
    """
    known = {one.id for one in item.elements}
    have = {(one.element, one.source, one.span) for one in item.counted}
    number, made = len(item.counted), []
    given: Sequence[Mapping[str, Any]] = answer["extracts"]
    for one in given[:most]:
        quote = one["quote"]
        span = span_of(quote, source.text)
        if span is None:
            quote = unescape(quote)
            span = span_of(quote, source.text)
        key = (one["element"], source.id, span)
        if key in have:
            continue
        counts = span is not None and one["element"] in known
        if counts:
            have.add(key)
            number += 1
        made.append(
            TracedExtract(
                id=f"Q{number}" if counts else "",
                element=one["element"][:20],
                source=source.id,
                quote=quote,
                stance=Stance(one["stance"]),
                says=one["says"],
                span=span,
            )
        )
    if len(given) > most:
        item.note(f"extracts_left_out:{source.id}:{len(given) - most}")
    return made
