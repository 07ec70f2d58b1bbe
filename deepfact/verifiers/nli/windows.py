"""Sources cut into windows that a model can read whole: runs of sentences that overlap. Pure.

A window is a stretch of one source, or some sentences of several, so that what a model is shown
can always be quoted. No text is changed, and none is left out: a sentence that is longer than a
window is read in pieces.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Callable, Sequence

from deepfact.records import Source, Span
from deepfact.retrievers.base import Passage
from deepfact.retrievers.passages import sentence_spans

Offsets = Sequence[tuple[int, int]]
"""Where each token of a text begins and ends, in characters."""


@dataclass(frozen=True, slots=True)
class Window:
    """What a model reads beside a claim."""

    text: str
    sentences: tuple[Passage, ...]
    """What it is made of, in order, and where each stands."""


def windows(source: Source, offsets: Offsets, *, size: int, overlap: float) -> list[Window]:
    """A source as windows of whole sentences.

    Args:
        source: what to cut.
        offsets: of the tokens of its text.
        size: tokens in a window at most.
        overlap: the share of a window, 0 to below 1, that the last sentences of the window before
            may fill; each window goes on by one sentence at least.
    """
    pieces = _pieces(source.text, offsets, size)
    found: list[Window] = []
    begin = 0
    while begin < len(pieces):
        end, filled = begin, 0
        while end < len(pieces) and (end == begin or filled + pieces[end][1] <= size):
            filled += pieces[end][1]
            end += 1
        found.append(_window(source, [span for span, _ in pieces[begin:end]]))
        if end == len(pieces):
            break
        back, shared = end, 0
        while back - 1 > begin and shared + pieces[back - 1][1] <= overlap * size:
            back -= 1
            shared += pieces[back][1]
        begin = back
    return found


def picked(sentences: Sequence[Passage], count: Callable[[str], int], *, size: int) -> Window:
    """The sentences that go into one window together, put in the order in which they stand.

    Args:
        sentences: best first; those that do not fit beside better ones are left out, but the first
            is always in.
        count: how many tokens a text has.
        size: tokens at most.
    """
    taken: list[Passage] = []
    filled = 0
    for sentence in sentences:
        tokens = count(sentence.text)
        if not taken or filled + tokens <= size:
            taken.append(sentence)
            filled += tokens
    first = {sentence.source: at for at, sentence in reversed(list(enumerate(sentences)))}
    taken.sort(key=lambda one: (first[one.source], one.span.start))
    return Window(" ".join(one.text for one in taken), tuple(taken))


def _pieces(text: str, offsets: Offsets, size: int) -> list[tuple[Span, int]]:
    """The sentences with their tokens; a sentence of more tokens than a window in pieces."""
    starts = [start for start, _ in offsets]
    found: list[tuple[Span, int]] = []
    for span in sentence_spans(text):
        first, last = bisect_left(starts, span.start), bisect_left(starts, span.end)
        for at in range(first, last, size):
            stop = min(at + size, last)
            begin = span.start if at == first else offsets[at][0]
            end = span.end if stop == last else offsets[stop - 1][1]
            found.append((Span(start=begin, end=end), stop - at))
        if first == last:  # characters that the tokenizer makes nothing of
            found.append((span, 0))
    return found


def _window(source: Source, spans: Sequence[Span]) -> Window:
    return Window(
        source.text[spans[0].start : spans[-1].end],
        tuple(
            Passage(source=source.id, span=span, text=source.text[span.start : span.end])
            for span in spans
        ),
    )
