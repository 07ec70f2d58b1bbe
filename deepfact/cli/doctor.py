"""``deepfact doctor``: is this installation fit for work? Only the shell."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deepfact.cli.options import Json, Root
from deepfact.cli.output import print_json, print_table

EXAMPLES = (
    "Examples:\n\ndeepfact doctor\n\ndeepfact doctor --connect https://api.anthropic.com --json"
)


def doctor(
    connect: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL",
            help="Also reach this address, such as a config's base_url; may be given again. "
            "Without it nothing is connected to.",
            show_default=False,
        ),
    ] = None,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Check versions, extras, keys (only whether they are set), write access, disk and clock.

    Exit code 1 when something is bad; notes, such as an extra that is not installed, are no
    failure.
    """
    from deepfact.doctor import Health, examine

    found = list(examine(Path.cwd(), benchmarks=root, connect=tuple(connect or ())))
    if as_json:
        print_json([one.model_dump(mode="json") for one in found])
    else:
        rows = [[one.health, one.check, one.found, one.fix] for one in found]
        print_table(["", "check", "found", "what to do"], rows)
    if any(one.health is Health.BAD for one in found):
        raise typer.Exit(1)
