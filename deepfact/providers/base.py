"""What is asked of a model, what it answers, and why it may not. No provider here.

A request holds everything that determines the answer; its hash with the vote number is the
key under which the answer is stored, so a changed prompt, model, schema or source is another
key. No record here ever holds a secret: keys stay with the provider that sends them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, Sequence, runtime_checkable

from pydantic import Field

from deepfact.errors import DeepFactError, RunIncomplete
from deepfact.records import FailureReason, FileRecord, Record, canonical_json, sha256_of


class Message(Record):
    """One turn of a conversation."""

    role: Literal["user", "assistant"]
    content: str


class Request(FileRecord):
    """One call of a model, complete: the same request may be answered from the store."""

    model: str = Field(min_length=1)
    system: str = ""
    """Shared by all requests of a run where possible, so that a provider can cache it."""
    messages: tuple[Message, ...] = Field(min_length=1)
    max_tokens: int = Field(default=1024, gt=0)
    temperature: float | None = None
    output_schema: dict[str, Any] | None = None
    """JSON schema of the answer; enforced by the provider where it can."""

    def key(self, vote: int = 0) -> str:
        """Under which the answer is stored: hash of the whole request and the vote number."""
        return sha256_of(canonical_json([self.canonical(), vote]))


class Completion(FileRecord):
    """A model's answer, as it came."""

    text: str
    stop_reason: str = ""
    """In the provider's words: ``end_turn``, ``max_tokens``, ``refusal``..."""
    model: str = ""
    """The model that answered, as it names itself."""
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cache_read_tokens: int = Field(default=0, ge=0)
    cache_write_tokens: int = Field(default=0, ge=0)


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


@dataclass(frozen=True, slots=True)
class SubmittedBatch:
    """A batch that was sent and whose answers have not all been taken yet."""

    id: str
    keys: tuple[str, ...]
    """Keys of its requests, whose answers nobody needs to pay for again."""


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
