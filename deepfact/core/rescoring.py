"""The same stored verdicts scored on two versions: what changed labels do to a score.

Pure, and asks nobody. The change is paired, over the claims that both versions label; the two
scores are each over all claims of their version. numpy does the arithmetic; it is imported when a
figure is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deepfact.core.compare import mean_change
from deepfact.core.metrics import LABELS, RESAMPLES, answer_of, macro_f1_of, score
from deepfact.records import Label, Outcome, Record
from deepfact.run_records import Estimate, ScoreSheet

UNCHANGED = "no verdict is right on one version and wrong on the other"


class Rescored(Record):
    """One verifier's verdicts on two versions."""

    verifier: str
    before: ScoreSheet
    after: ScoreSheet
    n: int
    """Claims that both versions label; the changes are over these."""
    accuracy: Estimate
    """Change of accuracy, as a share: after less before."""
    binary: Estimate
    """Change of accuracy of supported against the rest."""
    macro_f1: Estimate
    """Change of macro-F1."""
    gained: tuple[str, ...]
    """Claims on which the verdict is right on the later version only."""
    lost: tuple[str, ...]
    """Claims on which it is right on the earlier version only."""


def rescore(
    before: Mapping[str, Label],
    after: Mapping[str, Label],
    outcomes: Mapping[str, Outcome],
    *,
    verifier: str,
    names: tuple[str, str],
    reports: Mapping[str, str],
    seed: int = 0,
) -> Rescored:
    """Score verdicts on two versions, with the paired change.

    Args:
        before, after: label of each claim of either version.
        outcomes: by claim id; a claim without one counts as wrong on both.
        verifier: whose verdicts they are.
        names: of the versions, for the sheets.
        reports: report of each claim; the bootstrap draws whole reports.
        seed: of the bootstrap.
    """
    sheets = [
        score(key, outcomes, verifier=verifier, on=name, reports=reports, seed=seed)
        for key, name in zip((before, after), names, strict=True)
    ]
    shared = [claim_id for claim_id in before if claim_id in after]
    answers = {claim_id: answer_of(outcomes.get(claim_id)) for claim_id in shared}
    right = [
        (answers[claim_id] == before[claim_id], answers[claim_id] == after[claim_id])
        for claim_id in shared
    ]
    stands = [
        (_stands(answers[claim_id], before[claim_id]), _stands(answers[claim_id], after[claim_id]))
        for claim_id in shared
    ]
    where = [reports.get(claim_id, claim_id) for claim_id in shared]
    return Rescored(
        verifier=verifier,
        before=sheets[0],
        after=sheets[1],
        n=len(shared),
        accuracy=_change(where, right, seed),
        binary=_change(where, stands, seed),
        macro_f1=_macro_f1_change(where, [before[i] for i in shared], [after[i] for i in shared],
                                  list(answers.values()), seed),
        gained=tuple(i for i, (was, now) in zip(shared, right, strict=True) if now and not was),
        lost=tuple(i for i, (was, now) in zip(shared, right, strict=True) if was and not now),
    )  # fmt: skip


def _stands(answer: Label | None, label: Label) -> bool:
    """Whether an answer is right by DeepFact's rule: supported against the rest."""
    supported = Label.SUPPORTED
    return answer is not None and (answer is supported) == (label is supported)


def _change(reports: Sequence[str], pairs: Sequence[tuple[bool, bool]], seed: int) -> Estimate:
    """The change of a share. Where no claim changes there is nothing to be unsure of: the labels
    are what they are, and the verdicts are the same."""
    changes = [(report, now - was) for report, (was, now) in zip(reports, pairs, strict=True)]
    if changes and not any(change for _, change in changes):
        return Estimate(value=0.0, n=len(changes), low=0.0, high=0.0, method=UNCHANGED)
    return mean_change(changes, seed)


def _macro_f1_change(
    reports: Sequence[str],
    before: Sequence[Label],
    after: Sequence[Label],
    answers: Sequence[Label | None],
    seed: int,
) -> Estimate:
    """The change of macro-F1, with a percentile bootstrap that draws the same whole reports for
    both versions. A single report gives no interval: there is nothing to draw."""
    n, method = len(reports), "bootstrap by report"
    if n == 0:
        return Estimate(value=None, n=0, method=method)
    if list(before) == list(after):
        return Estimate(value=0.0, n=n, low=0.0, high=0.0, method=UNCHANGED)
    import numpy as np

    clusters = {report: place for place, report in enumerate(dict.fromkeys(reports))}
    tables = np.zeros((2, len(clusters), len(LABELS), len(LABELS) + 1))
    for which, labels in enumerate((before, after)):
        for report, label, answer in zip(reports, labels, answers, strict=True):
            column = len(LABELS) if answer is None else LABELS.index(answer)
            tables[which, clusters[report], LABELS.index(label), column] += 1
    k = len(clusters)
    draws = max(200, min(RESAMPLES, 20_000_000 // k))
    weights = np.random.default_rng(seed).multinomial(k, [1 / k] * k, size=draws)
    drawn = [macro_f1_of(np.tensordot(weights, one, axes=1)) for one in tables]
    whole = [float(macro_f1_of(one.sum(axis=0, keepdims=True))[0]) for one in tables]
    low, high = map(float, np.nanpercentile(drawn[1] - drawn[0], [2.5, 97.5]))
    shown = k > 1
    return Estimate(
        value=whole[1] - whole[0],
        n=n,
        low=low if shown else None,
        high=high if shown else None,
        method=method,
    )
