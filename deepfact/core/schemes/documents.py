"""The scheme of SciFact and Citation-Integrity: one label a claim of the labels of its documents.

Pure. Labels are ours: the words of the data sets (CONTRADICT or REFUTE, NEI or nothing at all)
are mapped before, by `deepfact.core.labels`.
"""

from __future__ import annotations

from typing import Sequence

from deepfact.core.schemes.base import SchemeScore
from deepfact.core.schemes.classes import class_scores
from deepfact.records import Label

CLASSES = {
    Label.CONTRADICTORY: "REFUTE",
    Label.INCONCLUSIVE: "NEI",
    Label.SUPPORTED: "SUPPORT",
}
"""Our labels and the words of the published tables, in their order."""


def claim_label(labels: Sequence[Label]) -> Label:
    """The label of a claim: its first document's; none at all is "not enough information".

    A later label that is no "not enough information" replaces one that is. So the order of the
    documents decides where they contradict each other, as in the published tables.
    """
    found = Label.INCONCLUSIVE
    for label in labels:
        if found is Label.INCONCLUSIVE:
            found = label
    return found


def document_scores(
    gold: Sequence[Sequence[Label]],
    answers: Sequence[Sequence[Label] | None],
    *,
    seed: int = 0,
) -> SchemeScore:
    """Scores over claims whose documents are labelled.

    Args:
        gold: labels of each claim's documents, in the order of the file; empty for none.
        answers: the system's, likewise; None where it has no row for the claim, which counts as
            wrong.
        seed: of the intervals.

    Returns:
        ``f1/REFUTE``, ``f1/NEI``, ``f1/SUPPORT``, ``macro_f1``, and ``accuracy``, which is
        micro-F1, as each claim has one label.
    """
    return class_scores(
        [CLASSES[claim_label(labels)] for labels in gold],
        [None if labels is None else CLASSES[claim_label(labels)] for labels in answers],
        tuple(CLASSES.values()),
        scheme="document-labels",
        seed=seed,
    )
