"""Leave to send one attempt: a place, a pace and a budget, asked for in one step.

`OwnPermits` gives leave within one process. A worker of a cluster asks the one ledger of its
run instead (`deepfact.executors.remote`), so that limits and budget hold for all workers
together. Nothing here sends a request.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Protocol

from deepfact.executors.budget import Account
from deepfact.executors.gate import Gate
from deepfact.executors.limits import Limits
from deepfact.executors.pace import Paces, estimated_tokens
from deepfact.executors.pricing import MILLION, Price
from deepfact.model_records import Request
from deepfact.records import Record


class Attempt(Record):
    """What is to be known of a request before it is sent."""

    model: str
    price: Price | None = None
    input: float
    """Input tokens, estimated."""
    output: float
    """Output tokens, at most."""

    @classmethod
    def of(cls, request: Request, price: Price | None) -> Attempt:
        """The attempt that a request is."""
        return cls(
            model=request.model,
            price=price,
            input=estimated_tokens(request),
            output=float(request.max_tokens),
        )

    @property
    def at_most(self) -> float | None:
        """US dollars that it costs at most, going by the estimate; None without a price."""
        if self.price is None:
            return None
        return (self.input * self.price.input + self.output * self.price.output) / MILLION


class Ending(Record):
    """How an attempt ended."""

    answered: bool = False
    usd: float | None = None
    """What the answer cost; None where the price is unknown, or there is no answer."""
    input: float = 0.0
    """Input tokens used. Those read from a cache do not count."""
    output: float = 0.0
    overloaded: bool = False
    """It came back because the provider is overloaded."""
    retry_after: float | None = None
    """Seconds that the provider then asked to wait."""
    refused: str = ""
    """Why the provider will answer nobody in this run, as JSON; empty when it is not so."""
    hold: float | None = None
    """Seconds for which nobody should call: the provider's limit is used up."""


@dataclass(slots=True)
class Permit:
    """Leave for one attempt. Whoever has it gives it back."""

    attempt: Attempt
    ticket: int = 0
    """Of the gate."""
    name: str = ""
    """Under which a ledger knows it."""
    ending: Ending = field(default_factory=Ending)


class Permits(Protocol):
    """Who gives leave."""

    async def take(self, attempt: Attempt) -> Permit:
        """Wait until the attempt may be sent.

        Raises:
            BudgetSpent: there is nothing left for it.
            ConfigError: a budget in dollars, and a model without a known price.
        """
        ...

    def ended(self, permit: Permit, ending: Ending) -> None:
        """Say how it ended. Called once for each permit, before `leave`."""
        ...

    def leave(self, permit: Permit) -> None:
        """Give it back: the answer is stored, or there is none."""
        ...

    async def aclose(self) -> None:
        """Nothing more will be asked for."""
        ...


class OwnPermits:
    """Leave within the limits and the budget of one process.

    Args:
        limits: concurrency and rates.
        account: of the budget.
    """

    def __init__(self, limits: Limits, account: Account) -> None:
        self._account = account
        self._gate = Gate(limits.concurrency, clock=time.monotonic)
        self._paces = Paces(limits)

    async def take(self, attempt: Attempt) -> Permit:
        """As `Permits.take`."""
        ticket = await self._gate.enter()
        try:
            await self._paces.take(attempt.input, attempt.output)
            self._account.start(attempt.model, price=attempt.price)
        except BaseException:
            self._gate.leave()
            raise
        return Permit(attempt, ticket)

    def ended(self, permit: Permit, ending: Ending) -> None:
        """As `Permits.ended`."""
        self._account.finish(ending.usd, answered=ending.answered)
        if ending.answered:
            self._gate.succeeded()
            if ending.hold is not None:
                self._gate.hold(ending.hold)
            attempt = permit.attempt
            self._paces.settle(ending.input - attempt.input, ending.output - attempt.output)
        elif ending.overloaded:
            self._gate.overloaded(permit.ticket, ending.retry_after)

    def leave(self, permit: Permit) -> None:  # noqa: ARG002 - any place is as good as another
        """As `Permits.leave`."""
        self._gate.leave()

    async def aclose(self) -> None:
        """As `Permits.aclose`."""
