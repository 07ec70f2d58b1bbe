"""Where an engine finds answers and puts them, and the writer of a store in this process.

`DurableWriter` makes answers durable before they are used, many in one commit. While one
commit is being written to disk, answers that arrive meanwhile gather for the next: each answer
waits for a commit that holds it, and the disk is asked once for many. The database work is done
in one thread of its own, so that the event loop never waits for a disk.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from deepfact.model_records import Completion
from deepfact.store.responses import ResponseStore, StoredResponse


class Answers(Protocol):
    """Answers under their keys, for one event loop."""

    async def get(self, key: str) -> Completion | None:
        """The answer under a key, or None."""
        ...

    async def put(self, response: StoredResponse) -> Completion:
        """Store an answer, durably; returns the one that is stored under its key."""
        ...

    async def aclose(self) -> None:
        """Write what is left."""
        ...


class DurableWriter:
    """The answers of a store, from one event loop."""

    def __init__(self, store: ResponseStore) -> None:
        self._store = store
        self._gathered: list[tuple[StoredResponse, asyncio.Future[Completion]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._thread: ThreadPoolExecutor | None = None

    async def get(self, key: str) -> Completion | None:
        """As `Answers.get`. A look-up never waits for a commit."""
        return self._store.get(key)

    async def put(self, response: StoredResponse) -> Completion:
        """Store an answer; returns once it is on disk.

        Returns:
            The answer that the store holds under this key: another process's, when that
            came first.

        Raises:
            InputError: the store cannot be written.
        """
        done: asyncio.Future[Completion] = asyncio.get_running_loop().create_future()
        self._gathered.append((response, done))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        return await done

    async def written(self) -> None:
        """Wait until everything that was put is on disk."""
        if self._writing is not None:
            await self._writing

    async def aclose(self) -> None:
        """Write what is left and end the thread."""
        await self.written()
        if self._thread is not None:
            self._thread.shutdown()

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        if self._thread is None:
            self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="responses")
        while self._gathered:
            batch, self._gathered = self._gathered, []
            responses = [response for response, _ in batch]
            try:
                stored = await loop.run_in_executor(self._thread, self._store.put_many, responses)
            except Exception as error:
                for _, done in batch:
                    if not done.done():
                        done.set_exception(error)
                continue
            for (_, done), completion in zip(batch, stored, strict=True):
                if not done.done():
                    done.set_result(completion)
