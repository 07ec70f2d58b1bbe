"""The local evidence auditor: weighs the two sides' quotes against the sources. Weak, and says so.

It reads only what each side quotes, by plain rules that no model was trained for: a side that
calls the claim supported should quote what covers it, one that calls it contradictory should
quote what disputes it, and one that calls it inconclusive is right when nothing quoted does
either. It needs no key, no people and no model; figures of rounds that it audits are a
baseline's, not a person's. It shares the reading of numbers, dates and names with the local
verifier, but not the model that weighs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from deepfact.core.challenge import why_not_evidence
from deepfact.reading.compare import compare
from deepfact.reading.findings import Status
from deepfact.reading.library import Library
from deepfact.records import Adjudication, Case, Decision, Evidence, Label, Position, Source


@dataclass(frozen=True, slots=True)
class Weighing:
    """What the quotes of one side amount to."""

    label: Label
    covers: float
    """Share of the claim's words and elements that the quotes cover, 0 to 1."""
    disputes: float
    """How strongly a quote disputes an element of the claim, 0 to 1."""
    quotes: int
    bad_quotes: tuple[str, ...]
    """Why quotes that do not count do not."""


class EvidenceAuditor:
    """Decides for the side whose quotes carry its label further."""

    def __init__(
        self,
        name: str,
        sources: Mapping[str, Source],
        margin: Annotated[float, Field(ge=0, le=1)] = 0.05,
    ) -> None:
        """
        Args:
            name: shown on its adjudications.
            sources: the benchmark's sources by id.
            margin: a lead smaller than this is "cannot tell".
        """
        self.name, self.sources, self.margin = name, sources, margin

    def adjudicate(self, case: Case) -> Adjudication:
        """The side with the stronger quotes; cannot tell when neither leads by the margin."""
        sides = [self._weigh(case, case.a), self._weigh(case, case.b)]
        shared = _shared(sides)
        a, b = (_strength(side, shared) for side in sides)
        if case.a.label == case.b.label:
            decision = Decision.A if a >= b else Decision.B
        elif abs(a - b) < self.margin:
            decision = Decision.CANNOT_TELL
        else:
            decision = Decision.A if a > b else Decision.B
        return Adjudication(
            case_id=case.id,
            auditor=self.name,
            decision=decision,
            rationale=_words(sides, (a, b), decision),
            evidence=self._deciding(case, decision),
        )

    def _weigh(self, case: Case, position: Position) -> Weighing:
        """Reads a side's quotes, and nothing else of it."""
        quotes: list[Source] = []
        bad: list[str] = []
        quoted = [(evidence.source, evidence.quote) for evidence in position.evidence]
        quoted += [(c.source, c.quote) for c in position.contradictions]
        for source_id, quote in dict.fromkeys(quoted):
            if problem := why_not_evidence(source_id, quote, self.sources):
                bad.append(problem)
            else:
                title = self.sources[source_id].title
                quotes.append(Source.create(title=title, text=quote))
        if not quotes:
            return Weighing(position.label, 0.0, 0.0, 0, tuple(bad))
        comparison = compare(case.claim.text, Library(quotes))
        words = max(fit.near for _, fit in comparison.readings) if comparison.readings else 0.0
        findings = comparison.findings
        disputes = max((f.dispute for f in findings if f.status is Status.DISPUTED), default=0.0)
        covered = sum(finding.status is Status.COVERED for finding in findings)
        elements = covered / len(findings) if findings else words
        return Weighing(
            label=position.label,
            covers=(words + elements) / 2,
            disputes=min(1.0, disputes),
            quotes=len(quotes),
            bad_quotes=tuple(bad),
        )

    def _deciding(self, case: Case, decision: Decision) -> tuple[Evidence, ...]:
        """The quotes of the side that was decided for."""
        sides = {Decision.A: case.a, Decision.B: case.b}
        return sides[decision].evidence if decision in sides else ()


def _shared(sides: list[Weighing]) -> Weighing:
    """What both sides' quotes amount to together, as far as the best of each goes."""
    return Weighing(
        Label.INCONCLUSIVE,
        covers=max(side.covers for side in sides),
        disputes=max(side.disputes for side in sides),
        quotes=sum(side.quotes for side in sides),
        bad_quotes=(),
    )


def _strength(side: Weighing, shared: Weighing) -> float:
    """How far a side's quotes carry its label, 0 to 1.

    Support is coverage that no quote disputes; contradiction is a dispute, in a quote that is
    about the claim at all; inconclusive is what is left when neither is there.
    """
    if side.label is Label.SUPPORTED:
        return side.covers * (1 - shared.disputes)
    if side.label is Label.CONTRADICTORY:
        return side.disputes * (0.5 + 0.5 * side.covers)
    return (1 - shared.covers) * (1 - shared.disputes)


def _words(sides: list[Weighing], strengths: tuple[float, float], decision: Decision) -> str:
    """The reason, in words that do not say whose side is whose."""
    parts = []
    for name, side, strength in zip("AB", sides, strengths, strict=True):
        quotes = f"{side.quotes} quotes" if side.quotes else "no quote that counts"
        bad = f" ({'; '.join(side.bad_quotes)})" if side.bad_quotes else ""
        parts.append(
            f"{name} says {side.label} on {quotes}{bad}: covers {side.covers:.2f}, "
            f"disputes {side.disputes:.2f}, strength {strength:.2f}"
        )
    verdict = {
        Decision.A: "A carries its label further",
        Decision.B: "B carries its label further",
    }.get(decision, "neither leads enough to tell")
    return f"{verdict}. {'. '.join(parts)}."
