"""Files that hold reports: read within bounds, told apart by what is in them, decoded honestly.

A file is refused with the reason, or its text is kept so that encoding it again gives the bytes.
Nothing is repaired: half a report is no report.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from pathlib import Path

from deepfact.documents.drafts import Report
from deepfact.documents.extract import extract_docx, extract_pdf
from deepfact.documents.records import Original
from deepfact.errors import InputError
from deepfact.records import sha256_of

MEGABYTE = 1_000_000
MAX_MEGABYTES = 20
"""Largest file that is read unless the user says otherwise."""

FORMS = {
    ".md": "markdown", ".markdown": "markdown", ".txt": "text", ".text": "text",
    ".html": "html", ".htm": "html", ".xhtml": "html", ".pdf": "pdf", ".docx": "docx",
    ".json": "json", ".jsonl": "jsonl",
}  # fmt: skip
"""What a file is by the end of its name."""
MAX_CHARACTERS = 2_000_000
"""Longest text that is read unless the user says otherwise: the longest real reports that we know
have 90,000 characters."""
_MAGIC = (
    (b"%PDF-", "a PDF", "pdf"), (b"PK\x03\x04", "a ZIP archive", "docx"),
    (b"\xd0\xcf\x11\xe0", "an old Word or Excel file", ""), (b"\x89PNG", "a PNG image", ""),
    (b"\xff\xd8\xff", "a JPEG image", ""), (b"GIF8", "a GIF image", ""),
    (b"\x1f\x8b", "a gzip archive", ""), (b"\x7fELF", "a program", ""),
    (b"MZ\x90", "a program", ""),
    (b"7z\xbc\xaf", "a 7z archive", ""), (b"Rar!", "a RAR archive", ""),
    (b"SQLite format 3", "an SQLite database", ""), (b"{\\rtf", "an RTF file", ""),
)  # fmt: skip
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"), (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # fmt: skip
_CLAIMED = re.compile(rb"""<meta[^<>]{0,200}charset\s{0,5}=\s{0,5}["']?\s{0,5}([\w-]{2,30})|"""
                      rb"""<\?xml[^<>]{0,200}encoding\s{0,5}=\s{0,5}["']([\w-]{2,30})""",
                      re.IGNORECASE)  # fmt: skip
