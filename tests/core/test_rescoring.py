"""Stored verdicts on two versions: paired, every claim counted, checked against plain scores."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepfact.core.compare import BOOTSTRAP
from deepfact.core.rescoring import UNCHANGED, Rescored, rescore
from deepfact.records import Label

S, C, I = Label.SUPPORTED, Label.CONTRADICTORY, Label.INCONCLUSIVE  # noqa: E741


def of(make: Any, rows: list[tuple[Label | None, Label | None, Any]], reports: int = 3) -> Rescored:
    """Rows of label before, label after (None: not there), and answer (None: no outcome)."""
    ids = [f"c{number}" for number in range(len(rows))]
    return rescore(
        {i: row[0] for i, row in zip(ids, rows, strict=True) if row[0]},
        {i: row[1] for i, row in zip(ids, rows, strict=True) if row[1]},
        {
            i: make.verdict(i, row[2]) if row[2] in set(Label) else make.failure(i)
            for i, row in zip(ids, rows, strict=True)
            if row[2]
        },
        verifier="v",
        names=("mill@1", "mill@2"),
        reports={i: f"r{number % reports}" for number, i in enumerate(ids)},
    )


def test_scores_on_both_and_what_changed(make: Any) -> None:
    rows = [(S, C, C), (S, I, S), (C, C, C), (S, S, "failed"), (C, None, C), (None, S, None)]
    found = of(make, rows)
    assert (found.before.on, found.before.n, found.before.accuracy.k) == ("mill@1", 5, 3)
    assert (found.after.on, found.after.n, found.after.accuracy.k) == ("mill@2", 5, 2)
    assert (found.before.unverified, found.after.unverified, found.after.missing) == (1, 2, 1)
    assert (found.n, found.gained, found.lost) == (4, ("c0",), ("c1",))
    assert found.accuracy.value == 0 and found.accuracy.low < 0 < found.accuracy.high
    assert found.accuracy.method == BOOTSTRAP and found.accuracy.n == 4
    assert found.binary.value == 0


def test_nothing_changed_is_certain(make: Any) -> None:
    found = of(make, [(S, S, S), (C, C, S)])
    for change in (found.accuracy, found.binary, found.macro_f1):
        assert (change.value, change.low, change.high, change.method) == (0, 0, 0, UNCHANGED)


def test_labels_that_change_between_two_wrong_ones(make: Any) -> None:
    """Accuracy cannot move, macro-F1 can: the labels' counts do."""
    found = of(make, [(C, I, S), (S, S, S), (C, C, C), (C, C, C), (I, I, I)])
    assert found.accuracy.method == UNCHANGED
    assert found.macro_f1.value not in (None, 0)


def test_no_claim_in_common(make: Any) -> None:
    found = of(make, [(S, None, S), (None, C, C)])
    assert found.n == 0
    assert [e.value for e in (found.accuracy, found.binary, found.macro_f1)] == [None] * 3


def test_a_single_report_shows_no_interval_of_macro_f1(make: Any) -> None:
    found = of(make, [(S, C, C), (C, C, C), (S, S, C)], reports=1)
    assert found.macro_f1.value is not None
    assert (found.macro_f1.low, found.macro_f1.high) == (None, None)


rows = st.lists(
    st.tuples(
        st.sampled_from([*Label, None]), st.sampled_from([*Label, None]),
        st.sampled_from([*Label, "failed", None]),
    ),
    min_size=1, max_size=25,
)  # fmt: skip


@settings(max_examples=40)
@given(rows=rows)
def test_changes_are_differences_of_the_scores_on_what_both_label(make: Any, rows: Any) -> None:
    found = of(make, rows)
    both = of(make, [row for row in rows if row[0] and row[1]])
    assert found.n == both.before.n == both.after.n
    if not found.n:
        return
    for change, kind in ((found.accuracy, "accuracy"), (found.binary, "binary")):
        before, after = getattr(both.before, kind), getattr(both.after, kind)
        assert change.value == pytest.approx(after.value - before.value)
        assert change.low - 1e-9 <= change.value <= change.high + 1e-9
    f1 = both.after.macro_f1.value - both.before.macro_f1.value
    assert found.macro_f1.value == pytest.approx(f1)
    assert not math.isnan(found.macro_f1.value)
    moved = len(found.gained) - len(found.lost)
    assert moved == round(found.accuracy.value * found.n)
