"""A server on loopback that speaks the Messages, Batches and chat completions protocols.

Real HTTP, with faults on demand and exact counts, for tests and measurements. It runs in a
thread of the test, or as a process of its own (``python messages_server.py --latency 0.05``)
that prints its address on the first line and answers ``GET /stats``.

It needs aiohttp, and nothing of deepfact.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Callable

from aiohttp import web

Answer = Callable[[dict[str, Any]], str]
"""The text of the answer to a Messages body."""

STATUS = {
    "400": (400, "invalid_request_error"),
    "401": (401, "authentication_error"),
    "403": (403, "permission_error"),
    "404": (404, "not_found_error"),
    "413": (413, "request_too_large"),
    "429": (429, "rate_limit_error"),
    "429-after": (429, "rate_limit_error"),
    "500": (500, "api_error"),
    "529": (529, "overloaded_error"),
}

FAULTS = (*STATUS, "drop", "truncate", "malformed", "schema", "refusal", "max_tokens", "slow")


@dataclass
class Faults:
    """Which replies go wrong, decided in the order in which requests come.

    ``shares`` are exact: of each ``deck`` requests that many, at shuffled places. ``first``
    confines them to the first so many requests; ``script`` names the first replies one by one.
    """

    shares: dict[str, float] = field(default_factory=dict)
    script: list[str] = field(default_factory=list)
    first: int | None = None
    always: str = ""
    retry_after: float = 0.05
    slow: float = 5.0
    deck: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._deck: list[str] = []
        self._drawn = 0

    def next(self) -> str:
        """The fault of the next reply; empty for none."""
        if self.always:
            return self.always
        self._drawn += 1
        if self.script:
            return self.script.pop(0)
        if not self.shares or (self.first is not None and self._drawn > self.first):
            return ""
        if not self._deck:
            for name, share in self.shares.items():
                self._deck += [name] * round(share * self.deck)
            self._deck += [""] * (self.deck - len(self._deck))
            self._random.shuffle(self._deck)
        return self._deck.pop()


class MessagesServer:
    """The server. Use as a context manager to run it in a thread."""

    def __init__(
        self,
        answer: Answer | None = None,
        *,
        faults: Faults | None = None,
        latency: float = 0.0,
        models: set[str] | None = None,
        batch_polls: int = 1,
        batch_outcome: Callable[[str], str] | None = None,
        keep: bool = True,
    ) -> None:
        self.answer = answer or (lambda body: '{"label": "supported"}')
        self.faults, self.latency, self.models = faults or Faults(), latency, models
        self.batch_polls = batch_polls
        """Polls that a batch takes to end."""
        self.batch_outcome = batch_outcome or (lambda custom_id: "succeeded")
        self.calls = 0
        self.in_flight = self.most_in_flight = 0
        self.served: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self.reply_headers: dict[str, str] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.keep, self.url = keep, ""
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None

    # --- running -------------------------------------------------------------------------

    def __enter__(self) -> MessagesServer:
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True)
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("the server did not start")
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop and self._stopping and self._thread
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(10)

    async def serve(self, port: int = 0, announce: bool = False) -> None:
        """Serve until stopped."""
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/v1/messages", self._messages)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/messages/batches", self._create_batch)
        app.router.add_get("/v1/messages/batches", self._list_batches)
        app.router.add_get("/v1/messages/batches/{id}", self._get_batch)
        app.router.add_get("/v1/messages/batches/{id}/results", self._batch_results)
        app.router.add_get("/stats", self._stats)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", port, backlog=1024)
        await site.start()
        host, port = runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        if announce:
            print(self.url, flush=True)
        self._ready.set()
        try:
            await self._stopping.wait()
        finally:
            await runner.cleanup()

    async def _stats(self, request: web.Request) -> web.Response:
        return web.json_response(
            {
                "calls": self.calls,
                "served": self.served,
                "most_in_flight": self.most_in_flight,
                "batches": len(self.batches),
            }
        )

    # --- Messages and chat completions -----------------------------------------------------

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        return await self._reply(request, self.message)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        return await self._reply(request, self.chat_completion)

    async def _reply(
        self, request: web.Request, shape: Callable[[dict[str, Any], str], dict[str, Any]]
    ) -> web.StreamResponse:
        self.calls += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            body = await request.json()
            if self.keep:
                self.bodies.append(body)
                self.headers.append(dict(request.headers))
                self.times.append(asyncio.get_running_loop().time())
            fault = self.faults.next()
            if not fault and self.models is not None and body.get("model") not in self.models:
                fault = "404"
            self.served[fault or "ok"] += 1
            await asyncio.sleep(self.faults.slow if fault == "slow" else self.latency)
            if fault in STATUS:
                return self._error(request, fault)
            if fault == "drop":
                assert request.transport
                request.transport.abort()
                return web.Response()
            data = json.dumps(shape(body, fault)).encode()
            if fault == "malformed":
                data = data[: len(data) // 2]
            response = web.Response(
                body=data, content_type="application/json", headers=self.reply_headers
            )
            if fault == "truncate":
                return await _cut_off(request, response, data)
            return response
        finally:
            self.in_flight -= 1

    def _error(self, request: web.Request, fault: str) -> web.Response:
        status, kind = STATUS[fault]
        headers = {"retry-after": str(self.faults.retry_after)} if fault == "429-after" else {}
        key = request.headers.get("x-api-key") or request.headers.get("authorization", "")
        # A careless gateway repeats the key that it was sent: this one does, to test for leaks.
        error = {"type": kind, "message": f"planned fault {fault}; you sent {key}"}
        return web.json_response({"type": "error", "error": error}, status=status, headers=headers)

    def message(self, body: dict[str, Any], fault: str = "") -> dict[str, Any]:
        """A message of the protocol that answers ``body``."""
        text = {"schema": '{"lable": 1}', "refusal": "", "max_tokens": '{"label": "supp'}.get(fault)
        text = self.answer(body) if text is None else text
        stop = fault if fault in ("refusal", "max_tokens") else "end_turn"
        return {
            "id": f"msg_{self.calls}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "content": [{"type": "text", "text": text}] if text else [],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {
                "input_tokens": 100,
                "output_tokens": 20,
                "cache_read_input_tokens": 50,
                "cache_creation_input_tokens": 0,
            },
        }

    def chat_completion(self, body: dict[str, Any], fault: str = "") -> dict[str, Any]:
        """A chat completion that answers ``body``."""
        message = self.message(body, fault)
        text = "".join(block["text"] for block in message["content"])
        refusal = "I will not" if fault == "refusal" else None
        stop = {"max_tokens": "length"}.get(message["stop_reason"], "stop")
        return {
            "id": message["id"],
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model"),
            "choices": [
                {
                    "index": 0,
                    "finish_reason": stop,
                    "message": {"role": "assistant", "content": text, "refusal": refusal},
                }
            ],
            "usage": {
                "prompt_tokens": 150,
                "completion_tokens": 20,
                "total_tokens": 170,
                "prompt_tokens_details": {"cached_tokens": 50},
            },
        }

    # --- Message Batches -----------------------------------------------------------------

    async def _create_batch(self, request: web.Request) -> web.Response:
        self.calls += 1
        body = await request.json()
        fault = self.faults.next()
        if fault in STATUS:
            return self._error(request, fault)
        batch = {"requests": body["requests"], "polls": 0, "id": f"msgbatch_{len(self.batches)}"}
        self.batches[batch["id"]] = batch
        return web.json_response(self._batch_view(batch))

    async def _list_batches(self, request: web.Request) -> web.Response:
        views = [self._batch_view(batch) for batch in reversed(self.batches.values())]
        return web.json_response(
            {"data": views, "has_more": False, "first_id": None, "last_id": None}
        )

    async def _get_batch(self, request: web.Request) -> web.Response:
        batch = self.batches.get(request.match_info["id"])
        if batch is None:
            return self._error(request, "404")
        batch["polls"] += 1
        return web.json_response(self._batch_view(batch))

    async def _batch_results(self, request: web.Request) -> web.Response:
        batch = self.batches[request.match_info["id"]]
        lines = []
        for entry in reversed(batch["requests"]):  # never in the order of the requests
            outcome = self.batch_outcome(entry["custom_id"])
            result: dict[str, Any] = {"type": outcome}
            if outcome == "succeeded":
                result["message"] = self.message(entry["params"])
            if outcome == "errored":
                error = {"type": "invalid_request_error", "message": "planned"}
                result["error"] = {"type": "error", "error": error}
            if outcome != "missing":
                lines.append(json.dumps({"custom_id": entry["custom_id"], "result": result}))
        return web.Response(text="\n".join(lines) + "\n", content_type="application/x-jsonl")

    def _batch_view(self, batch: dict[str, Any]) -> dict[str, Any]:
        ended = batch["polls"] >= self.batch_polls
        counts = dict.fromkeys(("succeeded", "errored", "canceled", "expired"), 0)
        return {
            "id": batch["id"],
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": {"processing": len(batch["requests"]), **counts},
            "ended_at": "2026-01-01T00:00:00Z" if ended else None,
            "created_at": "2026-01-01T00:00:00Z",
            "expires_at": "2026-01-02T00:00:00Z",
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{self.url}/v1/messages/batches/{batch['id']}/results"
            if ended
            else None,
        }


async def _cut_off(request: web.Request, response: web.Response, data: bytes) -> web.StreamResponse:
    """Promise a whole body, send half of it, and hang up."""
    stream = web.StreamResponse(headers={"Content-Type": "application/json"})
    stream.content_length = len(data)
    await stream.prepare(request)
    await stream.write(data[: len(data) // 2])
    assert request.transport
    request.transport.abort()
    return stream


def main() -> None:
    """Run as a process of its own; prints the address."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--faults", default="{}", help="JSON: fault -> share")
    parser.add_argument("--first", type=int, help="only the first so many requests fail")
    options = parser.parse_args()
    faults = Faults(shares=json.loads(options.faults), first=options.first)
    server = MessagesServer(faults=faults, latency=options.latency, keep=False)
    asyncio.run(server.serve(options.port, announce=True))


if __name__ == "__main__":
    main()