_CONTROLS = re.compile("[\x01-\x08\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is read, and how."""

    megabytes: float = MAX_MEGABYTES
    characters: int = MAX_CHARACTERS
    """Of one report's text."""
    seconds: float = 60
    """For a PDF or DOCX."""
    encoding: str = ""
    form: str = ""
    """One of the values of `FORMS`, instead of what the name says."""


def form_of(path: Path, bounds: Bounds) -> str:
    """What a file is, by its name or the user's word.

    Raises:
        InputError: neither says.
    """
    form = bounds.form or FORMS.get(path.suffix.lower(), "")
    if not form:
        raise InputError(
            f"what is a {path.suffix or 'file without an ending'}?",
            where=str(path),
            fix=f"name the form with --format: {', '.join(sorted(set(FORMS.values())))}",
        )
    return form


def read_bytes(path: Path, bounds: Bounds) -> bytes:
    """A file's bytes.

    Raises:
        InputError: no regular file, unreadable, empty, or too large; its size is looked at
            before anything is read.
    """
    try:
        if path.exists() and not path.is_file():
            kind = "a folder" if path.is_dir() else "no regular file"
            raise InputError(f"this is {kind}, a file is needed", where=str(path))
        size = path.stat().st_size
        limit = int(bounds.megabytes * MEGABYTE)
        if size > limit:
            raise InputError(
                f"the file has {size / MEGABYTE:.1f} MB, more than {bounds.megabytes:g} MB",
                where=str(path),
                fix=f"if it is a report after all: --max-mb {-(-size // MEGABYTE)}",
            )
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except FileNotFoundError:
        raise InputError("no such file", where=str(path)) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from None
    if len(data) > limit:
        raise InputError("the file grew while it was read", where=str(path))
    if not data:
        raise InputError("the file is empty", where=str(path))
    return data


def read_report(path: Path, bounds: Bounds, *, id: str) -> Report:
    """The report that a Markdown, text, HTML, PDF or DOCX file holds.

    Raises:
        InputError: the file is not what it says, damaged, encrypted, too large, or has no text.
        MissingExtraError: what reads it is not installed.
    """
    form = form_of(path, bounds)
    data = read_bytes(path, bounds)
    where = str(path)
    if form in ("pdf", "docx"):
        if form == "pdf":
            text, told = extract_pdf(data, where=where, seconds=bounds.seconds)
        else:
            text, told = extract_docx(data, where=where, seconds=bounds.seconds)
        encoding, form = "", "page" if form == "pdf" else "html"
    else:
        text, encoding, told = decoded(data, form, bounds.encoding, where=where)
    if not text.strip("\ufeff \t\r\n\f"):
        raise InputError("there is no text in it", where=where)
    original = Original(
        name=path.name,
        format=form_of(path, bounds),
        size=len(data),
        hash=sha256_of(data),
        encoding=encoding,
    )
    return Report(id=id, text=text, original=original, form=form, notes=tuple(told))


def decoded(data: bytes, form: str, encoding: str, *, where: str) -> tuple[str, str, list[str]]:
    """The text of a file, the encoding that gives its bytes back, and what to tell of it.

    A byte-order mark decides, then the user, then UTF-8. HTML that is no UTF-8 is read as what
    it says it is; where it says UTF-8 and is not, as Windows-1252, and that is told.
    """
    for start, what, real in _MAGIC:
        if data.startswith(start):
            fix = f"if it is one after all: --format {real}" if real else "save it as text"
            raise InputError(f"this is {what}, not {form}", where=where, fix=fix)
    for mark, name in _BOMS:
        if data.startswith(mark):
            return _strictly(data, name, where), name, [f"starts with a byte-order mark ({name})"]
    if b"\x00" in data:
        raise InputError(
            "this is binary, not text: it has NUL bytes", where=where, fix="save it as UTF-8 text"
        )
    if encoding:
        return _strictly(data, encoding, where), encoding, []
    try:
        text, found, notes = data.decode("utf-8"), "utf-8", list[str]()
    except UnicodeDecodeError as error:
        if form != "html":
            return _strictly(data, "utf-8", where), "utf-8", []
        text, found, notes = _claimed_html(data, error)
    if len(_CONTROLS.findall(text[:100_000])) > max(8, len(text[:100_000]) // 100):
        raise InputError("this is binary, not text: it is full of control codes", where=where)
    return text, found, notes


def _claimed_html(data: bytes, error: UnicodeDecodeError) -> tuple[str, str, list[str]]:
    match = _CLAIMED.search(data[:4096])
    claimed = (match.group(1) or match.group(2)).decode("ascii").lower() if match else ""
    line = data.count(b"\n", 0, error.start) + 1
    place = f"byte 0x{data[error.start]:02x} in line {line}"
    for name in filter(None, (claimed, "cp1252", "latin-1")):
        try:
            text = data.decode(name)
        except (UnicodeDecodeError, LookupError):
            continue
        if text.encode(name) != data:
            continue
        if name == claimed:
            return text, name, [f"read as {name}, which it says it is"]
        says = f"it says it is {claimed} and is not" if claimed else "it is no UTF-8"
        return text, name, [f"{says} ({place}): read as {name}; --encoding NAME if that is wrong"]
    raise AssertionError("latin-1 decodes everything")


def _strictly(data: bytes, encoding: str, where: str) -> str:
    try:
        text = data.decode(encoding)
        if text.encode(encoding) == data:
            return text
        what = f"its bytes do not come back from {encoding}"
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = f"not {encoding} (byte 0x{data[error.start]:02x} in line {line})"
    except (LookupError, UnicodeEncodeError):
        raise InputError(f"unknown encoding {encoding!r}", where=where) from None
    raise InputError(
        what, where=where, fix="save it as UTF-8, or name its encoding: --encoding cp1252"
    )
