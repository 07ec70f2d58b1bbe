"""Options that several commands share, so that they read the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
