"""What a provider is, and why it may give no answer. No provider here.

What is asked and answered are the records of `deepfact.model_records`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Sequence, runtime_checkable

from deepfact.errors import DeepFactError, RunIncomplete
from deepfact.model_records import Completion, Request, SubmittedBatch
from deepfact.records import FailureReason


class CallFailed(DeepFactError):
    """A call gave no answer. The engine may try again when ``retryable``; what is left after
    that becomes an abstention with ``reason``."""

    def __init__(
        self,
        reason: FailureReason,
        detail: str,
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        status: int | None = None,
        completion: Completion | None = None,
    ) -> None:
        self.reason, self.detail, self.status = reason, detail, status
        self.retryable, self.retry_after = retryable, retry_after
        """Seconds that the provider asked us to wait, if it did."""
        self.completion = completion
        """The answer that cannot be used (a refusal, a truncated one), with what it cost."""
        super().__init__(detail)


class ProviderRefused(DeepFactError):
    """The provider will answer no call of this run (bad key, unknown model, bad request): the
    run stops at once with this message."""

    exit_code = 2


class AnswerPending(RunIncomplete):
    """The answer will come later (a batch, a file that somebody else fills in): the run is
    pending and takes it when it is run again."""

    def __init__(self, key: str, what: str = "the answer is not there yet") -> None:
        self.key = key
        super().__init__(what, fix="run the same command again when the answers are there")


@dataclass(frozen=True, slots=True)
class Quota:
    """What the provider last said is left of its rate limit, from the headers of a response.

    A provider that knows it keeps the newest one in an attribute ``quota``.
    """

    requests_left: int | None = None
    tokens_left: int | None = None
    resets_in: float | None = None
    """Seconds until the limit that is nearest to its end is full again."""


class Provider(Protocol):
    """Sends requests to a model."""

    async def complete(self, request: Request) -> Completion:
        """The model's answer to one request: one attempt, no retries of its own.

        Raises:
            CallFailed: no answer to this request.
            ProviderRefused: no call of this run can succeed.
        """
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...


class BatchLedger(Protocol):
    """Where the ids of submitted batches are kept, durably: the response store."""

    def open_batches(self, account: str) -> Sequence[SubmittedBatch]:
        """Batches submitted and not closed yet, oldest first."""
        ...

    def record_batch(self, account: str, batch: SubmittedBatch) -> None:
        """Remember a batch; durable on return."""
        ...

    def close_batch(self, batch_id: str) -> None:
        """Forget a batch: all that it will ever answer has been taken."""
        ...


@runtime_checkable
class DeferredProvider(Protocol):
    """A provider that gathers requests and answers them later, in any order.

    The engine sets no bound on how many of its answers are awaited at once, and tries no
    request again: what failed can be asked for again in the next run.
    """

    def attach(self, ledger: BatchLedger) -> None:
        """Called once, before anything is asked."""
        ...

    async def answer(self, request: Request, vote: int) -> Completion:
        """The answer to one request.

        Raises:
            AnswerPending: not yet; it will be there in a later run.
            CallFailed: it was answered by an error, or it expired.
            ProviderRefused: no call of this run can succeed.
        """
        ...

    async def aclose(self) -> None:
        """Write out or send what was gathered, and close connections."""
        ...
