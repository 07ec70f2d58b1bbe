"""The one seam between what runs and what is told of it.

    with scope("run", "demo"):
        with scope("claim", "c1") as claim:
            event("call_failed", Level.WARNING, reason="timeout", attempt=1)
            claim.note(outcome="verdict")

Scopes nest by context, so that concurrent tasks each have their own. While nobody listens,
`scope` hands out one shared object that does nothing. What is told are ids, names, counts, reason
classes and seconds; ``detail`` alone may repeat text from outside, and listeners leave it out
unless a person asked for it. This module prints, sends and stores nothing, and imports no
library.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from enum import IntEnum
from types import TracebackType
from typing import Any, Literal, Protocol, Self

Kind = Literal["run", "round", "verifier", "arm", "claim", "case", "call"]
"""What a scope stands for, outermost first."""


class Level(IntEnum):
    """How much an event matters, with the numbers of the standard logging module."""

    DEBUG = 10
    INFO = 20
    WARNING = 30
    ERROR = 40


class Listener(Protocol):
    """Somebody who is told. Called from the thread that runs; must be quick and never wait."""

    def began(self, scope: Scope, /) -> None:
        """A scope begins."""
        ...

    def ended(self, scope: Scope, /) -> None:
        """It is over; ``scope.error`` says how, when it broke off."""
        ...

    def told(self, event: Event, /) -> None:
        """Something happened."""
        ...

    def close(self) -> None:
        """Deliver what is left, within a few seconds."""
        ...


@dataclass(slots=True, eq=False)
class Scope:
    """A stretch of a run that is being told of. Use as a context manager; or, for one that spans
    no block, `begin` and `end`."""

    kind: Kind
    name: str
    parent: Scope | None
    fields: dict[str, Any]
    lineage: dict[str, str]
    """Names of this scope and all around it, by kind."""
    error: BaseException | None = None
    seconds: float = 0.0
    """How long it lasted, once it is over."""
    marks: dict[int, Any] = field(default_factory=dict)
    """What a listener keeps with it, by the listener's ``id``."""
    _since: float | None = None
    _token: Token[Scope | None] | None = None

    def note(self, **fields: Any) -> None:
        """Add to what is told of it."""
        self.fields.update(fields)

    def begin(self) -> None:
        """Let it begin now; nothing when it has."""
        if self._since is None:
            self._since = time.monotonic()
            for one in _listeners:
                _tell(one, one.began, self)

    def end(self, error: BaseException | None = None) -> None:
        """Let it end now; nothing when it has not begun, or is over."""
        if self._since is not None and not self.seconds:
            self.error, self.seconds = error, max(time.monotonic() - self._since, 1e-9)
            for one in _listeners:
                _tell(one, one.ended, self)

    def __enter__(self) -> Self:
        self.begin()
        self._token = _current.set(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._token is not None:
            _current.reset(self._token)
        self.end(error)


class _Nothing:
    """Stands for every scope while nobody listens."""

    __slots__ = ()

    def note(self, **fields: Any) -> None:
        """Nothing."""

    def begin(self) -> None:
        """Nothing."""

    def end(self, error: BaseException | None = None) -> None:
        """Nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


NOTHING = _Nothing()

Told = Scope | _Nothing
"""What `scope` gives."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened at a moment."""

    name: str
    level: Level
    scope: Scope | None
    """In which it happened."""
    fields: Mapping[str, Any]

    @property
    def lineage(self) -> Mapping[str, str]:
        """Names of the scopes around it, by kind."""
        return {} if self.scope is None else self.scope.lineage


_current: ContextVar[Scope | None] = ContextVar("deepfact_scope", default=None)
_listeners: tuple[Listener, ...] = ()
_later: list[Callable[[], Listener | None]] = []
_listening = False


def scope(kind: Kind, name: str, /, *, within: Told | None = None, **fields: Any) -> Told:
    """A scope that has not begun yet.

    Args:
        kind: what it stands for.
        name: of a run, verifier or model; the id of a claim; the number of a round.
        within: the scope around it; the current one when left out.
        fields: what is known of it from the start.
    """
    if not _listening:
        return NOTHING
    _wake()
    around = within if isinstance(within, Scope) else _current.get()
    lineage: dict[str, str] = {} if around is None else dict(around.lineage)
    lineage[kind] = name
    return Scope(kind, name, around, fields, lineage)


def event(name: str, level: Level, /, *, within: Told | None = None, **fields: Any) -> None:
    """Tell of something that happened, in the current scope or the one given."""
    if not _listening:
        return
    _wake()
    around = within if isinstance(within, Scope) else _current.get()
    happened = Event(name, level, around, fields)
    for one in _listeners:
        _tell(one, one.told, happened)


def current() -> Told:
    """The scope that this code runs in."""
    return _current.get() or NOTHING


def listen(listener: Listener) -> None:
    """Tell this listener from now on."""
    global _listeners, _listening
    _listeners = (*_listeners, listener)
    _listening = True


def listen_later(make: Callable[[], Listener | None]) -> None:
    """Make a listener when there is first something to tell: a command that runs nothing does
    not load it. None of it when ``make`` gives None."""
    global _listening
    _later.append(make)
    _listening = True


def close() -> None:
    """Close all listeners and tell nobody any more."""
    global _listeners, _listening
    closing, _listeners, _listening = _listeners, (), False
    _later.clear()
    for one in closing:
        with suppress(Exception):  # what is told of a run never breaks it
            one.close()


def _wake() -> None:
    """Make the listeners that were put off."""
    global _listening
    while _later:
        made = _later.pop(0)()
        if made is not None:
            listen(made)
    _listening = bool(_listeners)


def _tell(listener: Listener, say: Callable[[Any], None], what: Scope | Event) -> None:
    """Tell a listener. One that breaks is dropped: what is told of a run never breaks it."""
    global _listeners, _listening
    try:
        say(what)
    except Exception:
        _listeners = tuple(one for one in _listeners if one is not listener)
        _listening = bool(_listeners)
        event("listener_dropped", Level.ERROR, listener=type(listener).__name__)
