"""A worker: one actor of the cluster, which opens a site and does the units it is sent.

It keeps nothing that matters: answers are in the ledger before they are used, results go to the
driver as they come. It says nothing on its own streams, and takes secrets from its environment.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from deepfact import telemetry
from deepfact.errors import ConfigError, DeepFactError, RunIncomplete
from deepfact.executors.base import OpenSite, Site
from deepfact.executors.ray.relay import Relay
from deepfact.executors.ray.texts import SharedTexts
from deepfact.executors.remote import RemoteAnswers, RemotePermits
from deepfact.executors.wire import error_text
from deepfact.version import VERSION

FOUND, DONE, STOP, TOLD = "found", "done", "stop", "told"
"""What a message is: a result of a unit, a unit that is over, an error that ends the run, or an
event to be told (see `deepfact.executors.ray.relay`)."""

Message = tuple[str, int, str]
"""Its kind, the unit's place in the shard, and a text."""


class Worker:
    """Does units.

    Args:
        name: under which the ledger knows it.
        ledger: handle of the ledger's actor.
    """

    def __init__(self, name: str, ledger: Any) -> None:
        self._name, self._ledger = name, ledger
        self._site: Site | None = None
        self._one_by_one = asyncio.Lock()
        self._units: set[asyncio.Task[None]] = set()
        self._outboxes: list[asyncio.Queue[Message]] = []
        """Of the shards that are being done."""

    async def open(
        self, version: str, folder: str, site: str, setting: str, texts: Sequence[Any], tell: bool
    ) -> str:
        """Make the site. Returns nothing, or an error as JSON.

        Args:
            version: of deepfact, on the driver.
            folder: the driver's working folder; entered where it is there too.
            site: ``module:function`` of an `OpenSite`.
            setting: what it is called with.
            texts: references of an index and of chunks; see `deepfact.executors.ray.texts`.
            tell: whether somebody listens to what happens here.
        """
        try:
            if version != VERSION:
                raise ConfigError(
                    f"a worker has deepfact {VERSION}, this is {version}",
                    fix="install the same version on all machines of the cluster",
                )
            if Path(folder).is_dir():
                os.chdir(folder)
            index, *chunks = [await one for one in texts]
            module, _, function = site.partition(":")
            open_site: OpenSite = getattr(import_module(module), function)
            answers = RemoteAnswers(self._call)

            def permits(engine: str) -> RemotePermits:
                return RemotePermits(self._call, self._name, engine)

            if tell:
                telemetry.listen(Relay(self._hand_on))
            self._site = open_site(setting, SharedTexts(index, chunks), answers, permits)
        except Exception as error:
            return error_text(error)
        return ""

    async def work(self, units: Sequence[str]) -> AsyncIterator[Message]:
        """Do the units of a shard; yields what comes of them, as it comes."""
        messages: asyncio.Queue[Message] = asyncio.Queue()
        tasks = [
            asyncio.create_task(self._unit(place, unit, messages))
            for place, unit in enumerate(units)
        ]
        self._units.update(tasks)
        self._outboxes.append(messages)
        try:
            left = len(tasks)
            while left:
                message = await messages.get()
                left -= message[0] in (DONE, STOP)
                yield message
        finally:
            self._outboxes.remove(messages)
            for task in tasks:
                task.cancel()
            self._units.difference_update(tasks)

    async def close(self) -> None:
        """Drop what has not begun, finish what is on the wire, and close."""
        for task in self._units:
            task.cancel()
        if self._site is not None:
            await self._site.aclose()

    def _hand_on(self, text: str) -> None:
        """Send an event with the results of whichever shard is being done."""
        if self._outboxes:
            self._outboxes[-1].put_nowait((TOLD, 0, text))

    async def pid(self) -> int:
        """Of this process."""
        return os.getpid()

    async def _unit(self, place: int, unit: str, messages: asyncio.Queue[Message]) -> None:
        """Do one unit. Whatever happens, one message says that it is over."""
        assert self._site is not None, "a worker is opened first"  # noqa: S101

        def tell(text: str) -> None:
            messages.put_nowait((FOUND, place, text))

        try:
            if self._site.alone:
                async with self._one_by_one:
                    await self._site.do(unit, tell)
            else:
                await self._site.do(unit, tell)
        except asyncio.CancelledError:
            gone = RunIncomplete("the worker was closed", fix="run the same command to go on")
            messages.put_nowait((STOP, place, error_text(gone)))
            raise
        except Exception as error:
            messages.put_nowait((STOP, place, error_text(error)))
        else:
            messages.put_nowait((DONE, place, ""))

    async def _call(self, method: str, *arguments: Any) -> Any:
        """As `deepfact.executors.remote.Call`."""
        from ray.exceptions import RayError

        try:
            return await getattr(self._ledger, method).remote(*arguments)
        except RayError:
            raise ledger_gone() from None


def ledger_gone() -> DeepFactError:
    """Why a run ends whose ledger is lost."""
    return RunIncomplete(
        "the process that keeps the answers was lost",
        fix="what was answered is kept: run the same command to go on",
    )
