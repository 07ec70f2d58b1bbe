"""The one place where report templates are set up, so that data can never be markup.

Every value that a template prints passes through `finalize`, which makes control characters
visible and escapes for the output format; only what a template itself wrote (a macro's
result) goes through as it is. Data is never compiled as a template. This module reads the
template files of this package and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import lru_cache
from pathlib import Path
from typing import Any, Callable, Iterable
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from deepfact.run_records import Rate

TEMPLATES = Path(__file__).parent / "templates"

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 and C1 but tab and line feed
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\u115f\u1160\u3164\uffa0"  # letters that are drawn as nothing
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Characters that change how text looks without being seen: controls, bidi overrides,
zero-width marks, tag characters, lone surrogates. Joiners (U+200C, U+200D) stay: Persian and
emoji are spelt with them, and they reorder nothing."""

_MARKDOWN = re.compile(r"[`*_{}\[\]()!~$^]|://|(?<=www)\.", re.IGNORECASE)
_ENTITIES = str.maketrans(
    {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        "@": "&#64;",
        "|": "&#124;",
        "\\": "&#92;",
        "#": "&#35;",
    }
)
"""Written as entities, since dialects differ on backslashes in table cells and links."""


def visible(text: str) -> str:
    """``text`` with every hidden character written as its code point: ``[U+202E]``.

    A carriage return before a line feed is an ordinary line end and is left out.
    """
    return _HIDDEN.sub(lambda m: f"[U+{ord(m[0]):04X}]", text.replace("\r\n", "\n"))


def _plain(value: Any) -> str:
    """The text of a value that may be printed.

    Raises:
        TypeError: None or a container, which only a mistake in a template prints.
    """
    if value is None or isinstance(value, (dict, list, tuple, set)):
        raise TypeError(f"a template prints {type(value).__name__}, which is no text")
    return visible(str(value))


def html_escape(value: Any) -> Markup:
    """A value as HTML text or attribute; what a macro rendered goes through unchanged."""
    return value if isinstance(value, Markup) else escape(_plain(value))


def markdown_escape(value: Any) -> Markup:
    """A value as inline Markdown on one line, so that it can open no table cell, heading, link,
    code, HTML or mention; what a macro rendered goes through unchanged."""
    if isinstance(value, Markup):
        return value
    text = re.sub(r"[ \t\n]+", " ", _plain(value)).strip(" ")
    # Entities first: none of what the second step escapes is in them.
    text = _MARKDOWN.sub(lambda m: rf"\{m[0]}", text.translate(_ENTITIES))
    return Markup(text)  # noqa: S704 -- escaped on the line above


def listed(values: Iterable[Any]) -> str:
    """Values with commas between them, as plain text: what prints it escapes it, once."""
    return ", ".join(_plain(value) for value in values)


def safe_href(url: str) -> str:
    """``url`` when it is plain http or https and may be linked, otherwise an empty string."""
    if not url.isprintable() or re.search(r"[\s\"'<>\\`]", url) or _HIDDEN.search(url):
        return ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return url if parts.scheme in ("http", "https") and parts.hostname else ""


def percent(share: float) -> str:
    """A share as a percentage with one decimal: ``84.0 %`` (no-break space)."""
    return f"{100 * share:.1f}\u00a0%"


def interval(low: float, high: float) -> str:
    """An interval of shares: ``71.3-92.8 %`` with an en dash."""
    return f"{100 * low:.1f}–{100 * high:.1f}\u00a0%"


def signed(value: float) -> str:
    """A figure with three decimals that may be below 0, with a minus sign and no hyphen."""
    return f"{value:.3f}".replace("-", "−")


def rate_words(rate: Rate) -> str:
    """A rate in one line of plain text, with all that it may not be shown without."""
    if rate.value is None:
        return f"no rate (n = 0, {rate.unverified} unverified)"
    return (
        f"{percent(rate.value)} ({rate.k} of {rate.n}, 95 % interval "
        f"{interval(rate.low, rate.high)}, {rate.unverified} unverified)"
    )


def _inline(name: str) -> Markup:
    """A style sheet or script of this package, to stand between its tags."""
    text = (TEMPLATES / name).read_text(encoding="utf-8")
    if "</" in text:
        raise ValueError(f"{name} could close its own element")
    return Markup(text)  # noqa: S704 -- a file of this package, not data


def _csp_hash(text: str) -> str:
    """The CSP source expression that admits exactly this inline block."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _environment(finalize: Callable[[Any], Markup]) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        newline_sequence="\n",
    )
    environment.filters |= {
        "percent": percent,
        "decimal": "{:.3f}".format,
        "signed": signed,
        "href": safe_href,
        "listed": listed,
    }
    environment.globals |= {"interval": interval}
    return environment


@lru_cache(maxsize=1)
def html_environment() -> Environment:
    """The environment of HTML templates, with the style sheet, the script and their policy."""
    environment = _environment(html_escape)
    style, script = _inline("report.css"), _inline("report.js")
    environment.globals |= {
        "style": style,
        "script": script,
        # Markup, since the quotes of the policy must reach the browser as they are; it is made
        # of constants and base64 only.
        "policy": Markup(  # noqa: S704
            f"default-src 'none'; style-src {_csp_hash(style)}; script-src {_csp_hash(script)}; "
            "img-src data:; base-uri 'none'; form-action 'none'"
        ),
    }
    return environment


@lru_cache(maxsize=1)
def markdown_environment() -> Environment:
    """The environment of Markdown templates."""
    environment = _environment(markdown_escape)
    environment.filters["autolink"] = _autolink
    return environment


def _autolink(url: str) -> Markup:
    """An address that `safe_href` let through, as it stands between ``<`` and ``>``; a pipe
    would still end a table cell, so it is written as the URL code that means the same."""
    return Markup(url.replace("|", "%7C"))  # noqa: S704 -- safe_href refuses <, > and spaces
