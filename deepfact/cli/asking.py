"""What commands share that ask models only once they have said what it would cost.

Only options and words; what would be asked is planned elsewhere.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from deepfact.plan import ArmPlan

Config = Annotated[Path, typer.Argument(metavar="CONFIG", help="The spec, in YAML.")]
Out = Annotated[
    Path | None, typer.Option(help="Results folder.  [default: results/<name>]", show_default=False)
]
Auditors = Annotated[Path, typer.Option(help="Folder with the auditors' files.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be asked and cost; ask nothing.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Ask models, at the cost that --dry-run says.")]


def cost_words(ask: ArmPlan | None) -> str:
    """What somebody would be asked, and for how much."""
    if ask is None or not ask.prompted:
        return "asks no model"
    return f"{'at most ' if ask.at_most else ''}{ask.calls} calls, {price_words(ask.usd)}"


def price_words(usd: float | None) -> str:
    """An estimate of a price."""
    return "price unknown" if usd is None else f"~${usd:.2f}"


def refuse_unless_paid_for(calls: int, config: Path) -> None:
    """Stop where models would have to be asked and nobody has said --yes.

    Raises:
        InputError: there are calls to make.
    """
    from deepfact.errors import InputError

    if calls:
        raise InputError(
            f"up to {calls} calls of models would be made",
            where=str(config),
            fix="if that is all right, say so with --yes",
        )
