"""The text of a PDF or DOCX file, taken out in a process of its own.

Their libraries read formats in which a small file can ask for any amount of time and memory. The
child has a limit on both, reads standard input and writes JSON; whatever happens to it, the import
goes on with the next file. What is kept is the extracted text, beside the hash of the file.
"""

from __future__ import annotations

import importlib.util
import io
import json
import subprocess
import sys
import zipfile

from deepfact.errors import InputError, MissingExtraError

MEMORY = 2_000_000_000
"""Bytes that the child may use, where the system can bound it."""
UNPACKED = 200_000_000
"""Most bytes that the parts of a DOCX may unpack to."""
TAIL = 4096
"""How far from its end a PDF must say that it ends."""


def extract_pdf(data: bytes, *, where: str, seconds: float) -> tuple[str, list[str]]:
    """The text of a PDF's pages, with a form feed between them; and what to tell of it.

    Raises:
        InputError: not a PDF, cut off, encrypted, without text, or it takes too long.
        MissingExtraError: pypdf is not installed.
    """
    _need("pypdf", "PDF files")
    if not data[:1024].lstrip().startswith(b"%PDF-"):
        raise InputError("this is no PDF", where=where)
    if b"%%EOF" not in data[-TAIL:]:
        raise InputError(
            "the PDF is cut off: its end is missing", where=where, fix="fetch it again"
        )
    return _in_child("pdf", data, where, seconds)


def extract_docx(data: bytes, *, where: str, seconds: float) -> tuple[str, list[str]]:
    """A DOCX file as HTML, which keeps headings, lists, tables, links and footnotes.

    Raises:
        InputError: not a Word document, damaged, or it unpacks to too much.
        MissingExtraError: mammoth is not installed.
    """
    _need("mammoth", "DOCX files")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise InputError(
            "this is no DOCX: it is not a ZIP archive, or damaged", where=where
        ) from None
    names = {member.filename for member in members}
    if "[Content_Types].xml" not in names or not any(name.startswith("word/") for name in names):
        raise InputError("this is a ZIP archive without a Word document in it", where=where)
    unpacked = sum(member.file_size for member in members)
    if unpacked > UNPACKED:
        raise InputError(
            f"its parts unpack to {unpacked / 1e6:.0f} MB, more than {UNPACKED / 1e6:.0f} MB: "
            "is it a ZIP bomb?",
            where=where,
        )
    if any(member.flag_bits & 1 for member in members):
        raise InputError("the document is encrypted", where=where, fix="save it without a password")
    return _in_child("docx", data, where, seconds)


def _need(module: str, what: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise MissingExtraError(f"{what} need {module}", extra="documents")


def _in_child(kind: str, data: bytes, where: str, seconds: float) -> tuple[str, list[str]]:
    try:
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "deepfact.documents.extract", kind, str(int(seconds) + 1)],
            input=data,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InputError(
            f"reading it takes more than {seconds:g} seconds",
            where=where,
            fix="give it more with --timeout, or convert it to text yourself",
        ) from None
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        why = "it needs too much memory or time, or is damaged"
        raise InputError(f"cannot be read: {why}", where=where) from None
    if "error" in answer:
        raise InputError(answer["error"], where=where, fix=answer.get("fix", ""))
    return answer["text"], answer["notes"]


# --- the child -------------------------------------------------------------------------------


def _pdf(data: bytes) -> dict[str, object]:
    import logging

    import pypdf

    logging.disable(logging.CRITICAL)
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            return {"error": "the PDF is encrypted", "fix": "save it without a password"}
        pages = [page.extract_text() for page in reader.pages]
    except pypdf.errors.DependencyError:
        return {"error": "the PDF is encrypted", "fix": "save it without a password"}
    except RecursionError:
        return {"error": "the PDF is nested too deeply"}
    except Exception as error:
        # A damaged file raises anything in there; the reason is told, the file is not read.
        return {"error": f"the PDF is damaged: {type(error).__name__}: {error}"[:300]}
    empty = [str(number) for number, text in enumerate(pages, 1) if not text.strip()]
    if len(empty) == len(pages):
        return {
            "error": f"there is no text on its {len(pages)} pages: pictures of pages?",
            "fix": "run text recognition (OCR) on it first",
        }
    notes = [f"{len(pages)} pages; kept is their text, with a form feed between pages"]
    if empty:
        notes.append(f"no text on page {', '.join(empty[:20])}")
    return {"text": "\n\f\n".join(pages), "notes": notes}


def _docx(data: bytes) -> dict[str, object]:
    import mammoth

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            if member.filename.endswith((".xml", ".rels")):
                # OOXML allows no DTD; an entity could make any amount of text of a few bytes.
                start = archive.read(member)
                if b"<!DOCTYPE" in start or b"<!ENTITY" in start or start[:2] in (
                    b"\xff\xfe", b"\xfe\xff"
                ):  # fmt: skip
                    return {"error": f"{member.filename} has a DTD, which no Word document has"}
    images = mammoth.images.img_element(lambda _: {"src": ""})
    try:
        made = mammoth.convert_to_html(io.BytesIO(data), convert_image=images)
    except RecursionError:
        return {"error": "the document is nested too deeply"}
    except Exception as error:
        return {"error": f"the document is damaged: {type(error).__name__}: {error}"[:300]}
    return {"text": made.value, "notes": ["kept is its text as HTML, as mammoth makes it"]}


def _bound(seconds: int) -> None:
    try:
        import resource
    except ModuleNotFoundError:  # Windows: the parent's clock is the only bound
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


def _main(kind: str, seconds: str) -> None:
    data = sys.stdin.buffer.read()
    _bound(int(seconds))
    try:
        answer = (_pdf if kind == "pdf" else _docx)(data)
    except MemoryError:
        answer = {"error": f"reading it takes more than {MEMORY / 1e9:.0f} GB of memory"}
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        answer = {"error": f"the file is damaged: {error}"[:300]}
    sys.stdout.buffer.write(json.dumps(answer).encode("ascii"))


if __name__ == "__main__":
    _main(*sys.argv[1:3])
