"""Readers of reports and pages: Markdown, text, HTML, PDF, DOCX, JSON; and citations in them."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mutations import BINARY, COMMON
from reader import Reader, one_file, used

MARKDOWN = """# Mills of the valley

The mill was built in 1898 [1], and closed in 1931.[^a] Some say 1932 ([Chronicle](https://c.d/e)).

| mill | year |
|------|------|
| old  | 1898 [2, 3] |

> "It burnt down", says the paper (Smith et al., 2020; Doe 2021).

- a list with `code [1]` and **bold** text
  1. and a nested one [4]-[6]

```python
print("[1]")
```

See https://example.org/plain and <https://example.org/angle>. 【5†source】 text^7 more.

## References

[1] Mill history. https://www.example.org/a/
[2] Ada Smith (2020). On mills. *Journal of Mills*, 3(2). doi:10.1000/182
3. Doe, J. 2021. Dams. https://example.org/dams

[^a]: The chronicle, p. 3. https://example.org/c
"""

HTML = """<!DOCTYPE html>
<html><head><title>Mills</title><meta charset="utf-8"><style>p {color: red}</style></head>
<body><h1>Mills</h1><p>The mill was built in 1898<sup><a href="#r1">[1]</a></sup>.
It &amp; the dam closed&nbsp;in 1931 <a href="https://c.d/e">(Chronicle)</a>.</p>
<table><tr><th>mill</th><td>1898 [2]</td></tr></table><ul><li>one<li>two</ul>
<script>var a = "</p>";</script><!-- a comment --><blockquote>It burnt down.</blockquote>
<h2>References</h2><ol><li id="r1">Mill history. <a href="https://a.b">link</a></li></ol>
</body></html>
"""

PLAIN = """Mills of the valley

The mill was built in 1898 by the
river. It closed in 1931 [1], as Smith (2020) says.

References
[1] Chronicle. https://example.org/c
"""


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


def docx_of(text: str) -> bytes:
    """A Word document with one paragraph, of the parts that a reader needs; stored, not deflated,
    so that a flipped bit reaches the XML."""
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    kinds = "http://schemas.openxmlformats.org/package/2006/content-types"
    links = "http://schemas.openxmlformats.org/package/2006/relationships"
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{kinds}"><Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{main}"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{links}"><Relationship Id="r1" Type="{office}" '
        'Target="word/document.xml"/></Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{word}"><w:body><w:p><w:r><w:t>{text}</w:t>'
        "</w:r></w:p></w:body></w:document>",
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def _read(path: Path) -> object:
    """As ``deepfact report import`` reads a file; a refusal of one report is raised as well."""
    from deepfact.cli.report_import import import_files
    from deepfact.documents.files import Bounds

    out = import_files([path], Bounds(seconds=20))
    used([one.record for one in out.done])
    if out.failed:
        raise out.failed[0].error
    return out


def readers() -> Iterator[Reader]:
    """All of them."""
    for name, text in (("md", MARKDOWN), ("txt", PLAIN), ("html", HTML)):
        yield _report(name, text.encode(), weight=1.5)
    yield Reader(
        "report pdf",
        one_file("a.pdf", pdf_of("The mill was built in 1898.", "It burnt down [1].")),
        lambda folder: _read(folder / "a.pdf"),
        mutations=(*BINARY, *COMMON[:8]),
        weight=0.25,
    )
    yield Reader(
        "report docx",
        one_file("a.docx", docx_of("The mill was built in 1898.[1] It closed.")),
        lambda folder: _read(folder / "a.docx"),
        mutations=(*BINARY, *COMMON[:8]),
        weight=0.25,
    )
    report: dict[str, Any] = {
        "prompt": "When?", "article": MARKDOWN, "id": "r1", "model": "m",
        "sentences_info": [{"sentence": "It closed in 1931.", "relevance": "4",
                            "human_verdict": "supported", "agent_verdict": None}],
    }  # fmt: skip
    yield _report("json", json.dumps({"r 1": report, "r 2": report}).encode())
    yield _report("jsonl", f"{json.dumps(report)}\n{json.dumps({'text': PLAIN})}\n".encode())
    yield Reader(
        "page fetched from the web",
        one_file("page", HTML),
        lambda folder: _page((folder / "page").read_bytes()),
    )


def _report(name: str, data: bytes, weight: float = 1.0) -> Reader:
    return Reader(
        f"report {name}", one_file(f"a.{name}", data), lambda folder: _read(folder / f"a.{name}"),
        weight=weight,
    )  # fmt: skip


def _page(body: bytes) -> object:
    """The text of a page; no text is what a run notes of it, and no failure of the run."""
    from deepfact.retrievers.web.fetch import Fetched, FetchFailed
    from deepfact.retrievers.web.pages import page_text

    kinds = ("text/html", "text/plain")
    for kind in kinds:
        page = Fetched("https://a.b/c", (), kind, "", body)
        try:
            page_text(page).text.encode("utf-8")
        except FetchFailed:
            continue
    return None
