"""How claims, documents and extracts stand in a prompt: every value escaped, inside its fence.

Ids are ours. Nothing else of a claim goes in than its words and what is next to them: no id of
the benchmark, no label, no domain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from deepfact.prompts.fence import escape, one_line
from deepfact.prompts.render import Shown, source_block
from deepfact.records import Source
from deepfact.trace_records import TracedExtract, TracedQuery
from deepfact.verifiers.document.items import Asked, Document

NONE = "(none)"


def claims_block(claims: Iterable[Asked]) -> str:
    """Claims with their context and, once there are any, their elements."""
    return "\n".join(map(_claim, claims))


def _claim(one: Asked) -> str:
    parts = [f'<claim id="{one.id}">', f"<text>\n{escape(one.text)}\n</text>"]
    if one.context.strip():
        parts.append(f"<context>\n{escape(one.context)}\n</context>")
    if one.around.strip():
        parts.append(f"<around>\n{escape(one.around)}\n</around>")
    parts += [
        f'<element id="{part.id}" kind="{part.kind}">{one_line(part.text)}</element>'
        for part in one.elements
    ]
    return "\n".join([*parts, "</claim>"])


def candidates_block(documents: Iterable[Document], cited: Iterable[str]) -> str:
    """Documents by title, card and what the searches found in them.

    Args:
        cited: ids of the sources that any of the claims cites.
    """
    known = set(cited)
    blocks = [
        source_block(
            Shown(one.tag, one.source, "\n[...]\n".join(one.snippets), one.source.id in known)
        )
        for one in documents
    ]
    return "\n".join(blocks) or NONE


def evidence_block(
    extracts: Mapping[str, Sequence[TracedExtract]],
    tags: Mapping[str, str],
    sources: Mapping[str, Source],
) -> str:
    """The passages that were copied out, by claim, and the cards of their sources.

    Args:
        extracts: those that count, by the id under which the claim is asked about.
        tags: tag of each source by its id.
        sources: the sources by id.
    """
    named = dict.fromkeys(one.source for some in extracts.values() for one in some)
    lines = [_card(tags[one], sources[one]) for one in named]
    for claim_id, some in extracts.items():
        lines.append(f'<claim id="{claim_id}">')
        lines += [_quote(one, tags) for one in some] or [NONE]
        lines.append("</claim>")
    return "\n".join(lines)


def _card(tag: str, source: Source) -> str:
    about = f"role: {source.role}; trust: {source.trust}"
    if source.published:
        about += f"; published: {source.published}"
    return (
        f'<source id="{tag}">\n<title>{one_line(source.title)}</title>\n'
        f"<about>{one_line(about)}</about>\n</source>"
    )


def _quote(one: TracedExtract, tags: Mapping[str, str]) -> str:
    where = f'id="{one.id}" source="{tags[one.source]}" element="{one.element}"'
    said = f" ({one_line(one.says)})" if one.says.strip() else ""
    return f'<quote {where} stance="{one.stance}">{escape(one.quote)}</quote>{said}'


def searches_block(queries: Iterable[TracedQuery]) -> str:
    """What was searched for so far, each once."""
    texts = dict.fromkeys(one_line(query.text) for query in queries)
    return "\n".join(f"searched for: {text}" for text in texts) or NONE
