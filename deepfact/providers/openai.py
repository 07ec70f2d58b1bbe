"""Provider ``openai``: any endpoint that speaks chat completions (extra ``openai``).

For the official service, gateways and local servers, by ``base_url``. A request's schema is
enforced through ``response_format``. The SDK does authentication, headers and transport; the
body is built and the reply read here. The key comes from the environment
(``OPENAI_API_KEY``) and is never stored.
"""

from __future__ import annotations

from typing import Any, Literal, Mapping

from deepfact.errors import MissingExtraError
from deepfact.model_records import Completion, Request
from deepfact.providers.connections import (
    api_key,
    check_base_url,
    http_client,
    is_loopback,
    translated,
)
from deepfact.providers.replies import json_object, unreadable

KEY_VARIABLE = "OPENAI_API_KEY"

_REFUSED = "refusal"  # the protocol has a field for it, and no finish reason


class OpenAIProvider:
    """Sends requests to a chat completions endpoint, one call each.

    Args:
        base_url: the server, with its version path, such as ``http://127.0.0.1:8080/v1``;
            that of ``OPENAI_BASE_URL`` or the official one when empty.
        max_connections: most connections at once.
        timeout: seconds for one call.
        structured: send the request's schema as ``response_format``.
        max_tokens_field: what the endpoint calls the bound on the answer's tokens.
        extra_body: further fields of each call's body, such as ``cache_prompt: false``.
        api_key_env: the environment variable that holds the key.

    Raises:
        ConfigError: a ``base_url`` that is no address or holds a password.
    """

    telemetry_name = "openai"

    def __init__(
        self,
        base_url: str = "",
        max_connections: int = 200,
        timeout: float = 300.0,
        structured: bool = True,
        max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens",
        extra_body: dict[str, Any] | None = None,
        api_key_env: str = KEY_VARIABLE,
    ) -> None:
        check_base_url(base_url)
        # A model served on this machine costs nothing like what somebody charges for its name.
        self.price_provider = None if is_loopback(base_url) else ""
        self._base_url, self._timeout = base_url, timeout
        self._max_connections, self._key_variable = max_connections, api_key_env
        self._structured, self._max_tokens_field = structured, max_tokens_field
        self._extra_body = extra_body or {}
        self._client: Any = None
        self._sdk: Any = None
        self._raw: Any = None

    @property
    def client(self) -> Any:
        """The SDK's client, made on first use.

        Raises:
            MissingExtraError: the SDK is not installed.
        """
        if self._client is None:
            try:
                import openai
            except ImportError:
                raise MissingExtraError(
                    "the OpenAI-compatible provider needs the openai package", extra="openai"
                ) from None
            import httpx2

            self._sdk, self._raw = openai, httpx2.Response
            self._client = openai.AsyncOpenAI(
                api_key=api_key(self._key_variable, self._base_url),
                base_url=self._base_url or None,
                max_retries=0,
                timeout=self._timeout,
                http_client=http_client(openai, self._max_connections, self._timeout),
            )
        return self._client

    async def complete(self, request: Request) -> Completion:
        """As `deepfact.providers.base.Provider`."""
        try:
            client = self.client
            reply = await client.post(
                "/chat/completions", body=self._body_of(request), cast_to=self._raw
            )
        except MissingExtraError:
            raise
        except Exception as error:
            raise translated(
                self._sdk,
                error,
                model=request.model,
                where=self._base_url or "the official endpoint",
                key_variable=self._key_variable,
            ) from None
        return completion_of(json_object(reply.content))

    async def aclose(self) -> None:
        """Close connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    def _body_of(self, request: Request) -> dict[str, Any]:
        turns = [{"role": turn.role, "content": turn.content} for turn in request.messages]
        if request.system:
            turns.insert(0, {"role": "system", "content": request.system})
        body: dict[str, Any] = {
            "model": request.model,
            "messages": turns,
            self._max_tokens_field: request.max_tokens,
        }
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if self._structured and request.output_schema is not None:
            schema = {"name": "answer", "schema": request.output_schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return {**body, **self._extra_body}


def completion_of(body: Mapping[str, Any]) -> Completion:
    """A chat completion as a completion.

    Raises:
        CallFailed: it is not such an object.
    """
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise unreadable("the reply is not a chat completion")
    refusal, text = message.get("refusal"), message.get("content")
    reason = choice.get("finish_reason")
    usage = body.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    details = usage.get("prompt_tokens_details")
    cached = _count(details, "cached_tokens") if isinstance(details, dict) else 0
    return Completion(
        text=text if isinstance(text, str) else "",
        stop_reason=_REFUSED if refusal else (reason if isinstance(reason, str) else ""),
        model=body["model"] if isinstance(body.get("model"), str) else "",
        # Here the prompt's tokens include the cached ones; in a Completion they do not.
        input_tokens=max(0, _count(usage, "prompt_tokens") - cached),
        output_tokens=_count(usage, "completion_tokens"),
        cache_read_tokens=cached,
    )


def _count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) and value >= 0 else 0
