"""Reference lists in the shapes that reports use, read into entries. Pure.

Numbered lines (``[1] ...``, ``[1] [4] ...``, ``1. ...``), list items, footnote and link
definitions (``[^1]: ...``, ``[1]: url``), rows of a table, bullets; under a title such as
"References", "Works cited" or 参考文献, or, for bracketed numbers with a URL, without one. An
entry goes on over the lines and blocks that follow until the next one.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from deepfact.documents.dates import find_date
from deepfact.documents.inline import trimmed_url
from deepfact.documents.titles import is_reference_title
from deepfact.documents.units import Unit
from deepfact.documents.views import HARD_BREAK, Link

_BRACKETED = re.compile(r"\s*((?:[\[［【]\d{1,3}[\]］】][\s,]{0,3})+)[:：.]?\s*")
_DEFINED = re.compile(r"\s*\[(\^?)([^\]\s]{1,40})\]:\s*")
_DOTTED = re.compile(r"\s*(\d{1,3})\s?[.)、．:]\s*(?=\S)")
_ARROW = re.compile(r"^\s*[\^↑↩]+\s*|\s*[↩⤴]\ufe0e?\s*$")
_NUMBER = re.compile(r"\d{1,3}")
_URL = re.compile(r"https?://[^\s<>\"\\^`{|}\[\]，。；、）】」』》]{1,2000}")
_IDENTIFIER = re.compile(
    r"\b(?:arxiv[:\s]\s?(?P<arxiv>\d{4}\.\d{4,5}|[a-z-]{2,10}/\d{7})(?:v\d)?"
    r"|doi[:\s]\s?(?P<doi>10\.\d{4,9}/[^\s\"<>]{1,200}))",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:available (?:at|from|online)|retrieved from|accessed at|url|link|网址|链接)\s*[:：]?\s*$",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Entry:
    """An entry in the making."""

    numbers: list[int] = field(default_factory=list)
    label: str = ""
    parts: list[str] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    """Text and target."""
    start: int = 0
    end: int = 0
    names: tuple[str, ...] = ()
    depth: int = 0
    ordinal_only: bool = False
    """Its number is that of a list item, not written in the text."""
    section: int = 0
    """Which list it is of: counted from 1; 0 for one that stands outside of any."""

    @property
    def text(self) -> str:
        """All of it, as it is read."""
        return " ".join(self.parts)


@dataclass(slots=True)
class _Reading:
    """Where the reading of the lists is."""

    entries: list[Entry] = field(default_factory=list)
    taken: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """For each unit, which stretches of its reading text belong to entries."""
    titles: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """The same for titles of lists that stand in one block with their list."""
    section: int = 0
    level: int = 0
    """Of the heading of the list that is open."""
    open: bool = False
    current: Entry | None = None


@dataclass(slots=True)
class Lists:
    """The reference lists of a report."""

    entries: list[Entry]
    taken: dict[int, list[tuple[int, int]]]
    titles: dict[int, list[tuple[int, int]]]
    by_position: int = 0
    """How many entries got their number from their place in the list."""


def read_lists(units: Sequence[Unit]) -> Lists:
    """The entries of all reference lists of a report."""
    state = _Reading()
    for number, unit in enumerate(units):
        if unit.kind == "heading":
            _heading(state, unit)
            continue
        if unit.kind == "code":
            continue
        if unit.kind == "table" and state.open:
            _row(state, number, unit)
            continue
        follows = units[number + 1] if number + 1 < len(units) else None
        for start, end in _lines(unit.view.text):
            _line(state, number, unit, start, end, follows)
    return Lists(state.entries, state.taken, state.titles, _number_bullets(state.entries))


def _heading(state: _Reading, unit: Unit) -> None:
    state.current = None
    if is_reference_title(unit.view.text.strip()):
        state.open, state.level, state.section = True, unit.level, state.section + 1
    elif not state.open or not unit.level or unit.level <= (state.level or 6):
        state.open = state.open and unit.level == 0 and state.level != 0
    # A deeper heading divides the list and does not end it.


def _lines(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for match in re.finditer(rf"[\n{HARD_BREAK}]|\Z", text):
        if text[at : match.start()].strip():
            yield at, match.start()
        at = match.end()


def _line(
    state: _Reading, number: int, unit: Unit, start: int, end: int, follows: Unit | None
) -> None:
    line = unit.view.text[start:end]
    if is_reference_title(line.strip()):  # a title and its list without a blank line between
        state.open, state.level, state.section = True, 0, state.section + 1
        state.current = None
        state.titles.setdefault(number, []).append((start, end))
        return
    begun = _begin(state, unit, line, start, follows)
    if begun is not None:
        entry, skip = begun
        entry.section = state.section if state.open else 0
        entry.names, entry.depth = unit.names, unit.depth
        state.entries.append(entry)
        state.current = entry
        _extend(state, entry, number, unit, start, end, skip)
    elif _continues(state, unit, line, start) and state.current is not None:
        _extend(state, state.current, number, unit, start, end, 0)
    else:
        state.current = None


def _begin(
    state: _Reading, unit: Unit, line: str, start: int, follows: Unit | None
) -> tuple[Entry, int] | None:
    """A new entry that begins with this line, and how much of it is its number."""
    if match := _DEFINED.match(line):
        foot, label = match.groups()
        if foot or _URL.match(line, match.end()):
            numbers = [int(label)] if label.isdecimal() and len(label) < 4 else []
            return Entry(numbers, "" if numbers else label), match.end()
    if match := _BRACKETED.match(line):
        rest = line[match.end() :].strip()
        next_is_url = follows is not None and _bare_url(follows.view.text)
        if rest and (state.open or _URL.search(rest) or next_is_url or _linked(unit, start)):
            return Entry([int(one) for one in _NUMBER.findall(match.group(1))]), match.end()
    if not state.open:
        return None
    if unit.kind == "list" and start == _first(unit):
        if state.current is not None and unit.depth > state.current.depth > 0:
            return None
        entry = Entry([unit.ordinal] if unit.ordinal is not None else [], ordinal_only=True)
        return entry, 0
    if unit.kind != "list" and (match := _DOTTED.match(line)):
        return Entry([int(match.group(1))]), match.end()
    if unit.kind == "paragraph" and start == _first(unit) and not unit.view.text.count("\n"):
        # An unnumbered entry: a paragraph that ends in a URL, or names authors and a year
        if _URL.search(line) and not _bare_url(line):
            return Entry(ordinal_only=True), 0
        if re.match(r"[^\W\d_][\w’'-]+,? .{0,200}\(\s?(?:19|20)\d\d[a-z]?\s?\)", line):
            return Entry(ordinal_only=True), 0
    return None


def _first(unit: Unit) -> int:
    text = unit.view.text
    return next((start for start, _ in _lines(text)), 0)


def _bare_url(text: str) -> bool:
    text = text.strip()
    return bool(text) and "\n" not in text and bool(_URL.fullmatch(text))


def _linked(unit: Unit, start: int) -> bool:
    """Whether the line has a link with an address after its number."""
    end = unit.view.text.find("\n", start)
    stop = end if end >= 0 else len(unit.view.text)
    return any(
        link.kind == "link" and not link.target.startswith("#")
        and not unit.view.text[link.start : link.end].strip("[] ").isdecimal()
        and unit.view.text[start : link.start].rstrip().endswith("]")
        for link in _links(unit, start, stop)
    )  # fmt: skip


def _links(unit: Unit, start: int, end: int) -> list[Link]:
    """The links that begin between two places; a unit's links are in order."""
    links = unit.view.links
    first = bisect_left(links, start, key=lambda link: link.start)
    last = bisect_left(links, end, key=lambda link: link.start)
    return links[first:last]


