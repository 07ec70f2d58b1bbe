"""What is asked of a model, what it answers, and why it may not. No provider here.

A request holds everything that determines the answer; its hash with the vote number is the
key under which the answer is stored, so a changed prompt, model, schema or source is another
key. No record here ever holds a secret: keys stay with the provider that sends them.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol

from pydantic import Field

from deepfact.errors import DeepFactError
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
    ) -> None:
        self.reason, self.detail, self.status = reason, detail, status
        self.retryable, self.retry_after = retryable, retry_after
        """Seconds that the provider asked us to wait, if it did."""
        super().__init__(detail)


class ProviderRefused(DeepFactError):
    """The provider will answer no call of this run (bad key, unknown model, bad request): the
    run stops at once with this message."""

    exit_code = 2


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
