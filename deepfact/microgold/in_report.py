"""The report that an edited claim stood in, with the edit in it too.

An auditor sees a claim in its report. Were the report left as it was, it would say what the claim
said before the edit, and tell both that it was edited and what is true. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping

from deepfact.records import Claim, Origin, Source, Span


def with_edit(
    origin: Origin | None, claim: Claim, text: str, sources: Mapping[str, Source]
) -> tuple[Origin | None, Source | None]:
    """Where an edited claim stands, and the report's text with the edit, as a further source card.

    A report that does not have the claim word for word cannot be edited like this; the claim then
    keeps the report's id and loses its place in the text.

    Args:
        origin: where the original stood.
        claim: the original.
        text: the edited claim.
        sources: by id, reports among them.
    """
    if origin is None or origin.document is None:
        return origin, None
    report = sources.get(origin.document)
    at = _place(report.text, claim.text, origin.span) if report else -1
    if report is None or at < 0:
        return Origin(report=origin.report, sentence=origin.sentence), None
    end = at + len(claim.text)
    card = {
        **report.model_dump(exclude={"id"}),
        "text": report.text[:at] + text + report.text[end:],
    }
    changed = Source.create(**card)
    span = Span(start=at, end=at + len(text)) if origin.span else None
    return origin.model_copy(update={"document": changed.id, "span": span}), changed


def _place(report: str, claim: str, span: Span | None) -> int:
    """Where the claim stands: at its span if it is there, else where it stands once; or -1."""
    if span is not None and report[span.start : span.end] == claim:
        return span.start
    return report.find(claim) if report.count(claim) == 1 else -1
