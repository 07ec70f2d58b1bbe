"""What disagreements between verifiers and public labels come to, once auditors have decided. Pure.

A disagreement says that a verifier or an annotation is wrong, not which. Auditors decide blind,
and are asked on every case what ails the side that they decide against, before anybody knows whose
it is. When that side is the annotation's, what they said is the kind of its divergence; when it is
the verifier's, it is likely an error of the model, whatever they said. A failure to verify is
neither: it has a share of its own.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from deepfact.core import metrics
from deepfact.core.audit import argument, blind_case
from deepfact.core.deciding import named_kind
from deepfact.core.revise import sides
from deepfact.core.state import Entry
from deepfact.measure_records import Rate
from deepfact.records import (
    Adjudication,
    Case,
    CaseKey,
    CaseKind,
    DivergenceKind,
    Outcome,
    Ruling,
    RulingKind,
    Verdict,
    sha256_of,
)
from deepfact.run_records import ScoreSheet
from deepfact.transfer_records import Bar, Finding, Share

Part = tuple[Finding, DivergenceKind | None]
"""A finding, of a divergence with its kind."""

PARTS: tuple[Part, ...] = (
    (Finding.AGREEMENT, None),
    *((Finding.DIVERGENCE, kind) for kind in DivergenceKind),
    (Finding.DIVERGENCE, None),
    (Finding.MODEL_ERROR, None),
    (Finding.UNDECIDED, None),
    (Finding.WAITING, None),
    (Finding.UNVERIFIED, None),
)
"""The parts of a bar, in the order in which they are drawn."""

QUESTION = "What is the matter with the side that you decide against, or with the claim?"
"""What people are asked on every case, whatever they decide: whose side it is, they do not know."""

NO_KIND = "none"
"""The answer that it is none of the kinds."""

ANSWERS: dict[str, str] = {
    DivergenceKind.EVIDENCE_MISMATCH.value: "its evidence and its label don't match",
    DivergenceKind.NOT_VERIFIABLE.value: "the claim is not verifiable, or ambiguous",
    DivergenceKind.SUBJECTIVE.value: "the claim is subjective, or underspecified",
    DivergenceKind.NO_RATIONALE.value: "it gives no rationale that would settle it",
    NO_KIND: "none of these",
}
"""The answers that people choose from, with their words."""

LONGEST_ID = 200
"""Characters of a claim's or a report's id."""

UNSETTLING = (
    DivergenceKind.NOT_VERIFIABLE,
    DivergenceKind.SUBJECTIVE,
    DivergenceKind.NO_RATIONALE,
)
"""Kinds that say why no label can be settled, so that "cannot tell" is a finding with them."""


def combined_id(data_set: str, claim_id: str) -> str:
    """The id of a data set's claim among those of all data sets."""
    whole = f"{data_set}:{claim_id}"
    return whole if len(whole) <= LONGEST_ID else f"{data_set}:{sha256_of(claim_id)}"


def sampled(ids: Sequence[str], n: int | None, *, seed: int, name: str) -> list[str]:
    """At most ``n`` of the ids, drawn by the seed and the data set's name, in their order."""
    if n is None or n >= len(ids):
        return list(ids)
    drawn = set(random.Random(f"{seed}:transfer:{name}").sample(sorted(ids), n))  # noqa: S311
    return [one for one in ids if one in drawn]


def names_itself(rationale: str, names: Iterable[str]) -> bool:
    """Whether a reason names the data set, which would tell the auditor whose side it is.

    Args:
        rationale: of the annotation.
        names: what the data set is called, in any spelling.
    """
    plain = _plain(rationale)
    return any(_plain(name) in plain for name in names if len(_plain(name)) > 3)


