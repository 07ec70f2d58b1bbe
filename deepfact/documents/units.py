"""The blocks of a report: headings, paragraphs, list items, quotes, rows of tables, code.

Markdown is read by markdown-it, which knows the line of every block; what it skips is found
again, so that no visible character is lost. Plain text is cut at blank lines. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deepfact.documents.inline import markdown_view
from deepfact.documents.titles import LINE_END, SHORT, is_reference_title, looks_like_heading
from deepfact.documents.views import View
from deepfact.errors import MissingExtraError

if TYPE_CHECKING:
    from markdown_it.token import Token

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_BULLET = re.compile(r"[ \t]*(?:[-*+•‣–]|(\d{1,4})[.)])[ \t]+")
_NUMBERED = re.compile(r"[ \t]*(?:\[\d{1,3}\]|\d{1,3}[.)][ \t])")


@dataclass(slots=True)
class Unit:
    """A block whose inside is read as one text."""

    kind: str
    """``heading``, ``paragraph``, ``list``, ``quote``, ``table`` or ``code``."""
    view: View
    level: int = 0
    """Of a heading; 0 for a line that only looks like one."""
    ordinal: int | None = None
    """The number of a list item, where the list has numbers."""
    depth: int = 0
    """How many lists it is inside."""
    names: tuple[str, ...] = ()
    """Anchors by which it is linked to (HTML)."""
    span: tuple[int, int] = (0, 0)
    """Of code: what is kept as one segment."""
    wrapped: bool = False
    """Its line ends say nothing: text of a page."""


@dataclass(slots=True)
class _Open:
    """Where the walk over markdown-it's tokens is."""

    lists: list[int | None] = field(default_factory=list)
    quotes: int = 0
    ordinal: int | None = None
    first: bool = False
    """The next block is the first one of its list item."""


def line_spans(text: str) -> list[tuple[int, int]]:
    """The lines of a text, each with its line end, as ``(start, end)``."""
    return [match.span() for match in _LINE.finditer(text) if match.end() > match.start()]


# --- Markdown ----------------------------------------------------------------------------


def markdown_units(text: str) -> list[Unit]:
    """The blocks of a Markdown text, in order.

    Raises:
        MissingExtraError: markdown-it-py is not installed.
    """
    try:
        from markdown_it import MarkdownIt
    except ModuleNotFoundError:
        raise MissingExtraError("Markdown needs markdown-it-py", extra="documents") from None

    parser = MarkdownIt("commonmark").enable("table").disable("reference")
    parser.core.ruler.disable("inline")
    # A byte-order mark is no part of the first line's marks.
    tokens = parser.parse(f" {text[1:]}" if text.startswith("\ufeff") else text)
    lines = line_spans(text)
    walk = _Walk(text, lines)
    walk.tokens(tokens)
    units = walk.units + list(_left_over(text, lines, walk.covered))
    units.sort(key=lambda pair: pair[0])
    return [_demoted(unit) for _, unit in units]


class _Walk:
    """From markdown-it's tokens to units, with the lines they cover."""

    def __init__(self, text: str, lines: Sequence[tuple[int, int]]) -> None:
        self.text, self.lines = text, lines
        self.units: list[tuple[int, Unit]] = []
        self.covered = bytearray(len(lines))
        self.open = _Open()
        self.heading = 0

    def tokens(self, tokens: Sequence[Token]) -> None:
        row: tuple[int, int] | None = None
        for token in tokens:
            kind = token.type
            if kind in ("bullet_list_open", "ordered_list_open"):
                self.open.lists.append(None)
            elif kind in ("bullet_list_close", "ordered_list_close"):
                self.open.lists.pop()
            elif kind == "list_item_open":
                self.open.ordinal = int(token.info) if token.info.isdecimal() else None
                self.open.first = True
            elif kind == "blockquote_open":
                self.open.quotes += 1
            elif kind == "blockquote_close":
                self.open.quotes -= 1
            elif kind == "heading_open":
                self.heading = int(token.tag[1])
            elif kind == "heading_close":
                self.heading = 0
            elif kind == "tr_open" and token.map:
                row = (token.map[0], token.map[1])
                self._unit("table", *row)
            elif kind == "table_open" and token.map:
                self._cover(token.map[0], token.map[1])
            elif kind in ("fence", "code_block") and token.map:
                self._code(token.map[0], token.map[1])
            elif kind == "html_block" and token.map:
                self._unit("paragraph", token.map[0], token.map[1])
            elif kind == "hr" and token.map:
                self._cover(token.map[0], token.map[1])
            elif kind == "inline" and token.map and not self._in_row(token, row):
                self._inline(token, token.map[0], token.map[1])

    def _in_row(self, token: Token, row: tuple[int, int] | None) -> bool:
        return row is not None and bool(token.map) and row[0] <= token.map[0] < row[1]  # type: ignore[index]

    def _cover(self, first: int, last: int) -> None:
        for line in range(first, min(last, len(self.lines))):
            self.covered[line] = 1

    def _inline(self, token: Token, first: int, last: int) -> None:
        kind = "quote" if self.open.quotes else "paragraph"
        if self.open.lists:
            kind = "list"
        if self.heading:
            kind = "heading"
        pieces = []
        for line, content in zip(range(first, last), token.content.split("\n"), strict=False):
            start, end = self.lines[line]
            found = self.text.find(content, start, end)
            if found < 0:  # tabs or NUL, which markdown-it replaces
                found = start + len(self.text[start:end]) - len(self.text[start:end].lstrip())
            stop = end if line + 1 < last else _without_end(self.text, start, end)
            if self.heading and line + 1 == last:
                stop = max(found, min(stop, found + len(content)))
            pieces.append((found, stop))
        ordinal = self.open.ordinal if self.open.first and kind == "list" else None
        self.open.first = False
        unit = Unit(kind, markdown_view(self.text, pieces), self.heading, ordinal)
        unit.depth = len(self.open.lists)
        self._add(first, unit)
        self._cover(first, last)

    def _unit(self, kind: str, first: int, last: int) -> None:
        pieces = [(self.lines[line][0], self.lines[line][1]) for line in range(first, last)]
        if pieces:
            pieces[-1] = (pieces[-1][0], _without_end(self.text, *pieces[-1]))
            self._add(first, Unit(kind, markdown_view(self.text, pieces)))
        self._cover(first, last)

    def _code(self, first: int, last: int) -> None:
        start, end = self.lines[first][0], self.lines[min(last, len(self.lines)) - 1][1]
        self._add(first, Unit("code", View().close(), span=(start, end)))
        self._cover(first, last)

    def _add(self, line: int, unit: Unit) -> None:
        self.units.append((line, unit))


