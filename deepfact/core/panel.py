"""What a panel concludes from its votes: confirmed, refuted or unverified, and a label.

Pure. Abstentions are neither for nor against: a panel with too few valid votes is unverified,
whatever the votes say. The default rule is that of the founding report: confirmed with at
least 2 valid votes and fewer than 2 refutations, refuted with at least 2, else unverified.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Sequence

from deepfact.errors import ConfigError, did_you_mean
from deepfact.records import Label, PanelOutcome, Vote


@dataclass(frozen=True)
class PanelRule:
    """How many votes it takes.

    Args:
        name: as configs call it.
        valid: fewest valid votes for any outcome but unverified.
        refute: refutations that refute; not more than ``valid``.

    Raises:
        ConfigError: it is more.
    """

    name: str
    valid: int
    refute: int

    def __post_init__(self) -> None:
        """Otherwise a claim that every valid vote refutes could come out confirmed."""
        if self.refute > self.valid:
            raise ConfigError(
                f"panel rule {self.name!r} asks for more refutations ({self.refute}) than valid "
                f"votes ({self.valid})",
                fix=f"write: valid>={self.refute}, refute>={self.refute}",
            )

    def __str__(self) -> str:
        """The rule by name and in full, as records keep it."""
        return (
            f"{self.name}: confirmed with at least {self.valid} valid votes and fewer than "
            f"{self.refute} refutations; refuted with at least {self.refute}; else unverified"
        )


RULES = {
    rule.name: rule
    for rule in (
        PanelRule("default", valid=2, refute=2),
        PanelRule("single", valid=1, refute=1),
        PanelRule("any-refutes", valid=2, refute=1),
    )
}
_WRITTEN = re.compile(r"valid>=([1-9]\d?),\s*refute>=([1-9]\d?)")


def parse_rule(text: str, votes: int) -> PanelRule:
    """The rule of that name, or as written: ``valid>=3, refute>=2``.

    Args:
        votes: how many votes the panel has.

    Raises:
        ConfigError: no such rule, or one that so many votes can never fulfil.
    """
    rule = RULES.get(text)
    if rule is None:
        written = _WRITTEN.fullmatch(text)
        if written is None:
            hint = did_you_mean(text, RULES)
            raise ConfigError(
                f"unknown panel rule {text!r}", fix=f"{hint}; or write: valid>=2, refute>=2"
            )
        rule = PanelRule("custom", valid=int(written.group(1)), refute=int(written.group(2)))
    for needed, what in ((rule.valid, "valid votes"), (rule.refute, "refutations")):
        if votes < needed:
            raise ConfigError(
                f"a panel of {votes} can never reach the {needed} {what} of rule {rule.name!r}",
                fix="raise 'votes', or take the rule 'single' for a panel of one",
            )
    return rule


@dataclass(frozen=True)
class PanelDecision:
    """What came of the votes."""

    outcome: PanelOutcome
    label: Label | None
    """None when unverified."""
    valid: int
    refuting: int

    @property
    def split(self) -> bool:
        """Whether valid votes disagreed on the outcome."""
        return 0 < self.refuting < self.valid

    @property
    def deciding(self) -> bool:
        """Whether the votes that carried it are the refuting ones."""
        return self.outcome is PanelOutcome.REFUTED


def outcome_of(valid: int, refuting: int, rule: PanelRule) -> PanelOutcome:
    """The outcome of so many valid votes, so many of them refuting."""
    if refuting >= rule.refute and valid >= rule.valid:
        return PanelOutcome.REFUTED
    if valid >= rule.valid and refuting < rule.refute:
        return PanelOutcome.CONFIRMED
    return PanelOutcome.UNVERIFIED


def decide(votes: Sequence[Vote], rule: PanelRule) -> PanelDecision:
    """The panel's outcome, and the label of the side that carried it.

    The label is the most frequent one among the votes of that side; a tie is inconclusive,
    so that no label is stated which the side does not hold by majority.
    """
    refuting = [vote for vote in votes if vote.refutes]
    outcome = outcome_of(len(votes), len(refuting), rule)
    if outcome is PanelOutcome.UNVERIFIED:
        return PanelDecision(outcome, None, len(votes), len(refuting))
    side = [vote for vote in votes if vote.refutes == (outcome is PanelOutcome.REFUTED)]
    return PanelDecision(outcome, _label(side), len(votes), len(refuting))


def _label(side: Sequence[Vote]) -> Label:
    ranked = Counter(vote.label for vote in side).most_common(2)
    if len(ranked) > 1 and ranked[0][1] == ranked[1][1]:
        return Label.INCONCLUSIVE
    return ranked[0][0]


def is_settled(votes: Sequence[Vote], remaining: int, rule: PanelRule) -> bool:
    """Whether no ``remaining`` votes, valid or not, can still change the outcome.

    An unverified panel is settled only when nothing remains. The label within a refuted
    outcome may still have moved; that is the price of stopping early.
    """
    valid, refuting = len(votes), sum(vote.refutes for vote in votes)
    outcomes = {
        outcome_of(valid + more, refuting + against, rule)
        for more in range(remaining + 1)
        for against in range(more + 1)
    }
    return len(outcomes) == 1


def fewest_to_settle(votes: Sequence[Vote], remaining: int, rule: PanelRule) -> int:
    """How many more votes must be asked for at least, before the outcome can be settled.

    Returns:
        0 when it is settled already; at most ``remaining``.
    """
    valid, refuting = len(votes), sum(vote.refutes for vote in votes)
    for more in range(remaining):  # once all are cast there is one outcome
        for against in range(more + 1):
            left = remaining - more
            reachable = {
                outcome_of(valid + more + n, refuting + against + r, rule)
                for n in range(left + 1)
                for r in range(n + 1)
            }
            if len(reachable) == 1:
                return more
    return remaining