def _continues(state: _Reading, unit: Unit, line: str, start: int) -> bool:
    """Whether a line belongs to the entry before it."""
    current = state.current
    if current is None:
        return False
    if _bare_url(line):
        return True
    if unit.kind == "list" and start == _first(unit):
        return unit.depth > current.depth
    inside = start != _first(unit)  # the same block goes on
    return inside or (state.open and unit.kind == "list" and unit.depth >= current.depth > 0)


def _extend(
    state: _Reading, entry: Entry, number: int, unit: Unit, start: int, end: int, skip: int
) -> None:
    text = unit.view.text
    shown = text[start + skip : end]
    entry.parts.append(" ".join(_ARROW.sub("", shown).split()))
    entry.links += [
        (text[link.start : link.end], link.target)
        for link in _links(unit, start, end)
        if link.target and not link.target.startswith("#")
    ]
    while end > start and text[end - 1].isspace():
        end -= 1
    raw_start, raw_end = unit.view.raw(start, end)
    entry.start = raw_start if entry.end == 0 else entry.start
    entry.end = max(entry.end, raw_end)
    state.taken.setdefault(number, []).append((start, end))


def _row(state: _Reading, number: int, unit: Unit) -> None:
    text = unit.view.text
    cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
    digits = cells[0].strip("[]()^ .") if cells else ""
    if not digits.isdecimal() or len(digits) > 3 or len(cells) < 2:
        return
    first = text.find(cells[1], text.find(digits) + len(digits)) if cells[1] else 0
    entry = Entry([int(digits)], section=state.section)
    state.entries.append(entry)
    begin = len(text) - len(text.lstrip())
    _extend(state, entry, number, unit, begin, len(text.rstrip()), max(0, first - begin))


