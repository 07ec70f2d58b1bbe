"""What workers tell of their calls, told again where somebody listens: in the driver's process.

Events only, with the names of the scopes that they happened in; the scopes themselves stay with
the workers. Nothing is kept: what a lost worker had not handed over is not told.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from deepfact.telemetry import Level, Scope, current, event, scope
from deepfact.telemetry.seam import Event


class Relay:
    """A listener in a worker, which hands on each event as a text."""

    def __init__(self, hand_on: Callable[[str], None]) -> None:
        self._hand_on = hand_on

    def began(self, scope: Scope, /) -> None:
        """Nothing."""

    def ended(self, scope: Scope, /) -> None:
        """Nothing."""

    def told(self, event: Event, /) -> None:
        """Hand it on."""
        said = [event.name, int(event.level), dict(event.lineage), dict(event.fields)]
        self._hand_on(json.dumps(said, default=str))

    def close(self) -> None:
        """Nothing."""


def tell_again(text: str, worker: str) -> None:
    """Tell in this process what a worker has handed on, within the scope that this code runs in."""
    name, level, lineage, fields = json.loads(text)
    within = current()
    known = within.lineage if isinstance(within, Scope) else {}
    for kind, of in lineage.items():
        if kind not in known:
            within = scope(kind, of, within=within)
    event(name, Level(level), within=within, worker=worker, **fields)
