"""The blocks of an HTML report, with offsets in its source. Pure.

A tokenizer of our own, because none that keeps offsets in the source is safe on hostile input:
`html.parser` takes minutes over 150 kB of unclosed tags, and lxml and selectolax give no offsets
(decision 0096). It reads each character a bounded number of times. Scripts, styles and navigation
are left out; nothing is fetched or run.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from deepfact.documents.inline import trimmed_url
from deepfact.documents.titles import is_reference_title, looks_like_heading
from deepfact.documents.units import Unit
from deepfact.documents.views import HARD_BREAK, Link, View

_TAG = re.compile(
    r"<(/?)([a-zA-Z][a-zA-Z0-9:-]{0,40})((?:[^<>\"']|\"[^\"<]*+\"|'[^'<]*+')*+)>", re.DOTALL
)
_ATTRIBUTE = re.compile(
    r"([a-zA-Z][\w:-]{0,40})\s{0,9}=\s{0,9}(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))"
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});?")
_URL = re.compile(r"https?://[^\s<>\"\\^`{|}\[\]&，。；：！？、）】」』》]{1,2000}")
RAW = frozenset(("script", "style", "textarea", "title", "xmp"))
"""Elements whose inside is no markup."""
HIDDEN = frozenset(("script", "style", "template", "noscript", "svg", "nav", "textarea", "title",
                    "xmp", "math", "select", "button", "iframe", "object"))  # fmt: skip
BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "center",
        "dd",
        "details",
        "dialog",
        "dir",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "head",
        "header",
        "hr",
        "html",
        "legend",
        "li",
        "main",
        "menu",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "tfoot",
        "thead",
        "tr",
        "ul",
        "caption",
    ]
)
VOID = frozenset(("br", "hr", "img", "input", "link", "meta", "wbr", "col", "area", "base"))
_MARKUP = re.compile(r"<(?:[!?/]|[a-zA-Z])")


@dataclass(slots=True)
class _State:
    """Where the walk is."""

    units: list[Unit] = field(default_factory=list)
    view: View | None = None
    names: list[str] = field(default_factory=list)
    lists: list[int | None] = field(default_factory=list)
    """For each open list, the number of its next item; None without numbers."""
    ordinal: int | None = None
    heading: int = 0
    quotes: int = 0
    rows: int = 0
    hidden: list[str] = field(default_factory=list)
    pre_from: int | None = None
    link: tuple[int, str] | None = None
    high: int | None = None
    title: str = ""
    at: int = 0


def html_units(text: str) -> tuple[list[Unit], str]:
    """The blocks of an HTML text, in order, and what its ``<title>`` says."""
    state = _State()
    for start, end, tag in _tokens(text):
        if tag is None:
            _text(state, text, start, end)
        else:
            _tag(state, start, end, tag)
    _flush(state)
    return state.units, state.title


def _tokens(text: str) -> Iterator[tuple[int, int, re.Match[str] | None]]:
    """Text and tags, in order: ``(start, end, tag)``. Comments and the like are left out."""
    at = 0
    while (match := _MARKUP.search(text, at)) is not None:
        start = match.start()
        if start > at:
            yield at, start, None
        if text.startswith(("<!", "<?"), start):
            at = _declaration_end(text, start)
            continue
        tag = _TAG.match(text, start)
        if tag is None:  # a bare "<"
            yield start, start + 1, None
            at = start + 1
            continue
        yield start, tag.end(), tag
        at = tag.end()
        name = tag.group(2).lower()
        if name in RAW and not tag.group(1):
            close = re.compile(rf"</{name}", re.IGNORECASE).search(text, at)
            stop = close.start() if close else len(text)
            if stop > at:
                yield at, stop, None
            at = stop
    if at < len(text):
        yield at, len(text), None


def _declaration_end(text: str, start: int) -> int:
    """Behind a comment, a doctype or a processing instruction; the end of the text when open."""
    closer = "-->" if text.startswith("<!--", start) else ">"
    found = text.find(closer, start + 2)
    return found + len(closer) if found >= 0 else len(text)


def _text(state: _State, text: str, start: int, end: int) -> None:
    if state.hidden:
        if state.hidden[-1] == "title" and not state.title:
            state.title = " ".join(html.unescape(text[start:end]).split())[:300]
        return
    if state.pre_from is not None:
        return
    if state.view is None:
        if not text[start:end].strip(" \t\r\n\f\ufeff"):
            return
        state.view = View()
        state.at = start
    _drop_to(state, start)
    position = start
    for match in _ENTITY.finditer(text, start, end):
        shown = html.unescape(match.group())
        if shown == match.group():
            continue
        _keep(state, text, position, match.start())
        state.view.replace(shown, match.start(), match.end())
        position = match.end()
    _keep(state, text, position, end)
    state.at = end


def _keep(state: _State, text: str, start: int, end: int) -> None:
    view = state.view
    if view is None:
        return
    if state.link is None:
        for match in _URL.finditer(text, start, end):
            url = trimmed_url(match.group())
            at = view.length + match.start() - start
            view.links.append(Link("url", at, at + len(url), url))
    view.keep(text, start, end)


def _drop_to(state: _State, position: int) -> None:
    if state.view is not None:
        state.view.drop(state.at, position)
    state.at = position


def _tag(state: _State, start: int, end: int, tag: re.Match[str]) -> None:
    name, closing = tag.group(2).lower(), bool(tag.group(1))
    if name in HIDDEN:
        if closing and name in state.hidden:
            while state.hidden.pop() != name:
                pass
        elif not closing and not tag.group(3).endswith("/"):
            state.hidden.append(name)
        return
    if state.hidden:
        return
    if name == "pre":
        _pre(state, start, end, closing)
    elif state.pre_from is not None:
        return
    elif name in BLOCKS:
        _flush(state)
        _block(state, name, closing, _attributes(tag))
    elif name in ("td", "th"):
        _cell(state, start, end, closing)
    else:
        _inline(state, name, closing, start, end, tag)


def _attributes(tag: re.Match[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(tag.group(3)):
        value = next((group for group in match.groups()[1:] if group is not None), "")
        found.setdefault(match.group(1).lower(), html.unescape(value))
    return found


def _pre(state: _State, start: int, end: int, closing: bool) -> None:
    if not closing and state.pre_from is None:
        _flush(state)
        state.pre_from = start
    elif closing and state.pre_from is not None:
        state.units.append(Unit("code", View().close(), span=(state.pre_from, end)))
        state.pre_from = None


def _block(state: _State, name: str, closing: bool, attributes: dict[str, str]) -> None:
    if not closing and attributes.get("id"):
        state.names.append(attributes["id"])
    if name in ("ol", "ul", "menu", "dir"):
        if closing:
            if state.lists:
                state.lists.pop()
        else:
            first = attributes.get("start", "1")
            numbered = name == "ol"
            state.lists.append(
                (int(first) if first.isdecimal() and len(first) < 6 else 1) if numbered else None
            )
    elif name == "li" and not closing:
        _item(state, attributes)
    elif name[0] == "h" and name[1:].isdecimal():
        state.heading = 0 if closing else int(name[1:])
    elif name == "blockquote":
        state.quotes = max(0, state.quotes + (-1 if closing else 1))
    elif name == "tr":
        state.rows = 0 if closing else 1


def _item(state: _State, attributes: dict[str, str]) -> None:
    state.ordinal = None
    if state.lists and state.lists[-1] is not None:
        value = attributes.get("value", "")
        number = int(value) if value.isdecimal() and len(value) < 6 else state.lists[-1]
        state.ordinal = number
        state.lists[-1] = number + 1


def _cell(state: _State, start: int, end: int, closing: bool) -> None:
    if state.view is not None and not closing:
        state.view.drop(state.at, start)
        state.view.replace(" | ", start, end)
        state.at = end


def _inline(
    state: _State, name: str, closing: bool, start: int, end: int, tag: re.Match[str]
) -> None:
    if name == "br":
        if state.view is not None:
            state.view.drop(state.at, start)
            state.view.replace(HARD_BREAK, start, end)
            state.at = end
        return
    if name not in ("a", "sup", "span"):
        return
    attributes = {} if closing else _attributes(tag)
    state.names += [attributes[key] for key in ("id", "name") if attributes.get(key)]
    length = state.view.length if state.view is not None else 0
    if name == "a" and not closing:
        state.link = (length, attributes["href"]) if attributes.get("href") else None
    elif name == "a" and state.link is not None:
        _end_link(state, "link", state.link[0], state.link[1])
        state.link = None
    elif name == "sup" and not closing:
        state.high = length
    elif name == "sup" and state.high is not None:
        _end_link(state, "sup", state.high, "")
        state.high = None


def _end_link(state: _State, kind: str, start: int, target: str) -> None:
    if state.view is not None and state.view.length > start:
        state.view.links.append(Link(kind, start, state.view.length, target))


def _flush(state: _State) -> None:
    view, state.view = state.view, None
    state.link = state.high = None
    if view is None:
        return
    view.close()
    view.links.sort(key=lambda link: (link.start, -link.end))
    shown = view.text.strip()
    kind = "paragraph"
    if state.heading:
        kind = "heading"
    elif state.rows:
        kind = "table"
    elif state.lists:
        kind = "list"
    elif state.quotes:
        kind = "quote"
    elif looks_like_heading(shown) or is_reference_title(shown):
        kind = "heading"
    unit = Unit(kind, view, state.heading, wrapped=True)
    unit.depth = len(state.lists)
    unit.ordinal, state.ordinal = state.ordinal, None
    unit.names, state.names = tuple(state.names), []
    state.units.append(unit)
