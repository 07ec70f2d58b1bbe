"""Reading an auditing model's answer, and the checks that it must pass to be a vote. Pure.

As strict as for a panel's votes, and by the same checks: what is not the object asked for is
unreadable, a quote must stand in its source, a refutation must name what is wrong. On top of
them, an answer that chooses a side must name that side's label: a judge that mixes the sides up
contradicts itself, and abstains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deepfact.core.transfer import kind_of
from deepfact.core.vote_checks import Answer, Asked, Disputed, Finding, QuotedEvidence
from deepfact.errors import ConfigError
from deepfact.prompts.library import Move, Prompt
from deepfact.prompts.render import Shown
from deepfact.prompts.schema import why_not
from deepfact.records import (
    Abstention,
    AuditVote,
    Case,
    Decision,
    DivergenceKind,
    Evidence,
    Grounds,
    Label,
    Stance,
    Usage,
    Vote,
)
from deepfact.verifiers.panel.answers import UnreadableError, parse_object
from deepfact.verifiers.panel.ballot import Seat, abstain, cast

QUERY_CHARACTERS = 300
QUERIES = 3
"""The most searches in one answer; further ones are not made."""


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer, read but not believed."""

    move: Move
    label: Label | None
    queries: tuple[str, ...]
    answer: Answer
    """What it says of the claim, in the terms of a panel's checks."""
    divergence: DivergenceKind | None = None
    """What ails the side decided against; only a prompt for transfer runs asks."""


def read_judged(text: str, prompt: Prompt) -> Judged:
    """The answer that a text holds.

    Raises:
        UnreadableError: with what is wrong, in words of ours that quote nothing.
    """
    rule = prompt.front.decision
    if rule is None:
        raise ConfigError(f"{prompt.id} is no prompt of an auditor", where=str(prompt.path))
    data = parse_object(text)
    if problem := why_not(data, prompt.front.output_schema):
        raise UnreadableError(problem)
    word = data.get(rule.field)
    move = rule.moves.get(word) if isinstance(word, str) else None
    if move is None:
        raise UnreadableError(f"answer.{rule.field} is no decision of this prompt")
    try:
        label = None if data["label"] is None else Label(data["label"])
        queries = tuple(" ".join(str(one).split()) for one in data.get("queries", ()))
        ails = data.get("divergence")
        divergence = None if ails is None else kind_of(ails)
        disputed = data["contradiction"]
        answer = Answer(
            claim_id=data["claim_id"],
            claim=data["claim"],
            label=label or Label.INCONCLUSIVE,
            refutes=label is Label.CONTRADICTORY,
            grounds=Grounds.CONTRADICTION if label is Label.CONTRADICTORY else Grounds.NONE,
            rationale=data["rationale"],
            contradiction=disputed and Disputed(disputed["source"], disputed["quote"],
                                                disputed["disputed"]),
            evidence=tuple(
                QuotedEvidence(one["source"], one["quote"], Stance(one["stance"]))
                for one in data["evidence"]
            ),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        raise UnreadableError(f"a part of the answer is missing or unknown: {error}") from None
    queries = tuple(query[:QUERY_CHARACTERS] for query in queries if query)[:QUERIES]
    if move is Move.SEARCH and not queries:
        raise UnreadableError("it asks for a search and names no query")
    return Judged(move, label, queries, answer, divergence)


def cast_judged(
    judged: Judged,
    case: Case,
    asked: Asked,
    shown: Sequence[Shown],
    *,
    levels: Mapping[str, str],
    seat: Seat,
    usage: Usage,
    queries: Sequence[str] = (),
) -> AuditVote | Abstention:
    """The vote that an answer is, or an abstention when it fails a check that costs the vote.

    Args:
        judged: a decision, no search.
        queries: what was searched for before it.
    """
    vote = cast(judged.answer, asked, shown, levels=levels, seat=seat, usage=usage)
    if isinstance(vote, Abstention):
        return vote
    if fault := _mixed_up(judged, case):
        return abstain([Finding("consistency", fault)], seat, usage)
    return AuditVote(
        index=seat.index,
        decision=Decision(judged.move.value),
        label=judged.label,
        rationale=vote.rationale,
        evidence=_evidence(vote),
        contradiction=vote.contradiction,
        queries=tuple(queries),
        flags=vote.flags,
        usage=usage,
        prompt=seat.prompt,
        model=seat.model,
        divergence=judged.divergence,
    )


def _mixed_up(judged: Judged, case: Case) -> str:
    """Why decision and label do not go together; empty when they do."""
    sides = {Move.A: case.a.label, Move.B: case.b.label}
    meant = sides.get(judged.move)
    if meant is not None and judged.label is not meant:
        side = judged.move.value.upper()
        return f"it chooses side {side}, which says {meant}, and the label {judged.label}"
    if judged.move is Move.NEITHER and judged.label is None:
        return "it chooses neither side and gives no label"
    if judged.move is Move.CANNOT_TELL and judged.label is not None:
        return f"it cannot tell and gives the label {judged.label}"
    return ""


def _evidence(vote: Vote) -> tuple[Evidence, ...]:
    """What it quotes, the disputing passage among it: reports and revisions show evidence."""
    found = list(vote.evidence)
    disputed = vote.contradiction
    if disputed and not any(
        (one.source, one.quote) == (disputed.source, disputed.quote) for one in found
    ):
        found.insert(
            0, Evidence(source=disputed.source, quote=disputed.quote, stance=Stance.CONTRADICTS)
        )
    return tuple(found)
