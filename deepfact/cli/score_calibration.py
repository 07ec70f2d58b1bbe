"""What ``deepfact score`` adds where verdicts have probabilities: calibration, thresholds, a page.

Only the shell: the arithmetic is in `deepfact.core.schemes.probabilities`, the page in
`deepfact.reports.score_report`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepfact.cli.output import note, print_table
from deepfact.errors import InputError

if TYPE_CHECKING:
    from deepfact.core.schemes.base import SchemeScore
    from deepfact.core.schemes.probabilities import Calibrated
    from deepfact.core.schemes.thresholds import By
    from deepfact.records import Label
    from deepfact.reports.score_report import ChosenThreshold
    from deepfact.run_records import ScoreSheet
    from deepfact.store.benchmark import BenchmarkVersion

FORMS = (".html", ".md")


@dataclass(frozen=True)
class Asked:
    """What was asked of the probabilities, checked."""

    verdicts: Path
    key: str
    encoding: str
    threshold: float | None
    chosen_on: Path | None
    """Verdicts on other claims that a threshold is chosen on."""
    chosen_benchmark: str
    by: By
    report: Path | None

    def check(self) -> None:
        """Refuse what cannot be done, before anything is read.

        Raises:
            InputError: options that do not go together, or a report that cannot be written.
        """
        if self.threshold is not None and self.chosen_on is not None:
            raise InputError("a threshold is given or chosen, not both", where="--threshold")
        if (self.chosen_on is None) != (not self.chosen_benchmark):
            raise InputError(
                "--threshold-from and --threshold-benchmark go together",
                fix="name the verdicts that the threshold is chosen on, and the benchmark that "
                "they answer",
            )
        report = self.report
        if report is None:
            return
        if report.suffix.lower() not in FORMS:
            ending = report.suffix or "a file without an ending"
            raise InputError(f"a report is {' or '.join(FORMS)}, not {ending}", where="--report")
        if report.is_dir() or report.absolute() == self.verdicts.absolute():
            raise InputError("a report needs a file of its own", where=str(report))


@dataclass(frozen=True)
class Measured:
    """What came of it."""

    calibrated: tuple[Calibrated, ...]
    threshold: ChosenThreshold | None

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``; nothing where there are no probabilities."""
        found: dict[str, Any] = {}
        if self.calibrated:
            found["calibration"] = [
                {
                    "of": one.of,
                    **_score(one.score),
                    "bins": [
                        {
                            "low": each.low, "high": each.high, "n": each.n,
                            "confidence": each.confidence, "accuracy": each.accuracy,
                        }
                        for each in one.bins
                    ],
                }
                for one in self.calibrated
            ]  # fmt: skip
        if self.threshold:
            chosen = self.threshold
            found["threshold"] = {
                "how": chosen.how, "flatters": chosen.flatters, **_score(chosen.result.score),
            }  # fmt: skip
        return found


def _score(score: SchemeScore) -> dict[str, Any]:
    return {
        "n": score.n,
        "left_out": dict(score.left_out),
        "values": dict(score.values),
        "intervals": {name: list(ends) for name, ends in score.intervals.items()},
        "method": score.method,
    }


def measure(
    asked: Asked, version: BenchmarkVersion, root: Path | None, *, scored: bool = True
) -> Measured:
    """Calibration, and the scores at a threshold where one was asked for.

    Args:
        asked: what was asked for.
        version: what the verdicts answer.
        root: folder that holds benchmarks.
        scored: whether a row may have probabilities; if not, none is looked for.

    Raises:
        InputError: the file's probabilities are none, or there are none and a threshold was asked
            for.
    """
    from deepfact.importers.scores import read_scores

    claims = version.state.columns.claim_ids
    scores = read_scores(asked.verdicts, claims, encoding=asked.encoding) if scored else {}
    chosen = _chosen(asked, version, root)
    if not scores:
        if chosen is not None:
            raise _no_scores(asked.verdicts)
        return Measured((), None)
    from deepfact.core.schemes.probabilities import at_threshold, calibrated
    from deepfact.reports.score_report import ChosenThreshold

    key = _key(version, asked.key)
    return Measured(
        calibrated=calibrated(key, scores),
        threshold=None
        if chosen is None
        else ChosenThreshold(at_threshold(key, scores, chosen[0]), chosen[1], chosen[2]),
    )


