"""What a fetched page says: its main text, title and date. Reads bytes; fetches nothing.

Main text of HTML is found by trafilatura, which leaves out menus, notices and comments. So a
source's text is what was extracted, not the page byte for byte; its hash says what was read.
PDFs are read by `deepfact.documents`.
"""

from __future__ import annotations

import codecs
import logging
import re
from dataclasses import dataclass
from html import unescape

from deepfact.documents.extract import extract_pdf
from deepfact.errors import InputError, MissingExtraError
from deepfact.retrievers.web.fetch import Fetched, FetchFailed

PDF_SECONDS = 60.0
"""For reading one PDF."""
SHORTEST = 40
"""Characters of the shortest main text; less is a notice, not a page."""
_TAG = re.compile(r"<[^>]{0,200}>")


@dataclass(frozen=True)
class PageText:
    """What a page says."""

    text: str
    title: str = ""
    published: str = ""
    """ISO 8601, as far as the page tells."""


def page_text(page: Fetched) -> PageText:
    """The main text of a page.

    Raises:
        FetchFailed: there is none to be found.
        MissingExtraError: the library that reads it is not installed.
    """
    if page.content_type == "application/pdf":
        made = _pdf(page)
    elif page.content_type in ("text/html", "application/xhtml+xml"):
        made = _html(page)
    else:
        made = PageText(decoded(page.body, page.charset))
    if len(made.text.strip()) < SHORTEST:
        raise FetchFailed("text", "no main text was found")
    return made


def _html(page: Fetched) -> PageText:
    try:
        import trafilatura
    except ImportError as error:  # also when a library that it needs itself is not there
        what = f"reading web pages needs trafilatura ({error})"
        raise MissingExtraError(what, extra="search") from None
    html = decoded(page.body, page.charset)
    for name in ("trafilatura", "htmldate", "courlan", "readability", "justext"):
        _quiet(name)
    try:
        found = trafilatura.bare_extraction(
            html,
            url=page.url,
            include_comments=False,
            include_tables=True,
            favor_recall=True,
            with_metadata=True,
        )
    except Exception as error:  # any page may break a parser; that is this page's failure
        raise FetchFailed("text", f"it cannot be parsed: {type(error).__name__}") from None
    if found is None or isinstance(found, dict):
        return PageText("")
    title = one_line(str(found.title or ""))
    # One line is one block of the page; a blank line keeps a heading from running into a sentence.
    lines = (line.strip() for line in str(found.text or "").splitlines())
    return PageText("\n\n".join(filter(None, lines)), title, str(found.date or ""))


def _quiet(name: str) -> None:
    """Keep a library's remarks on a page off standard error; whoever wants them adds a handler."""
    logger = logging.getLogger(name)
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


def _pdf(page: Fetched) -> PageText:
    """A PDF's text, read in a process of its own; it says nothing reliable of its title."""
    try:
        text, _ = extract_pdf(page.body, where=page.url, seconds=PDF_SECONDS)
    except MissingExtraError:
        raise
    except InputError as error:
        raise FetchFailed("text", error.what) from None
    return PageText(text)


def decoded(body: bytes, charset: str) -> str:
    """Bytes as text: by a byte-order mark, as UTF-8 when they are UTF-8, by the stated charset,
    else as Windows-1252, as browsers do. A page may state a charset that is wrong."""
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return body.decode("utf-16", errors="replace")
    for name in ("utf-8-sig", charset or _stated(body), "cp1252"):
        try:
            return body.decode(name)
        except (LookupError, ValueError):
            continue
    return body.decode("cp1252", errors="replace")


def _stated(body: bytes) -> str:
    """The charset that an HTML page states of itself in its first bytes."""
    found = re.search(rb"charset\s*=\s*[\"']?([A-Za-z0-9_.:-]{2,40})", body[:2048])
    return found[1].decode("ascii") if found else "cp1252"


def one_line(text: str) -> str:
    """Words of an engine or a title as plain text on one line, without tags and entities."""
    return " ".join(unescape(_TAG.sub("", text)).split())
