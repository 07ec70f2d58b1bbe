"""The scoring schemes of the data sets, by name: what each counts, and after whom.

Pure: no I/O, no clock, seeded draws only. scikit-learn, scipy and numpy do the arithmetic and
are imported when a score is asked for. What a scheme leaves out is counted in its result.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Callable, Mapping

from deepfact.core.schemes.abstracts import abstract_scores
from deepfact.core.schemes.base import SchemeScore
from deepfact.core.schemes.calibration import calibration
from deepfact.core.schemes.classes import binary_scores, class_scores, constant, deepfact_binary
from deepfact.core.schemes.correlation import partial_correlation
from deepfact.core.schemes.documents import document_scores
from deepfact.core.schemes.facts import f1_at_k, factscore
from deepfact.core.schemes.tasks import citation_scores, task_means
from deepfact.core.schemes.thresholds import threshold_scores

__all__ = ["SCHEMES", "Scheme", "SchemeScore"]


@dataclass(frozen=True, slots=True)
class Scheme:
    """A named way to score."""

    used_by: str
    """The data sets whose published tables use it."""
    rule: str
    """What it counts, in a sentence."""
    function: Callable[..., SchemeScore]


SCHEMES: Mapping[str, Scheme] = MappingProxyType(
    {
        "classes": Scheme(
            "AVeriTeC (4 labels), VeriScore, ExpertQA, SciFact (3 labels)",
            "accuracy, balanced accuracy, macro-F1 and each class; no answer is a miss",
            class_scores,
        ),
        "binary": Scheme(
            "OpenFactCheck, HaluEval",
            "P, R, F1 with true and then with false as the positive class; units without an "
            "answer count as wrong, as false, or are left out and counted",
            binary_scores,
        ),
        "deepfact-binary": Scheme(
            "DeepFact-Bench",
            "supported against the rest; a blank answer is wrong either way, a blank key stays "
            "in the denominator of accuracy",
            deepfact_binary,
        ),
        "document-labels": Scheme(
            "SciFact, Citation-Integrity (MultiVerS)",
            "the first document's label, where a later one replaces not enough information; "
            "F1 of each class, macro, micro",
            document_scores,
        ),
        "abstracts": Scheme(
            "SciFact (its leaderboard)",
            "P, R, F1 of abstracts, by label and with a rationale, and of sentences",
            abstract_scores,
        ),
        "threshold": Scheme(
            "WiCE",
            "positive is strictly above the threshold; F1, accuracy, balanced accuracy, AUC",
            threshold_scores,
        ),
        "factscore": Scheme(
            "FActScore",
            "mean over responses of supported facts of all facts, the irrelevant included",
            factscore,
        ),
        "f1-at-k": Scheme(
            "VeriScore, SAFE",
            "F1 of precision and of recall against K facts, mean over responses",
            f1_at_k,
        ),
        "citation-accuracy": Scheme(
            "DeepResearch Bench FACT",
            "citations and supported citations a task, over tasks that cite; unknown is left out",
            citation_scores,
        ),
        "task-means": Scheme(
            "DeepResearch Bench RACE", "mean over tasks of each dimension", task_means
        ),
        "partial-correlation": Scheme(
            "FRANK",
            "Pearson and Spearman of residuals from the mean of each summarizer",
            partial_correlation,
        ),
        "calibration": Scheme(
            "verifiers that give scores",
            "Brier score, expected and maximum calibration error over bins of confidence",
            calibration,
        ),
        "constant": Scheme(
            "Factcheck-Bench subtasks", "one answer everywhere, scored as classes", constant
        ),
    }
)
"""By the name that results carry."""
