"""How commands print: tables, rates, progress, JSON. Colour and moving bars only on a terminal.

Results go to standard output, progress and remarks to standard error.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable

import typer

if TYPE_CHECKING:
    from deepfact.run_records import Estimate, Rate
    from deepfact.running.run_state import Progress


def print_json(value: Any) -> None:
    """A value as indented JSON on standard output."""
    typer.echo(json.dumps(value, indent=1, ensure_ascii=False))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = "") -> None:
    """A table on standard output; plain text in it is never read as markup. Off a terminal,
    where width would be guessed, columns are as wide as they need."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
    console.print(table)


_STEERING = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"},
    0x7F: "\u2421",
    **dict.fromkeys(range(0x80, 0xA0), "\ufffd"),
}


def plain(text: str) -> str:
    """Text with every character that steers a terminal made visible: claims and sources are
    data, and may not move the cursor or hide a line."""
    return text.replace("\r\n", "\n").translate(_STEERING)


def say(text: str) -> None:
    """A line of results on standard output."""
    typer.echo(plain(text))


def note(text: str) -> None:
    """A remark on standard error."""
    if _notes is not None:
        _notes(plain(text))
    else:
        typer.echo(plain(text), err=True)


_notes: Callable[[str], None] | None = None


def send_notes(to: Callable[[str], None] | None) -> None:
    """Give remarks to somebody else, who writes standard error alone from now on: no progress is
    shown either. None ends that."""
    global _notes
    _notes = to


def show_rate(rate: Rate) -> str:
    """A rate with everything that must be shown with it."""
    unverified = f", {rate.unverified} unverified" if rate.unverified else ""
    if rate.value is None:
        return "no claims (n=0)"
    return f"{rate.value:.1%} ({rate.k}/{rate.n}{unverified}) [{rate.low:.1%}, {rate.high:.1%}]"


def show_estimate(estimate: Estimate) -> str:
    """A statistic with its interval and n."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "no claims (n=0)"
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}] (n={estimate.n})"


def show_cost(step: Progress) -> str:
    """What a step has cost so far; nothing for one that asks no model."""
    if not step.calls:
        return ""
    price = "price unknown" if step.usd is None else f"${step.usd:.2f}"
    return f"{step.calls} calls, {price}"


@contextmanager
def progress() -> Iterator[Callable[[Progress], None]]:
    """A watcher that shows how far a run is, its rate, its failures and the time left: as a bar
    on a terminal, else as a line every few seconds."""
    if _notes is not None:
        yield lambda _: None
    elif sys.stderr.isatty():
        with _bars() as watch:
            yield watch
    else:
        yield _lines()


@contextmanager
def _bars() -> Iterator[Callable[[Progress], None]]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TaskID,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bars

    bars = Bars(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]} failed"),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[cost]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
    tasks: dict[str, TaskID] = {}

    def watch(step: Progress) -> None:
        if step.step not in tasks:
            tasks[step.step] = bars.add_task(
                step.step, total=step.total, failed=0, rate="", cost=""
            )
        task = tasks[step.step]
        cost = show_cost(step)
        bars.update(task, completed=step.done, total=step.total, failed=step.failed, cost=cost)
        if speed := bars.tasks[task].speed:
            bars.update(task, rate=f"{speed:.0f}/s")

    with bars:
        yield watch


def _lines(every: float = 5.0) -> Callable[[Progress], None]:
    began: dict[str, tuple[float, int]] = {}
    last = [time.monotonic()]

    def watch(step: Progress) -> None:
        at = time.monotonic()
        start, before = began.setdefault(step.step, (at, step.done))
        finished = step.done == step.total
        if not finished and at - last[0] < every:
            return
        last[0] = at
        rate = (step.done - before) / (at - start) if at > start else 0.0
        left = f", {(step.total - step.done) / rate:.0f} s left" if rate and not finished else ""
        speed = f", {rate:.0f}/s" if rate else ""
        cost = f", {show_cost(step)}" if step.calls else ""
        note(f"{step.step}: {step.done}/{step.total}, {step.failed} failed{speed}{cost}{left}")

    return watch
