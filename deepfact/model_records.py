"""What is asked of a model, and what it answers.

A request holds everything that determines the answer; its hash with the vote number is the
key under which the answer is stored, so a changed prompt, model, schema or source is another
key. No record here ever holds a secret: keys stay with the provider that sends them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from deepfact.records import FileRecord, Record, canonical_json, sha256_of


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


@dataclass(frozen=True, slots=True)
class SubmittedBatch:
    """A batch that was sent and whose answers have not all been taken yet."""

    id: str
    keys: tuple[str, ...]
    """Keys of its requests, whose answers nobody needs to pay for again."""
