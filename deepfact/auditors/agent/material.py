"""What an agent auditor is shown of the sources: those of the case, and what it searches for.

The sources that the claim cites come first, then those that a side quotes, then a few found by
search, each as far as there is room. Passages that the model asks for get short ids of their own.
Generated text is never shown. Reads sources through the context, calls no model.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from deepfact.core.challenge import GENERATED, why_not_evidence
from deepfact.prompts.fence import suspicions
from deepfact.prompts.render import Shown
from deepfact.records import Case, Claim, Position, Span
from deepfact.verifiers.base import Context
from deepfact.verifiers.panel.material import gather, shortened

PASSAGE_CHARACTERS = 1200
"""The most that is shown of a source for one search."""


@dataclass(frozen=True, slots=True)
class CaseMaterial:
    """What is shown of the sources for a case, before any search."""

    shown: tuple[Shown, ...]
    quoted: dict[tuple[str, str], bool]
    """Whether each ``(source id, quote)`` of the two sides counts as evidence."""
    flags: tuple[str, ...]
    """Oddities of the case, for its record."""


def material_for(case: Case, context: Context, *, search: int, characters: int) -> CaseMaterial:
    """The sources of a case, within a budget.

    Args:
        search: at most so many sources that neither the claim cites nor a side quotes.
        characters: of source text in all.
    """
    named = [(source, quote) for side in (case.a, case.b) for source, quote in _quotes(side)]
    ids = [source for source, _ in named if source in context.sources]
    wanted = tuple(dict.fromkeys((*case.claim.cites, *ids)))
    claim = case.claim.model_copy(update={"cites": wanted})
    found = gather(claim, context, search=search, characters=characters)
    return CaseMaterial(
        shown=tuple(_marked(one, case.claim, set(ids)) for one in found.shown),
        quoted={pair: not why_not_evidence(*pair, context.sources) for pair in named},
        flags=(*found.flags, *_side_flags("a", case.a), *_side_flags("b", case.b)),
    )


def search_for(
    queries: Sequence[str], context: Context, have: Sequence[Shown], *, passages: int
) -> tuple[Shown, ...]:
    """The best passages for each query, of what is not shown yet, under short ids that go on
    from those of ``have``.

    Args:
        passages: at most so many for each query.
    """
    hits: dict[str, list[Span]] = {}
    for query in queries:
        fresh = 0
        for passage in context.retriever.search(query, limit=20 * passages):
            source = context.sources.get(passage.source)
            if fresh == passages:
                break
            if source is None or source.role in GENERATED:
                continue
            if any(one.source.id == source.id and passage.text in one.text for one in have):
                continue
            fresh += passage.span not in hits.setdefault(source.id, [])
            hits[source.id].append(passage.span)
    return tuple(
        Shown(
            f"S{len(have) + number}",
            context.sources[source],
            shortened(context.sources[source], spans, PASSAGE_CHARACTERS),
            cited=False,
            because="passages that you searched for",
        )
        for number, (source, spans) in enumerate(hits.items(), 1)
    )


def _quotes(side: Position) -> list[tuple[str, str]]:
    quotes = [(one.source, one.quote) for one in side.evidence]
    return quotes + [(one.source, one.quote) for one in side.contradictions]


def _marked(shown: Shown, claim: Claim, quoted: set[str]) -> Shown:
    """A source with why it is shown: `gather` took the quoted ones for cited ones."""
    if shown.source.id in claim.cites:
        return shown
    because = "quoted by a side" if shown.source.id in quoted else ""
    return dataclasses.replace(shown, cited=False, because=because)


def _side_flags(name: str, side: Position) -> list[str]:
    texts = [side.rationale, *(note.text for note in side.qualifications)]
    return [f"suspicious_side:{name}:{reason}" for reason in suspicions("\n".join(texts))]
