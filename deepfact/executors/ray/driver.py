"""The driver: starts workers, hands them shards, takes their results, replaces those lost.

A lost worker costs time and no answer: what it was told is in the ledger, the results that it
sent have been taken, and the units that it had not finished are done by another. Nothing here
knows what a unit is, or writes anything.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, NoReturn

from deepfact.errors import ConfigError, DeepFactError, RunIncomplete
from deepfact.executors.base import Elsewhere, Job, R, U
from deepfact.executors.ledger import Ledger
from deepfact.executors.ray.cluster import connected, fitting, need_ray
from deepfact.executors.ray.quiet import quiet
from deepfact.executors.ray.relay import tell_again
from deepfact.executors.ray.shards import Shards, Waiting
from deepfact.executors.ray.texts import put_texts
from deepfact.executors.ray.worker import DONE, FOUND, TOLD, Message, Worker, ledger_gone
from deepfact.executors.remote import WAITING
from deepfact.executors.wire import error_of
from deepfact.store.secrets import scrub
from deepfact.telemetry import NOTHING, Level, current, event
from deepfact.version import VERSION

SMALLEST, LARGEST = 4, 64
"""Units in a shard, when the user does not say how many."""

MOST_START_FAILURES = 3


class RayExecutor:
    """Does jobs on a Ray cluster.

    Args:
        address: of a cluster, such as ``auto`` or ``10.0.0.1:6379``, on one of whose machines
            this process runs; one on this machine alone is started and ended when empty.
        workers: how many; as many as fit when 0.
        num_cpus: CPUs that one worker takes up.
        num_gpus: GPUs that one worker takes up; a fraction lets several share one.
        shard: units sent to a worker at once; worked out from the limits when 0.
        in_flight: shards that one worker has at a time.
        wait: seconds without any worker after which the run stops.

    Raises:
        MissingExtraError: Ray is not installed.
        ConfigError: an option that cannot be.
    """

    remote = True

    def __init__(
        self,
        address: str = "",
        workers: int = 0,
        num_cpus: float = 1.0,
        num_gpus: float = 0.0,
        shard: int = 0,
        in_flight: int = 2,
        wait: float = 300.0,
    ) -> None:
        least = {"workers": 0, "num_cpus": 0, "num_gpus": 0, "shard": 0, "in_flight": 1, "wait": 1}
        for name, low in least.items():
            value = locals()[name]
            if not (low <= value < math.inf):
                raise ConfigError(f"executor kind 'ray', option {name!r}: at least {low}")
        need_ray()
        self.address, self.workers = address, workers
        self.num_cpus, self.num_gpus = num_cpus, num_gpus
        self.shard, self.in_flight, self.wait = shard, in_flight, wait

    async def run(self, job: Job[U, R], take: Callable[[R], None]) -> None:
        """As `deepfact.executors.base.Executor.run`."""
        with quiet(), connected(self.address):
            count = fitting(self.workers, self.num_cpus, self.num_gpus)
            size = self.shard
            if not size:
                size = math.ceil(2 * job.width / (count * self.in_flight))
                size = min(max(size, SMALLEST), LARGEST)
            crew = _Crew(self, job, job.elsewhere(), take, Shards(size), count)
            try:
                await crew.work()
            finally:
                await crew.close()


@dataclass
class _Crew(Generic[U, R]):
    """The workers of one run."""

    options: RayExecutor
    job: Job[U, R]
    there: Elsewhere[U, R]
    take: Callable[[R], None]
    shards: Shards
    count: int
    alive: dict[str, Any] = field(default_factory=dict)
    """Handles of the workers that are open, by name."""
    ledger: Any = None
    texts: list[Any] = field(default_factory=list)
    started: int = 0
    _seen: float = field(default_factory=time.monotonic)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)

    async def work(self) -> None:
        """Do all stages."""
        there = self.there
        self.ledger = self._start_ledger()
        await self._of_ledger("spent")
        self.texts = put_texts(there.texts())
        keepers = [asyncio.create_task(self._keep_one()) for _ in range(self.count)]
        self._tasks = [*keepers, asyncio.create_task(self._watch())]
        for stage in self.job.stages:
            await self._or_error(self.shards.stage(map(there.write, stage)))
        await self.shards.close()
        await self._or_error(asyncio.gather(*keepers))
        if there.use is not None:
            begin = 0
            while keys := await self._of_ledger("used", begin):
                there.use(keys)
                begin += len(keys)

    async def close(self) -> None:
        """Let calls on the wire be answered and stored, then end all processes."""
        import ray

        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        bounds = self.there.engines.values()
        grace = max((one.limits.grace for one in bounds), default=0.0) + 5.0
        try:
            await _all([one.close.remote() for one in self.alive.values()], grace)
            if self.ledger is not None:
                await _all([self.ledger.close.remote()], grace)
        finally:
            for actor in (*self.alive.values(), *([self.ledger] if self.ledger else ())):
                ray.kill(actor)
            self.alive.clear()

    # --- the ledger ----------------------------------------------------------------------

    def _start_ledger(self) -> Any:
        """The ledger's actor, on this machine, where the response store is."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        there = self.there
        here = ray.get_runtime_context().get_node_id()
        actor = ray.remote(num_cpus=0)(Ledger).options(
            scheduling_strategy=NodeAffinitySchedulingStrategy(here, soft=False),
            max_concurrency=1000 + 2 * WAITING * self.count * max(len(there.engines), 1),
        )
        engines = {name: one.canonical() for name, one in there.engines.items()}
        return actor.remote(
            str(there.responses.absolute()) if there.responses else "",
            engines,
            remember=there.use is not None,
        )

    async def _of_ledger(self, method: str, *arguments: Any) -> Any:
        from ray.exceptions import RayActorError, RayTaskError

        try:
            return await getattr(self.ledger, method).remote(*arguments)
        except RayActorError:
            raise ledger_gone() from None
        except RayTaskError as error:
            _failed(error)

    # --- workers -------------------------------------------------------------------------

    async def _keep_one(self) -> None:
        """Keep one worker at work, and put another in its place when it is lost."""
        failures = 0
        while True:
            self.started += 1
            name = f"w{self.started}"
            worker = await self._open(name)
            if worker is None:
                failures += 1
                if failures >= MOST_START_FAILURES:
                    raise RunIncomplete(
                        f"{failures} workers in a row were lost as they started",
                        fix=f"is deepfact {VERSION} installed on all machines of the cluster? "
                        "What was answered is kept: run the same command to go on",
                    )
                continue
            failures = 0
            self.alive[name] = worker
            lanes = [self._lane(name, worker) for _ in range(self.options.in_flight)]
            await asyncio.gather(*lanes)
            if name in self.alive:
                return

    async def _open(self, name: str) -> Any:
        """A worker that is ready; None when it was lost on the way."""
        import ray
        from ray.exceptions import RayActorError, RayTaskError

        there, options = self.there, self.options
        actor = ray.remote(num_cpus=options.num_cpus, num_gpus=options.num_gpus)(Worker)
        worker: Any = actor.remote(name, self.ledger)
        try:
            error = await worker.open.remote(
                VERSION, str(Path.cwd()), there.site, there.setting, self.texts,
                current() is not NOTHING,
            )  # fmt: skip
        except RayActorError:
            return None
        except RayTaskError as failure:
            _failed(failure)
        if error:
            raise error_of(error)
        return worker

    async def _lane(self, name: str, worker: Any) -> None:
        """Send shards to a worker, one after the other, until there are none or it is lost."""
        from ray.exceptions import RayError, RayTaskError

        while shard := await self.shards.take(lambda: name in self.alive):
            left = dict(enumerate(shard))
            try:
                texts = [unit.text for unit in shard]
                async for message in worker.work.options(num_returns="streaming").remote(texts):
                    self._heed(name, await message, left)
            except RayTaskError as error:
                _failed(error)
            except RayError:
                known = self.alive.pop(name, None) is not None
                # What the ledger was told by this worker is stored when this returns: whoever
                # does these units next finds it.
                flying = await self._of_ledger("lost", name)
                if known:
                    event("worker_lost", Level.WARNING, worker=name, calls_in_flight=flying)
            await self.shards.over(list(left.values()))

    def _heed(self, worker: str, message: Message, left: dict[int, Waiting]) -> None:
        """Take what a worker says."""
        kind, place, text = message
        if kind == FOUND:
            self.take(self.there.read(text))
        elif kind == DONE:
            del left[place]
        elif kind == TOLD:
            tell_again(text, worker)
        else:
            raise error_of(text)

    async def _watch(self) -> None:
        """Stop the run when there has been no worker for too long."""
        while True:
            if self.alive:
                self._seen = time.monotonic()
            elif time.monotonic() - self._seen > self.options.wait:
                raise RunIncomplete(
                    f"no worker could be had for {self.options.wait:g} seconds",
                    fix="the cluster is busy, or its machines are gone: run the same command later",
                )
            await asyncio.sleep(0.5)

    async def _or_error(self, work: Awaitable[Any]) -> None:
        """Wait for it, unless a worker's keeper or the watch ends with an error before."""
        doing = asyncio.ensure_future(work)
        waiting = {doing, *self._tasks}
        try:
            while not doing.done():
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    await task  # raises its error
        finally:
            doing.cancel()


async def _all(errands: list[Any], seconds: float) -> None:
    """Wait so long for messages to be answered; whoever is gone does not answer."""
    tasks = [asyncio.ensure_future(_answer(one)) for one in errands]
    if tasks:
        _, late = await asyncio.wait(tasks, timeout=seconds)
        for task in late:
            task.cancel()


async def _answer(errand: Any) -> None:
    from ray.exceptions import RayError

    try:
        await errand
    except RayError:
        return


def _failed(error: Exception) -> NoReturn:
    """An exception in one of our actors.

    Raises:
        DeepFactError: always.
    """
    cause = getattr(error, "cause", None) or error
    if isinstance(cause, DeepFactError):
        raise cause
    said = scrub(f"{type(cause).__name__}: {cause}".splitlines()[0])
    raise DeepFactError(f"a worker failed: {said}") from None
