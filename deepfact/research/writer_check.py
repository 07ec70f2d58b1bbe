"""The check after writing: may a sentence stand, given the ledger and nothing else?

Pure, and strict rather than clever: a sentence says what the claims say that it cites, with
their qualifications word for word, and a refutation is explained by its stored reason or not at
all. What a sentence adds of its own is counted in words; the writer has no say in the outcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from deepfact.core.quotes import contains_words
from deepfact.records import Record
from deepfact.research_records import ClaimStanding, Standing, WrittenSentence
from deepfact.retrievers.passages import sentence_spans
from deepfact.retrievers.words import stems

ADDED_WORDS = 2
"""Content words that a sentence may have beyond those of what it cites: a verb, an adverb."""

PROBLEMS = {
    "cites_nothing": "the sentence cites no claim of the ledger",
    "cites_unknown_claim": "it cites claims that the ledger does not have",
    "refuted_as_fact": "it tells a refuted claim as fact",
    "unverified_as_fact": "it tells a claim as fact that is not verified",
    "confirmed_as_refuted": "it calls a claim refuted that is not",
    "one_side_only": "it tells one side of a contradiction that nobody has resolved",
    "drops_qualification": "it leaves out what must be told with the claim",
    "reason_left_out": "it tells a refutation without its stored reason, word for word",
    "adds_to_claims": "it says more than the claims it cites",
    "figure_not_in_claims": "it has a figure that no cited claim has",
    "turns_round": "it denies what the cited claim asserts, or the other way round",
    "not_one_sentence": "it is more than one sentence",
}
"""Every problem, in words."""

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NEGATION = re.compile(r"\b(?:not|no|never|cannot|without|neither|nor|\w+n't)\b", re.IGNORECASE)
_FRAME = frozenset(
    stems("claim claims refuted refute unverified verified verify confirmed vote votes valid judge "
          "judges reason recorded panel said because abstained source sources find")
)  # fmt: skip
"""Words that say how a claim stands, and nothing about the world."""


class Draft(Record):
    """A sentence as a writer hands it in."""

    text: str
    cites: tuple[str, ...] = ()
    standing: ClaimStanding = ClaimStanding.CONFIRMED
    """As what it tells the claims: as fact, as refuted, or as unverified."""


def check_sentences(
    drafts: Iterable[Draft], standings: Sequence[Standing]
) -> list[WrittenSentence]:
    """Each draft with what is wrong with it; nothing is dropped or mended.

    Args:
        drafts: what the writer wrote, in order.
        standings: the claims of the ledger, as the gate has them.
    """
    by_id = {one.claim.id: one for one in standings}
    sides: dict[str, set[str]] = {}
    for one in standings:
        for contradiction in one.disputed:
            sides.setdefault(contradiction, set()).add(one.claim.id)
    return [
        WrittenSentence(
            text=draft.text,
            cites=draft.cites,
            problems=tuple(f"{code}: {PROBLEMS[code]}" for code in _problems(draft, by_id, sides)),
        )
        for draft in drafts
    ]


def _problems(
    draft: Draft, by_id: Mapping[str, Standing], sides: Mapping[str, set[str]]
) -> list[str]:
    if not draft.cites:
        return ["cites_nothing"]
    if any(cite not in by_id for cite in draft.cites):
        return ["cites_unknown_claim"]
    cited = [by_id[cite] for cite in dict.fromkeys(draft.cites)]
    found = [_told_wrongly(draft, one) for one in cited]
    if draft.standing is not ClaimStanding.REFUTED and len(sentence_spans(draft.text)) > 1:
        found.append("not_one_sentence")
    if any(not sides[name] <= set(draft.cites) for one in cited for name in one.disputed):
        found.append("one_side_only")
    found += [code for one in cited for code in _left_out(draft, one)]
    found += _added(draft, cited)
    return list(dict.fromkeys(filter(None, found)))


def _told_wrongly(draft: Draft, one: Standing) -> str:
    """Whether the sentence tells a claim as something that it is not.

    What a sentence says of itself counts only when its words say so, too: one that calls
    itself unverified and does not contain the word tells a fact.
    """
    told = draft.standing
    words = draft.text.casefold()
    if told is ClaimStanding.REFUTED and "refuted" not in words:
        told = ClaimStanding.CONFIRMED
    if told in (ClaimStanding.UNVERIFIED, ClaimStanding.NOT_ASKED):
        says_so = re.search(r"\bunverified\b|\bnot (?:be )?verified\b", words)
        told = ClaimStanding.UNVERIFIED if says_so else ClaimStanding.CONFIRMED
    open_ = one.standing in (ClaimStanding.UNVERIFIED, ClaimStanding.NOT_ASKED)
    if told is ClaimStanding.CONFIRMED and one.standing is ClaimStanding.REFUTED:
        return "refuted_as_fact"
    if told is ClaimStanding.CONFIRMED and open_:
        return "unverified_as_fact"
    if told is ClaimStanding.REFUTED and one.standing is not ClaimStanding.REFUTED:
        return "confirmed_as_refuted"
    if told is ClaimStanding.UNVERIFIED and one.standing is ClaimStanding.REFUTED:
        return "reason_left_out"
    return ""


def _left_out(draft: Draft, one: Standing) -> list[str]:
    """What belongs to a claim and is not in the sentence."""
    missing = []
    # Of a condition its value is enough: "in version 2.1", not "version: 2.1".
    short = {f"{kind}: {value}": value for kind, value in one.claim.conditions.items()}
    needed = (short.get(q.text, q.text) for q in one.qualifications)
    if any(not contains_words(words, draft.text) for words in needed):
        missing.append("drops_qualification")
    if one.standing is ClaimStanding.REFUTED and not any(
        contains_words(reason, draft.text) for reason in one.reasons
    ):
        missing.append("reason_left_out")
    return missing


def _added(draft: Draft, cited: Sequence[Standing]) -> list[str]:
    """What the sentence says that nothing it cites says."""
    sources = [" ".join((one.claim.text, one.claim.context)) for one in cited]
    sources += [q.text for one in cited for q in one.qualifications]
    refuted = draft.standing is ClaimStanding.REFUTED
    sources += [reason for one in cited if refuted for reason in (*one.reasons, one.vote)]
    known = {stem for text in sources for stem in stems(text)} | _FRAME
    added = {stem for stem in stems(draft.text) if stem not in known}
    found = []
    # A refutation may be explained by its stored reason only: not one word beyond it.
    if len(added) > (0 if refuted else ADDED_WORDS):
        found.append("adds_to_claims")
    figures = {figure for text in sources for figure in _NUMBER.findall(text)}
    if any(figure not in figures for figure in _NUMBER.findall(draft.text)):
        found.append("figure_not_in_claims")
    if draft.standing is ClaimStanding.CONFIRMED:
        denied = bool(_NEGATION.search(draft.text))
        if denied != any(_NEGATION.search(text) for text in sources):
            found.append("turns_round")
    return found
