"""Whether a benchmark's micro-gold is sound: answers that fit, and claims that do not stand out.

Problems make the measure wrong; remarks tell what a careful reader of the benchmark could infer.
Reads only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from deepfact.core.challenge import why_not_evidence
from deepfact.core.state import Entry
from deepfact.reading.edit_checks import difference
from deepfact.records import KeyEntry, RevisionKind
from deepfact.store.benchmark import BenchmarkVersion

FEW = 10
"""Micro-gold claims of one sort below which an interval says next to nothing."""


@dataclass
class Checked:
    """What was found."""

    problems: list[tuple[str, str]] = field(default_factory=list)
    """``(claim id, what is wrong)``."""
    remarks: list[str] = field(default_factory=list)


def check(version: BenchmarkVersion) -> Checked:
    """Look at the micro-gold of a version.

    Args:
        version: the newest, as a rule.
    """
    gold = version.store.key("microgold")
    found = Checked()
    texts: dict[str, str] = {}
    for entry in version.state:
        same = texts.setdefault(" ".join(entry.claim.text.lower().split()), entry.claim.id)
        if same != entry.claim.id and (entry.claim.id in gold or same in gold):
            found.problems.append((entry.claim.id, f"says the same as claim {same}"))
    for claim_id, answer in gold.items():
        there = version.state.entries.get(claim_id)
        if there is None:
            found.problems.append((claim_id, f"{version} has no such claim"))
            continue
        if there.retired:
            found.remarks.append(f"{claim_id} is retired: it measures nothing any more")
        found.problems += [(claim_id, what) for what in _answer_problems(version, there, answer)]
        found.remarks += _twins(version.state.entries, claim_id, answer)
    found.remarks += _history(version, gold)
    live = [answer for i, answer in gold.items() if i in {c.id for c in version.claims}]
    supported = sum(answer.label == "supported" for answer in live)
    for what, count in (("supported", supported), ("unsupported", len(live) - supported)):
        if live and count < FEW:
            found.remarks.append(f"only {count} {what} claims: intervals will be wide")
    return found


def _answer_problems(version: BenchmarkVersion, there: Entry, answer: KeyEntry) -> Iterator[str]:
    for quote in answer.evidence:
        if why := why_not_evidence(quote.source, quote.quote, version.sources):
            yield f"the key's evidence does not count: {why}"
    edit = answer.edit
    if edit is None:
        return
    if (edit.before, edit.after) != difference(edit.original, there.claim.text):
        yield "the claim is not the original with the documented edit"
    if answer.label == "supported":
        yield "it was edited, and the key says that it is supported"


def _twins(entries: Mapping[str, Entry], claim_id: str, answer: KeyEntry) -> Iterator[str]:
    original = entries.get(answer.edit.original_id or "") if answer.edit else None
    if original is not None and not original.retired:
        yield (
            f"{claim_id} stands beside {original.claim.id}, which it was made of: who sees both "
            "can tell"
        )


def _history(version: BenchmarkVersion, gold: Mapping[str, KeyEntry]) -> Iterator[str]:
    """Versions whose additions are micro-gold alone, and authors who added nothing else."""
    for manifest in version.store.lineage(version.manifest.version)[1:]:
        added = [
            revision.claim_id
            for revision in version.store.revisions(manifest.version)
            if revision.kind is RevisionKind.ADD
        ]
        if added and all(claim_id in gold for claim_id in added):
            yield (
                f"version {manifest.version} adds {len(added)} claims, all of them micro-gold: "
                "who reads the history can tell them"
            )
