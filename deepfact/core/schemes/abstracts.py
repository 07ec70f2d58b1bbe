"""SciFact's own scheme: which abstracts bear on a claim, how, and by which sentences.

Pure. Wadden et al., "Fact or Fiction", EMNLP 2020, section 4: abstract level with the label alone
or with a rationale, sentence level by selection alone or with the label. An answer of "not enough
information" is no prediction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from deepfact.core.schemes.base import SchemeScore
from deepfact.core.schemes.intervals import METHOD, of_counts
from deepfact.records import Label

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

MAX_SENTENCES = 3
"""How many predicted sentences the abstract level looks at, the first ones."""

MEASURES = {
    "abstract_label_only": (0, 1, 2),
    "abstract_rationalized": (0, 1, 3),
    "sentence_selection": (4, 5, 6),
    "sentence_label": (4, 5, 7),
}
"""Which counts are the relevant, the retrieved and the correct ones; see `_counts`."""


@dataclass(frozen=True, slots=True)
class KeyDocument:
    """A document that bears on a claim: how, and the sets of sentences that each show it."""

    label: Label
    rationales: tuple[frozenset[int], ...]


@dataclass(frozen=True, slots=True)
class AnsweredDocument:
    """What a system says of a document: a label, and sentences in its order of preference."""

    label: Label
    sentences: tuple[int, ...] = ()


def abstract_scores(
    key: Sequence[Mapping[str, KeyDocument]],
    answers: Sequence[Mapping[str, AnsweredDocument] | None],
    *,
    seed: int = 0,
) -> SchemeScore:
    """Precision, recall and F1 of SciFact's four measures.

    Args:
        key: by claim, the documents that bear on it.
        answers: likewise; None where the system has no row for the claim: it retrieves nothing.
        seed: of the intervals, which draw claims.

    Returns:
        ``precision/M``, ``recall/M`` and ``f1/M`` for each measure M: ``abstract_label_only``,
        ``abstract_rationalized`` (a whole rationale is among the first three sentences),
        ``sentence_selection`` (a sentence counts when its whole rationale was selected) and
        ``sentence_label`` (and the document's label is right). None where there is nothing to
        divide by.
    """
    rows = [_counts(there, said or {}) for there, said in zip(key, answers, strict=True)]
    totals = [sum(column) for column in zip(*rows, strict=True)] if rows else [0] * 8
    values: dict[str, float | None] = {}
    for name, (relevant, retrieved, correct) in MEASURES.items():
        there, found, right = totals[relevant], totals[retrieved], totals[correct]
        values[f"precision/{name}"] = right / found if found else None
        values[f"recall/{name}"] = right / there if there else None
        values[f"f1/{name}"] = 2 * right / (found + there) if found + there else None
    import numpy as np

    return SchemeScore(
        scheme="abstracts",
        n=len(rows),
        values=values,
        intervals=of_counts(np.array(rows, dtype=float), _of_sums, seed=seed),
        method=METHOD + " by claim",
        unverified=sum(said is None for said in answers),
    )


def _counts(
    key: Mapping[str, KeyDocument], answer: Mapping[str, AnsweredDocument]
) -> tuple[int, ...]:
    """Of one claim: abstracts relevant, retrieved, right in label, right with a rationale; and
    sentences relevant, retrieved, selected rightly, and so in a document of the right label."""
    said = {name: found for name, found in answer.items() if found.label is not Label.INCONCLUSIVE}
    label_only = rationalized = selected = labelled = 0
    for name, found in said.items():
        there = key.get(name)
        if there is None:
            continue
        chosen = set(found.sentences)
        whole = [group for group in there.rationales if group <= chosen]
        hits = len(chosen & set().union(*whole)) if whole else 0
        selected += hits
        if found.label is there.label:
            label_only += 1
            labelled += hits
            first = set(found.sentences[:MAX_SENTENCES])
            rationalized += any(group <= first for group in there.rationales)
    sentences = sum(len(group) for there in key.values() for group in there.rationales)
    retrieved = sum(len(found.sentences) for found in said.values())
    return (
        len(key), len(said), label_only, rationalized,
        sentences, retrieved, selected, labelled,
    )  # fmt: skip


def _of_sums(sums: Array) -> dict[str, Array]:
    """The values of summed counts, shape ``(draws, 8)``; NaN where there is nothing to divide."""
    import numpy as np

    values = {}
    for name, (relevant, retrieved, correct) in MEASURES.items():
        there, found, right = sums[:, relevant], sums[:, retrieved], sums[:, correct]
        for what, below in (("precision", found), ("recall", there)):
            values[f"{what}/{name}"] = np.where(below > 0, right / np.maximum(below, 1), np.nan)
        both = there + found
        values[f"f1/{name}"] = np.where(both > 0, 2 * right / np.maximum(both, 1), np.nan)
    return values
