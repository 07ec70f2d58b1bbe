"""The local executor: units are done in this process, as many at once as the job says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from deepfact.executors.base import Job, R, U


class InProcess:
    """Does jobs in this process and event loop."""

    remote = False

    async def run(self, job: Job[U, R], take: Callable[[R], None]) -> None:
        """As `deepfact.executors.base.Executor.run`."""
        for stage in job.stages:
            units = iter(stage)
            workers = [asyncio.create_task(_work(job, units, take)) for _ in range(job.width)]
            try:
                await asyncio.gather(*workers)
            finally:
                for task in workers:
                    task.cancel()
                await asyncio.gather(*workers, return_exceptions=True)


async def _work(job: Job[U, R], units: Iterator[U], take: Callable[[R], None]) -> None:
    for unit in units:
        await asyncio.sleep(0)  # plain functions never wait; an interrupt must get through
        await job.here(unit, take)
