"""The inside of a Markdown block: markup left out, links and superscripts noted. Pure.

A single pass in time proportional to the length, whatever the nesting: brackets and back-ticks
are paired beforehand. It follows CommonMark as far as reading text needs it; where a mark could
be either, it stays in the text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from deepfact.documents.views import HARD_BREAK, Link, View

_TOKEN = re.compile(
    r"(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<hard>(?:(?<! ) {2,}+|\\)(?:\r\n|\r|\n))"
    r"|(?P<ticks>`+)"
    r"|(?P<auto><https?://[^\s<>]{1,2000}>)"
    r"|(?P<sup><sup>)"
    r"|(?P<tag></?[A-Za-z][^<>\n]{0,1000}>|<!--[^<>]{0,1000}-->)"
    r"|(?P<url>https?://[^\s<>\"\\^`{|}\[\]，。；：！？、）】」』》]{1,2000})"
    r"|(?P<image>!(?=\[))"
    r"|(?P<bracket>\[)"
    r"|(?P<stars>\*{1,3}|~~)"
    r"|(?P<under>_{1,3})"
    r"|(?P<entity>&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});)"
)
_TARGET = re.compile(
    r"\(\s{0,9}(?:<([^<>\n]{0,2000})>"
    r"|((?:[^\s()\\]|\\\S|\((?:[^\s()\\]|\\\S){0,500}\)){0,2000}))"
    r"(?:\s{1,9}(?:\"[^\"\n]{0,500}\"|'[^'\n]{0,500}'))?\s{0,9}\)"
)
_SUP = re.compile(r"<sup>([^<>\n]{1,60})</sup>")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def markdown_view(text: str, pieces: Sequence[tuple[int, int]], *, plain: bool = False) -> View:
    """The reading text of a block.

    Args:
        text: the entire report.
        pieces: its lines without the marks of quotes and lists around them, in order, line
            ends included; what lies between two of them is left out.
        plain: the text is no Markdown: only URLs are looked for.
    """
    view = View()
    if not pieces:
        return view.close()
    at = pieces[0][0]
    for start, end in _joined(pieces):
        if not text[at:start].isspace():  # indentation is a gap, not markup
            view.drop(at, start)
        _Scan(text, start, end, view, plain).run()
        at = end
    return view.close()


def _joined(pieces: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Pieces without those borders at which nothing is left out."""
    joined: list[tuple[int, int]] = []
    for start, end in pieces:
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


