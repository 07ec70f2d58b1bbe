"""A comparison checked against sources that the claim does not cite.

They can show that a source of equal standing gives another number or date (a conflict), or that
another source than the one credited says it. They never make a claim covered: what a claim cites
has to carry it. Pure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Collection

from deepfact.reading.compare import Comparison
from deepfact.reading.findings import Finding, Status
from deepfact.reading.fit import Fit
from deepfact.reading.library import Library
from deepfact.reading.numbers import date_findings, quantity_findings
from deepfact.reading.quantities import quantities
from deepfact.reading.sayings import attribution_findings

AT_ODDS = 0.45
"""How well another source's passage must fit before its other number is a conflict."""

APART = 5.0
"""How many times another number may be the claim's and still be of the same thing."""


def crosscheck(comparison: Comparison, shared: Library, cited: Collection[str]) -> Comparison:
    """The comparison with conflicts and wrong credits that other sources show.

    Args:
        comparison: the claim held against its own sources.
        shared: every source that it may be checked against, the cited ones among them.
        cited: ids of its own sources.
    """
    claim = comparison.claim
    scored = shared.read(claim.text, claim, len(comparison.readings))
    others = [read for read in scored if read[0].source not in cited]
    if not others:
        return comparison
    elsewhere = Fit(claim, others, shared, len(comparison.readings))
    rivals = {
        (finding.kind, finding.start): finding
        for finding in (*quantity_findings(elsewhere), *date_findings(elsewhere))
    }
    findings = [_with_conflict(finding, rivals) for finding in comparison.findings]
    if claim.speakers:
        both = Fit(claim, [*comparison.fit.wide, *elsewhere.wide], shared, 1_000)
        findings = [f for f in findings if f.kind != "attribution"]
        findings += attribution_findings(both)
        findings.sort(key=lambda finding: finding.start)
    return replace(comparison, findings=tuple(findings))


def _with_conflict(finding: Finding, rivals: dict[tuple[str, int], Finding]) -> Finding:
    """A covered number or date with how strongly another source gives another."""
    rival = rivals.get((finding.kind, finding.start))
    if finding.status is not Status.COVERED or rival is None or finding.bearing is None:
        return finding
    against, agreeing = rival.against, rival.bearing
    if against is None or against.reading is None or against.fit < AT_ODDS or against.note:
        return finding
    if finding.bearing.note or not _comparable(finding, against.words):
        return finding
    if agreeing is not None and agreeing.fit >= against.fit:
        return finding
    conflict = min(finding.bearing.fit, against.fit)
    return replace(finding, conflict=max(finding.conflict, conflict))


def _comparable(finding: Finding, words: str) -> bool:
    """Whether two statements of a number can be of the same thing: within a factor of five."""
    mine, theirs = quantities(finding.text), quantities(words)
    if finding.kind != "quantity" or not mine or not theirs:
        return True
    small, large = sorted((abs(mine[0].value), abs(theirs[0].value)))
    return large <= APART * small
