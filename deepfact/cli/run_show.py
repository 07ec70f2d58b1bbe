"""``deepfact run show``: what a run was started with, how long it took, what failed, what it cost.

Only the shell: reading is in `deepfact.run_facts`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deepfact.cli.options import Json
from deepfact.cli.output import print_json, print_table, say
from deepfact.cli.pages import App

if TYPE_CHECKING:
    from datetime import datetime

    from deepfact.run_facts.records import Cost, RunFacts, Start

app = App("A run of any kind, seen from its results folder.")
ON_A_LINE = 160
"""Characters of an example that a table shows; all that is kept is in ``--json``."""


@app.callback()
def _group() -> None:
    pass


@app.command(
    epilog="Examples:\n\ndeepfact run show results/demo\n\ndeepfact run show results/demo --json"
)
def show(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A results folder.")],
    as_json: Json = False,
) -> None:
    """Show what a run asked, with which code, its times, failures by reason, and cost.

    Reads only, so that it can look at a run in progress; rounds, merges, transfers and A/B runs
    tell all of it, regression checks and research runs what they keep.
    """
    from deepfact.run_facts.reading import read_run_facts

    facts = read_run_facts(run)
    if as_json:
        print_json(facts.model_dump(mode="json"))
        return
    say(f"{facts.name}: {facts.kind}, {facts.state}")
    for name, words in facts.spec.items():
        say(f"  {name}: {words}")
    _times(facts)
    _asked(facts)
    _failures(facts)
    for words in facts.missing:
        say(f"not shown: {words}")


def _times(facts: RunFacts) -> None:
    if facts.started is not None:
        say(f"started {_start(facts.started)}")
    for one in facts.resumed:
        say(f"resumed {_start(one)}")
    if facts.written_by:
        say(f"record written by deepfact {facts.written_by}")
    if (timing := facts.timing) is None:
        return
    paused = ""
    if timing.pauses:
        paused = f"; {timing.pauses} pauses, the longest {_long(timing.longest_pause)}"
    say(f"last event {_when(timing.last)}; active for {_long(timing.active)}{paused}")
    if timing.per_second is not None:
        say(f"{timing.per_second:.3g} outcomes per second while asking")


def _asked(facts: RunFacts) -> None:
    rows = []
    for one in facts.asked:
        took = ""
        if one.latency is not None:
            took = f"{one.latency.median:.2f} / {one.latency.p95:.2f} s (n={one.latency.n})"
        rows.append(
            [
                one.role,
                one.name,
                str(one.outcomes),
                str(one.failures),
                str(one.abstentions),
                "" if one.per_second is None else f"{one.per_second:.3g}",
                took,
                str(one.cost.calls),
                f"{one.cost.input_tokens} / {one.cost.output_tokens}",
                _cost(one.cost),
            ]
        )
    if rows:
        columns = ["", "name", "outcomes", "failed", "votes lost", "per s", "call median / p95"]
        print_table([*columns, "calls", "tokens in / out", "cost"], rows)
        say(f"cost in all: {facts.cost.calls} calls, {_cost(facts.cost)}")


def _failures(facts: RunFacts) -> None:
    if facts.failures:
        rows = [
            [str(row.count), row.reason, row.lost, row.name, row.example, _short(row.detail)]
            for row in facts.failures
        ]
        print_table(["n", "reason", "lost", "of", "for example", ""], rows, title="failures")
    elif facts.asked:
        say("no failures")


def _start(start: Start) -> str:
    code = start.code
    if code is None:
        return _when(start.at)
    git = ""
    if code.revision:
        state = {True: ", with changes", False: "", None: ", changes unknown"}[code.dirty]
        git = f", working folder at {code.revision[:12]}{state}"
    return f"{_when(start.at)} with deepfact {code.deepfact}{git}"


def _when(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S %Z}"


def _long(seconds: float) -> str:
    """A time in its two largest units."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"


def _cost(cost: Cost) -> str:
    if not cost.calls:
        return "-"
    unknown = f"price of {cost.unpriced} calls unknown" if cost.unpriced else ""
    known = f"${cost.usd:.4f}" if cost.usd or not unknown else ""
    return ", ".join(filter(None, (known, unknown)))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= ON_A_LINE else line[: ON_A_LINE - 1] + "…"
