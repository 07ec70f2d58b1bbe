"""Provider ``anthropic``: the Messages API through the official SDK.

With ``base_url`` the same provider talks to a gateway, or to a local server that speaks the
same protocol. The SDK does authentication, headers and transport; the body is built and the
reply read here, once each, because the SDK's own models for them cost more time than
everything else together. The key comes from the environment (``ANTHROPIC_API_KEY``, or the
SDK's other sources) and is never stored.
"""

from __future__ import annotations

from typing import Any

from deepfact.model_records import Completion, Request
from deepfact.providers.base import Quota
from deepfact.providers.connections import api_key, check_base_url, http_client, translated
from deepfact.providers.messages import body_of, completion_of
from deepfact.providers.replies import json_object, quota_of

KEY_VARIABLE = "ANTHROPIC_API_KEY"


class AnthropicProvider:
    """Sends requests to a Messages API, one call each.

    Args:
        base_url: the server; that of ``ANTHROPIC_BASE_URL`` or the official one when empty.
        max_connections: most connections at once.
        timeout: seconds for one call.
        cache: mark the shared system prompt for the provider's prompt cache.
        structured: have the provider enforce the request's schema; switch it off for a
            server that does not know ``output_config``.
        extra_body: further fields of each call's body.
        api_key_env: the environment variable that holds the key.

    Raises:
        ConfigError: a ``base_url`` that is no address or holds a password.
    """

    price_provider = "anthropic"
    telemetry_name = "anthropic"

    def __init__(
        self,
        base_url: str = "",
        max_connections: int = 200,
        timeout: float = 300.0,
        cache: bool = True,
        structured: bool = True,
        extra_body: dict[str, Any] | None = None,
        api_key_env: str = KEY_VARIABLE,
    ) -> None:
        check_base_url(base_url)
        self._base_url, self._timeout = base_url, timeout
        self._max_connections, self._key_variable = max_connections, api_key_env
        self._body_options: dict[str, Any] = {
            "cache": cache,
            "structured": structured,
            "extra": extra_body,
        }
        self.quota: Quota | None = None
        """What the newest reply said is left of the rate limit; None unless used up."""
        self._client: Any = None
        self._sdk: Any = None
        self.raw: Any = None

    @property
    def client(self) -> Any:
        """The SDK's client, made on first use."""
        if self._client is None:
            import anthropic
            import httpx2

            self._sdk, self.raw = anthropic, httpx2.Response
            self._client = anthropic.AsyncAnthropic(
                api_key=api_key(self._key_variable, self._base_url),
                base_url=self._base_url or None,
                max_retries=0,
                timeout=self._timeout,
                http_client=http_client(anthropic, self._max_connections, self._timeout),
                open_telemetry=False,  # spans would carry claims to wherever they are sent
            )
        return self._client

    async def complete(self, request: Request) -> Completion:
        """As `deepfact.providers.base.Provider`."""
        client = self.client
        try:
            reply = await client.post(
                "/v1/messages", body=body_of(request, **self._body_options), cast_to=self.raw
            )
        except Exception as error:
            raise self.translated(error, request.model) from None
        self.quota = quota_of(reply.headers)
        return completion_of(json_object(reply.content))

    def translated(self, error: Exception, model: str) -> Exception:
        """The SDK's exception as ours."""
        return translated(
            self._sdk,
            error,
            model=model,
            where=str(self._client.base_url),
            key_variable=self._key_variable,
        )

    async def aclose(self) -> None:
        """Close connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None
