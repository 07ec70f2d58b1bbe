"""Checks on the answers of the steps, the worst label of the elements, and the verdict. Pure.

An answer that fails a check is no answer: it is asked for again or costs the claim its verdict,
and it never becomes a label. The label of a claim is worked out here from those of its elements;
no model states it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from deepfact.core.quotes import contains_words
from deepfact.prompts.fence import unescape
from deepfact.providers.base import CallFailed
from deepfact.records import (
    Contradiction,
    Evidence,
    FailureReason,
    Label,
    PromptRef,
    Qualification,
    QualificationKind,
    Stance,
    Usage,
    Verdict,
    VerificationFailure,
)
from deepfact.trace_records import TracedElement, TracedExtract, TracedJudgement
from deepfact.verifiers.document.items import Item

MOST_ELEMENTS = 8
QUERY_CHARACTERS = 300
WORST = (Label.CONTRADICTORY, Label.INCONCLUSIVE, Label.SUPPORTED)
"""Labels, the worst first: a sentence gets the worst label of what it asserts."""


def worst(labels: Iterable[Label]) -> Label:
    """The worst of some labels.

    Raises:
        ValueError: there is none.
    """
    return min(labels, key=WORST.index)


def check_plan(_: Item, answer: Mapping[str, Any]) -> None:
    """A plan must name something to check."""
    texts = [one["text"].strip() for one in answer["elements"]]
    if not texts or not all(texts) or len(texts) > MOST_ELEMENTS:
        raise CallFailed(
            FailureReason.UNREADABLE, f"{len(texts)} elements, from 1 to {MOST_ELEMENTS} are needed"
        )


def elements_of(answer: Mapping[str, Any]) -> tuple[TracedElement, ...]:
    """The elements of a plan, numbered."""
    return tuple(
        TracedElement(id=f"E{at}", text=one["text"].strip(), kind=one["kind"])
        for at, one in enumerate(answer["elements"], 1)
    )


def queries_of(answer: Mapping[str, Any], most: int) -> list[str]:
    """At most so many searches of an answer, on one line each, without empty ones."""
    texts = (" ".join(text.split())[:QUERY_CHARACTERS] for text in answer["queries"])
    return list(dict.fromkeys(text for text in texts if text))[:most]


def check_verdict(item: Item, answer: Mapping[str, Any]) -> None:
    """Every element judged once, on passages that are there, without contradicting itself.

    Raises:
        CallFailed: with what is wrong.
    """
    named = sorted(one["element"] for one in answer["elements"])
    if named != sorted(one.id for one in item.elements):
        raise CallFailed(FailureReason.NO_ANSWER, "not every element is judged exactly once")
    known = {one.id for one in item.counted}
    refs = [ref["quote"] for one in answer["elements"] for ref in one["evidence"]]
    refs += [one["quote"] for one in answer["qualifications"] if one["quote"]]
    if unknown := sorted(set(refs) - known):
        raise CallFailed(FailureReason.BAD_QUOTE, f"there is no passage {unknown[0][:40]!r}")
    for one in answer["elements"]:
        stances = {Stance(ref["stance"]) for ref in one["evidence"]}
        check_judgement(item.claim.text, one, stances, one["element"])
    if any(not one["text"].strip() for one in answer["qualifications"]):
        raise CallFailed(FailureReason.UNREADABLE, "a qualification has no text")


def check_judgement(
    claim: str, answer: Mapping[str, Any], stances: set[Stance], about: str
) -> None:
    """One label must fit its passages and its words.

    Args:
        claim: text that the disputed words must be from.
        answer: has ``label``, ``reason`` and ``disputed``.
        stances: of the passages that it rests on.
        about: what was judged, for the message.

    Raises:
        CallFailed: it contradicts itself.
    """
    label, problem = Label(answer["label"]), ""
    if not answer["reason"].strip():
        problem = "no reason is given"
    elif label is Label.SUPPORTED and Stance.SUPPORTS not in stances:
        problem = "called supported on no passage that supports it"
    elif label is Label.SUPPORTED and Stance.CONTRADICTS in stances:
        problem = "called supported on a passage that contradicts it"
    elif label is Label.CONTRADICTORY and Stance.CONTRADICTS not in stances:
        problem = "called contradictory on no passage that contradicts it"
    elif label is Label.CONTRADICTORY and not in_claim(answer["disputed"], claim):
        problem = f"the disputed words are not in the claim: {answer['disputed'][:120]!r}"
    if problem:
        raise CallFailed(FailureReason.SELF_CONTRADICTION, f"{about}: {problem}")


def in_claim(words: str, claim: str) -> str:
    """The words as the claim has them; empty when it does not."""
    return next((one for one in (words, unescape(words)) if contains_words(one, claim)), "")


def judgements_of(item: Item, answer: Mapping[str, Any]) -> list[TracedJudgement]:
    """What a checked answer says of each element, in the order of the elements."""
    by_id = {one["element"]: one for one in answer["elements"]}
    return [
        TracedJudgement(
            element=element.id,
            label=(label := Label(by_id[element.id]["label"])),
            reason=by_id[element.id]["reason"],
            disputed=in_claim(by_id[element.id]["disputed"], item.claim.text)
            if label is Label.CONTRADICTORY
            else "",
            quotes=tuple(ref["quote"] for ref in by_id[element.id]["evidence"]),
        )
        for element in item.elements
    ]


def restanced(answer: Mapping[str, Any]) -> dict[tuple[str, str], Stance]:
    """The stance that the verdict gives each passage it rests on, by element and passage."""
    return {
        (one["element"], ref["quote"]): Stance(ref["stance"])
        for one in answer["elements"]
        for ref in one["evidence"]
    }


def qualifications_of(item: Item, answer: Mapping[str, Any]) -> tuple[Qualification, ...]:
    """The qualifications of an answer, with the passage that each rests on."""
    by_id = {one.id: one for one in item.counted}
    made = []
    for one in answer["qualifications"]:
        quoted = by_id.get(one["quote"])
        made.append(
            Qualification(
                kind=QualificationKind(one["kind"]),
                text=one["text"],
                source=quoted.source if quoted else None,
                quote=quoted.quote if quoted else "",
            )
        )
    return tuple(dict.fromkeys(made))


def verdict_of(
    item: Item,
    *,
    stances: Mapping[tuple[str, str], Stance],
    qualifications: tuple[Qualification, ...] = (),
    prompt: PromptRef,
    usage: Usage,
    rule: str = "the worst label of its elements",
) -> Verdict:
    """The verdict that an item's judgements come to. Reasons are the stored ones, word for word.

    Args:
        item: judged.
        stances: of each passage by element and passage; the extract's own where there is none.
        qualifications: to keep with it.
        prompt: the one that judged.
        usage: this claim's share.
        rule: how the label came about, in words.
    """
    label = worst(one.label for one in item.judgements)
    deciding = [one for one in item.judgements if one.label is label]
    by_id = {one.id: one for one in item.counted}
    ordered = [*deciding, *(one for one in item.judgements if one.label is not label)]
    evidence = [
        _evidence(by_id[ref], stances.get((one.element, ref), by_id[ref].stance))
        for one in ordered
        for ref in one.quotes
    ]
    contradictions = [
        Contradiction(disputed=one.disputed, source=by_id[ref].source, quote=by_id[ref].quote)
        for one in deciding
        if one.disputed
        for ref in one.quotes
        if stances.get((one.element, ref), by_id[ref].stance) is Stance.CONTRADICTS
    ]
    return Verdict(
        claim_id=item.claim.id,
        label=label,
        rationale="\n".join(f"{one.element}: {one.reason}" for one in deciding),
        evidence=tuple(dict.fromkeys(evidence)),
        contradictions=tuple(dict.fromkeys(contradictions)),
        qualifications=qualifications,
        flags=tuple(item.notes),
        usage=usage,
        prompt=prompt,
        rule=rule,
    )


def _evidence(one: TracedExtract, stance: Stance) -> Evidence:
    return Evidence(source=one.source, quote=one.quote, stance=stance, span=one.span)


def failure_of(item: Item, *, prompt: PromptRef, usage: Usage) -> VerificationFailure:
    """The failure that an item ended in."""
    failure = item.failure or CallFailed(FailureReason.NO_ANSWER, "nothing was concluded")
    return VerificationFailure(
        claim_id=item.claim.id,
        reason=failure.reason,
        detail=failure.detail,
        flags=tuple(item.notes),
        usage=usage,
        prompt=prompt,
    )
