"""Where sentences end in a reading text. Pure; nothing is changed or trimmed inside.

Rules, not a model: abbreviations, initials, decimals, numbered items, URLs, citation marks behind
the full stop, and the full stops of Chinese, Japanese, Hindi, Arabic and others. Why no library:
decision 0095.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from deepfact.documents.views import HARD_BREAK

_NEVER = """
    adm al approx art assoc capt cf ch col comm corp dept dr ed eds e.g eg eq eqs est exp fig figs
    fn gen gov hon i.e ie incl insp jan feb mar apr jun jul aug sep sept oct nov dec lt maj max mdm
    messrs min mr mrs ms mt nos nr op para pp prof pt ref refs rep resp rev sec sen sgt st suppl
    tab tel v viz vol vols vs bzw z.b d.h ca bd hrsg p.ex sra srta ud núm pág
"""
_MAYBE = "etc inc ltd co jr sr bros plc u.s u.k u.n e.u u.s.a d.c a.m p.m ph.d m.d b.c a.d al no"
NEVER_END = frozenset(_NEVER.split())
"""Words whose full stop ends no sentence, lower case, without the stop."""
MAY_END = frozenset(_MAYBE.split())
"""Words whose full stop ends a sentence only where a new one plainly begins."""
_STARTERS = frozenset(
    [
        "the",
        "this",
        "these",
        "those",
        "it",
        "its",
        "he",
        "she",
        "they",
        "we",
        "i",
        "you",
        "a",
        "an",
        "in",
        "on",
        "at",
        "by",
        "for",
        "from",
        "with",
        "as",
        "if",
        "when",
        "while",
        "although",
        "however",
        "moreover",
        "furthermore",
        "but",
        "and",
        "or",
        "so",
        "thus",
        "there",
        "here",
        "such",
        "some",
        "many",
        "most",
        "both",
        "each",
        "no",
        "not",
        "after",
        "before",
        "since",
        "because",
    ]
)
_STOP = re.compile(
    r"(?P<latin>[.!?…]+[\"'”’»)\]*_]*)(?=[\s\u2028]|$)"
    r"|(?P<wide>[。！？；｡．।॥؟።။]+[”’」』）》】\"')]*)"
    r"|(?P<break>\u2028+)"
    r"|(?P<colon>[:：])[ \t]*\n"
    r"|(?P<item>\n)(?=[ \t]*(?:[-*•‣–▪◦]|\d{1,3}[.)])[ \t])"
)
_WORD_BEFORE = re.compile(r"[^\s(\[{\"'“‘’”/—–]+$")
_NEXT = re.compile(r"[\s\u2028\"'“‘(\[{*_«¿¡-]*")


def sentence_spans(
    text: str, marks: Sequence[tuple[int, int]] = (), opaque: Sequence[tuple[int, int]] = ()
) -> list[tuple[int, int]]:
    """The sentences of ``text`` as ``(start, end)``: in order, disjoint, no white space at the
    ends, and every other character in one of them.

    Args:
        text: a block's reading text.
        marks: citation marks, in order; a sentence takes those behind its full stop with it.
        opaque: stretches in which no sentence ends, such as URLs.
    """
    masked = _masked(text, marks, opaque)
    spans = []
    begin = 0
    for end in _ends(masked, [start for start, _ in marks]):
        if end <= begin:
            continue
        stop = _with_marks(masked, end, marks)
        spans.append((begin, stop))
        begin = stop
    spans.append((begin, len(text)))
    return [span for start, end in spans if (span := _stripped(text, start, end))]


def _masked(text: str, marks: Sequence[tuple[int, int]], opaque: Sequence[tuple[int, int]]) -> str:
    """The text with marks blanked and opaque stretches made one word each; same length."""
    if not marks and not opaque:
        return text
    parts, at = [], 0
    stretches = sorted([(*span, " ") for span in marks] + [(*span, "x") for span in opaque])
    for start, end, filler in stretches:
        start = max(start, at)
        if end > start:
            parts += [text[at:start], filler * (end - start)]
            at = end
    return "".join([*parts, text[at:]])


def _ends(text: str, marked: Sequence[int]) -> Iterator[int]:
    """Where sentences end; a mark set directly behind a full stop says that it is one."""
    for match in _STOP.finditer(text):
        place = bisect_left(marked, match.end())
        mark = marked[place] if place < len(marked) else len(text)
        if match.lastgroup != "latin" or mark == match.end() or _latin_end(text, match, mark):
            yield match.end(match.lastgroup or 0)


def _latin_end(text: str, match: re.Match[str], mark: int) -> bool:
    """Whether a full stop, or the like, ends a sentence; ``mark`` is where the next citation
    mark begins, which may be the first word of the next sentence."""
    gap = _NEXT.match(text, match.end())
    at = gap.end() if gap else match.end()
    if at >= len(text):
        return True
    following = text[at]
    if following.islower() and mark >= at and not (gap and HARD_BREAK in gap.group()):
        return False
    if match.group()[0] in "!?":
        return True
    before = text[max(0, match.start() - 40) : match.start()].rstrip()
    found = _WORD_BEFORE.search(before)
    word = found.group().lower() if found else ""
    upcoming = re.match(r"\w+", text[at : at + 20])
    starts_plainly = upcoming is not None and upcoming.group().lower() in _STARTERS
    if match.group()[0] == "." and not match.group().startswith(".."):
        if word in MAY_END:
            return starts_plainly and following.isupper()
        if word in NEVER_END:
            return False
    if len(word) == 1 and word.isalpha():
        earlier = before[: -len(word)].split()
        initial = not earlier or earlier[-1][:1].isupper() or earlier[-1].endswith(".")
        return starts_plainly or not initial
    if word.isdecimal() and len(word) <= 3:
        # "1. First": the number of an item, at the beginning of the block or of a line
        at = match.start() - len(word)
        line = text[max(0, at - 40) : at].rstrip(" \t*_")
        return bool(line) and line[-1] not in "\n\u2028"
    return True


def _with_marks(text: str, end: int, marks: Sequence[tuple[int, int]]) -> int:
    """``end`` moved behind the marks that follow it, unless the text goes on in lower case."""
    stop = end
    for start, after in _following(marks, end):
        if text[stop:start].strip(" \t") and stop != start:
            break
        stop = after
    if stop == end:
        return end
    rest = text[stop : stop + 1000].lstrip()
    if rest[:1] in (".", "。"):
        stop += text[stop : stop + 1000].find(rest[0]) + 1
    return end if rest[:1].islower() else stop


def _following(marks: Sequence[tuple[int, int]], end: int) -> Iterator[tuple[int, int]]:
    for number in range(bisect_left(marks, (end, end)), len(marks)):
        yield marks[number]


def _stripped(text: str, start: int, end: int) -> tuple[int, int] | None:
    while start < end and (text[start].isspace() or text[start] == "\ufeff"):
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None
