"""What an HTTP reply means: a failure to try again, one to give up, or the end of the run.

Shared by every provider that speaks HTTP. Pure: no connection is opened here. Error texts
are scrubbed of keys before anybody sees them.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Mapping

from deepfact.providers.base import CallFailed, ProviderRefused, Quota
from deepfact.records import FailureReason
from deepfact.store.secrets import scrub

_LONGEST = 400  # characters of a provider's message that are shown

_STOPS_THE_RUN = {
    400: ("the provider rejects the request as invalid", "check the options and the prompt"),
    401: ("the provider does not accept the API key", "set the right key in the environment"),
    402: ("the provider refuses for reasons of billing", "check the account's credit"),
    403: ("the API key may not do this", "check the key's permissions and the model"),
    404: ("the provider does not know this model or address", "check model: and base_url:"),
    405: ("this address does not take such calls", "check base_url:"),
    422: ("the provider rejects the request as invalid", "check the options and the prompt"),
}
"""Answers that every further call would get as well."""

_WORTH_ANOTHER_TRY = {408, 409, 425, 429}


def status_error(
    status: int, headers: Mapping[str, str], message: str, *, model: str, where: str
) -> CallFailed | ProviderRefused:
    """The error that a reply with this status stands for.

    Args:
        status: HTTP status, not a success.
        headers: of the reply.
        message: the provider's own words.
        model: the model asked for, named in the error.
        where: the address asked.
    """
    words = scrub(" ".join(message.split()))[:_LONGEST]
    if status in _STOPS_THE_RUN:
        what, fix = _STOPS_THE_RUN[status]
        return ProviderRefused(
            f"{what} (HTTP {status}, model {model!r}): {words}",
            where=scrub(where),
            fix=f"{fix}; nothing more was sent, and what was answered is stored",
        )
    retryable = status in _WORTH_ANOTHER_TRY or status >= 500
    limited = status in (429, 529)
    return CallFailed(
        FailureReason.RATE_LIMITED if limited else FailureReason.ERROR,
        f"HTTP {status}: {words}",
        retryable=retryable,
        retry_after=retry_after(headers) if retryable else None,
        status=status,
    )


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds that a reply asks to wait (RFC 9110 section 10.2.3: seconds or a date)."""
    if (exact := headers.get("retry-after-ms")) is not None:
        try:
            return max(0.0, float(exact) / 1000)
        except ValueError:
            pass
    text = headers.get("retry-after")
    if text is None:
        return None
    try:
        seconds = float(text)
        return seconds if 0 <= seconds < float("inf") else None
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())


def quota_of(headers: Mapping[str, str], now: datetime | None = None) -> Quota | None:
    """What is left of the rate limit, by the ``anthropic-ratelimit-*`` headers; None when
    nothing is used up, which is nearly always."""
    used_up = [
        kind
        for kind in ("requests", "tokens", "input-tokens", "output-tokens")
        if headers.get(f"anthropic-ratelimit-{kind}-remaining") == "0"
    ]
    if not used_up:
        return None
    waits = []
    for kind in used_up:
        try:
            reset = datetime.fromisoformat(headers.get(f"anthropic-ratelimit-{kind}-reset", ""))
        except ValueError:
            continue
        reset = reset if reset.tzinfo else reset.replace(tzinfo=UTC)
        waits.append((reset - (now or datetime.now(UTC))).total_seconds())
    return Quota(
        requests_left=0 if "requests" in used_up else None,
        tokens_left=0 if used_up != ["requests"] else None,
        resets_in=max(0.0, *waits) if waits else None,
    )


def json_object(content: bytes) -> dict[str, Any]:
    """The object that a reply's body holds.

    Raises:
        CallFailed: the body is not whole, valid JSON; worth another try.
    """
    try:
        body = json.loads(content)
    except ValueError as error:
        raise unreadable(f"the reply is not valid JSON ({error})") from None
    if not isinstance(body, dict):
        raise unreadable("the reply is not a JSON object")
    return body


def unreadable(detail: str, *, retryable: bool = True) -> CallFailed:
    """A reply that is not what the protocol promises."""
    return CallFailed(FailureReason.UNREADABLE, scrub(detail), retryable=retryable)


def message_in(body: object, otherwise: str) -> str:
    """The provider's own words in the body of an error, or ``otherwise``."""
    error = body.get("error") if isinstance(body, dict) else None
    words = error.get("message") if isinstance(error, dict) else error
    return words if isinstance(words, str) and words else otherwise
