"""Options that several commands share, so that they read the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from datetime import datetime

Root = Annotated[
    Path | None,
    typer.Option(
        envvar="DEEPFACT_BENCHMARKS",
        help="Folder that holds benchmarks.  [default: benchmarks]",
        show_default=False,
    ),
]
"""``--root``: where benchmarks are looked for."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
"""``--json``: output for programs."""

Reference = Annotated[
    str, typer.Argument(metavar="NAME[@VERSION]", help="The newest version when left out.")
]
"""A version of a benchmark."""

Date = Annotated[str, typer.Option(help="Date the version carries; today by default.")]
"""``--date``: read it with `date_of`."""


def date_of(text: str) -> datetime:
    """What ``--date`` says; the beginning of today when it says nothing.

    Raises:
        InputError: it is no date.
    """
    from deepfact.errors import InputError
    from deepfact.records import parse_when
    from deepfact.store.journal import now

    if not text:
        return now().replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        return parse_when(text)
    except ValueError:
        raise InputError(
            f"{text!r} is no date", where="--date", fix="write it like 2026-11-30"
        ) from None
