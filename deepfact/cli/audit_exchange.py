"""``deepfact audit export`` and ``import``: audits by spreadsheet, Label Studio or Argilla.

Only the shell: what is written and accepted is in `deepfact.exchange`.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from deepfact.cli.options import Json, Root
from deepfact.cli.output import note, print_json

EXPORT_EXAMPLES = (
    "Examples:\n\ndeepfact audit export results/my-round --out cases.csv\n\n"
    "deepfact audit export results/my-round --auditor ada --format label-studio --out ada.json"
)
IMPORT_EXAMPLES = (
    "Examples:\n\ndeepfact audit import results/my-round cases.csv\n\n"
    "deepfact audit import results/my-round ada.json --auditor ada --format label-studio --dry-run"
)

Run = Annotated[Path, typer.Argument(metavar="RUN", help="The run's results folder.")]
Who = Annotated[str, typer.Option(help="Whose cases, when several people audit.")]


class FileFormat(StrEnum):
    """Those of `deepfact.exchange_formats`, which is not imported for ``--help``."""

    CSV = "csv"
    JSONL = "jsonl"
    LABEL_STUDIO = "label-studio"
    ARGILLA = "argilla"


Kind = Annotated[FileFormat, typer.Option("--format", help="Format of the file.")]


def export(
    run: Run,
    out: Annotated[Path, typer.Option(help="The file to write; it must not exist.")],
    kind: Kind = FileFormat.CSV,
    auditor: Who = "",
    decided: Annotated[
        bool, typer.Option("--decided", help="Also cases that are decided, filled in.")
    ] = False,
    root: Root = None,
) -> None:
    """Write one person's blind cases to a file, to be decided elsewhere."""
    from deepfact.cli.round import run_folder
    from deepfact.exchange import export_cases
    from deepfact.exchange_formats import Format

    folder = run_folder(run)
    done = export_cases(folder, out, Format(kind), auditor=auditor, decided=decided, root=root)
    typer.echo(f"{done.cases} cases ({done.decided} decided) written to {out}")
    for path in done.files[1:]:
        typer.echo(f"the interface that goes with them: {path}")


def import_(
    run: Run,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An exported file, filled in.")],
    kind: Kind = FileFormat.CSV,
    auditor: Who = "",
    encoding: Annotated[str, typer.Option(help="Encoding of the file.")] = "utf-8-sig",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done; keep nothing.")
    ] = False,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Keep the decisions of a file. Right rows are kept; wrong ones are listed, with exit code 1.

    Rows without an answer are left for later. A case that is decided already is never overwritten.
    """
    from deepfact.cli.round import run_folder
    from deepfact.errors import CheckFailed
    from deepfact.exchange import import_decisions
    from deepfact.exchange_formats import Format

    folder = run_folder(run)
    done = import_decisions(
        folder, file, Format(kind), auditor=auditor, encoding=encoding, dry_run=dry_run, root=root
    )
    if as_json:
        print_json(
            {
                "kept": done.kept,
                "again": done.again,
                "undecided": done.undecided,
                "problems": [
                    {"where": each.where, "what": each.what, "fix": each.fix}
                    for each in done.problems
                ],
            }
        )
    else:
        kept = "would be kept" if dry_run else "kept"
        typer.echo(
            f"{done.kept} decisions {kept}, {done.again} known already, "
            f"{done.undecided} rows without an answer, {len(done.problems)} rows not accepted"
        )
        for each in done.problems:
            note(str(each))
    if done.problems:
        raise CheckFailed(f"{len(done.problems)} rows were not accepted", where=str(file))
