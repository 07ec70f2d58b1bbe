"""The report of a research run, as Markdown, one HTML page, and JUnit XML.

All are made of the same record, hold no clock and ask nothing of the network. What data says is
text, whatever it looks like. An incomplete report shows both sides of each contradiction and
picks none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup

from deepfact.core.skeptic import NEXT_STEPS
from deepfact.reports import templating
from deepfact.research_records import (
    ClaimContradiction,
    ClaimStanding,
    Finding,
    ResearchClaim,
    ResearchReport,
    Severity,
    SourceCard,
)

_CODE = re.compile(r"[\w=:., ()/-]+")


@dataclass(frozen=True)
class ResearchView:
    """A report as its templates look at it."""

    report: ResearchReport

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The cards' numbers in the report, from 1."""
        return {card.source.id: at for at, card in enumerate(self.report.cards, 1)}

    @cached_property
    def cards(self) -> dict[str, SourceCard]:
        return {card.source.id: card for card in self.report.cards}

    @cached_property
    def claims(self) -> dict[str, ResearchClaim]:
        return {one.claim.id: one.claim for one in self.report.standings}

    @property
    def by_severity(self) -> list[tuple[str, list[Finding]]]:
        """Findings, errors first; a severity without any is left out."""
        found = self.report.skeptic.findings
        groups = [(str(s), [f for f in found if f.severity is s]) for s in Severity]
        return [(name, findings) for name, findings in groups if findings]

    @property
    def contradictions(self) -> list[tuple[ClaimContradiction, list[ResearchClaim]]]:
        """Each contradiction with its sides; a side whose card was withdrawn is told as such."""
        return [
            (one, [self.claims[claim] for claim in one.claims if claim in self.claims])
            for one in self.report.skeptic.contradictions
        ]

    @property
    def lists(self) -> list[tuple[str, list[Any]]]:
        """The claims by standing; unverified is a list of its own."""
        names = (
            (ClaimStanding.CONFIRMED, "Confirmed"),
            (ClaimStanding.REFUTED, "Refuted"),
            (ClaimStanding.UNVERIFIED, "Unverified"),
            (ClaimStanding.NOT_ASKED, "No verifier was asked"),
        )
        return [(title, self.report.of(standing)) for standing, title in names]

    @property
    def prose(self) -> list[Any]:
        """The sentences that may stand."""
        return [one for one in self.report.written if not one.problems]

    @property
    def rejected(self) -> list[Any]:
        """The sentences that may not, with what is wrong."""
        return [one for one in self.report.written if one.problems]


def render_markdown(report: ResearchReport) -> str:
    """The report as Markdown (GitHub's dialect)."""
    template = templating.markdown_environment().get_template("research.md.j2")
    text = template.render(view=ResearchView(report), report=report, code=_code)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def render_html(report: ResearchReport) -> str:
    """The report as one HTML page that needs nothing beside it."""
    template = templating.html_environment().get_template("research.html.j2")
    return template.render(view=ResearchView(report), report=report)


def _code(text: str) -> Markup:
    """Words of ours (a code and what was counted) as a code span, so that they can be searched
    for as they are; anything else is escaped like data."""
    if _CODE.fullmatch(text):
        return Markup(f"`{text}`")  # noqa: S704 -- letters, digits and the marks above only
    return templating.markdown_escape(text)


def render_junit(report: ResearchReport) -> str:
    """The report as JUnit XML: a case for each check of the skeptic, and one for each sentence
    that was rejected. Errors are failures; warnings are told in the output of their case."""
    codes = dict.fromkeys([*NEXT_STEPS, *(f.code for f in report.skeptic.findings)])
    failures = 0
    suite = ElementTree.Element("testsuite", name="deepfact research")
    for code in codes:
        found = [finding for finding in report.skeptic.findings if finding.code == code]
        case = ElementTree.SubElement(suite, "testcase", classname="research", name=code)
        errors = [one for one in found if one.severity is Severity.ERROR]
        if errors:
            failures += 1
            failure = ElementTree.SubElement(
                case, "failure", message=_xml(errors[0].message), type=code
            )
            failure.text = _xml("\n".join(f"{e.line()}\n{e.message}\n{e.todo}" for e in errors))
        rest = [one for one in found if one.severity is not Severity.ERROR]
        if rest:
            output = ElementTree.SubElement(case, "system-out")
            output.text = _xml("\n".join(f"{r.severity} {r.line()}: {r.message}" for r in rest))
    suite.set("tests", str(len(codes)))
    suite.set("failures", str(failures))
    suite.set("errors", "0")
    text = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _xml(text: str) -> str:
    """``text`` without characters that XML cannot hold: they are written as code points."""
    shown = templating.visible(text)
    return re.sub(r"[\ufffe\uffff]", lambda m: f"[U+{ord(m[0]):04X}]", shown)