def _without_end(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1] in "\r\n":
        end -= 1
    return end


def _left_over(
    text: str, lines: Sequence[tuple[int, int]], covered: Sequence[int]
) -> Iterator[tuple[int, Unit]]:
    """Visible lines that no token covers (nested deeper than markdown-it goes), as paragraphs."""
    block: list[int] = []
    for number, (start, end) in enumerate(lines):
        visible = not covered[number] and bool(re.search(r"\w", text[start:end]))
        if not visible and block:
            yield block[0], _lines_unit(text, lines, block)
            block = []
        if visible:
            block.append(number)
    if block:
        yield block[0], _lines_unit(text, lines, block)


def _lines_unit(text: str, lines: Sequence[tuple[int, int]], block: list[int]) -> Unit:
    pieces = [lines[number] for number in block]
    pieces[-1] = (pieces[-1][0], _without_end(text, *pieces[-1]))
    return Unit("paragraph", markdown_view(text, pieces))


def _demoted(unit: Unit) -> Unit:
    """A heading that is a paragraph underlined by accident, back to one; and a short line alone
    that ends like no sentence, to a heading without level."""
    shown = unit.view.text.strip()
    if unit.kind == "heading" and (len(shown) > 3 * SHORT or "\n" in shown):
        unit.kind, unit.level = "paragraph", 0
    elif unit.kind == "paragraph" and (looks_like_heading(shown) or is_reference_title(shown)):
        unit.kind = "heading"
    return unit


# --- plain text --------------------------------------------------------------------------


@dataclass(slots=True)
class _Block:
    """Lines of a plain text that belong together."""

    kind: str = "paragraph"
    ordinal: int | None = None
    lines: list[tuple[int, int]] = field(default_factory=list)


def text_units(text: str, *, wrapped: bool = False) -> list[Unit]:
    """The blocks of a plain text: they end at a blank line, a bullet, a numbered entry, or a
    line that is the title of a reference list.

    Args:
        text: the report.
        wrapped: its lines were wrapped, as on a page: numbered titles end a block too.
    """
    units: list[Unit] = []
    block = _Block()

    def flush() -> None:
        nonlocal block
        if block.lines:
            units.append(_text_unit(text, block, wrapped))
        block = _Block()

    before = ""
    for start, end in line_spans(text):
        line = text[start : _without_end(text, start, end)]
        bare = line.strip()
        if not bare:
            flush()
        elif bullet := _BULLET.match(line):
            flush()
            number = bullet.group(1)
            block = _Block("list", int(number) if number else None, [(start + bullet.end(), end)])
        elif _is_title(bare, before, wrapped):
            flush()
            block.lines.append((start, end))
            flush()
        else:
            if _NUMBERED.match(line):
                flush()
            block.lines.append((start, end))
        before = bare
    flush()
    return units


_TITLE = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,3}\.?\s+[A-Z][\w ,&'’:–-]{2,60}")


def _is_title(line: str, before: str, wrapped: bool) -> bool:
    """The title of a reference list; in wrapped text a numbered title after an end mark too."""
    if is_reference_title(line):
        return True
    ended = not before or bool(LINE_END.search(before)) or before.endswith(("]", ")"))
    return wrapped and ended and bool(_TITLE.fullmatch(line)) and looks_like_heading(line)


def _text_unit(text: str, block: _Block, wrapped: bool) -> Unit:
    pieces = [*block.lines[:-1], (block.lines[-1][0], _without_end(text, *block.lines[-1]))]
    view = markdown_view(text, pieces, plain=True)
    depth = int(block.kind == "list")
    unit = Unit(block.kind, view, 0, block.ordinal, depth, wrapped=wrapped)
    if is_reference_title(view.text.strip()):
        unit.kind = "heading"
    return _demoted(unit)
