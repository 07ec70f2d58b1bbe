"""Schemes over classes: accuracy, balanced accuracy, macro-F1, precision, recall, F1, confusion.

Pure; scikit-learn does the arithmetic. A class that was never answered has precision 0, and one
with neither answers nor members has F1 0, as in the published scripts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Mapping, Sequence

from deepfact.core.schemes.base import Interval, SchemeScore
from deepfact.core.schemes.intervals import METHOD, of_counts

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

Unanswered = Literal["wrong", "false", "left out"]
"""What a binary scheme makes of a unit without an answer."""


def confusion(
    gold: Sequence[str], answers: Sequence[str | None], classes: Sequence[str]
) -> list[list[int]]:
    """Counts. Rows: gold classes; columns: answered classes, then no answer.

    Raises:
        ValueError: a gold label or an answer is none of the classes.
    """
    column = {name: index for index, name in enumerate(classes)}
    table = [[0] * (len(classes) + 1) for _ in classes]
    for truth, answer in zip(gold, answers, strict=True):
        if truth not in column or (answer is not None and answer not in column):
            raise ValueError(f"{truth!r} answered with {answer!r}: classes are {list(classes)}")
        table[column[truth]][len(classes) if answer is None else column[answer]] += 1
    return table


def class_scores(
    gold: Sequence[str],
    answers: Sequence[str | None],
    classes: Sequence[str],
    *,
    clusters: Sequence[str] | None = None,
    scheme: str = "classes",
    seed: int = 0,
) -> SchemeScore:
    """Scores over any set of classes.

    Args:
        gold: the published label of each unit.
        answers: the system's label; None for no answer: a miss of its class, a hit of none.
        classes: all of them. Macro averages are over these, also over one that does not occur.
        clusters: report of each unit, which the intervals draw whole; each its own when None.
        scheme: name for the result.
        seed: of the intervals.

    Returns:
        ``accuracy``, ``balanced_accuracy`` (mean recall of the classes that occur),
        ``macro_f1``, and ``precision/C``, ``recall/C``, ``f1/C`` for each class C.

    Raises:
        ValueError: a gold label or an answer is none of the classes.
    """
    confusion(gold, answers, classes)  # refuses unknown words
    if not gold:
        return SchemeScore(scheme=scheme, n=0, values={})
    from sklearn.metrics import accuracy_score, precision_recall_fscore_support

    shown = ["" if answer is None else answer for answer in answers]
    precision, recall, f1, members = precision_recall_fscore_support(
        list(gold), shown, labels=list(classes), zero_division=0.0
    )
    values: dict[str, float | None] = {
        "accuracy": float(accuracy_score(list(gold), shown)),
        "balanced_accuracy": float(recall[members > 0].mean()),
        "macro_f1": float(f1.mean()),
    }
    for index, name in enumerate(classes):
        values[f"precision/{name}"] = float(precision[index])
        values[f"recall/{name}"] = float(recall[index])
        values[f"f1/{name}"] = float(f1[index])
    return SchemeScore(
        scheme=scheme,
        n=len(gold),
        values=values,
        intervals=_intervals(gold, answers, classes, clusters, seed),
        method=METHOD + (" by report" if clusters else ""),
        unverified=sum(answer is None for answer in answers),
    )


def binary_scores(
    gold: Sequence[bool],
    answers: Sequence[bool | None],
    *,
    unanswered: Unanswered,
    clusters: Sequence[str] | None = None,
    scheme: str = "binary",
    seed: int = 0,
) -> SchemeScore:
    """Scores of yes or no, for both sides as the positive class.

    Args:
        gold: the key.
        answers: the system's; None for no answer.
        unanswered: ``wrong`` counts it as the opposite of the key, so as a missed positive or a
            false positive; ``false`` as a no, whatever the key; ``left out`` drops the unit and
            says how many.
        clusters: as in `class_scores`.
        scheme: name for the result.
        seed: of the intervals.

    Returns:
        As `class_scores` with the classes ``true`` and ``false``.
    """
    kept = [
        index
        for index, answer in enumerate(answers)
        if answer is not None or unanswered != "left out"
    ]
    filled = [
        answer if answer is not None else (not truth if unanswered == "wrong" else False)
        for truth, answer in zip(gold, answers, strict=True)
    ]
    result = class_scores(
        [_word(gold[index]) for index in kept],
        [_word(filled[index]) for index in kept],
        ("true", "false"),
        clusters=[clusters[index] for index in kept] if clusters else None,
        scheme=scheme,
        seed=seed,
    )
    silent = sum(answer is None for answer in answers)
    dropped = len(gold) - len(kept)
    return SchemeScore(
        scheme=scheme,
        n=result.n,
        values=result.values,
        intervals=result.intervals,
        method=result.method,
        unverified=silent - dropped,
        left_out={"no answer": dropped} if dropped else {},
    )


def deepfact_binary(
    gold: Sequence[bool | None],
    answers: Sequence[bool | None],
    *,
    clusters: Sequence[str] | None = None,
    seed: int = 0,
) -> SchemeScore:
    """DeepFact's rule: supported is positive, every other known label is not.

    An answer that is blank or unknown counts as wrong either way: a missed positive, or a false
    positive. A unit whose key is blank stays in the denominator of accuracy, where it is never
    right, and is in no other value.

    Returns:
        ``accuracy``, and ``precision``, ``recall``, ``f1`` of supported.
    """
    known = [index for index, truth in enumerate(gold) if truth is not None]
    scores = binary_scores(
        [bool(gold[index]) for index in known],
        [answers[index] for index in known],
        unanswered="wrong",
        clusters=[clusters[index] for index in known] if clusters else None,
        seed=seed,
    )
    share = len(known) / len(gold) if gold else 0.0
    names = {"precision/true": "precision", "recall/true": "recall", "f1/true": "f1"}
    values = {name: scores.values.get(ours) for ours, name in names.items()}
    intervals = {
        name: scores.intervals[ours] for ours, name in names.items() if ours in scores.intervals
    }
    right = scores.values.get("accuracy")
    values["accuracy"] = None if right is None else right * share
    if "accuracy" in scores.intervals:
        low, high = scores.intervals["accuracy"]
        intervals["accuracy"] = (low * share, high * share)
    return SchemeScore(
        scheme="deepfact-binary",
        n=len(gold),
        values=values,
        intervals=intervals,
        method=scores.method,
        unverified=scores.unverified,
        left_out={"blank key, in accuracy only": len(gold) - len(known)}
        if len(gold) > len(known)
        else {},
    )


def constant(gold: Sequence[str], answer: str, classes: Sequence[str]) -> SchemeScore:
    """The baseline that gives one answer everywhere, as `class_scores`."""
    return class_scores(gold, [answer] * len(gold), classes, scheme="constant")


def _word(value: bool) -> str:
    return "true" if value else "false"


def _intervals(
    gold: Sequence[str],
    answers: Sequence[str | None],
    classes: Sequence[str],
    clusters: Sequence[str] | None,
    seed: int,
) -> dict[str, Interval]:
    import numpy as np

    names = list(clusters) if clusters else [str(index) for index in range(len(gold))]
    place = {name: index for index, name in enumerate(dict.fromkeys(names))}
    tables = np.zeros((len(place), len(classes), len(classes) + 1))
    for name, truth, answer in zip(names, gold, answers, strict=True):
        column = len(classes) if answer is None else classes.index(answer)
        tables[place[name], classes.index(truth), column] += 1
    return of_counts(tables, lambda sums: _of_tables(sums, classes), seed=seed)


def _of_tables(tables: Array, classes: Sequence[str]) -> Mapping[str, Array]:
    """The values of `class_scores` of confusion tables, shape ``(draws, C, C + 1)``."""
    import numpy as np

    size = len(classes)
    hits = tables[:, range(size), range(size)]
    there, answered = tables.sum(axis=2), tables[:, :, :size].sum(axis=1)
    precision = hits / np.maximum(answered, 1)
    recall = hits / np.maximum(there, 1)
    f1 = 2 * hits / np.maximum(there + answered, 1)
    occurs = there > 0
    values = {
        "accuracy": hits.sum(axis=1) / tables.sum(axis=(1, 2)),
        "balanced_accuracy": (recall * occurs).sum(axis=1) / np.maximum(occurs.sum(axis=1), 1),
        "macro_f1": f1.mean(axis=1),
    }
    for index, name in enumerate(classes):
        values[f"precision/{name}"] = precision[:, index]
        values[f"recall/{name}"] = recall[:, index]
        values[f"f1/{name}"] = f1[:, index]
    return values