def _plain(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def kind_of(answer: str) -> DivergenceKind | None:
    """The kind that one of `ANSWERS` stands for."""
    return None if answer == NO_KIND else DivergenceKind(answer)


# --- cases -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TransferDocket:
    """Every disagreement, each once however many verifiers put it the same way."""

    cases: tuple[Case, ...]
    keys: tuple[CaseKey, ...]
    verifiers: tuple[tuple[str, ...], ...]
    """Of each case, those whose verdict it is."""


def open_disagreements(
    entries: Sequence[Entry], outcomes: Mapping[str, Mapping[str, Outcome]], *, seed: int
) -> TransferDocket:
    """A blind case for each verdict that disagrees with its claim's label.

    Unlike a challenge of a round, a verdict need not argue for itself to be put: it changes no
    label, and leaving it out would leave a part of the bar empty.

    Args:
        entries: labelled claims of all data sets.
        outcomes: by verifier and claim id; a failure disagrees with nothing.
        seed: of the run; draws the order of cases and of sides.
    """
    found: dict[tuple[str, str], tuple[Entry, Verdict, list[str]]] = {}
    for entry in entries:
        for verifier, given in outcomes.items():
            verdict = given.get(entry.claim.id)
            if isinstance(verdict, Verdict) and verdict.label != entry.label:
                same = (entry.claim.id, argument(verdict))
                found.setdefault(same, (entry, verdict, []))[2].append(verifier)
    ordered = sorted(found, key=lambda same: _draw(seed, *same))
    built = []
    for number, same in enumerate(ordered, 1):
        entry, verdict, by = found[same]
        challenger = " + ".join(by)
        built.append(
            blind_case(f"t-{number:04d}", CaseKind.CHALLENGE, entry, verdict, challenger, seed)
        )
    return TransferDocket(
        cases=tuple(case for case, _ in built),
        keys=tuple(key for _, key in built),
        verifiers=tuple(tuple(found[same][2]) for same in ordered),
    )


def _draw(*what: object) -> float:
    return random.Random(":".join(map(str, what))).random()  # noqa: S311 - no secret


# --- findings ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Settled:
    """What a case comes to."""

    finding: Finding
    kind: DivergenceKind | None = None
    both_wrong: bool = False
    """The auditors hold a third label."""


def settle(
    case: Case, key: CaseKey, ruling: Ruling | None, adjudications: Sequence[Adjudication]
) -> Settled:
    """What a case comes to once it is unblinded.

    Args:
        case, key: as put before the auditors.
        ruling: by the policy; None while decisions are missing.
        adjudications: all that stand on the case.
    """
    if ruling is None:
        return Settled(Finding.WAITING)
    heard = [made for made in adjudications if made.auditor in ruling.auditors]
    kind = named_kind([made.divergence for made in heard])
    if ruling.kind is RulingKind.UPHOLD:
        return Settled(Finding.MODEL_ERROR)
    if ruling.kind is RulingKind.REVISE:
        challenger = sides(case, key)[1]
        return Settled(Finding.DIVERGENCE, kind, both_wrong=ruling.label != challenger.label)
    if kind in UNSETTLING:
        return Settled(Finding.DIVERGENCE, kind)
    return Settled(Finding.UNDECIDED)


def bar(
    data_set: str,
    verifier: str,
    outcomes: Mapping[str, Outcome],
    disagreements: Mapping[str, Settled],
    sheet: ScoreSheet,
) -> Bar:
    """One verifier on one data set.

    Args:
        data_set, verifier: their names.
        outcomes: by claim id, one for each sampled claim.
        disagreements: what each claim with a disagreement came to.
        sheet: the verifier's scores on the data set's labels.
    """
    counts: Counter[Part] = Counter()
    for claim_id, outcome in outcomes.items():
        settled = disagreements.get(claim_id)
        if settled is not None:
            counts[settled.finding, settled.kind] += 1
        elif isinstance(outcome, Verdict):
            counts[Finding.AGREEMENT, None] += 1
        else:
            counts[Finding.UNVERIFIED, None] += 1
    n, failed = len(outcomes), counts[Finding.UNVERIFIED, None]
    return Bar(
        data_set=data_set,
        verifier=verifier,
        n=n,
        shares=tuple(
            Share(finding=part[0], kind=part[1], rate=metrics.rate(counts[part], n,
                                                                   unverified=failed))
            for part in PARTS
        ),
        of_disagreements=_of_disagreements(counts),
        both_wrong=sum(settled.both_wrong for settled in disagreements.values()),
        sheet=sheet,
    )  # fmt: skip


def _of_disagreements(counts: Mapping[Part, int]) -> Rate:
    diverging = sum(count for part, count in counts.items() if part[0] is Finding.DIVERGENCE)
    return metrics.rate(diverging, diverging + counts[Finding.MODEL_ERROR, None])