def _number_bullets(entries: Sequence[Entry]) -> int:
    """Give entries of a list without any number that of their place; how many."""
    count = 0
    for section in {entry.section for entry in entries} - {0}:
        members = [entry for entry in entries if entry.section == section]
        if any(entry.numbers or entry.label for entry in members):
            continue
        for place, entry in enumerate(members, start=1):
            entry.numbers = [place]
        count += len(members)
    return count


# --- what an entry says --------------------------------------------------------------------


def urls_of(entry: Entry) -> list[str]:
    """Its addresses, each once, in order; one of an arXiv or DOI number where it has no other."""
    found = [target for _, target in entry.links if target]
    found += [trimmed_url(url) for url in _URL.findall(entry.text)]
    if not found:
        found = [identifier_url(match) for match in _IDENTIFIER.finditer(entry.text)]
    seen: dict[str, str] = {}
    for url in found:
        seen.setdefault(same_url(url), url)
    return list(seen.values())


def identifier_url(match: re.Match[str]) -> str:
    """The address of an arXiv or DOI number."""
    if match.group("arxiv"):
        return f"https://arxiv.org/abs/{match.group('arxiv')}"
    return f"https://doi.org/{trimmed_url(match.group('doi'))}"


def same_url(url: str) -> str:
    """A URL in a form in which two spellings of the same address are equal: without scheme,
    ``www.``, fragment, tracking parameters and closing slash; arXiv by its number."""
    bare = re.sub(r"^\w{2,10}:(?://)?(?:www\.)?", "", url.strip(), count=1)
    arxiv = re.match(r"(?:arxiv\.org/(?:abs|pdf|html)/)?(\d{4}\.\d{4,5})(?:v\d+)?(?:\.pdf)?$", bare)
    if arxiv:
        return f"arxiv:{arxiv.group(1)}"
    bare = bare.partition("#")[0]
    path, mark, query = bare.partition("?")
    kept = [part for part in query.split("&") if part and not part.startswith("utm_")]
    host, slash, rest = path.partition("/")
    return f"{host.lower()}{slash}{rest}".rstrip("/") + (mark + "&".join(kept) if kept else "")


def title_of(entry: Entry) -> str:
    """The entry without number, URLs, access date and what only leads to them."""
    text = entry.text
    for shown, target in entry.links:
        named = shown.strip(" \"'“”*_[]")
        if target != shown and named and not _URL.match(named) and not named.isdecimal():
            return " ".join(named.split())
        text = text.replace(shown, " ", 1)
    text = _URL.sub(" ", text)
    dated = find_date(text)
    if dated is not None and dated[1]:
        text = text[: dated[2][0]] + " " + text[dated[2][1] :]
    text = re.sub(r"[(\[（]\s*[)\]）]", " ", text)
    return " ".join(_edges(_LEAD.sub("", _edges(text))).split())


def _edges(text: str) -> str:
    """Without the punctuation that separated it from what was taken out."""
    bare = text.strip(" \t\r\n\u2028:：,，;；-–—|\\*_")
    while bare.endswith(".") and not bare.endswith("..."):
        bare = bare[:-1]
    if len(bare) > 2 and bare[0] in "\"'" and bare[-1] == bare[0]:
        bare = bare[1:-1]
    return bare.strip()
