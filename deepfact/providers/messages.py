"""The Messages protocol: a request as the body of a call, and a message as a completion.

Shared by the live calls, the Message Batches API and batch files. Pure: nothing is sent here.
Reading is strict: a message that lacks what the protocol promises is unreadable, never
guessed at.
"""

from __future__ import annotations

from typing import Any, Mapping

from deepfact.model_records import Completion, Request
from deepfact.providers.base import CallFailed
from deepfact.providers.replies import message_in, unreadable
from deepfact.records import FailureReason
from deepfact.store.secrets import scrub


def body_of(
    request: Request,
    *,
    cache: bool = True,
    structured: bool = True,
    extra: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The parameters of a Messages call.

    Args:
        request: what is asked.
        cache: mark the system prompt, which the requests of a run share, as worth caching.
        structured: have the provider enforce the request's schema (``output_config.format``);
            without it the schema is the prompt's business.
        extra: further fields of the body, from the config.
    """
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "messages": [{"role": turn.role, "content": turn.content} for turn in request.messages],
    }
    if request.system:
        block: dict[str, Any] = {"type": "text", "text": request.system}
        if cache:
            block["cache_control"] = {"type": "ephemeral"}
        body["system"] = [block]
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if structured and request.output_schema is not None:
        body["output_config"] = {"format": {"type": "json_schema", "schema": request.output_schema}}
    return {**body, **(extra or {})}


def completion_of(message: Mapping[str, Any]) -> Completion:
    """A message of the protocol as a completion: its text blocks, joined.

    Raises:
        CallFailed: it is not such a message.
    """
    content, usage = message.get("content"), message.get("usage")
    if message.get("type") != "message" or not isinstance(content, list):
        raise unreadable("the reply is not a message")
    if not isinstance(usage, dict):
        raise unreadable("the message has no usage")
    text = "".join(
        block["text"]
        for block in content
        if isinstance(block, dict) and block.get("type") == "text" and _is_text(block)
    )
    return Completion(
        text=text,
        stop_reason=_word(message, "stop_reason"),
        model=_word(message, "model"),
        input_tokens=_count(usage, "input_tokens"),
        output_tokens=_count(usage, "output_tokens"),
        cache_read_tokens=_count(usage, "cache_read_input_tokens"),
        cache_write_tokens=_count(usage, "cache_creation_input_tokens"),
    )


def custom_id(key: str) -> str:
    """The id of a request within a batch: the 64 hexadecimal digits of its key."""
    return key.removeprefix("sha256:")


def key_of(custom_id: str) -> str:
    """The key that `custom_id` was made of."""
    return f"sha256:{custom_id}"


def batch_entry(request: Request, key: str, **options: Any) -> dict[str, Any]:
    """One request of a batch. Options as those of `body_of`."""
    return {"custom_id": custom_id(key), "params": body_of(request, **options)}


def batch_answer(result: Mapping[str, Any]) -> Completion:
    """What one result of a batch holds.

    Raises:
        CallFailed: it errored, expired or was cancelled, or is unreadable.
    """
    kind = result.get("type")
    if kind == "succeeded":
        message = result.get("message")
        if not isinstance(message, dict):
            raise unreadable("a succeeded result has no message", retryable=False)
        return completion_of(message)
    if kind == "errored":
        outer = result.get("error")
        words = message_in(outer, "the provider gave no reason")
        raise CallFailed(FailureReason.ERROR, scrub(f"errored in the batch: {words}"))
    if kind == "expired":
        raise CallFailed(FailureReason.EXPIRED, "the batch expired before this was answered")
    if kind == "canceled":
        raise CallFailed(FailureReason.EXPIRED, "the batch was cancelled before this was answered")
    raise unreadable(f"a result of unknown type {kind!r}", retryable=False)


def _is_text(block: Mapping[str, Any]) -> bool:
    if not isinstance(block.get("text"), str):
        raise unreadable("a text block has no text")
    return True


def _word(message: Mapping[str, Any], name: str) -> str:
    value = message.get(name)
    return value if isinstance(value, str) else ""


def _count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) and value >= 0 else 0
