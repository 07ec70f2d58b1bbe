"""Scoring schemes: small cases worked out by hand, the traps, and what is left out is counted."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepfact.core.schemes import SCHEMES
from deepfact.core.schemes.abstracts import AnsweredDocument, KeyDocument, abstract_scores
from deepfact.core.schemes.calibration import calibration, reliability
from deepfact.core.schemes.classes import (
    binary_scores,
    class_scores,
    confusion,
    constant,
    deepfact_binary,
)
from deepfact.core.schemes.correlation import partial_correlation
from deepfact.core.schemes.documents import claim_label, document_scores
from deepfact.core.schemes.facts import f1_at_k, factscore
from deepfact.core.schemes.tasks import citation_scores, task_means
from deepfact.core.schemes.thresholds import above, best_threshold, threshold_scores
from deepfact.records import Label

S, C, I = Label.SUPPORTED, Label.CONTRADICTORY, Label.INCONCLUSIVE  # noqa: E741
ABC = ("a", "b", "c")

# --- classes ------------------------------------------------------------------------------


def test_classes_by_hand() -> None:
    score = class_scores(list("aabbc"), ["a", "b", "b", None, "c"], ABC)
    assert confusion(list("aabbc"), ["a", "b", "b", None, "c"], ABC) == [
        [1, 1, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0],
    ]  # fmt: skip
    assert (score.n, score.unverified) == (5, 1)
    assert score.values["accuracy"] == pytest.approx(3 / 5)
    assert score.values["balanced_accuracy"] == pytest.approx((1 / 2 + 1 / 2 + 1) / 3)
    assert score.values["precision/b"] == pytest.approx(1 / 2)
    assert score.values["f1/a"] == pytest.approx(2 / 3)
    assert score.values["macro_f1"] == pytest.approx((2 / 3 + 1 / 2 + 1) / 3)


def test_no_answer_is_a_miss_and_never_another_class() -> None:
    score = class_scores(list("ab"), [None, None], ("a", "b"))
    assert score.values["accuracy"] == 0
    assert score.values["precision/a"] == 0
    assert score.unverified == 2


def test_a_class_that_does_not_occur_is_in_the_macro_and_not_in_the_balance() -> None:
    score = class_scores(list("aa"), list("aa"), ("a", "b"))
    assert score.values["macro_f1"] == pytest.approx(1 / 2)
    assert score.values["balanced_accuracy"] == 1
    score = class_scores(list("aa"), list("ab"), ("a", "b"))
    assert score.values["balanced_accuracy"] == pytest.approx(1 / 2)


def test_an_unknown_word_is_an_error() -> None:
    with pytest.raises(ValueError, match="not supported"):
        class_scores(["a"], ["not supported"], ABC)
    with pytest.raises(ValueError, match="'d'"):
        class_scores(["d"], ["a"], ABC)


def test_nothing_to_score() -> None:
    assert class_scores([], [], ABC).n == 0


@given(
    st.lists(
        st.tuples(st.sampled_from(ABC), st.sampled_from([*ABC, None]), st.integers(0, 3)),
        min_size=2,
        max_size=30,
    )
)
def test_intervals_hold_the_value_of_one_cluster_each(
    rows: list[tuple[str, str | None, int]],
) -> None:
    gold, answers = [row[0] for row in rows], [row[1] for row in rows]
    score = class_scores(gold, answers, ABC, clusters=[str(row[2]) for row in rows])
    if len({row[2] for row in rows}) == 1:
        assert score.intervals == {}
    for low, high in score.intervals.values():
        assert 0 <= low <= high <= 1


def test_intervals_draw_whole_clusters() -> None:
    gold, answers = ["a"] * 40, ["a"] * 20 + ["b"] * 20
    alone = class_scores(gold, answers, ("a", "b")).intervals["accuracy"]
    clusters = ["x"] * 20 + ["y"] * 20
    drawn = class_scores(gold, answers, ("a", "b"), clusters=clusters).intervals["accuracy"]
    assert 0.3 < alone[0] < 0.5 < alone[1] < 0.7
    assert drawn == (0.0, 1.0)


# --- binary -------------------------------------------------------------------------------


def test_what_becomes_of_no_answer() -> None:
    gold, answers = [True, True, False, False], [True, None, False, None]
    wrong = binary_scores(gold, answers, unanswered="wrong")
    assert wrong.values["accuracy"] == pytest.approx(2 / 4)
    assert wrong.values["precision/true"] == pytest.approx(1 / 2)
    false = binary_scores(gold, answers, unanswered="false")
    assert false.values["accuracy"] == pytest.approx(3 / 4)
    assert false.values["recall/false"] == 1
    assert (false.n, false.unverified, false.left_out) == (4, 2, {})
    dropped = binary_scores(gold, answers, unanswered="left out")
    assert dropped.values["accuracy"] == 1
    assert (dropped.n, dropped.unverified, dropped.left_out) == (2, 0, {"no answer": 2})


def test_deepfacts_rule() -> None:
    gold = [True, True, False, False, None]
    score = deepfact_binary(gold, [True, None, None, False, True])
    # A blank answer is a missed positive or a false positive; a blank key only dilutes accuracy.
    assert score.values["precision"] == pytest.approx(1 / 2)
    assert score.values["recall"] == pytest.approx(1 / 2)
    assert score.values["accuracy"] == pytest.approx(2 / 5)
    assert (score.n, score.unverified) == (5, 2)
    assert score.left_out == {"blank key, in accuracy only": 1}


def test_one_report_has_no_interval() -> None:
    alone = deepfact_binary([True, False], [True, True], clusters=["report", "report"])
    assert (alone.values["accuracy"], alone.intervals) == (0.5, {})
    two = deepfact_binary([True, False, None], [True, True, True])
    low, high = two.intervals["accuracy"]
    assert (low, high) == pytest.approx((0, 2 / 3)), "the blank key is in the denominator"


def test_constant_baseline() -> None:
    score = constant(["yes", "yes", "yes", "no"], "yes", ("yes", "no"))
    assert score.values["accuracy"] == pytest.approx(3 / 4)
    assert score.values["macro_f1"] == pytest.approx((6 / 7) / 2)


# --- documents ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "label"),
    [([], I), ([I], I), ([S], S), ([I, C], C), ([C, I], C), ([S, C], S), ([I, I, S, C], S)],
)
def test_the_first_label_that_says_something(labels: list[Label], label: Label) -> None:
    assert claim_label(labels) is label


def test_no_evidence_and_an_explicit_nei_are_the_same() -> None:
    gold: list[list[Label]] = [[], [S], [C]]
    assert (
        document_scores(gold, [[], [S], [C]]).values
        == document_scores(gold, [[I], [S], [C]]).values
    )
    missing = document_scores(gold, [None, [S], [C]])
    assert missing.values["accuracy"] == pytest.approx(2 / 3), "no row is no NEI"
    assert missing.unverified == 1


# --- abstracts ----------------------------------------------------------------------------


def key(label: Label, *sets: set[int]) -> KeyDocument:
    return KeyDocument(label, tuple(map(frozenset, sets)))


def test_abstracts_and_sentences_by_hand() -> None:
    truth = [{"d": key(S, {1, 2}, {5})}, {"e": key(C, {0})}, {}]
    answers = [
        {"d": AnsweredDocument(S, (9, 8, 7, 1, 2)), "x": AnsweredDocument(S, (3,))},
        {"e": AnsweredDocument(S, (0,))},
        {"f": AnsweredDocument(I, (4,))},
    ]
    values = abstract_scores(truth, answers).values
    # Of d, e: d has the right label, but no rationale among its first three sentences.
    assert values["precision/abstract_label_only"] == pytest.approx(1 / 3)
    assert values["recall/abstract_label_only"] == pytest.approx(1 / 2)
    assert values["f1/abstract_rationalized"] == 0
    # Sentences 1, 2 of d and 0 of e; e's label is wrong. The last answer is no prediction.
    assert values["precision/sentence_selection"] == pytest.approx(3 / 7)
    assert values["recall/sentence_selection"] == pytest.approx(3 / 4)
    assert values["precision/sentence_label"] == pytest.approx(2 / 7)


def test_half_a_rationale_is_none() -> None:
    truth = [{"d": key(S, {1, 2})}]
    half = abstract_scores(truth, [{"d": AnsweredDocument(S, (1,))}])
    assert half.values["f1/abstract_rationalized"] == 0
    assert half.values["f1/sentence_selection"] == 0
    assert half.values["f1/abstract_label_only"] == 1


def test_nothing_retrieved_has_no_precision() -> None:
    score = abstract_scores([{"d": key(S, {1})}], [None])
    assert score.values["precision/abstract_label_only"] is None
    assert score.values["recall/abstract_label_only"] == 0
    assert score.unverified == 1
    assert abstract_scores([], []).n == 0


# --- thresholds ---------------------------------------------------------------------------


def test_at_the_threshold_is_not_above_it() -> None:
    assert above([0.5, 0.51, 0.0], 0.5) == [False, True, False]
    score = threshold_scores([True, False], [1.0, 0.5], 0.5)
    assert score.values["accuracy"] == 1
    assert threshold_scores([True, False], [1.0, 0.0], 0.0).values["f1"] == 1


def test_ties_count_half_in_the_area() -> None:
    score = threshold_scores([True, True, False], [0.9, 0.5, 0.5], 0.5)
    assert score.values["auc"] == pytest.approx((1 + 0.5) / 2)
    assert threshold_scores([True, True], [0.1, 0.2], 0.5).values["auc"] is None


def test_the_lowest_of_the_best_thresholds() -> None:
    gold, scores = [True, True, False], [0.9, 0.6, 0.3]
    assert best_threshold(gold, scores) == 0.3
    assert best_threshold(gold, scores, by="accuracy", grid=(0.8, 0.5, 0.4)) == 0.4
    assert best_threshold(gold, scores, by="balanced_accuracy") == 0.3
    with pytest.raises(ValueError, match="grid"):
        best_threshold([], [])


# --- facts --------------------------------------------------------------------------------


def test_responses_are_averaged_not_pooled() -> None:
    score = factscore([[True], [True, False, False], None])
    assert score.values["score_pct"] == pytest.approx(100 * (1 + 1 / 3) / 2)
    assert score.values["pooled_pct"] == pytest.approx(50)
    assert score.values["respond_pct"] == pytest.approx(200 / 3)
    assert (score.n, score.left_out) == (2, {"declined": 1})


def test_a_response_without_facts_scores_nothing_and_stays() -> None:
    score = factscore([[True], []])
    assert (score.n, score.values["score_pct"]) == (2, 50)
    assert factscore([None]).values == {"score_pct": None, "respond_pct": 0.0}


def test_length_penalty() -> None:
    score = factscore([[True] * 5, [True] * 10], gamma=10)
    assert score.values["score_pct"] == pytest.approx(100 * (math.exp(1 - 2) + 1) / 2)


def test_f1_at_k() -> None:
    score = f1_at_k([2, 0, 8], [4, 3, 8], 4)
    assert score.values["f1_at_k"] == pytest.approx((0.5 + 0 + 1) / 3)
    assert score.values["precision"] == pytest.approx((0.5 + 0 + 1) / 3)
    assert f1_at_k([0], [0], 4).values == {"f1_at_k": 0.0, "precision": None}
    with pytest.raises(ValueError, match="no more facts"):
        f1_at_k([3], [2], 4)


# --- tasks and correlation ----------------------------------------------------------------


def test_citations_unknown_verdicts_and_tasks_without_any() -> None:
    score = citation_scores(
        [["supported", "unsupported", "unknown"], [], ["unknown"], ["supported"]]
    )
    assert score.n == 3
    assert score.values["total_citations"] == pytest.approx(3 / 3)
    assert score.values["total_valid_citations"] == pytest.approx(2 / 3)
    assert score.values["valid_rate"] == pytest.approx(2 / 3)
    assert score.left_out == {"tasks without a citation": 1, "unknown verdicts": 2}
    assert citation_scores([[]]).values["valid_rate"] is None


def test_what_no_draw_can_tell_has_no_interval() -> None:
    score = citation_scores([["unknown"], ["unknown", "unknown"]])
    assert score.values["valid_rate"] is None
    assert score.intervals == {"total_citations": (0, 0), "total_valid_citations": (0, 0)}


def test_means_over_the_same_tasks_only() -> None:
    assert task_means([{"x": 1.0}, {"x": 2.0}]).values == {"x": 1.5}
    with pytest.raises(ValueError, match="different dimensions"):
        task_means([{"x": 1.0}, {"y": 2.0}])


def test_a_metric_that_only_tells_systems_apart_earns_nothing() -> None:
    judged = [0.1, 0.2, 0.3, 0.8, 0.9, 1.0]
    groups = list("aaabbb")
    same_within = partial_correlation([1, 1, 1, 5, 5, 5], judged, groups)
    assert same_within.values == {"pearson": None, "spearman": None}
    inverse = partial_correlation([3, 2, 1, 9, 8, 7], judged, groups)
    assert inverse.values["pearson"] == pytest.approx(-1)
    assert inverse.values["spearman"] == pytest.approx(-1)


def test_partial_correlation_by_hand() -> None:
    # Within either group the ranks 1 2 3 4 meet 2 1 4 3: 1 - 6 * 4 / (4 * 15) = 0.6.
    metric, judged = [1, 2, 3, 4, 11, 12, 13, 14], [2, 1, 4, 3, 102, 101, 104, 103]
    score = partial_correlation(metric, judged, list("aaaabbbb"))
    assert (score.n, score.left_out) == (8, {})
    assert score.values["pearson"] == pytest.approx(0.6)
    assert score.values["spearman"] == pytest.approx(0.6)
    z = math.atanh(0.6)
    straight, ranks = 1 / math.sqrt(5), math.sqrt((1 + 0.18) / 5)
    assert score.intervals["pearson"] == pytest.approx(
        (math.tanh(z - 1.959964 * straight), math.tanh(z + 1.959964 * straight))
    )
    assert score.intervals["spearman"] == pytest.approx(
        (math.tanh(z - 1.959964 * ranks), math.tanh(z + 1.959964 * ranks))
    )
    perfect = partial_correlation(metric, metric, list("aaaabbbb"))
    assert perfect.intervals["spearman"] == pytest.approx((1, 1))


def test_missing_values_are_left_out_and_counted() -> None:
    score = partial_correlation([1, None, 3, 2, 4], [1, 1, 3, None, 4], list("aaaaa"))
    assert (score.n, score.left_out) == (3, {"no value": 2})
    assert score.values["pearson"] is None, "three points say nothing"


# --- all of them --------------------------------------------------------------------------


def test_every_scheme_is_documented() -> None:
    root = Path(__file__).resolve().parents[2]
    text = (root / "docs" / "data-sets.md").read_text(encoding="utf-8")
    missing = [name for name in SCHEMES if f"`{name}`" not in text]
    assert not missing
    assert all(scheme.rule and scheme.used_by for scheme in SCHEMES.values())


# --- calibration --------------------------------------------------------------------------


def test_calibration_by_hand() -> None:
    sure, torn = {"a": 1.0, "b": 0.0}, {"a": 0.6, "b": 0.4}
    score = calibration(["a", "b", "a", "a"], [sure, torn, torn, None])
    assert (score.n, score.left_out) == (3, {"no scores": 1})
    assert score.values["brier"] == pytest.approx((0 + 2 * 0.6**2 + 2 * 0.4**2) / 3)
    assert score.values["ece"] == pytest.approx((1 * 0 + 2 * abs(0.5 - 0.6)) / 3)
    assert score.values["mce"] == pytest.approx(0.1)
    table = reliability(["a", "b", "a"], [sure, torn, torn])
    assert [(b.high, b.n) for b in table if b.n] == [(0.6, 2), (1.0, 1)]


@pytest.mark.parametrize("scores", [{"a": 0.7, "b": 0.7}, {"b": 1.0}, {"a": 1.5, "b": -0.5}])
def test_what_are_no_probabilities(scores: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="probabilities"):
        calibration(["a"], [scores])


def test_intervals_of_calibration_and_of_an_area() -> None:
    rows = [({"a": 0.75, "b": 0.25}, "a")] * 30 + [({"a": 0.75, "b": 0.25}, "b")] * 30
    score = calibration([row[1] for row in rows], [row[0] for row in rows])
    low, high = score.intervals["ece"]
    assert 0.1 < low < score.values["ece"] < high < 0.4  # type: ignore[operator]
    area = threshold_scores([True, True, False, False], [0.9, 0.4, 0.5, 0.1], 0.5)
    assert area.values["auc"] == 0.75
    spread = 0.75 * 0.25 + (0.75 / 1.25 - 0.75**2) + (2 * 0.75**2 / 1.75 - 0.75**2)
    assert area.intervals["auc"][0] == pytest.approx(max(0, 0.75 - 1.959964 * (spread / 4) ** 0.5))


def test_nothing_to_calibrate() -> None:
    assert calibration(["a"], [None]).values["ece"] is None


def test_one_unit_is_calibrated_without_an_interval() -> None:
    score = calibration(["a"], [{"a": 0.8, "b": 0.2}])
    assert score.values["brier"] == pytest.approx(0.2**2 + 0.2**2)
    assert score.values["ece"] == score.values["mce"] == pytest.approx(0.2)
    assert score.intervals == {}
