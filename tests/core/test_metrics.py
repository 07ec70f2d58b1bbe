"""Scores: against reference implementations, with every claim counted exactly once.

Public reports: promptfoo #9978 and vibrantlabsai/ragas #2992 (missing answers counted as
supported, or left the denominator), b-open-io/prompts #15.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score

from deepfact.core import metrics
from deepfact.core.metrics import LABELS, rate, score
from deepfact.records import Label, VerificationFailure

answers_and_keys = st.lists(
    st.tuples(
        st.sampled_from(list(Label)),
        st.sampled_from([*Label, "failure", "missing"]),
        st.sampled_from(["r1", "r2", "r3"]),
    ),
    min_size=1,
    max_size=40,
)


def scored(make: Any, rows: list[tuple[Label, Any, str]], **options: Any) -> Any:
    key = {f"c{n}": label for n, (label, _, _) in enumerate(rows)}
    outcomes: dict[str, Any] = {}
    for n, (_, answer, _) in enumerate(rows):
        if answer == "failure":
            outcomes[f"c{n}"] = make.failure(f"c{n}")
        elif answer != "missing":
            outcomes[f"c{n}"] = make.verdict(f"c{n}", answer)
    reports = {f"c{n}": report for n, (_, _, report) in enumerate(rows)}
    return score(key, outcomes, verifier="v", on="version 1", reports=reports, **options)


@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
@example((0, 1)).via("none of them")
@example((58, 58)).via("all of them")
def test_the_interval_is_wilsons(k_of_n: tuple[int, int]) -> None:
    """To the last bit as scipy has it, so that nobody's figures depend on who computed them."""
    k, n = k_of_n
    found = rate(k, n)
    expected = binomtest(k, n).proportion_ci(method="wilson")
    assert (found.low, found.high) == (expected.low, expected.high)
    assert 0 <= found.low <= k / n <= found.high <= 1


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [(15, 25, 0.4074, 0.7660), (23, 25, 0.7503, 0.9778), (0, 10, 0.0, 0.2775)],
)
def test_known_intervals(k: int, n: int, low: float, high: float) -> None:
    found = rate(k, n)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-4)


def test_a_rate_of_nothing_has_no_value_and_says_nothing() -> None:
    found = rate(0, 0, unverified=0)
    assert (found.value, found.low, found.high) == (None, 0.0, 1.0)


@settings(max_examples=60)
@given(rows=answers_and_keys)
def test_scores_equal_those_of_scikit_learn(make: Any, rows: Any) -> None:
    """An unverified claim is a fourth answer, which is never right."""
    truth = [str(label) for label, _, _ in rows]
    said = [str(answer) if answer in LABELS else "unverified" for _, answer, _ in rows]
    sheet = scored(make, rows)
    assert sheet.accuracy.value == pytest.approx(accuracy_score(truth, said))
    present = sorted(set(truth))
    macro = f1_score(truth, said, labels=present, average="macro", zero_division=0)
    assert sheet.macro_f1.value == pytest.approx(macro)
    assert sheet.accuracy_clustered.value == pytest.approx(sheet.accuracy.value)
    for one in sheet.per_class:
        of = {"labels": [str(one.label)], "average": "macro", "zero_division": 0}
        assert (one.precision or 0) == pytest.approx(precision_score(truth, said, **of))
        assert (one.recall or 0) == pytest.approx(recall_score(truth, said, **of))
        assert (one.f1 or 0) == pytest.approx(f1_score(truth, said, **of))
        assert one.n == truth.count(str(one.label))


@settings(max_examples=60)
@given(rows=answers_and_keys)
def test_every_claim_counts_exactly_once(make: Any, rows: Any) -> None:
    sheet = scored(make, rows)
    assert sheet.n == sheet.accuracy.n == sheet.binary.n == len(rows)
    assert sum(map(sum, sheet.confusion)) == sheet.n
    assert [sum(row) for row in sheet.confusion] == [one.n for one in sheet.per_class]
    unverified = [answer for _, answer, _ in rows if answer not in LABELS]
    assert sheet.unverified == sheet.accuracy.unverified == len(unverified)
    assert sum(row[-1] for row in sheet.confusion) == len(unverified)
    assert sheet.missing == unverified.count("missing")
    hits = sum(sheet.confusion[n][n] for n in range(3))
    assert sheet.accuracy.k == hits


def test_no_answer_at_all_is_all_wrong_not_left_out(make: Any) -> None:
    sheet = scored(
        make, [(Label.INCONCLUSIVE, "failure", "r1"), (Label.SUPPORTED, "missing", "r2")]
    )
    assert (sheet.accuracy.k, sheet.accuracy.n) == (0, 2)
    assert (sheet.binary.k, sheet.binary.n) == (0, 2)  # not even "not supported" is right
    assert sheet.macro_f1.value == 0.0


def test_binary_does_not_tell_apart_the_two_that_are_not_supported(make: Any) -> None:
    rows = [
        (Label.CONTRADICTORY, Label.INCONCLUSIVE, "r1"),
        (Label.INCONCLUSIVE, Label.CONTRADICTORY, "r2"),
        (Label.SUPPORTED, Label.SUPPORTED, "r3"),
        (Label.SUPPORTED, Label.INCONCLUSIVE, "r3"),
    ]
    sheet = scored(make, rows)
    assert (sheet.binary.k, sheet.accuracy.k) == (3, 1)


def test_answers_outside_the_key_are_ignored(make: Any) -> None:
    outcomes = {"c1": make.verdict("c1"), "other": make.verdict("other", "contradictory")}
    sheet = score(
        {"c1": Label.SUPPORTED}, outcomes, verifier="v", on="version 1", reports={"c1": "r"}
    )
    assert (sheet.n, sheet.accuracy.k) == (1, 1)


