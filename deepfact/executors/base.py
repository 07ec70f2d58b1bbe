"""What an executor is: it does the units of a job somewhere, and tells what came of each.

    local    in this process (`deepfact.executors.in_process`)
    ray      on the workers of a Ray cluster (extra ``ray``)

Which one does a job makes no difference to what comes of it. What a unit is, whoever makes the
job knows; an executor never looks into one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from deepfact import plugins
from deepfact.executors.budget import Budget
from deepfact.executors.durable import Answers
from deepfact.executors.limits import Limits
from deepfact.executors.permits import Permits
from deepfact.records import Record

U = TypeVar("U")
R = TypeVar("R")

GROUP = "deepfact.executors"

BUILT_IN = {
    "local": "deepfact.executors.in_process:InProcess",
    "ray": "deepfact.executors.ray.driver:RayExecutor",
}


class Bounds(Record):
    """What the calls of one engine may use up, all workers together."""

    limits: Limits = Limits()
    budget: Budget = Budget()


@dataclass(frozen=True)
class Elsewhere(Generic[U, R]):
    """How to do a job in other processes. All that travels there is text: no object of ours is
    pickled, and no secret is among it, since options that hold one are refused."""

    site: str
    """``module:function`` of an `OpenSite`."""
    setting: str
    """What it is called with."""
    write: Callable[[U], str]
    """A unit as text."""
    read: Callable[[str], R]
    """A result from text."""
    responses: Path | None
    """The response store, on this machine; None when nobody is asked for an answer."""
    engines: Mapping[str, Bounds] = field(default_factory=dict)
    """By the names under which the site asks for permits."""
    texts: Callable[[], Iterable[tuple[str, str]]] = tuple
    """Texts that every worker may read, by name: sent once, not with each unit."""
    use: Callable[[Iterable[str]], None] | None = None
    """Is told the keys of the answers that were used."""


@dataclass(frozen=True)
class Job(Generic[U, R]):
    """Units to be done, each once."""

    stages: Iterable[Iterable[U]]
    """A stage begins when the one before is done. Read as it is needed, and never twice."""
    width: int
    """How many units should be under way at once, in all."""
    here: Callable[[U, Callable[[R], None]], Awaitable[None]]
    """Does a unit in this process, and hands over its results."""
    elsewhere: Callable[[], Elsewhere[U, R]]
    """How to do it in other processes; asked for only by an executor that does."""


class Executor(Protocol):
    """Does jobs."""

    remote: bool
    """Whether units are done in other processes, so that verifiers must be built there."""

    async def run(self, job: Job[U, R], take: Callable[[R], None]) -> None:
        """Do every unit.

        Args:
            job: what to do.
            take: called in this process with each result, as it comes. A unit that had to be
                done again may hand over some results twice.

        Raises:
            DeepFactError: a unit raised it, or the workers cannot be had. Results that were
                there have been taken; the job can be done again.
        """
        ...


class Site(Protocol):
    """What does units in a worker."""

    alone: bool
    """Whether a unit keeps the process busy, so that the next one waits for it."""

    async def do(self, unit: str, tell: Callable[[str], None]) -> None:
        """Do a unit; ``tell`` hands over a result."""
        ...

    async def aclose(self) -> None:
        """Finish what is on the wire, and close."""
        ...


class OpenSite(Protocol):
    """Makes the site of a worker. Called once, in its event loop."""

    def __call__(
        self,
        setting: str,
        texts: Mapping[str, str],
        answers: Answers,
        permits: Callable[[str], Permits],
        /,
    ) -> Site:
        """The site for a setting; ``permits`` gives leave by name of an engine."""
        ...


def build_executor(kind: str, options: Mapping[str, Any] | None = None) -> Executor:
    """The executor of a kind.

    Raises:
        ConfigError: unknown kind or option.
        MissingExtraError: what it needs is not installed.
    """
    executor: Executor = plugins.build(GROUP, BUILT_IN, kind, options or {})
    return executor


def executor_kinds() -> list[str]:
    """All kinds of executor."""
    return plugins.kinds(GROUP, BUILT_IN)