def _key(version: BenchmarkVersion, key: str) -> dict[str, Label]:
    """The labels that there are by claim id."""
    from deepfact import api

    labelled = zip(version.state.columns.claim_ids, api.key_of(version, key), strict=True)
    return {claim_id: label for claim_id, label in labelled if label is not None}


def _chosen(
    asked: Asked, version: BenchmarkVersion, root: Path | None
) -> tuple[float, str, bool] | None:
    """The threshold, how it came to be, and whether its scores flatter; None without one."""
    from deepfact import api
    from deepfact.core.schemes.probabilities import choose_threshold
    from deepfact.importers.scores import read_scores

    if asked.threshold is not None:
        return asked.threshold, "The threshold was given.", False
    if asked.chosen_on is None:
        return None
    other = api.load(asked.chosen_benchmark, root=root)
    key = _key(other, "")
    scores: Mapping[str, Mapping[Label, float]] = read_scores(
        asked.chosen_on, key, encoding=asked.encoding
    )
    if not scores:
        raise _no_scores(asked.chosen_on)
    value = choose_threshold(key, scores, by=asked.by)
    words = asked.by.replace("_", " ")
    how = f"The threshold was chosen by {words} on {other} (n = {len(scores)})."
    return value, how, other.store.name == version.store.name


def _no_scores(path: Path) -> InputError:
    return InputError(
        "no claim in question has probabilities in this file",
        where=str(path),
        fix="a threshold needs a column score (probability of supported), or scores by label",
    )


def show(measured: Measured) -> None:
    """The tables, for people."""
    from deepfact.reports.score_report import (
        AT_THRESHOLD,
        FLATTERS,
        MEASURES,
        counted,
        measure_rows,
        points_of,
    )
    from deepfact.reports.templating import percent, rate_words

    for one in measured.calibrated:
        title = f"calibration, {one.of}: {counted(one.score)}"
        rows = [list(row) for row in measure_rows(one.score, MEASURES)]
        print_table(["measure", "value [95 % interval]"], rows, title=title)
        bins = [
            [
                f"{percent(point.low)} to {percent(point.high)}",
                percent(point.confidence),
                rate_words(point.accuracy),
            ]
            for point in points_of(one.bins)
        ]
        print_table(["confidence", "mean", "right"], bins)
    if chosen := measured.threshold:
        if chosen.flatters:
            note(FLATTERS)
        title = f"supported above {chosen.result.threshold:g}: {counted(chosen.result.score)}"
        rows = [list(row) for row in measure_rows(chosen.result.score, AT_THRESHOLD)]
        print_table(["score", "value [95 % interval]"], rows, title=title)
        note(chosen.how)


def write_report(
    asked: Asked, sheet: ScoreSheet, version: BenchmarkVersion, made: Measured
) -> None:
    """The page of a score, in the file that was asked for."""
    from deepfact.records import canonical_json, sha256_of
    from deepfact.reports.score_report import score_page
    from deepfact.reports.study import render_html, render_markdown
    from deepfact.store.files import write_text
    from deepfact.version import VERSION

    if asked.report is None:
        return
    spec = {"verdicts": asked.verdicts.name, "benchmark": str(version), "key": asked.key}
    if asked.threshold is not None:
        spec["threshold"] = f"{asked.threshold:g}"
    if asked.chosen_on is not None:
        spec |= {
            "threshold_from": asked.chosen_on.name,
            "threshold_benchmark": asked.chosen_benchmark,
            "threshold_by": asked.by,
        }
    page = score_page(
        sheet,
        made.calibrated,
        made.threshold,
        facts=(
            ("Benchmark", str(version)),
            ("State hash", version.manifest.state_hash),
            ("Hash of the verdicts", sha256_of(asked.verdicts.read_bytes())),
        ),
        spec=canonical_json(spec),
        deepfact=VERSION,
    )
    render = render_markdown if asked.report.suffix.lower() == ".md" else render_html
    write_text(asked.report, render(page))
