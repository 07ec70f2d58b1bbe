"""Sentences of a text with exact offsets: ``text[start:end]`` is the sentence, always.

Splitting never changes, trims inside or joins text, so that a quote can be checked against
its source. It knows abbreviations, initials, decimals, bullet lists, headings and lines that
were wrapped by hand. It reads no files.
"""

from __future__ import annotations

import re
from typing import Iterator

from deepfact.records import Source, Span
from deepfact.retrievers.base import Passage

LONGEST = 700
"""Characters of the longest passage; a longer sentence is cut at a semicolon or a space."""

_ABBREVIATED = """
    al approx art assoc ave bros ca capt cf ch co col corp dept div dr ed eds e.g eg eq eqs est
    exp fig figs fn gen gov hon i.e ie inc incl jan feb mar apr jun jul aug sep sept oct nov dec jr
    lt ltd max mdm min mr mrs ms mt mfg n.b nos op para pp prof pt ref refs rep resp rev sec sen sgt
    sr st suppl tab univ viz vol vols vs u.s u.k u.n e.u d.c a.m p.m
"""
ABBREVIATIONS = frozenset(_ABBREVIATED.split())
"""Words after which a full stop does not end a sentence, lower case, without the stop."""

BEFORE_NUMBER = frozenset(("no", "nr", "fig", "art", "vol", "ch", "sec", "pp", "p", "eq", "ref"))
"""Abbreviations only when a number follows ("No. 7", but "The answer is no. It ...")."""

AFTER_NUMBER = frozenset(("ms", "min", "sec"))
"""Units, no abbreviations, after a number: "took 38 ms. The second", but "Ms. Lind"."""

_STOP = re.compile(r"[.!?…]+[\"'”’)\]»]*(?=\s|$)|[。！？]+")
_BREAK = re.compile(r"\n[ \t]*\n\s*|\n(?=[ \t]*(?:[-*•‣–#|>]|\d{1,3}[.)])[ \t])")
_NUMBER_BEFORE = re.compile(r"\d\s*[^\W\d]+$")
_HEADING_END = re.compile(r"\n")


def sentence_spans(text: str) -> list[Span]:
    """Spans of the sentences of ``text``, in order, disjoint, none empty, none with white
    space at its ends. Every character that is not white space is in one of them."""
    return [Span(start=start, end=end) for start, end in _spans(text)]


def passages(source: Source) -> list[Passage]:
    """The sentences of a source as passages, in order."""
    return [
        Passage(source=source.id, span=Span(start=start, end=end), text=source.text[start:end])
        for start, end in _spans(source.text)
    ]


def _spans(text: str) -> Iterator[tuple[int, int]]:
    for start, end in _blocks(text):
        begin = start
        for stop in _sentence_ends(text, start, end):
            yield from _cut(text, begin, stop)
            begin = stop
        yield from _cut(text, begin, end)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Stretches between blank lines, before bullets, and after headings and short full lines."""
    begin = 0
    for match in _BREAK.finditer(text):
        yield from _lines(text, begin, match.start())
        begin = match.end()
    yield from _lines(text, begin, len(text))


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """One block, cut after lines that are headings or table rows; wrapped lines stay whole."""
    begin = start
    for match in _HEADING_END.finditer(text, start, end):
        line = text[max(start, text.rfind("\n", start, match.start()) + 1) : match.start()].strip()
        if line.startswith(("#", "|")) or line.endswith(":"):
            yield begin, match.start()
            begin = match.end()
    yield begin, end


def _sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    for match in _STOP.finditer(text, start, end):
        if match.end() < end and _ends_sentence(text, start, match):
            yield match.end()


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether the stop that ``match`` found closes a sentence."""
    following = text[match.end() : match.end() + 40].lstrip()
    if not following:
        return True
    if match.group()[0] in "。！？":
        return True
    if following[0].islower():
        return False
    if match.group()[0] != ".":
        return True
    before = text[max(start, match.start() - 40) : match.start()]
    last = before.split()[-1] if before.split() else ""
    word = last.strip("\"'“”‘’([{").lower()
    if word in BEFORE_NUMBER and following[0].isdigit():
        return False
    if word in AFTER_NUMBER and following[0].isupper() and _NUMBER_BEFORE.search(before):
        return True
    if word in ABBREVIATIONS and word not in ("no",):
        return False
    if len(word) == 1 and word.isalpha():
        previous = before.split()[-2] if len(before.split()) > 1 else ""
        return bool(previous) and not previous[0].isupper() and not previous.endswith(".")
    return True


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The stretch without white space at its ends, in pieces of at most `LONGEST`."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > LONGEST:
        window = text[start : start + LONGEST]
        at = window.rfind("; ") + 1 or window.rfind("\n") or window.rfind(" ")
        at = at if at > LONGEST // 3 else window.rfind(" ")
        stop = start + (at if at > 0 else LONGEST)
        yield from _cut(text, start, stop)
        start = stop
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        yield start, end
