"""The local evidence auditor: weighs two sides against the claim's own sources. Weak, and says so.

It is another judge than the local verifier, with no learnt weights: it compares letters and
neighbouring words, not elements, over everything the claim cites, so that a side which quotes
nothing is not worse off, and it looks at what a dispute rests on word by word. It is slow to change
a label: unless one side is clearly stronger it cannot tell, and the label stays.

It needs no key, no people and no model; figures of rounds that it audits are a baseline's, not a
person's. Its constants were chosen on deepfact-practice and deepfact-drill together, with local
challengers fitted without the set that they challenge. With the local verifier that ships it mends
more than it breaks on the first, and breaks more than it mends on the second; where labels are
mostly right to begin with, most revisions that it lets through are wrong. Use it to see the loop
run, never to publish a version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from deepfact.auditors.weighing import Dispute, Weighed, about, disputes_in, weigh
from deepfact.core.challenge import GENERATED, why_not_evidence
from deepfact.records import Adjudication, Case, Decision, Evidence, Label, Position, Source

MARGIN = 0.45
"""The lead that decides, chosen with wrong labels put in on purpose."""


QUOTED = 0.5
"""What a supporting quote about the claim counts where few letters are shared: a paraphrase, or
arithmetic, that this auditor cannot follow."""
AGAINST_QUOTES = 0.4
"""What it counts that no source speaks of a claim, where the other side quotes one that may."""
TWO_SOURCES = 0.5
"""What an inconclusive side that quotes two sources has at least: they may be at odds."""


@dataclass(frozen=True, slots=True)
class Side:
    """What one side comes to."""

    label: Label
    strength: float
    """How far the sources, as this auditor reads them, carry its label, 0 to 1."""
    quotes: int
    bad_quotes: tuple[str, ...]
    """Why quotes that do not count do not."""


class EvidenceAuditor:
    """Decides for the side that the claim's sources clearly carry further; else cannot tell."""

    def __init__(
        self,
        name: str,
        sources: Mapping[str, Source],
        margin: Annotated[float, Field(ge=0, le=1)] = MARGIN,
    ) -> None:
        """
        Args:
            name: shown on its adjudications.
            sources: the benchmark's sources by id.
            margin: a lead smaller than this is "cannot tell".
        """
        self.name, self.sources, self.margin = name, sources, margin

    def adjudicate(self, case: Case) -> Adjudication:
        """The clearly stronger side; cannot tell when neither leads by the margin."""
        weighed = weigh(case.claim.text, self._texts(case))
        disputes = [
            dispute
            for position in (case.a, case.b)
            for dispute in self._disputes(case, position, weighed)
        ]
        worst = max(disputes, key=lambda dispute: dispute.strength, default=None)
        a = self._side(case.a, case.b, weighed, worst)
        b = self._side(case.b, case.a, weighed, worst)
        lead = a.strength - b.strength
        if case.a.label == case.b.label:
            decision = Decision.A if len(case.a.evidence) >= len(case.b.evidence) else Decision.B
        elif abs(lead) < self.margin:
            decision = Decision.CANNOT_TELL
        else:
            decision = Decision.A if lead > 0 else Decision.B
        return Adjudication(
            case_id=case.id,
            auditor=self.name,
            decision=decision,
            rationale=_words((a, b), weighed, worst, decision),
            evidence=self._deciding(case, decision),
        )

    def _texts(self, case: Case) -> list[str]:
        """What both sides may be judged by: all that the claim cites, and good quotes' sources."""
        ids = list(case.claim.cites)
        for position in (case.a, case.b):
            ids += [source for source, _ in _quoted(position)]
        found = [self.sources[i] for i in dict.fromkeys(ids) if i in self.sources]
        return [source.text for source in found if source.role not in GENERATED]

    def _disputes(self, case: Case, position: Position, weighed: Weighed) -> list[Dispute]:
        """The disputes that a side argues: each named part with its quote, where both count."""
        if position.label is not Label.CONTRADICTORY:
            return []
        argued = [(c.disputed, c.source, c.quote) for c in position.contradictions]
        argued = argued or [("", e.source, e.quote) for e in position.evidence]
        good = [
            (named, quote)
            for named, source, quote in argued
            if not why_not_evidence(source, quote, self.sources)
        ]
        close = about([quote for _, quote in good], weighed)
        return [disputes_in(case.claim.text, named, quote, weighed, close) for named, quote in good]

    def _side(
        self, position: Position, other: Position, weighed: Weighed, worst: Dispute | None
    ) -> Side:
        quoted = _quoted(position)
        problems = [why_not_evidence(s, quote, self.sources) for s, quote in quoted]
        bad = tuple(problem for problem in problems if problem)
        strength = _strength(position.label, weighed, worst.strength if worst else 0.0)
        if position.label is Label.INCONCLUSIVE and _quoted(other):
            strength = max(0.6 * weighed.hedged, AGAINST_QUOTES * strength)
        if position.label is Label.SUPPORTED and not bad:
            together = about([quote for _, quote in quoted], weighed)
            strength = max(strength, QUOTED * together)
        if position.label is Label.INCONCLUSIVE and len({source for source, _ in quoted}) > 1:
            strength = max(strength, TWO_SOURCES)
        return Side(position.label, strength, len(quoted) - len(bad), bad)

    def _deciding(self, case: Case, decision: Decision) -> tuple[Evidence, ...]:
        """The quotes of the side that was decided for."""
        sides = {Decision.A: case.a, Decision.B: case.b}
        return sides[decision].evidence if decision in sides else ()


def _quoted(position: Position) -> list[tuple[str, str]]:
    """``(source id, quote)`` of everything that a side quotes, each once."""
    quoted = [(evidence.source, evidence.quote) for evidence in position.evidence]
    quoted += [(c.source, c.quote) for c in position.contradictions]
    return list(dict.fromkeys(quoted))


def _strength(label: Label, weighed: Weighed, disputed: float) -> float:
    """How far the sources carry a label, 0 to 1.

    Support is coverage with every number there and nothing disputed; contradiction is a dispute
    that holds; inconclusive is a claim that no cited source speaks of.
    """
    if label is Label.SUPPORTED:
        doubt = max(disputed, weighed.at_odds, 0.6 * weighed.hedged, 0.6 * weighed.numbers_missing)
        return weighed.covered * (1 - doubt)
    if label is Label.CONTRADICTORY:
        return disputed
    return max((1 - weighed.covered) * (1 - disputed), 0.6 * weighed.hedged)


def _words(
    sides: tuple[Side, Side], weighed: Weighed, worst: Dispute | None, decision: Decision
) -> str:
    """The reason, in words that do not say whose side is whose."""
    verdict = {
        Decision.A: "A is clearly carried further",
        Decision.B: "B is clearly carried further",
    }.get(decision, "neither leads enough to tell")
    parts = [
        f"{verdict}. The cited sources cover {weighed.covered:.2f} of the claim, and "
        f"{weighed.numbers_missing:.2f} of its numbers are not in them"
    ]
    if worst is not None:
        parts.append(f"the strongest dispute ({worst.ground}) holds to {worst.strength:.2f}")
    for name, side in zip("AB", sides, strict=True):
        quotes = f"{side.quotes} quotes" if side.quotes else "no quote that counts"
        bad = f" ({'; '.join(side.bad_quotes)})" if side.bad_quotes else ""
        parts.append(f"{name} says {side.label} on {quotes}{bad}: {side.strength:.2f}")
    return "; ".join(parts) + "."
