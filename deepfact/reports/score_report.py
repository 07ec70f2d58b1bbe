"""The page of a score: the sheet, calibration with its reliability plots, a threshold's scores.

As HTML and as Markdown, by `deepfact.reports.study`. Works nothing out but intervals of the bins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deepfact.core.metrics import rate
from deepfact.core.schemes.base import SchemeScore
from deepfact.core.schemes.calibration import Bin
from deepfact.core.schemes.probabilities import Calibrated, Thresholded
from deepfact.measure_records import Rate
from deepfact.reports.reliability import Point, ReliabilityPlot
from deepfact.reports.study import Section, Study, Table, share_words
from deepfact.reports.templating import percent, rate_words
from deepfact.run_records import ScoreSheet

MEASURES = {
    "brier": "Brier score, over all labels (0 is best, 2 is worst)",
    "ece": "expected calibration error",
    "mce": "greatest gap of a bin",
    "confidence": "mean confidence",
    "accuracy": "accuracy of the likeliest label",
}
AT_THRESHOLD = {
    "f1": "F1 of supported",
    "precision": "precision",
    "recall": "recall",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "auc": "area under the ROC curve, without a threshold",
}


@dataclass(frozen=True, slots=True)
class ChosenThreshold:
    """A threshold's scores, and how it came to be."""

    result: Thresholded
    how: str
    """In words."""
    flatters: bool = False
    """It was chosen on the claims that it is scored on."""


FLATTERS = (
    "The threshold was chosen on the benchmark that it is scored on, so its scores flatter: choose "
    "it on other claims."
)


def score_page(
    sheet: ScoreSheet,
    calibrated: Sequence[Calibrated],
    threshold: ChosenThreshold | None,
    *,
    facts: Sequence[tuple[str, str]],
    spec: str,
    deepfact: str,
) -> Study:
    """The page.

    Args:
        sheet: the scores of the verdicts.
        calibrated: of the probabilities; empty where there are none.
        threshold: of one, where it was asked for.
        facts: provenance, name and value.
        spec: what was asked, as JSON.
        deepfact: the version.
    """
    sections = [_scores(sheet)]
    sections += [_calibration(number, one) for number, one in enumerate(calibrated, 1)]
    if threshold is not None:
        sections.append(_threshold(threshold))
    return Study(
        kind="score",
        name=f"{sheet.verifier} on {sheet.on}",
        lede=f"n = {sheet.n}, {sheet.unverified} unverified",
        banners=(FLATTERS,) if threshold is not None and threshold.flatters else (),
        sections=tuple(sections),
        facts=tuple(facts),
        spec=spec,
        deepfact=deepfact,
    )


def _scores(sheet: ScoreSheet) -> Section:
    scores = (
        ("accuracy, 3 labels", rate_words(sheet.accuracy)),
        ("accuracy, clustered by report", share_words(sheet.accuracy_clustered)),
        ("supported against the rest", rate_words(sheet.binary)),
        ("macro-F1", share_words(sheet.macro_f1)),
    )
    columns = ("benchmark \\ verdict", *(str(one.label) for one in sheet.per_class), "unverified")
    confusion = tuple(
        (str(one.label), *map(str, row))
        for one, row in zip(sheet.per_class, sheet.confusion, strict=True)
    )
    strata = tuple((name, rate_words(found)) for name, found in sheet.strata.items())
    tables = [
        Table("Scores of the verdicts", ("score", "value"), scores),
        Table("Confusion of labels, in claims", columns, confusion),
    ]
    if strata:
        tables.append(Table("Accuracy by stratum", ("stratum", "accuracy"), strata))
    return Section("scores", "Scores", tables=tuple(tables))


def points_of(bins: Sequence[Bin]) -> tuple[Point, ...]:
    """The bins that hold claims, with an interval for the accuracy of each."""
    return tuple(
        Point(one.low, one.high, one.confidence or 0.0, _accuracy(one)) for one in bins if one.n
    )


def _accuracy(found: Bin) -> Rate:
    return rate(round((found.accuracy or 0.0) * found.n), found.n)


def measure_rows(score: SchemeScore, names: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """The values of a scheme with their intervals, in words."""
    rows = []
    for name, words in names.items():
        value = score.values.get(name)
        ends = score.intervals.get(name)
        shown = "not defined" if value is None else f"{value:.3f}"
        rows.append((words, f"{shown} [{ends[0]:.3f}, {ends[1]:.3f}]" if ends else shown))
    return tuple(rows)


def counted(score: SchemeScore) -> str:
    """How many claims a scheme's values rest on, and how many are left out."""
    left = ", ".join(f"{count} left out ({why})" for why, count in score.left_out.items())
    return f"n = {score.n}" + (f", {left}" if left else "")


def _calibration(number: int, found: Calibrated) -> Section:
    points = points_of(found.bins)
    rows = tuple(
        (
            f"{percent(point.low)} to {percent(point.high)}",
            percent(point.confidence),
            rate_words(point.accuracy),
        )
        for point in points
    )
    title = f"Calibration: {found.of}"
    return Section(
        f"calibration-{number}",
        title,
        paragraphs=(
            "Whether a probability is what it says: of the claims with a confidence of 80 %, 80 % "
            f"should be right. Confidence is that of the likeliest label. {counted(found.score)}; "
            f"95 % intervals: {found.score.method}.",
        ),
        tables=(
            Table("Measures", ("measure", "value"), measure_rows(found.score, MEASURES)),
            Table("Reliability", ("confidence", "mean confidence", "right"), rows),
        ),
        plots=(ReliabilityPlot(f"Reliability: {found.of}", points),),
    )


def _threshold(chosen: ChosenThreshold) -> Section:
    score = chosen.result.score
    return Section(
        "threshold",
        f"Supported above {chosen.result.threshold:g}",
        paragraphs=(
            f"{chosen.how} A claim counts as supported strictly above it, against the rest. "
            f"{counted(score)}; 95 % intervals: {score.method}.",
        ),
        tables=(Table("At the threshold", ("score", "value"), measure_rows(score, AT_THRESHOLD)),),
    )
