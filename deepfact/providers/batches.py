"""Provider ``batches``: the Message Batches API: half the price, answers within a day.

Requests are gathered until no more come for a moment, submitted, and polled for. The id of a
batch is in the ledger before it is polled, so a run that was killed takes up its batches again
and submits nothing twice. Results come in any order and are matched by id. What errored or
expired is an abstention of this run, and is submitted again by the next.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from deepfact.model_records import Completion, Request, SubmittedBatch
from deepfact.providers.anthropic import KEY_VARIABLE, AnthropicProvider
from deepfact.providers.base import AnswerPending, BatchLedger, CallFailed, ProviderRefused
from deepfact.providers.messages import batch_answer, batch_entry, key_of
from deepfact.providers.replies import json_object, unreadable
from deepfact.records import FailureReason

MOST_REQUESTS = 100_000
MOST_BYTES = 200 * 1024 * 1024
"""Of one batch; the API takes 256 MB."""

_MOST_ERRORS = 8  # polls or submissions that may fail in a row
_PATH = "/v1/messages/batches"


class BatchesProvider:
    """Submits requests in batches and waits for their results.

    Args:
        base_url, cache, structured, extra_body, api_key_env, timeout: as of the
            ``anthropic`` provider.
        poll_seconds: between two looks at a batch.
        gather_seconds: a batch is submitted once no request came for so long.
        most_requests: of one batch.
        wait: stay until the results are there; otherwise the run is pending after the batch
            was submitted, and takes the results when it is run again.
    """

    price_provider = "anthropic"
    telemetry_name = "anthropic"

    def __init__(
        self,
        base_url: str = "",
        poll_seconds: float = 60.0,
        gather_seconds: float = 1.0,
        most_requests: int = MOST_REQUESTS,
        wait: bool = True,
        timeout: float = 600.0,
        cache: bool = True,
        structured: bool = True,
        extra_body: dict[str, Any] | None = None,
        api_key_env: str = KEY_VARIABLE,
    ) -> None:
        self._api = AnthropicProvider(base_url, timeout=timeout, api_key_env=api_key_env)
        self._account = base_url or "default"
        self._poll, self._gather, self._wait = poll_seconds, gather_seconds, wait
        self._most = min(most_requests, MOST_REQUESTS)
        self._options: dict[str, Any] = {
            "cache": cache,
            "structured": structured,
            "extra": extra_body,
        }
        self._ledger: BatchLedger
        self._batch_of: dict[str, SubmittedBatch] = {}
        self._results: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._gathered: dict[str, dict[str, Any]] = {}
        self._model = ""
        self._last_came = 0.0
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._collected: dict[str, SubmittedBatch] = {}
        self._taken: set[str] = set()

    def attach(self, ledger: BatchLedger) -> None:
        """As `deepfact.providers.base.DeferredProvider`."""
        self._ledger = ledger
        for batch in ledger.open_batches(self._account):
            self._batch_of |= dict.fromkeys(batch.keys, batch)

    async def answer(self, request: Request, vote: int) -> Completion:
        """As `deepfact.providers.base.DeferredProvider`."""
        key = request.key(vote)
        if key not in self._results:
            self._results[key] = asyncio.get_running_loop().create_future()
            if (batch := self._batch_of.get(key)) is not None:
                self._start(batch.id, self._follow(batch))
            else:
                self._model = request.model
                self._gathered[key] = batch_entry(request, key, **self._options)
                self._last_came = asyncio.get_running_loop().time()
                self._start("", self._submit_when_quiet())
        try:
            return batch_answer(await asyncio.shield(self._results[key]))
        finally:
            if self._results[key].done():
                self._taken.add(key)

    async def aclose(self) -> None:
        """Close batches whose every answer was taken, and connections. Others stay open in
        the ledger: the next run takes them up."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        for future in self._results.values():
            if future.done() and not future.cancelled():
                future.exception()  # nobody may be left to read it
        for batch in self._collected.values():
            if self._taken.issuperset(batch.keys):
                self._ledger.close_batch(batch.id)
        await self._api.aclose()

    # --- submitting ------------------------------------------------------------------------

    def _start(self, name: str, work: Any) -> None:
        """Run ``work`` in the background, once under each name at a time."""
        task = self._tasks.get(name)
        if task is None or (name == "" and task.done()):
            self._tasks[name] = asyncio.create_task(work)
        else:
            work.close()

    async def _submit_when_quiet(self) -> None:
        loop = asyncio.get_running_loop()
        while self._gathered:
            quiet_for = loop.time() - self._last_came
            if quiet_for < self._gather and len(self._gathered) < self._most:
                await asyncio.sleep(self._gather - quiet_for)
                continue
            part = self._next_part()
            try:
                batch = await self._submit(part)
            except Exception as error:
                self._fail(part, error)
                if isinstance(error, ProviderRefused):
                    self._fail(self._gathered, error)
                    self._gathered.clear()
                continue
            self._batch_of |= dict.fromkeys(batch.keys, batch)
            self._start(batch.id, self._follow(batch))

    def _next_part(self) -> dict[str, dict[str, Any]]:
        """The next requests to submit: as many as one batch takes."""
        part: dict[str, dict[str, Any]] = {}
        size = 0
        for key in list(self._gathered):
            size += len(json.dumps(self._gathered[key]))
            if part and (len(part) >= self._most or size > MOST_BYTES):
                break
            part[key] = self._gathered.pop(key)
        return part

    async def _submit(self, part: dict[str, dict[str, Any]]) -> SubmittedBatch:
        body = {"requests": list(part.values())}
        for attempt in range(_MOST_ERRORS):
            try:
                view = await self._call("post", _PATH, body=body)
                break
            except CallFailed as failure:
                # Without a status nobody knows whether the batch was taken: do not pay twice.
                last = attempt + 1 == _MOST_ERRORS
                if failure.status is None or not failure.retryable or last:
                    raise
                await asyncio.sleep(failure.retry_after or min(self._poll, 2.0**attempt))
        if not isinstance(view.get("id"), str):
            raise unreadable("the reply to a submission names no batch", retryable=False)
        batch = SubmittedBatch(id=view["id"], keys=tuple(part))
        self._ledger.record_batch(self._account, batch)
        return batch

    # --- collecting ------------------------------------------------------------------------

    async def _follow(self, batch: SubmittedBatch) -> None:
        """Wait for a batch to end, then hand out its results."""
        try:
            if not await self._ended(batch):
                for key in batch.keys:
                    waiting = AnswerPending(key, f"batch {batch.id} is still being worked on")
                    self._settle(key, waiting)
                return
            await self._collect(batch)
        except Exception as error:
            self._fail(batch.keys, error)
            return
        for key in batch.keys:
            detail = f"batch {batch.id} ended without a result for this"
            self._settle(key, CallFailed(FailureReason.NO_ANSWER, detail))
        self._collected[batch.id] = batch

    async def _ended(self, batch: SubmittedBatch) -> bool:
        errors = 0
        while True:
            try:
                view = await self._call("get", f"{_PATH}/{batch.id}")
                errors = 0
                if view.get("processing_status") == "ended":
                    return True
            except CallFailed as failure:
                errors += 1
                if not failure.retryable or errors >= _MOST_ERRORS:
                    raise
            except ProviderRefused as error:
                if "HTTP 404" not in error.what:
                    raise
                self._ledger.close_batch(batch.id)
                detail = f"the provider no longer has batch {batch.id}"
                raise CallFailed(FailureReason.EXPIRED, detail) from None
            if not self._wait:
                return False
            await asyncio.sleep(self._poll)

    async def _collect(self, batch: SubmittedBatch) -> None:
        """Read the results line by line: the file may be large."""
        batches = self._api.client.messages.batches
        try:
            async with batches.with_streaming_response.results(batch.id) as reply:
                async for line in reply.iter_lines():
                    if line.strip():
                        entry = json_object(line.encode())
                        name, result = entry.get("custom_id"), entry.get("result")
                        if isinstance(name, str) and isinstance(result, dict):
                            self._settle(key_of(name), result)
        except CallFailed:
            raise
        except Exception as error:
            raise self._api.translated(error, self._model) from None

    def _settle(self, key: str, result: dict[str, Any] | Exception) -> None:
        """Hand out a result; the first one for a key counts."""
        future = self._results.get(key)
        if future is None:  # of this batch, but not asked for yet in this run
            future = self._results[key] = asyncio.get_running_loop().create_future()
        if future.done():
            return
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)

    def _fail(self, keys: Any, error: Exception) -> None:
        for key in list(keys):
            self._settle(key, error)

    async def _call(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        client = self._api.client
        try:
            reply = await getattr(client, method)(path, cast_to=self._api.raw, **options)
        except Exception as error:
            raise self._api.translated(error, self._model) from None
        return json_object(reply.content)
