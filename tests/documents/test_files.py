"""Files: what is read, byte for byte, and what is refused, with which words."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import pypdf
import pytest

from deepfact.documents import extract
from deepfact.documents.build import build_record
from deepfact.documents.files import Bounds, form_of, read_report
from deepfact.documents.report_json import read_json_reports
from deepfact.errors import InputError, MissingExtraError

BOUNDS = Bounds()
LINES = ("1 Introduction", "The mill was built in 1898 by the", "river. It burnt down [1].",
         "References", "[1] Chronicle. https://example.org/c")  # fmt: skip


def pdf_of(*lines: str) -> bytes:
    """A PDF with one page of text, written by hand."""
    shown = " ".join(f"({line}) Tj T*" for line in lines)
    content = f"BT /F1 11 Tf 50 750 Td 14 TL {shown} ET"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        "/Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    return (
        f"{out}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
        f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    ).encode("ascii")


def encrypted(user: str) -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf_of(*LINES)))
    writer.encrypt(user_password=user, owner_password="owner", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def docx_of(*paragraphs: str) -> bytes:
    document = docx.Document()
    document.add_heading("Mills", 1)
    for text in paragraphs:
        document.add_paragraph(text)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def zip_of(**members: str | bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def word_of(document: str | bytes) -> bytes:
    types = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
    return zip_of(**{"[Content_Types].xml": types, "word/document.xml": document})


@pytest.fixture
def put(tmp_path: Path) -> Callable[[str, bytes], Path]:
    def write(name: str, data: bytes) -> Path:
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return write


Put = Callable[[str, bytes], Path]


@pytest.mark.parametrize(
    ("name", "data", "encoding"),
    [
        ("a.md", b"# T\r\n\r\nIt is so. \r\n", "utf-8"), ("a.txt", b"It\ris so.\n\r\n", "utf-8"),
        ("bom.md", b"\xef\xbb\xbf# T\n\nIt is so.", "utf-8"),
        ("wide.md", "\ufeff# T\n\nIt is so.".encode("utf-16-le"), "utf-16-le"),
        ("l.html", b"<meta charset='utf-8'><p>Caf\xe9 is so.", "cp1252"),
        ("g.html", "<meta charset='gb2312'><p>磨坊很古老。".encode("gb2312"), "gb2312"),
        ("n.html", b"<p>M\xfchle \x81 is so.", "latin-1"),
    ],
)  # fmt: skip
def test_text_encoded_again_is_the_file(put: Put, name: str, data: bytes, encoding: str) -> None:
    report = read_report(put(name, data), BOUNDS, id="r")
    assert report.original.encoding == encoding
    assert report.text.encode(encoding) == data
    record = build_record(report)
    assert "".join(report.text[s.start : s.end] for s in record.segments) == report.text
    assert len(record.sentences) == 1


def test_html_that_is_not_what_it_says_is_told(put: Put) -> None:
    data = b"<html>\n<meta charset=utf-8>\n<p>Caf\xe9"
    (note,) = read_report(put("l.html", data), BOUNDS, id="r").notes
    assert "it says it is utf-8 and is not (byte 0xe9 in line 3): read as cp1252" in note
    (note,) = read_report(put("n.html", b"<p>Caf\xe9"), BOUNDS, id="r").notes
    assert "it is no UTF-8" in note


def test_a_user_can_name_the_encoding(put: Put) -> None:
    path = put("a.md", "Die Mühle schloss.".encode("cp1252"))
    assert read_report(path, Bounds(encoding="cp1252"), id="r").text == "Die Mühle schloss."
    with pytest.raises(InputError, match="unknown encoding 'klingon'"):
        read_report(path, Bounds(encoding="klingon"), id="r")


def test_a_pdf_is_read_as_the_text_of_its_pages(put: Put) -> None:
    for name, data in (("a.pdf", pdf_of(*LINES)), ("owner.pdf", encrypted(""))):
        report = read_report(put(name, data), BOUNDS, id="r")
        assert (report.form, report.original.encoding) == ("page", "")
        assert report.text.splitlines() == list(LINES)
        record = build_record(report)
        assert record.sentences[0].text == "The mill was built in 1898 by the river."
        assert record.references[record.sentences[1].references[0]].url == "https://example.org/c"


def test_a_docx_is_read_as_html(put: Put) -> None:
    data = docx_of("The mill opened in 1898.[1] It closed.", "References", "[1] A, https://b.c")
    report = read_report(put("a.docx", data), BOUNDS, id="r")
    record = build_record(report)
    assert record.title == "Mills" and report.text.startswith("<h1>Mills</h1>")
    assert [one.text for one in record.sentences] == ["The mill opened in 1898.", "It closed."]
    assert record.references[record.sentences[0].references[0]].url == "https://b.c"


PDF = pdf_of(*LINES)
BROKEN: dict[str, tuple[bytes, str]] = {
    "empty.md": (b"", "the file is empty"),
    "blank.md": (b" \n\n\t", "there is no text in it"),
    "image.md": (b"\x89PNG\r\n\x1a\n" + bytes(9), "this is a PNG image, not markdown"),
    "binary.md": (bytes(range(256)), "this is binary, not text: it has NUL bytes"),
    "codes.md": (bytes([1, 2, 3, 65]) * 99, "this is binary, not text: it is full of control"),
    "latin.md": ("Mühle".encode("latin-1"), "not utf-8 (byte 0xfc in line 1)"),
    "page.md": (PDF, "this is a PDF, not markdown"),
    "cut.pdf": (PDF[: len(PDF) // 2], "the PDF is cut off: its end is missing"),
    "no.pdf": (b"hello", "this is no PDF"),
    "noise.pdf": (b"%PDF-1.4\n" + bytes(500) + b"%%EOF", "the PDF is damaged"),
    "locked.pdf": (encrypted("secret"), "the PDF is encrypted"),
    "scan.pdf": (pdf_of(), "there is no text on its 1 pages"),
    "renamed.docx": (zip_of(a="x"), "a ZIP archive without a Word document"),
    "text.docx": (b"hello", "this is no DOCX"),
    "cut.docx": (docx_of("It is so.")[:5000], "this is no DOCX: it is not a ZIP archive, or dama"),
    "bomb.docx": (word_of(bytes(201_000_000)), "is it a ZIP bomb?"),
    "entity.docx": (word_of('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'), "has a DTD"),
    "deep.docx": (word_of("<a>" * 50_000 + "</a>" * 50_000), "nested too deeply"),
    "odd.docx": (word_of("<a/>"), "the document is damaged"),
    "what.xyz": (b"x", "what is a .xyz?"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_with_the_reason(put: Put, name: str) -> None:
    data, words = BROKEN[name]
    path = put(name, data)
    with pytest.raises(InputError) as raised:
        read_report(path, BOUNDS, id="r")
    assert words in raised.value.what and str(path) in raised.value.where


def test_size_is_looked_at_before_a_file_is_read(tmp_path: Path) -> None:
    with (tmp_path / "big.md").open("wb") as file:
        file.truncate(50_000_000)  # a hole: nothing is on the disk
    with pytest.raises(InputError, match=r"50\.0 MB, more than 20 MB") as raised:
        read_report(tmp_path / "big.md", BOUNDS, id="r")
    assert raised.value.fix.endswith("--max-mb 50")


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.md").mkdir()
    names = [("a.md", "a folder"), ("b.md", "no such file")]
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.md")
        names.append(("pipe.md", "no regular file"))
    for name, words in names:
        with pytest.raises(InputError, match=words):
            read_report(tmp_path / name, BOUNDS, id="r")


def test_a_format_can_be_named(put: Put) -> None:
    path = put("report.bak", b"<p>It is so.")
    assert form_of(path, Bounds(form="html")) == "html"
    assert read_report(path, Bounds(form="html"), id="r").form == "html"


def test_a_child_that_takes_too_long_or_dies_ends_with_a_message(
    put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put("a.pdf", PDF)
    with pytest.raises(InputError, match=r"takes more than 0\.01 seconds"):
        read_report(path, Bounds(seconds=0.01), id="r")
    monkeypatch.setattr(extract.sys, "executable", "/bin/false")
    with pytest.raises(InputError, match="too much memory or time, or is damaged"):
        read_report(path, BOUNDS, id="r")


def test_a_missing_extra_says_how_to_get_it(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extract.importlib.util, "find_spec", lambda _: None)
    for name in ("a.pdf", "a.docx"):
        with pytest.raises(MissingExtraError, match=r"deepfact\[documents\]"):
            read_report(put(name, PDF), BOUNDS, id="r")


# --- JSON ------------------------------------------------------------------------------------


def reports(path: Path) -> list[Any]:
    return list(read_json_reports(path, BOUNDS))


def test_json_lines_of_reports(put: Put) -> None:
    lines = [
        json.dumps({"id": 7, "prompt": "When?", "article": "It is so.\r\n"}), "", "{", '{"id": 2}',
        json.dumps({"article": "a\ud800"}),
    ]  # fmt: skip
    one, *wrong = reports(put("a.jsonl", "\n".join(lines).encode()))
    assert (one.id, one.question, one.text) == ("a-7", "When?", "It is so.\r\n")
    assert one.original.item == "a-7"
    assert [(error.where.rpartition("a.jsonl, ")[2], error.what[:20]) for error in wrong] == [
        ("line 3", "not JSON: Expecting "), ("line 4", "no report on this li"),
        ("report a-5", "the text has half a "),
    ]  # fmt: skip


SENTENCES = ["# Mills", "The mill opened in 1898.", "It closed."]
TEXT = "# Mills\n\nThe mill opened in 1898. It closed."


def test_deepfact_bench_joined_and_separate_give_the_same(put: Put) -> None:
    rated = {"relevance": "4", "relevance_reason": "central", "human_verdict": "Supported"}
    info = [{"sentence": SENTENCES[0], "relevance": None},
            {"sentence": SENTENCES[1], **rated}, {"sentence": SENTENCES[2]}]  # fmt: skip
    base = {"topic": "Mills", "response": TEXT, "model": "a system"}
    joined = {"report_id": "r1", **base, "sentences_info": info}
    (one,) = reports(put("r1.json", json.dumps(joined).encode()))
    row = {"report_id": "r1", "sentence_idx": "1", **rated}
    put("test.json", json.dumps([row]).encode())
    separate = put(
        "test_reports.json", json.dumps({"r1": {**base, "sentences": SENTENCES}}).encode()
    )
    (two,) = reports(separate)
    assert one.given == two.given and one.text == two.text == TEXT
    assert (one.given[1].relevance, one.given[1].annotated) == (4, True)
    record = build_record(one)
    assert [sentence.text for sentence in record.sentences] == SENTENCES
    assert [s.relevance for s in record.sentences] == [None, 4, None]
    with pytest.raises(InputError, match="their reports are in another file") as raised:
        reports(put("test.json", json.dumps([row]).encode()))
    assert "test_reports.json" in raised.value.fix


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"a": 1}, "there is no report in it"), ([], "there is no report in it"),
        ({"r": {"response": ""}}, "the report has no text"),
        ({"response": "x", "sentences": "y"}, "its sentences are no list"),
        ({"response": "x", "sentences": [{"text": "y"}]}, "sentence 0 has no text"),
        ({"response": "x", "sentences": [{"sentence": "x", "relevance": "9"}]}, "is not 1 to 5"),
    ],
)  # fmt: skip
def test_json_that_is_no_report(put: Put, value: Any, words: str) -> None:
    path = put("a.json", json.dumps(value).encode())
    try:
        (error,) = reports(path)
    except InputError as raised:
        error = raised
    assert words in error.what


def test_json_that_is_nested_without_end(put: Put) -> None:
    with pytest.raises(InputError, match="not JSON"):
        reports(put("a.json", b"[" * 100_000))