def test_an_empty_key_has_no_scores(make: Any) -> None:
    sheet = score({}, {"c1": make.verdict()}, verifier="v", on="version 1", reports={})
    assert sheet.accuracy.value is None
    assert sheet.macro_f1.value is None
    assert sheet.per_class[0].precision is None
    assert sheet.per_class[0].recall is None


@settings(max_examples=20)
@given(rows=answers_and_keys, seed=st.integers(0, 2**32 - 1))
def test_the_bootstrap_repeats_by_seed_and_holds_its_bounds(
    make: Any, rows: Any, seed: int
) -> None:
    sheet = scored(make, rows, seed=seed)
    assert scored(make, rows, seed=seed) == sheet
    for estimate in (sheet.accuracy_clustered, sheet.macro_f1):
        assert estimate.method == "bootstrap by report"
        if len({report for _, _, report in rows}) == 1:
            assert estimate.low is estimate.high is None
        else:
            assert 0 <= estimate.low <= estimate.high <= 1


def test_another_seed_draws_other_samples(make: Any) -> None:
    rows = [
        (Label.SUPPORTED, Label.SUPPORTED if n % 3 else Label.CONTRADICTORY, f"r{n % 37}")
        for n in range(150)
    ]
    found = {
        (sheet.accuracy_clustered.low, sheet.accuracy_clustered.high)
        for sheet in (scored(make, rows, seed=seed) for seed in range(4))
    }
    assert len(found) > 1
    assert all(low < 2 / 3 < high for low, high in found)


def test_claims_of_one_report_are_drawn_together(make: Any) -> None:
    """Ten claims that stand or fall together are not ten independent ones."""
    together, apart = [], []
    for n in range(100):
        answer = Label.SUPPORTED if n < 50 else Label.CONTRADICTORY
        together.append((Label.SUPPORTED, answer, f"r{n // 10}"))
        apart.append((Label.SUPPORTED, answer, f"r{n}"))
    width = [
        sheet.accuracy_clustered.high - sheet.accuracy_clustered.low
        for sheet in (scored(make, together), scored(make, apart))
    ]
    assert width[0] > 2 * width[1]


def test_how_draws_are_made_does_not_change_them() -> None:
    """Draws some at a time are those made at once, as `numpy.tensordot` of all weights."""
    tables = np.random.default_rng(5).integers(0, 4, (9_000, 3, 4))
    draws = metrics.RESAMPLES  # 222 at a time
    weights = np.random.default_rng(7).multinomial(
        len(tables), [1 / len(tables)] * len(tables), size=draws
    )
    assert (metrics._resampled(tables, 7) == np.tensordot(weights, tables, axes=1)).all()


def test_very_many_clusters_are_drawn_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which changes the draws, not what they are draws of. Some at a time are those of one go."""
    tables = np.random.default_rng(5).integers(0, 9, (2_000, 3, 4))
    often = metrics._accuracy(metrics._resampled(tables, 7))
    monkeypatch.setattr(metrics, "MANY_CLUSTERS", 100)
    singly = metrics._accuracy(metrics._resampled(tables, 7))
    assert len(singly) == len(often) == metrics.RESAMPLES and not (singly == often).all()
    assert singly.mean() == pytest.approx(often.mean(), abs=5 * often.std() / len(often) ** 0.5)
    assert singly.std() == pytest.approx(often.std(), rel=0.1)
    generator = np.random.default_rng(7)
    first = np.bincount(generator.integers(2_000, size=2_000), minlength=2_000)
    assert (metrics._resampled(tables, 7)[0] == np.tensordot(first, tables, axes=1)).all()


def test_clusters_that_are_alike_may_be_drawn_together(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which of equal clusters is drawn makes no difference to the interval."""
    answers = [Label.SUPPORTED, Label.SUPPORTED, Label.CONTRADICTORY, "failure"]
    rows = [(Label.SUPPORTED, answers[n % 4], f"r{n}") for n in range(400)]
    apart = scored(make, rows).accuracy_clustered
    monkeypatch.setattr(metrics, "MANY_CLUSTERS", 100)
    together = scored(make, rows).accuracy_clustered
    assert together.value == apart.value == 0.5
    assert together.low == pytest.approx(apart.low, abs=0.005)
    assert together.high == pytest.approx(apart.high, abs=0.005)
    assert together.high - together.low == pytest.approx(4 * 0.5 / 20, abs=0.01)


def test_strata(make: Any) -> None:
    rows = [
        (Label.SUPPORTED, Label.SUPPORTED, "r1"),
        (Label.SUPPORTED, "failure", "r1"),
        (Label.CONTRADICTORY, Label.SUPPORTED, "r2"),
    ]
    strata = {"c0": ["easy", "dated"], "c1": ["easy"], "unknown": ["easy"]}
    sheet = scored(make, rows, strata=strata)
    assert list(sheet.strata) == ["dated", "easy"]
    easy = sheet.strata["easy"]
    assert (easy.k, easy.n, easy.unverified) == (1, 2, 1)


def test_a_failure_with_votes_is_still_no_label(make: Any) -> None:
    failure = VerificationFailure(claim_id="c1", reason="too_few_votes", panel="unverified")
    sheet = score({"c1": Label.INCONCLUSIVE}, {"c1": failure}, verifier="v", on="x", reports={})
    assert (sheet.accuracy.k, sheet.unverified, sheet.missing) == (0, 1, 0)
