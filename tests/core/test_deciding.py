"""What several decisions come to: a label that enough of them hold, or none, with the count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepfact.core.deciding import together
from deepfact.records import Label
from deepfact.run_records import TogetherRule

S, C, I = Label.SUPPORTED, Label.CONTRADICTORY, Label.INCONCLUSIVE  # noqa: E741
MAJORITY, UNANIMOUS = TogetherRule.MAJORITY, TogetherRule.UNANIMOUS


@pytest.mark.parametrize(
    ("labels", "majority", "unanimous", "split"),
    [
        ([S, S, S], S, S, False),
        ([S, S, C], S, None, True),
        ([S, C], None, None, True),
        ([S, C, I], None, None, True),
        ([S, S, None], S, None, True),
        ([S, None, None], None, None, True),
        ([S, S, C, None], None, None, True),
        ([None, None], None, None, False),
        ([C], C, C, False),
    ],
)
def test_who_wins(
    labels: list[Label | None], majority: Label | None, unanimous: Label | None, split: bool
) -> None:
    assert together(labels, rule=MAJORITY).label is majority
    assert together(labels, rule=UNANIMOUS).label is unanimous
    assert together(labels, rule=MAJORITY).split is split


def test_too_few_valid_decisions_decide_nothing() -> None:
    found = together([S, S], rule=MAJORITY, least=3, of=5)
    assert found.label is None
    assert found.words == "2 of 5 answers are valid, 3 are needed"


def test_nobody_decides_nothing() -> None:
    assert together([], rule=UNANIMOUS).label is None
    assert together([], rule=UNANIMOUS, least=0).words == "nobody decided"


def test_the_count_in_words() -> None:
    found = together([None, C, S, S], rule=MAJORITY)
    assert found.words == "2 of 4 for supported, 1 of 4 for contradictory, 1 of 4 cannot tell"


@given(
    st.lists(st.sampled_from([S, C, I, None]), max_size=9), st.sampled_from([MAJORITY, UNANIMOUS])
)
def test_the_order_of_decisions_makes_no_difference(
    labels: list[Label | None], rule: TogetherRule
) -> None:
    found = together(labels, rule=rule)
    assert together(labels[::-1], rule=rule) == found
    if found.label is not None:
        assert 2 * labels.count(found.label) > len(labels)
