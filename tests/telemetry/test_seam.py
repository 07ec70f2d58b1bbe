"""The seam: nothing while nobody listens, scopes by context, and no listener that can do harm."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from deepfact import telemetry
from deepfact.telemetry import NOTHING, Level


class Remembers:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.began_: list[str] = []
        self.ended_: list[tuple[str, dict[str, str], BaseException | None]] = []
        self.events: list[telemetry.seam.Event] = []
        self.closed = 0

    def began(self, scope: Any, /) -> None:
        self.began_.append(scope.name)

    def ended(self, scope: Any, /) -> None:
        assert scope.seconds > 0
        self.ended_.append((scope.name, scope.lineage, scope.error))

    def told(self, event: Any, /) -> None:
        self.events.append(event)

    def close(self) -> None:
        self.closed += 1


class Breaks(Remembers):
    """Raises whatever it is told."""

    def began(self, scope: Any, /) -> None:
        raise RuntimeError("a listener's mistake")

    told = ended = close = began  # type: ignore[assignment]


def test_while_nobody_listens_there_is_one_scope_that_does_nothing() -> None:
    made = telemetry.scope("run", "r", much="said")
    assert made is NOTHING
    with made as told:
        told.note(more="said")
        told.begin()
        told.end(ValueError())
        assert telemetry.current() is NOTHING
    telemetry.event("anything", Level.ERROR)


def test_scopes_know_what_is_around_them() -> None:
    telemetry.listen(listener := Remembers())
    with telemetry.scope("run", "r"), telemetry.scope("verifier", "v") as around:
        assert telemetry.current() is around
        with pytest.raises(KeyError), telemetry.scope("claim", "c1"):
            telemetry.event("happened", Level.INFO, n=3)
            raise KeyError("x")
    assert listener.began_ == ["r", "v", "c1"]
    assert [(name, lineage) for name, lineage, _ in listener.ended_] == [
        ("c1", {"run": "r", "verifier": "v", "claim": "c1"}),
        ("v", {"run": "r", "verifier": "v"}),
        ("r", {"run": "r"}),
    ]
    assert [type(error) for *_, error in listener.ended_] == [KeyError, type(None), type(None)]
    (event,) = listener.events
    assert (event.lineage["claim"], dict(event.fields)) == ("c1", {"n": 3})


def test_tasks_that_run_at_once_have_scopes_of_their_own() -> None:
    telemetry.listen(listener := Remembers())

    async def one(name: str) -> None:
        with telemetry.scope("claim", name):
            await asyncio.sleep(0.001)
            telemetry.event("seen", Level.INFO, name=name)

    async def everybody() -> None:
        with telemetry.scope("run", "r"):
            await asyncio.gather(*(one(f"c{n}") for n in range(20)))

    asyncio.run(everybody())
    assert len(listener.events) == 20
    assert all(event.lineage["claim"] == event.fields["name"] for event in listener.events)


def test_a_scope_may_be_put_within_another_that_is_not_current() -> None:
    telemetry.listen(Remembers())
    arm = telemetry.scope("arm", "a")
    with telemetry.scope("arm", "b"), telemetry.scope("claim", "c", within=arm) as claim:
        assert isinstance(claim, telemetry.Scope)
        assert claim.lineage == {"arm": "a", "claim": "c"}
    with telemetry.scope("run", "r"), telemetry.scope("claim", "c", within=NOTHING) as claim:
        assert isinstance(claim, telemetry.Scope)
        assert claim.lineage == {"run": "r", "claim": "c"}


def test_a_scope_begins_and_ends_once() -> None:
    telemetry.listen(listener := Remembers())
    call = telemetry.scope("call", "m")
    call.end()  # it has not begun
    call.begin()
    call.begin()
    call.end(ValueError("first"))
    call.end()
    assert listener.began_ == ["m"]
    assert [str(error) for *_, error in listener.ended_] == ["first"]


def test_a_listener_that_breaks_is_dropped_and_the_others_hear_of_it() -> None:
    telemetry.listen(Breaks())
    telemetry.listen(listener := Remembers())
    with telemetry.scope("run", "r"):
        telemetry.event("happened", Level.INFO)
    assert listener.began_ == ["r"]
    assert [event.name for event in listener.events] == ["listener_dropped", "happened"]
    assert listener.events[0].fields["listener"] == "Breaks"
    telemetry.close()
    assert listener.closed == 1


def test_the_only_listener_may_break_and_nothing_is_told_any_more() -> None:
    telemetry.listen(Breaks())
    with telemetry.scope("run", "r"):
        assert telemetry.scope("claim", "c") is NOTHING


def test_a_listener_that_is_put_off_is_made_when_there_is_something_to_tell() -> None:
    made: list[Remembers] = []

    def make() -> Remembers:
        made.append(Remembers())
        return made[0]

    telemetry.listen_later(make)
    assert made == []
    with telemetry.scope("run", "r"):
        pass
    assert [one.began_ for one in made] == [["r"]]


def test_one_that_cannot_be_made_is_asked_for_once() -> None:
    asked: list[int] = []
    telemetry.listen_later(lambda: asked.append(1))  # type: ignore[func-returns-value]
    telemetry.event("first", Level.INFO)
    assert telemetry.scope("run", "r") is NOTHING
    assert asked == [1]


def test_closing_forgets_everybody_even_one_whose_closing_fails() -> None:
    telemetry.listen(Breaks())
    telemetry.listen(listener := Remembers())
    telemetry.listen_later(lambda: pytest.fail("made after all"))
    telemetry.close()
    assert listener.closed == 1
    assert telemetry.scope("run", "r") is NOTHING
