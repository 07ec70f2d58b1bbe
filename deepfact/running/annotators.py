"""How good the labels are that each annotator wrote, where the answer is known.

An annotator is whoever the annotation's provenance names: a person of the first labelling, or the
auditors whose decision became the label. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping

from deepfact.core import metrics
from deepfact.core.state import State
from deepfact.records import KeyEntry
from deepfact.run_records import MicroGoldScore

ASSUMED = "(assumed when added, written by nobody)"


def annotator_scores(state: State, gold: Mapping[str, KeyEntry]) -> list[MicroGoldScore]:
    """The accuracy of each annotator's labels on micro-gold, as a version has them, by name.

    A label that was assumed when the claim was added is nobody's work and stands apart. A claim
    without a label counts for nobody.
    """
    found: dict[str, list[bool]] = {}
    for entry in state:
        answer = gold.get(entry.claim.id)
        if answer is None or entry.annotation is None:
            continue
        provenance = entry.annotation.provenance
        who = ASSUMED if answer.assumed and not provenance.run else provenance.who
        found.setdefault(who, []).append(entry.annotation.label == answer.label)
    return [
        MicroGoldScore(of=who, accuracy=metrics.rate(sum(right), len(right)))
        for who, right in sorted(found.items())
    ]
