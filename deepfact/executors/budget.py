"""How much a run may spend, and the account that stops it there.

The account is asked before each call and told after it. It never lets a call start once the
budget is spent, so a budget is passed by no more than the calls that were in flight then;
a budget in calls is never passed at all.
"""

from __future__ import annotations

from pydantic import Field

from deepfact.errors import ConfigError, RunIncomplete
from deepfact.executors.pricing import Price
from deepfact.records import FailureReason, Record


class Budget(Record):
    """The most that a run may spend. Answers taken from the store cost nothing."""

    usd: float | None = Field(default=None, ge=0)
    """US dollars. Needs a known price for every model that is asked."""
    calls: int | None = Field(default=None, ge=0)
    """Requests sent, retries included."""


class BudgetSpent(RunIncomplete):
    """The budget does not allow another call. What was answered is stored; the run can be
    resumed with a larger budget."""

    reason = FailureReason.BUDGET


class Account:
    """What has been spent of a budget."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.calls = 0
        self.usd = 0.0
        self.unpriced = 0
        """Answers whose price is unknown; they are not in ``usd``."""
        self._reserved = 0.0

    def start(self, model: str, *, price: Price | None, at_most: float = 0.0) -> None:
        """Count one more call, before it is sent.

        Args:
            model: the model asked.
            price: of its tokens, None where it is unknown.
            at_most: US dollars to set aside for it, for calls that are sent all at once.

        Raises:
            BudgetSpent: there is nothing left for it.
            ConfigError: a budget in dollars, and a model without a known price.
        """
        budget = self._budget
        if budget.calls is not None and self.calls >= budget.calls:
            raise BudgetSpent(
                f"the budget of {budget.calls} calls is spent",
                fix="what was answered is stored: raise budget.calls and run it again",
            )
        if budget.usd is not None:
            if price is None:
                raise ConfigError(
                    f"a budget in dollars needs the price of model {model!r}, which is unknown",
                    fix="give it under prices: in the config, or use a budget in calls",
                )
            if self.usd + self._reserved + at_most > budget.usd or self.usd >= budget.usd:
                raise BudgetSpent(
                    f"the budget of ${budget.usd:.2f} is spent (${self.usd:.4f} so far)",
                    fix="what was answered is stored: raise budget.usd and run it again",
                )
        self.calls += 1
        self._reserved += at_most

    def finish(self, usd: float | None, *, answered: bool, at_most: float = 0.0) -> None:
        """Book what a call cost; ``at_most`` is what was set aside for it."""
        self._reserved -= at_most
        if usd is not None:
            self.usd += usd
        elif answered:
            self.unpriced += 1

    @property
    def total(self) -> float | None:
        """US dollars in all; None when the price of any answer is unknown."""
        return None if self.unpriced else self.usd
