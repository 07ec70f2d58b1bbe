"""A record of a text, made as an import makes it."""

from __future__ import annotations

from typing import Any, Callable

import pytest

from deepfact.documents.build import build_record
from deepfact.documents.drafts import Report
from deepfact.documents.records import Original, ReportRecord
from deepfact.records import sha256_of

Build = Callable[..., ReportRecord]


def build_report(text: str, form: str = "markdown", **fields: Any) -> ReportRecord:
    data = text.encode("utf-8")
    original = Original(name="r", format=form, size=len(data), hash=sha256_of(data))
    return build_record(Report(id="r", text=text, original=original, form=form, **fields))


@pytest.fixture(scope="session")
def build() -> Build:
    """``build(text, form="markdown", question=...)``."""
    return build_report


@pytest.fixture(scope="session")
def joined() -> Callable[[ReportRecord], str]:
    """All segments of a record, one after the other."""
    return lambda record: "".join(record.text[one.start : one.end] for one in record.segments)
