"""The published claims and sources as rows, as Parquet and as JSON Lines.

Every column is spelt out here; nothing is published because a record happens to have it. The
same rows give the same bytes: no clock, no index, fixed settings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deepfact.core.state import Entry
from deepfact.publish.selection import Selection
from deepfact.records import Annotation, Evidence, Source, Span, canonical_json
from deepfact.store.files import jsonl

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, Any]

TEXT, NUMBER, TEXTS = "text", "number", "texts"
EVIDENCE = {"source": TEXT, "quote": TEXT, "stance": TEXT, "start": NUMBER, "end": NUMBER}
QUALIFICATION = {"kind": TEXT, "text": TEXT, "source": TEXT, "quote": TEXT}
CONTRADICTION = {"disputed": TEXT, "source": TEXT, "quote": TEXT}
PROVENANCE = {"who": TEXT, "when": TEXT, "run": TEXT, "case": TEXT}

Shape = str | dict[str, str] | list[dict[str, str]]
"""A column's kind: one of the words above; a dict is a record, a list holds records."""

CLAIMS: dict[str, tuple[Shape, str]] = {
    "id": (TEXT, "id of the claim, the same in every version"),
    "text": (TEXT, "the claim"),
    "context": (TEXT, "what is needed to read the claim alone"),
    "label": (TEXT, "supported, contradictory or inconclusive; null while nobody has labelled it"),
    "rationale": (TEXT, "why the label is what it is"),
    "evidence": ([EVIDENCE], "quotes, with the characters of the source's text they stand at"),
    "qualifications": ([QUALIFICATION], "context that a reader needs; it refutes nothing"),
    "contradictions": ([CONTRADICTION], "the words of the claim that a source disputes"),
    "provenance": (PROVENANCE, "who gave the label, when, in which run and case"),
    "original_label": (TEXT, "the label in the words of the data set it was imported from"),
    "report": (TEXT, "report that the claim is from; intervals are clustered by it"),
    "document": (TEXT, "id of that report's text among the sources"),
    "sentence": (NUMBER, "place of the claim's sentence in the report"),
    "start": (NUMBER, "first character of the claim in the report's text"),
    "end": (NUMBER, "character after its last"),
    "cites": (TEXTS, "ids of the sources that the claim cites"),
    "domain": (TEXT, "field of knowledge"),
    "kind": (TEXT, "kind of statement"),
    "subject": (TEXT, "what the claim is about"),
    "predicate": (TEXT, "what it says of it"),
    "object": (TEXT, "the value it gives"),
    "strata": (TEXTS, "groups to score by, as far as the claim itself shows them"),
}
"""Columns of the claims, with what they mean; the card and the Croissant file say it too."""

SOURCES: dict[str, tuple[Shape, str]] = {
    "id": (TEXT, "hash of the whole source card"),
    "title": (TEXT, "title of the document"),
    "url": (TEXT, "where it was"),
    "role": (TEXT, "primary, secondary, generated ..."),
    "trust": (TEXT, "how far it is trusted"),
    "published": (TEXT, "date as the source gives it"),
    "retrieved_at": (TEXT, "when it was fetched, ISO 8601"),
    "text": (TEXT, "the text that quotes are from"),
}
"""Columns of the sources."""

COLUMNS = {"claims": CLAIMS, "sources": SOURCES}
"""The configs of a snapshot."""


def tables(selection: Selection) -> dict[str, list[Row]]:
    """The rows of each config. Sources are none where there are none: `datasets` cannot load a
    table without rows."""
    sources = [_source(source) for source in selection.sources]
    claims = [_claim(entry, selection) for entry in selection.entries]
    return {"claims": claims, **({"sources": sources} if sources else {})}


def as_jsonl(rows: list[Row]) -> bytes:
    """Rows as JSON Lines."""
    return jsonl(map(canonical_json, rows)).encode("utf-8")


def as_parquet(rows: list[Row], columns: dict[str, tuple[Shape, str]]) -> bytes:
    """Rows as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([pa.field(name, _arrow(shape)) for name, (shape, _) in columns.items()])
    sink = pa.BufferOutputStream()
    table = pa.Table.from_pylist(rows, schema=schema)
    pq.write_table(table, sink, compression="zstd", version="2.6")
    return bytes(sink.getvalue().to_pybytes())


def _arrow(shape: Shape) -> pa.DataType:
    import pyarrow as pa

    if isinstance(shape, list):
        return pa.list_(_arrow(shape[0]))
    if isinstance(shape, dict):
        return pa.struct([pa.field(name, _arrow(inner)) for name, inner in shape.items()])
    return {TEXT: pa.string(), NUMBER: pa.int64(), TEXTS: pa.list_(pa.string())}[shape]


def _claim(entry: Entry, selection: Selection) -> Row:
    claim, origin = entry.claim, entry.claim.origin
    # A withheld text has no characters to point at.
    document = origin.document if origin and origin.document not in selection.withheld else None
    span = origin.span if origin and document else None
    names = {"domain": claim.domain, "kind": claim.kind}
    return {
        "id": claim.id,
        "text": claim.text,
        "context": claim.context,
        **_annotation(entry.annotation, selection.blank),
        "report": origin.report if origin else "",
        "document": document,
        "sentence": origin.sentence if origin else None,
        **_span(span),
        "cites": list(claim.cites),
        "domain": claim.domain,
        "kind": claim.kind,
        "subject": claim.subject,
        "predicate": claim.predicate,
        "object": claim.object,
        "strata": [f"{what}: {name}" for what, name in names.items() if name],
    }


def _annotation(annotation: Annotation | None, blank: tuple[str, ...]) -> Row:
    if annotation is None:
        return {
            "label": None, "rationale": "", "evidence": [], "qualifications": [],
            "contradictions": [], "provenance": None, "original_label": "",
        }  # fmt: skip
    provenance = annotation.provenance.model_dump(mode="json")
    return {
        "label": str(annotation.label),
        "rationale": annotation.rationale,
        "evidence": [_evidence(evidence) for evidence in annotation.evidence],
        "qualifications": [
            {"kind": str(q.kind), "text": q.text, "source": q.source, "quote": q.quote}
            for q in annotation.qualifications
        ],
        "contradictions": [
            {"disputed": c.disputed, "source": c.source, "quote": c.quote}
            for c in annotation.contradictions
        ],
        "provenance": {
            name: None if f"provenance.{name}" in blank else provenance[name] for name in PROVENANCE
        },
        "original_label": annotation.original_label,
    }


def _evidence(evidence: Evidence) -> Row:
    return {
        "source": evidence.source,
        "quote": evidence.quote,
        "stance": str(evidence.stance),
        **_span(evidence.span),
    }


def _span(span: Span | None) -> Row:
    return {"start": span.start if span else None, "end": span.end if span else None}


def _source(source: Source) -> Row:
    data = source.model_dump(mode="json")
    return {name: data[name] for name in SOURCES}
