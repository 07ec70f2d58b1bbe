"""What stands before every request: is it for this server, from this server, and not too big?

Refuses other hosts (a name that was made to point here), posts that another site started, bodies
over the limit, and what is no plain form; says so in the log, without the address, which may
hold a secret. Adds the headers that keep a page from running or loading anything but its own
script and style. Knows nothing of cases or auditors.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOG = logging.getLogger("deepfact.web")

MOST_BYTES = 256 * 1024
"""Of a form. A rationale of a hundred pages is surely a mistake."""

SECONDS_FOR_BODY = 30.0

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not `no-referrer`: under it browsers do not say where a form was sent from.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class Refused(Exception):
    """A request that is not let through."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


class Guard:
    """ASGI middleware: lets a request through, or answers why not."""

    def __init__(self, app: ASGIApp, *, hosts: Collection[str]) -> None:
        """Guards ``app``; ``hosts`` are the names, without port, under which it is reached."""
        self.app, self.hosts = app, frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        try:
            self._check(scope)
            replay = await _body(scope, receive)
        except Refused as refused:
            LOG.warning("refused %s: %s", scope["method"][:10], refused.why)
            response = PlainTextResponse(f"{refused.why}.\n", refused.status)
            await response(scope, receive, answer)
            return
        await self.app(scope, replay, answer)

    def _check(self, scope: Scope) -> None:
        headers, method = Headers(scope=scope), scope["method"]
        host = headers.get("host", "")
        if host_name(host) not in self.hosts:
            raise Refused(421, "this server does not go by that name")
        if method in ("GET", "HEAD"):
            return
        if method != "POST":
            raise Refused(405, "only GET and POST are known here")
        if headers.get("origin") != f"{scope['scheme']}://{host}":
            raise Refused(403, "the form was not sent from a page of this server")
        if headers.get("sec-fetch-site", "same-origin") != "same-origin":
            raise Refused(403, "another site started this")
        if headers.get("content-type", "").split(";")[0].strip() != (
            "application/x-www-form-urlencoded"
        ):
            raise Refused(415, "a plain form is needed")
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length) > MOST_BYTES:
            raise Refused(413, f"a form may have {MOST_BYTES // 1024} kB at most")


def host_name(host: str) -> str:
    """The name in a Host header, without the port: ``[::1]:80`` gives ``[::1]``."""
    if host.startswith("["):
        return host.partition("]")[0].lower() + "]"
    return host.partition(":")[0].lower()


async def _body(scope: Scope, receive: Receive) -> Receive:
    """The body, read whole within its limit, as a channel for the app to read it from."""
    if scope["method"] != "POST":
        return receive
    data = bytearray()
    more = True
    while more:
        try:
            message = await asyncio.wait_for(receive(), SECONDS_FOR_BODY)
        except TimeoutError:
            raise Refused(408, "the form did not arrive") from None
        if message["type"] == "http.disconnect":
            raise Refused(400, "the form broke off")
        data += message.get("body", b"")
        if len(data) > MOST_BYTES:
            raise Refused(413, f"a form may have {MOST_BYTES // 1024} kB at most")
        more = message.get("more_body", False)
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": bytes(data), "more_body": False}

    return replay
