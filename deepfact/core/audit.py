"""Which cases go before auditors, and what they may see of them.

Pure; all chance is drawn from the seed and the claim's id, so that the same round always has
the same cases. A case holds two positions in a random order. What it is for, which side is
the benchmark's and who challenges stay in its key.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Collection, Literal, Mapping, Sequence

from deepfact.core.challenge import why_inadmissible
from deepfact.core.state import Entry
from deepfact.records import (
    Annotation,
    Case,
    CaseKey,
    CaseKind,
    Outcome,
    Position,
    Source,
    Verdict,
)
from deepfact.run_records import ControlSpec, InadmissibleChallenge


@dataclass(frozen=True, slots=True)
class Docket:
    """What a round puts before its auditors, in the order in which they see it."""

    cases: tuple[Case, ...]
    keys: tuple[CaseKey, ...]
    """One for each case, same order."""
    inadmissible: tuple[InadmissibleChallenge, ...]
    repeated: int


def open_docket(
    entries: Sequence[Entry],
    outcomes: Mapping[str, Outcome],
    sources: Mapping[str, Source],
    *,
    challenger: str,
    round_number: int,
    controls: ControlSpec,
    microgold: Collection[str] = (),
    settled: Collection[tuple[str, str]] = (),
    seed: int = 0,
) -> Docket:
    """The cases of a round: every admissible challenge, and the controls among agreements.

    Args:
        entries: the claims with their labels; unlabelled ones give no case.
        outcomes: the challenger's, by claim id; a failure challenges nothing.
        sources: the benchmark's sources by id.
        challenger: the challenger's name, for the keys.
        round_number: from 1; part of the case ids.
        controls: which share of agreements becomes controls.
        microgold: ids of micro-gold claims.
        settled: ``(claim id, argument)`` that an earlier round ruled on, see `argument`.
        seed: of the run.
    """
    drawn: list[tuple[CaseKind, Entry, Verdict]] = []
    inadmissible: list[InadmissibleChallenge] = []
    repeated = 0
    for entry in entries:
        verdict = outcomes.get(entry.claim.id)
        if not isinstance(verdict, Verdict) or entry.annotation is None:
            continue
        if verdict.label == entry.label:
            share = controls.microgold if entry.claim.id in microgold else controls.agreed
            if _draw(seed, round_number, "control", entry.claim.id) < share:
                drawn.append((CaseKind.CONTROL, entry, verdict))
        elif why := why_inadmissible(entry.claim, verdict, sources):
            inadmissible.append(
                InadmissibleChallenge(claim_id=entry.claim.id, label=verdict.label, why=why)
            )
        elif (entry.claim.id, argument(verdict)) in settled:
            repeated += 1
        else:
            drawn.append((CaseKind.CHALLENGE, entry, verdict))
    drawn.sort(key=lambda item: _draw(seed, round_number, "order", item[1].claim.id))
    pairs = [
        blind_case(f"r{round_number}-{number:04d}", kind, entry, verdict, challenger, seed)
        for number, (kind, entry, verdict) in enumerate(drawn, 1)
    ]
    return Docket(
        cases=tuple(case for case, _ in pairs),
        keys=tuple(key for _, key in pairs),
        inadmissible=tuple(inadmissible),
        repeated=repeated,
    )


def argument(position: Verdict | Position) -> str:
    """What a side says, as a comparable text: a challenge that repeats it is not put again."""
    return position_of(position).canonical()


def position_of(side: Annotation | Verdict | Position) -> Position:
    """One side of a case, stripped of whose it is."""
    return Position(
        label=side.label,
        rationale=side.rationale,
        evidence=side.evidence,
        qualifications=side.qualifications,
        contradictions=side.contradictions,
    )


def blind_case(
    case_id: str, kind: CaseKind, entry: Entry, verdict: Verdict, challenger: str, seed: int
) -> tuple[Case, CaseKey]:
    """A case of a label and a verdict, the sides in an order drawn by lot, and its key."""
    assert entry.annotation is not None  # noqa: S101 - unlabelled claims give no case
    sides = [position_of(entry.annotation), position_of(verdict)]
    incumbent: Literal["a", "b"] = "a"
    if _draw(seed, case_id, "side", entry.claim.id) < 0.5:
        sides.reverse()
        incumbent = "b"
    return (
        Case(id=case_id, claim=entry.claim, a=sides[0], b=sides[1]),
        CaseKey(
            case_id=case_id,
            claim_id=entry.claim.id,
            kind=kind,
            incumbent=incumbent,
            challenger=challenger,
        ),
    )


def _draw(*what: object) -> float:
    """A number in [0, 1) that depends on ``what`` alone."""
    return random.Random(":".join(map(str, what))).random()  # noqa: S311 - no secret
