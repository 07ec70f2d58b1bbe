"""From a judge's answer to a vote: short ids become sources, failed checks become flags.

Pure. Whether a failed check costs the vote is the config's say; what is wrong is kept either
way, word for word, in the vote's flags or in the abstention's detail.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Mapping, Sequence, TypeVar

from deepfact.core.vote_checks import (
    REASONS,
    Answer,
    Asked,
    Finding,
    Quoted,
    find_faults,
    is_there,
    span_of,
)
from deepfact.errors import ConfigError, did_you_mean
from deepfact.prompts.fence import unescape
from deepfact.prompts.render import Shown
from deepfact.records import (
    Abstention,
    Claim,
    Contradiction,
    Evidence,
    PromptRef,
    Qualification,
    Usage,
    Vote,
)

Q = TypeVar("Q", bound=Quoted)


@dataclass(frozen=True)
class Seat:
    """Who votes: one seat of the panel."""

    index: int
    model: str
    persona: str
    prompt: PromptRef


def checked_levels(checks: Mapping[str, str], default: Mapping[str, str]) -> dict[str, str]:
    """What each check costs, as the config says, the rest by default.

    Raises:
        ConfigError: an unknown check or level.
    """
    for name, level in checks.items():
        if name not in default:
            raise ConfigError(f"there is no check {name!r}", fix=did_you_mean(name, default))
        if level not in ("abstain", "flag"):
            raise ConfigError(f"check {name!r}: {level!r} is neither 'abstain' nor 'flag'")
    return {**default, **checks}


def asked_of(claim: Claim, claim_id: str, shown: Sequence[Shown]) -> Asked:
    """What a judge was asked. Quotes are checked against whole sources, not what was shown."""
    return Asked(
        claim_id=claim_id,
        claim=claim.text,
        texts={one.tag: one.source.text for one in shown},
        cited=frozenset(one.tag for one in shown if one.cited),
        headings={one.tag: f"{one.source.title}\n{one.source.published}" for one in shown},
    )


def cast(
    answer: Answer,
    asked: Asked,
    shown: Sequence[Shown],
    *,
    levels: Mapping[str, str],
    seat: Seat,
    usage: Usage,
) -> Vote | Abstention:
    """The vote that an answer is, or an abstention when it fails a check that costs the vote."""
    answer = _unescaped(answer, asked)
    faults = find_faults(answer, asked)
    fatal = [fault for fault in faults if levels[fault.check] == "abstain"]
    if fatal:
        return abstain(fatal, seat, usage)
    sources = {one.tag: one.source for one in shown}
    disputed = answer.contradiction
    contradiction = None
    if disputed is not None and disputed.source in sources and disputed.disputed and disputed.quote:
        contradiction = Contradiction(
            disputed=disputed.disputed, source=sources[disputed.source].id, quote=disputed.quote
        )
    return Vote(
        index=seat.index,
        label=answer.label,
        refutes=answer.refutes,
        grounds=answer.grounds,
        contradiction=contradiction,
        qualifications=tuple(
            Qualification(
                kind=one.kind,
                text=one.text,
                source=sources[one.source].id if one.source in sources else None,
                quote=one.quote,
            )
            for one in answer.qualifications
        ),
        rationale=answer.rationale,
        evidence=tuple(
            Evidence(
                source=sources[one.source].id,
                quote=one.quote,
                stance=one.stance,
                span=span_of(one.quote, sources[one.source].text),
            )
            for one in answer.evidence
            if one.source in sources and one.quote
        ),
        flags=tuple(map(str, faults)),
        usage=usage,
        prompt=seat.prompt,
        model=seat.model,
        persona=seat.persona,
    )


def abstain(faults: Sequence[Finding], seat: Seat, usage: Usage) -> Abstention:
    """The abstention of a vote whose answer failed a check; its reason is the first one's."""
    return Abstention(
        index=seat.index,
        reason=REASONS[faults[0].check],
        detail="; ".join(map(str, faults)),
        usage=usage,
        prompt=seat.prompt,
        model=seat.model,
        persona=seat.persona,
    )


def _unescaped(answer: Answer, asked: Asked) -> Answer:
    """The answer with what it copied out of the fence as the sources have it."""
    claim = answer.claim
    if span_of(claim, asked.claim) is None:
        claim = unescape(claim)
    disputed = answer.contradiction
    if disputed is not None:
        disputed = _quoted(disputed, asked)
        disputed = dataclasses.replace(disputed, disputed=_as_in(asked.claim, disputed.disputed))
    return dataclasses.replace(
        answer,
        claim=claim,
        contradiction=disputed,
        qualifications=tuple(_quoted(one, asked) for one in answer.qualifications),
        evidence=tuple(_quoted(one, asked) for one in answer.evidence),
        found=tuple(_quoted(one, asked) for one in answer.found),
    )


def _quoted(quoted: Q, asked: Asked) -> Q:
    if is_there(quoted, asked):
        return quoted
    return dataclasses.replace(quoted, quote=unescape(quoted.quote))


def _as_in(text: str, words: str) -> str:
    return words if span_of(words, text) is not None else unescape(words)
