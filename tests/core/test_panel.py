"""Counting votes: outcomes, labels, and when enough is enough."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepfact.core.panel import (
    RULES,
    PanelRule,
    decide,
    fewest_to_settle,
    is_settled,
    outcome_of,
    parse_rule,
)
from deepfact.errors import ConfigError
from deepfact.records import Label, PanelOutcome, Vote

DEFAULT = RULES["default"]
S, C, I = Label.SUPPORTED, Label.CONTRADICTORY, Label.INCONCLUSIVE  # noqa: E741


def votes(*labels: Label) -> list[Vote]:
    """Votes as the split prompt's rule makes them: everything but supported refutes."""
    return [
        Vote(index=n, label=label, refutes=label is not Label.SUPPORTED)
        for n, label in enumerate(labels)
    ]


@pytest.mark.parametrize(
    ("labels", "outcome", "label"),
    [
        ((S, S, S), PanelOutcome.CONFIRMED, S),
        ((S, S), PanelOutcome.CONFIRMED, S),
        ((S, S, C), PanelOutcome.CONFIRMED, S),
        ((S, C), PanelOutcome.CONFIRMED, S),
        ((S, C, C), PanelOutcome.REFUTED, C),
        ((C, C), PanelOutcome.REFUTED, C),
        ((C, C, I), PanelOutcome.REFUTED, C),
        ((C, I, S), PanelOutcome.REFUTED, I),
        ((I, I, C), PanelOutcome.REFUTED, I),
        ((S,), PanelOutcome.UNVERIFIED, None),
        ((C,), PanelOutcome.UNVERIFIED, None),
        ((), PanelOutcome.UNVERIFIED, None),
    ],
)
def test_the_default_rule(labels, outcome, label) -> None:
    decision = decide(votes(*labels), DEFAULT)
    assert (decision.outcome, decision.label) == (outcome, label)


def test_no_votes_are_unverified_and_never_refuted() -> None:
    """FIELD: anthropics/claude-code #71870, #72383 (0-0 was reported as all refuted)."""
    for rule in RULES.values():
        assert decide([], rule).outcome is PanelOutcome.UNVERIFIED


def test_a_split_panel_says_so() -> None:
    """FIELD: wafflebase/wafflebase #785 (split panels are visible)."""
    assert decide(votes(S, S, C), DEFAULT).split
    assert decide(votes(S, C, C), DEFAULT).split
    assert not decide(votes(C, C, C), DEFAULT).split
    assert not decide(votes(S, S, S), DEFAULT).split


def test_votes_that_do_not_refute_by_the_prompts_rule_do_not_refute() -> None:
    mild = [Vote(index=n, label=I, refutes=False) for n in range(3)]
    decision = decide(mild, DEFAULT)
    assert (decision.outcome, decision.label) == (PanelOutcome.CONFIRMED, I)


@given(st.integers(0, 9), st.integers(0, 9), st.integers(1, 5), st.integers(1, 5))
def test_exactly_one_outcome_and_few_votes_are_unverified(valid, refuting, need, refute) -> None:
    refute = min(need, refute)
    rule = PanelRule("r", valid=need, refute=refute)
    outcome = outcome_of(valid, min(refuting, valid), rule)
    if valid < need:
        assert outcome is PanelOutcome.UNVERIFIED
    else:
        refuted = min(refuting, valid) >= refute
        assert outcome is (PanelOutcome.REFUTED if refuted else PanelOutcome.CONFIRMED)


def _endings(cast: list[Vote], remaining: int, rule: PanelRule) -> set[PanelOutcome]:
    """Every outcome that the remaining seats can still bring about, by trying them all."""
    found = set()
    for rest in itertools.product(("abstain", S, C), repeat=remaining):
        more = votes(*(one for one in rest if one != "abstain"))
        found.add(decide([*cast, *more], rule).outcome)
    return found


@pytest.mark.parametrize("rule", [*RULES.values(), PanelRule("r", 3, 2), PanelRule("r", 3, 3)])
@pytest.mark.parametrize("seats", [1, 3, 5])
def test_early_stop_agrees_with_trying_every_ending(rule: PanelRule, seats: int) -> None:
    for asked in range(seats + 1):
        for labels in itertools.product((S, C), repeat=asked):
            cast, remaining = votes(*labels), seats - asked
            assert is_settled(cast, remaining, rule) == (len(_endings(cast, remaining, rule)) == 1)


def test_how_many_to_ask_before_it_can_be_settled() -> None:
    assert fewest_to_settle([], 3, DEFAULT) == 2
    assert fewest_to_settle(votes(S, C), 1, DEFAULT) == 1
    assert fewest_to_settle(votes(C, C), 1, DEFAULT) == 0
    assert fewest_to_settle([], 5, DEFAULT) == 2
    assert fewest_to_settle(votes(S, S, S), 2, DEFAULT) == 1
    assert fewest_to_settle([], 1, DEFAULT) == 0  # one seat can never reach two valid votes


@pytest.mark.parametrize("rule", RULES.values())
def test_asking_for_fewer_can_never_settle_it(rule: PanelRule) -> None:
    for asked, remaining in itertools.product(range(4), repeat=2):
        for labels in itertools.product((S, C), repeat=asked):
            fewest = fewest_to_settle(votes(*labels), remaining, rule)
            can = [
                more
                for more in range(remaining + 1)
                for coming in itertools.product((S, C), repeat=more)
                if len(_endings(votes(*labels, *coming), remaining - more, rule)) == 1
            ]
            assert fewest == min(can)


def test_rules_by_name_and_as_written() -> None:
    assert parse_rule("default", 3) is DEFAULT
    assert parse_rule("valid>=3, refute>=2", 5) == PanelRule("custom", 3, 2)
    assert str(DEFAULT) == (
        "default: confirmed with at least 2 valid votes and fewer than 2 refutations; refuted "
        "with at least 2; else unverified"
    )


@pytest.mark.parametrize(
    ("text", "seats", "message"),
    [
        ("defualt", 3, "did you mean 'default'"),
        ("valid>=0, refute>=1", 3, "unknown panel rule"),
        ("default", 1, "a panel of 1 can never reach"),
        ("valid>=4, refute>=2", 3, "4 valid votes"),
        ("valid>=2, refute>=3", 3, "more refutations"),
    ],
)
def test_rules_that_cannot_be(text: str, seats: int, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_rule(text, seats)
