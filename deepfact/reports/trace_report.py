"""The report of ``deepfact verify``: each claim's verdict, and how it came about, step by step.

HTML and Markdown of the same view. What data says is text, whatever it looks like. Nothing is
decided here, no clock is read, and nothing is asked of the network.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from deepfact.records import Claim, Contradiction, Outcome, Qualification, Verdict
from deepfact.reports import templating
from deepfact.trace_records import Trace, TracedExtract, TracedJudgement
from deepfact.version import VERSION

NO_REASON = "no reason recorded"


@dataclass(frozen=True)
class CostRow:
    """What one verifier cost on the claims that are compared."""

    name: str
    claims: int
    calls: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    """US dollars in all; None where a price is unknown."""

    @classmethod
    def of(cls, name: str, outcomes: Sequence[Outcome]) -> CostRow:
        """The sum of what each outcome says that it cost."""
        prices = [one.usage.usd for one in outcomes if one.usage.calls or one.usage.input_tokens]
        known = bool(prices) and None not in prices
        return cls(
            name,
            len(outcomes),
            sum(one.usage.calls for one in outcomes),
            sum(one.usage.input_tokens for one in outcomes),
            sum(one.usage.output_tokens for one in outcomes),
            sum(price or 0.0 for price in prices) if known else None,
        )

    def cells(self) -> list[str]:
        """Per claim, as text: calls, tokens in, tokens out, US dollars."""
        count = max(self.claims, 1)
        usd = "unknown" if self.usd is None else f"{self.usd / count:.5f}"
        return [
            f"{self.calls / count:.2f}",
            f"{self.input_tokens / count:.0f}",
            f"{self.output_tokens / count:.0f}",
            usd,
        ]


def cost_ratio(one: CostRow, other: CostRow) -> list[str]:
    """The first verifier's cost as a multiple of the other's, in the columns of `CostRow.cells`."""
    pairs = [
        (one.calls, other.calls),
        (one.input_tokens, other.input_tokens),
        (one.output_tokens, other.output_tokens),
        (one.usd, other.usd),
    ]
    return ["unknown" if a is None or not b else f"× {a / b:.2f}" for a, b in pairs]


@dataclass(frozen=True)
class ClaimView:
    """A claim, what came of it, and its trace when one was kept."""

    number: int
    claim: Claim
    outcome: Outcome
    trace: Trace | None
    titles: Mapping[str, str]
    """Of sources by id, for those that never came into question."""

    @property
    def label(self) -> str:
        """The label; empty without a verdict."""
        return str(self.outcome.label) if isinstance(self.outcome, Verdict) else ""

    @property
    def reason(self) -> str:
        """What explains the outcome, word for word."""
        if isinstance(self.outcome, Verdict):
            return self.outcome.rationale.strip() or NO_REASON
        return f"{self.outcome.reason}: {self.outcome.detail or NO_REASON}"

    @property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """Of a verdict."""
        return self.outcome.contradictions if isinstance(self.outcome, Verdict) else ()

    @property
    def qualifications(self) -> tuple[Qualification, ...]:
        """Of a verdict."""
        return self.outcome.qualifications if isinstance(self.outcome, Verdict) else ()

    @cached_property
    def tags(self) -> dict[str, str]:
        """Short id and title of each document by source id."""
        if self.trace is None:
            return {}
        return {one.source: f"{one.tag} {one.title}" for one in self.trace.documents}

    def document(self, source_id: str) -> str:
        """What a source is called in this trace."""
        return self.tags.get(source_id) or self.titles.get(source_id) or source_id[:19]

    def extracts(self, element: str) -> list[TracedExtract]:
        """The passages copied out for an element, those that count first."""
        some = self.trace.extracts if self.trace else ()
        return sorted((one for one in some if one.element == element), key=lambda one: not one.id)

    @property
    def astray(self) -> list[TracedExtract]:
        """Passages that name no element of the claim."""
        known = {one.id for one in self.trace.elements} if self.trace else set()
        return [
            one for one in (self.trace.extracts if self.trace else ()) if one.element not in known
        ]

    def judgement(self, element: str) -> TracedJudgement | None:
        """What was concluded on an element."""
        some = self.trace.judgements if self.trace else ()
        return next((one for one in some if one.element == element), None)


@dataclass(frozen=True)
class TraceReport:
    """Everything that the report shows."""

    verifier: str
    benchmark: str
    views: tuple[ClaimView, ...]
    costs: tuple[CostRow, ...]
    """This verifier's, then that of the one it is compared with, on the same claims."""

    @property
    def counts(self) -> dict[str, int]:
        """Claims by label, and those without a verdict."""
        counted = Counter(view.label or "without a verdict" for view in self.views)
        return {"claims": len(self.views), **dict(sorted(counted.items()))}

    @property
    def ratio(self) -> list[str]:
        """The first cost as a multiple of the second; empty with one."""
        return cost_ratio(*self.costs) if len(self.costs) == 2 else []


def trace_report(
    verifier: str,
    benchmark: str,
    claims: Sequence[Claim],
    outcomes: Sequence[Outcome],
    traces: Mapping[str, Trace],
    *,
    titles: Mapping[str, str] | None = None,
    against: Sequence[Outcome] | None = None,
) -> TraceReport:
    """The report on some outcomes.

    Args:
        verifier: its name.
        benchmark: name and version.
        claims: in any order; those without an outcome are left out.
        outcomes: one for each claim, in the order to show.
        traces: by claim id.
        titles: of sources by id.
        against: another verifier's outcomes; costs are compared on the claims that both were asked
            about.
    """
    by_id = {claim.id: claim for claim in claims}
    views = [
        ClaimView(at, by_id[one.claim_id], one, traces.get(one.claim_id), titles or {})
        for at, one in enumerate(outcomes, 1)
    ]
    costs = [CostRow.of(verifier, outcomes)]
    if against is not None:
        theirs = {one.claim_id: one for one in against}
        name = next((one.verifier for one in against if one.verifier), "the other")
        both = [one for one in outcomes if one.claim_id in theirs]
        costs = [
            CostRow.of(verifier, both), CostRow.of(name, [theirs[one.claim_id] for one in both])
        ]  # fmt: skip
    return TraceReport(verifier, benchmark, tuple(views), tuple(costs))


def render_html(report: TraceReport) -> str:
    """The report as one HTML page that needs nothing beside it."""
    template = templating.html_environment().get_template("trace.html.j2")
    return template.render(report=report, deepfact=VERSION)


def render_markdown(report: TraceReport) -> str:
    """The report as Markdown (GitHub's dialect)."""
    template = templating.markdown_environment().get_template("trace.md.j2")
    text = template.render(report=report, deepfact=VERSION)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
