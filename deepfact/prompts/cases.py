"""A blind case as an auditor's prompt shows it: two sides in the same form, and nothing of whose.

Every value is escaped here. Of a case only the claim's words and the two positions go in: no id
of a claim or case, no domain, nothing that could say what the case is for. What a side disputes
is shown as a quote like any other, since labels that were given by hand name no disputed words,
so that a form of its own would mostly tell which side is which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deepfact.prompts.fence import escape, one_line
from deepfact.prompts.library import Prompt
from deepfact.prompts.render import Shown, fill, source_block
from deepfact.records import Case, Position


def render_case(
    prompt: Prompt,
    case: Case,
    *,
    claim_id: str,
    sources: Sequence[Shown],
    quoted: Mapping[tuple[str, str], bool],
    queries: Sequence[str],
    searches_left: int,
) -> tuple[str, str]:
    """System and user part of an auditor's prompt for one case.

    Args:
        claim_id: the id to be asked under; goes in as it is, so give one that says nothing.
        sources: what is shown of the sources, those found by searching last.
        quoted: whether each ``(source id, quote)`` of the two sides is in that source.
        queries: what the model has searched for so far.
        searches_left: how often it may still search.

    Raises:
        ConfigError: the prompt uses a variable that its role does not have.
    """
    tags: dict[str, str] = {}
    for shown in sources:
        tags.setdefault(shown.source.id, shown.tag)
    values = {
        "claim_id": one_line(claim_id),
        "claim": escape(case.claim.text),
        "context": escape(case.claim.context) if case.claim.context.strip() else "(none)",
        "side_a": position_block(case.a, tags, quoted),
        "side_b": position_block(case.b, tags, quoted),
        "sources": "\n".join(map(source_block, sources)),
        "searches": _searches(queries, searches_left),
    }
    return fill(prompt, values)


def position_block(
    position: Position, tags: Mapping[str, str], quoted: Mapping[tuple[str, str], bool]
) -> str:
    """One side, every field escaped.

    Args:
        tags: short id of each source that is shown.
        quoted: whether each ``(source id, quote)`` is in that source.
    """
    lines = [f"label: {position.label}", f"reasons: {_text(position.rationale)}"]
    quotes = [(str(one.stance), one.source, one.quote) for one in position.evidence]
    quotes += [("contradicts", one.source, one.quote) for one in position.contradictions]
    for stance, source, quote in dict.fromkeys(quotes):
        there = "found there" if quoted.get((source, quote)) else "NOT found there"
        lines.append(f"quote ({stance}, {tags.get(source, 'no source')}, {there}): {escape(quote)}")
    for note in position.qualifications:
        place = f", {tags.get(note.source, 'no source')}" if note.source else ""
        lines.append(f"qualification ({note.kind}{place}): {_text(note.text)}")
    return "\n".join(lines)


def _text(text: str) -> str:
    return escape(text) if text.strip() else "no reason recorded"


def _searches(queries: Sequence[str], left: int) -> str:
    """What was searched for, and what is left, in the fence for it."""
    asked = "\n".join(f"searched for: {one_line(query)}" for query in queries)
    return "\n".join(filter(None, [asked, f"searches left: {left}"]))