class _Scan:
    """One stretch without gaps."""

    def __init__(self, text: str, start: int, end: int, view: View, plain: bool) -> None:
        self.text, self.end, self.view, self.plain = text, end, view, plain
        self.at = start
        self.start = start
        self.closers = {} if plain else _brackets(text, start, end)
        self.ticks = {} if plain else _tick_runs(text, start, end)
        self.open_links: list[tuple[int, int, int, str]] = []
        """End of the link's text, end of the whole, start in the reading text, target."""

    def run(self) -> None:
        position = self.start
        while match := _TOKEN.search(self.text, position, self.end):
            self._close_links(match.start())
            position = self.at if match.start() < self.at else self._token(match)
        self._close_links(self.end)
        self._keep_to(self.end)
        self._finish_links()

    def _keep_to(self, position: int) -> None:
        self.view.keep(self.text, self.at, position)
        self.at = max(self.at, position)

    def _drop_to(self, position: int) -> None:
        self.view.drop(self.at, position)
        self.at = position

    def _token(self, match: re.Match[str]) -> int:
        """Deal with a token; where to look on."""
        kind, start, end = match.lastgroup, match.start(), match.end()
        if kind == "url":
            return self._url(start, end)
        if self.plain:
            return end
        if kind == "escape":
            self._keep_to(start)
            self._drop_to(start + 1)
            return end
        if kind == "hard":
            self._keep_to(start)
            self.view.replace(HARD_BREAK, start, end)
            self.at = end
            return end
        if kind == "ticks":
            return self._code(start, end)
        if kind == "auto":
            self._keep_to(start)
            self._drop_to(start + 1)
            self._url(start + 1, end - 1, whole=True)
            self._drop_to(end)
            return end
        if kind == "sup" and (high := _SUP.match(self.text, start, self.end)):
            return self._high(start, high)
        if kind in ("sup", "tag"):
            self._keep_to(start)
            if match.group()[:3].lower() == "<br":
                self.view.replace(HARD_BREAK, start, end)
                self.at = end
            else:
                self._drop_to(end)
            return end
        if kind == "image":
            return self._image(start)
        if kind == "bracket":
            return self._bracket(start)
        if kind == "entity":
            shown = html.unescape(match.group())
            if shown != match.group():
                self._keep_to(start)
                self.view.replace(shown, start, end)
                self.at = end
            return end
        if self._emphasis(match):
            self._keep_to(start)
            self._drop_to(end)
        return end

    def _url(self, start: int, end: int, *, whole: bool = False) -> int:
        if not whole:
            end = start + len(trimmed_url(self.text[start:end]))
        self._keep_to(start)
        before = self.view.length
        self._keep_to(end)
        self.view.links.append(Link("url", before, self.view.length, self.text[start:end]))
        return end

    def _code(self, start: int, end: int) -> int:
        runs = self.ticks.get(end - start, [])
        while runs and runs[-1] < end:
            runs.pop()
        if not runs or runs[-1] >= self.end:
            return end
        close = runs[-1]
        self._keep_to(start)
        self._drop_to(end)
        self._keep_to(close)
        self._drop_to(close + end - start)
        return self.at

    def _high(self, start: int, high: re.Match[str]) -> int:
        self._keep_to(start)
        self._drop_to(high.start(1))
        before = self.view.length
        self._keep_to(high.end(1))
        self.view.links.append(Link("sup", before, self.view.length))
        self._drop_to(high.end())
        return self.at

    def _image(self, start: int) -> int:
        close = self.closers.get(start + 1)
        target = _TARGET.match(self.text, close + 1, self.end) if close is not None else None
        if target is None:
            return start + 1
        self._keep_to(start)
        self._drop_to(target.end())
        return self.at

    def _bracket(self, start: int) -> int:
        close = self.closers.get(start)
        target = _TARGET.match(self.text, close + 1, self.end) if close is not None else None
        if close is None or target is None:
            return start + 1
        url = target.group(1) if target.group(1) is not None else target.group(2)
        self._keep_to(start)
        self._drop_to(start + 1)
        where = self.view.length
        self.open_links.append((close, target.end(), where, _ESCAPED.sub(r"\1", url)))
        return start + 1

    def _close_links(self, position: int) -> None:
        """End the links whose text ends before ``position``."""
        while self.open_links and self.open_links[-1][0] < position:
            close, end, where, target = self.open_links.pop()
            if close < self.at:  # something inside ran over its end: no link after all
                continue
            self._keep_to(close)
            self.view.links.append(Link("link", where, self.view.length, target))
            self._drop_to(end)

    def _finish_links(self) -> None:
        self.view.links.sort(key=lambda link: (link.start, -link.end))

    def _emphasis(self, match: re.Match[str]) -> bool:
        """Whether stars or underscores are marks: they touch a word on one side, and are not
        inside one."""
        before = self.text[match.start() - 1] if match.start() > self.start else " "
        after = self.text[match.end()] if match.end() < self.end else " "
        if before.isspace() and after.isspace():
            return False
        if match.lastgroup == "under":
            return not (before.isalnum() and after.isalnum())
        digits = before.isdigit() and after.isdigit()
        return not (match.group() == "*" and digits)


def trimmed_url(url: str) -> str:
    """A URL without the punctuation of the sentence around it."""
    end = len(url)
    unopened = {")": url.count(")") - url.count("("), "]": url.count("]") - url.count("[")}
    while end:
        last = url[end - 1]
        if unopened.get(last, 0) > 0:
            unopened[last] -= 1
        elif last not in ".,;:!?'*_~":
            break
        end -= 1
    return url[:end]


def _brackets(text: str, start: int, end: int) -> dict[int, int]:
    """Where each ``[`` is closed."""
    closers: dict[int, int] = {}
    stack: list[int] = []
    for match in re.compile(r"\\.|[\[\]]", re.DOTALL).finditer(text, start, end):
        if match.group() == "[":
            stack.append(match.start())
        elif match.group() == "]" and stack:
            closers[stack.pop()] = match.start()
    return closers


def _tick_runs(text: str, start: int, end: int) -> dict[int, list[int]]:
    """Starts of the runs of back-ticks by their length, last one first."""
    runs: dict[int, list[int]] = {}
    for match in re.compile(r"`+").finditer(text, start, end):
        runs.setdefault(match.end() - match.start(), []).append(match.start())
    return {length: found[::-1] for length, found in runs.items()}
