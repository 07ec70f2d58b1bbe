"""When a verdict may challenge a label: it disagrees, and it argues for itself.

Pure. A challenge that names no evidence, quotes what no source says, or refutes without
naming the disputed part is inadmissible: it is counted and shown, and nobody audits it.
"""

from __future__ import annotations

from typing import Mapping

from deepfact.core.quotes import contains_words, find_quote
from deepfact.records import Claim, Label, Source, SourceRole, Verdict

GENERATED = frozenset({SourceRole.GENERATED, SourceRole.MODEL_ANSWER})
"""Roles whose text is never evidence."""


def why_inadmissible(claim: Claim, verdict: Verdict, sources: Mapping[str, Source]) -> str:
    """What is wrong with the argument of a verdict that disagrees; empty when it may stand.

    Args:
        claim: the claim it is about.
        verdict: the verdict.
        sources: the benchmark's sources by id.
    """
    for quote in verdict.evidence:
        if problem := why_not_evidence(quote.source, quote.quote, sources):
            return problem
    for qualification in verdict.qualifications:
        if qualification.source and qualification.source not in sources:
            return f"a qualification names a source that is not there: {qualification.source}"
    if verdict.label is Label.INCONCLUSIVE:
        return "" if verdict.rationale.strip() else "no rationale for calling it inconclusive"
    if verdict.label is Label.SUPPORTED:
        return "" if verdict.evidence else "no evidence for calling it supported"
    if not verdict.contradictions:
        return "a refutation must name the part of the claim that is wrong and quote a source"
    for contradiction in verdict.contradictions:
        if not contains_words(contradiction.disputed, claim.text):
            return f"the disputed words are not in the claim: {contradiction.disputed!r}"
        if problem := why_not_evidence(contradiction.source, contradiction.quote, sources):
            return problem
    return ""


def why_not_evidence(source_id: str, quote: str, sources: Mapping[str, Source]) -> str:
    """Why a quote does not count as evidence; empty when it does."""
    source = sources.get(source_id)
    if source is None:
        return f"it quotes a source that is not there: {source_id}"
    if source.role in GENERATED:
        return f"it quotes generated text: {source.title!r}"
    if find_quote(quote, source.text) is None:
        return f"the quote is not in {source.title!r}: {quote[:80]!r}"
    return ""
