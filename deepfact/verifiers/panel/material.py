"""What a panel is shown for a claim: its sources, shortened to a budget, and what is odd in them.

The sources that the claim cites come first; a few more are found by search, since a dispute
or a qualification often stands elsewhere. Generated text is never shown: it is no evidence.
Reads sources through the context, calls no model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from deepfact.core.challenge import GENERATED
from deepfact.prompts.fence import suspicions
from deepfact.prompts.render import Shown
from deepfact.records import Claim, Source, Span
from deepfact.retrievers.base import Passage
from deepfact.retrievers.passages import sentence_spans
from deepfact.verifiers.base import Context

OMISSION = "\n[...]\n"
_PASSAGES = 200
"""Passages asked of the retriever when sources must be chosen or shortened."""


@dataclass(frozen=True)
class Material:
    """The sources to show for a claim, and flags for its record."""

    shown: tuple[Shown, ...]
    flags: tuple[str, ...]


def gather(claim: Claim, context: Context, *, search: int, characters: int) -> Material:
    """The sources for a claim, within a budget.

    Args:
        search: at most so many sources that the claim does not cite.
        characters: of source text in all; what is longer is cut down to passages.
    """
    cited = context.cited(claim)
    flags = [f"cited_source_missing:{one}" for one in claim.cites if one not in context.sources]
    flags += [f"generated_source_left_out:{one.id}" for one in cited if one.role in GENERATED]
    cited = [source for source in cited if source.role not in GENERATED]
    cited = list({source.id: source for source in cited}.values())
    long = sum(len(source.text) for source in cited) > characters
    found: Sequence[Passage] = ()
    if search or long:
        found = context.retriever.search(f"{claim.text} {claim.context}", limit=_PASSAGES)
    further = _further(found, {source.id for source in cited}, context, search)
    shown: list[Shown] = []
    sources = [*cited, *further]
    for number, (source, room) in enumerate(
        zip(sources, _shares(sources, characters), strict=True), 1
    ):
        text = source.text
        if len(text) > room:
            text = shortened(source, [p.span for p in found if p.source == source.id], room)
            flags.append(f"source_shortened:{source.id}")
        shown.append(Shown(f"S{number}", source, text, cited=number <= len(cited)))
        reasons = suspicions(f"{source.title}\n{source.text}")
        flags += [f"suspicious_source:{source.id}:{reason}" for reason in reasons]
    reasons = suspicions(f"{claim.text}\n{claim.context}")
    flags += [f"suspicious_claim:{reason}" for reason in reasons]
    return Material(tuple(shown), tuple(flags))


def _further(
    found: Sequence[Passage], have: set[str], context: Context, limit: int
) -> list[Source]:
    """Sources of the best passages that are not there yet."""
    sources: list[Source] = []
    for passage in found:
        if len(sources) >= limit:
            break
        if passage.source in have or passage.source not in context.sources:
            continue
        have.add(passage.source)
        source = context.sources[passage.source]
        if source.role not in GENERATED:
            sources.append(source)
    return sources


def _shares(sources: Sequence[Source], characters: int) -> list[int]:
    """How many characters each source gets: what short ones leave goes to the long ones."""
    shares = [0] * len(sources)
    left = characters
    order = sorted(range(len(sources)), key=lambda n: (len(sources[n].text), n))
    for place, n in enumerate(order):
        shares[n] = min(len(sources[n].text), left // (len(order) - place))
        left -= shares[n]
    return shares


def shortened(source: Source, hits: Sequence[Span], room: int) -> str:
    """The sentences that a search found, best first, with their neighbours, then from the
    start, as far as there is room; in the order of the source, omissions marked.

    Args:
        hits: stretches of the source's text.
        room: characters, in all.
    """
    sentences = sentence_spans(source.text)
    wanted = [n for hit in hits for n, span in enumerate(sentences) if _overlap(hit, span)]
    wanted += [n + step for n in wanted for step in (1, -1)]
    wanted += range(len(sentences))
    kept: set[int] = set()
    for n in dict.fromkeys(wanted):
        if 0 <= n < len(sentences):
            trial = _joined(source.text, sentences, kept | {n})
            if len(trial) > room:
                break
            kept.add(n)
    if not kept:
        first = next((n for n in wanted if 0 <= n < len(sentences)), None)
        start = sentences[first].start if first is not None else 0
        return source.text[start : start + room]
    return _joined(source.text, sentences, kept)


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _joined(text: str, sentences: Sequence[Span], kept: set[int]) -> str:
    """The kept sentences; neighbours keep what stands between them."""
    parts: list[str] = []
    last: int | None = None
    for n in sorted(kept):
        if last is not None and n == last + 1:
            parts.append(text[sentences[last].end : sentences[n].end])
        else:
            parts.append(OMISSION if last is not None or n > 0 else "")
            parts.append(text[sentences[n].start : sentences[n].end])
        last = n
    if last is not None and last < len(sentences) - 1:
        parts.append(OMISSION)
    return "".join(parts).strip("\n")
