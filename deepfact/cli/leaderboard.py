"""``deepfact leaderboard``: every stored verifier on every version of a benchmark.

Only the shell: everything is worked out in `deepfact.leaderboard`. Asks no verifier anything.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deepfact.cli.options import Json, Root
from deepfact.cli.output import note, print_json, print_table, progress, say, show_rate

if TYPE_CHECKING:
    from deepfact.leaderboard_records import By, Leaderboard

EXAMPLES = (
    "Examples:\n\ndeepfact leaderboard deepfact-mini\n\n"
    "deepfact leaderboard my-bench --verdicts theirs.jsonl --verdicts results/trial --by macro-f1"
    "\n\ndeepfact leaderboard my-bench --csv scores.csv --markdown scores.md"
)
SHOWN = 20
"""Changes of order that are printed; all of them are in ``--json`` and ``--markdown``."""


def leaderboard(
    name: Annotated[str, typer.Argument(help="The benchmark.")],
    results: Annotated[
        Path | None,
        typer.Option(
            help="Folder whose runs are scored.  [default: results, when there is one]",
            show_default=False,
        ),
    ] = None,
    verdicts: Annotated[
        list[Path] | None,
        typer.Option(help="A run or a file of verdicts to score too. May be repeated."),
    ] = None,
    labels: Annotated[
        str, typer.Option(help="Whose label words files of verdicts use, such as scifact.")
    ] = "deepfact",
    by: Annotated[
        str, typer.Option(help="The score that ranks: accuracy, binary or macro-f1.")
    ] = "accuracy",
    csv: Annotated[Path | None, typer.Option(help="Write the standings here.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write everything here.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Score every stored verifier on every version, and say which label changes moved whom.

    Verdicts come from the runs in the results folder (rounds and A/B runs) and from --verdicts; no
    verifier is asked anything. Challengers are also scored without their own accepted challenges.
    """
    from deepfact.leaderboard import leaderboard as scored
    from deepfact.leaderboard_formats import as_csv, as_markdown
    from deepfact.running.run_state import Progress
    from deepfact.store.files import write_text
    from deepfact.store.locate import open_benchmark

    measure = _measure(by)
    for path in filter(None, (csv, markdown)):
        _check_free(path, force)
    default = Path("results")
    with progress() as watch:
        board = scored(
            open_benchmark(name, root),
            results=results or (default if default.is_dir() or not verdicts else None),
            verdicts=verdicts or (),
            labels=labels,
            by=measure,
            watch=lambda done, total: watch(Progress("score", done, total)),
        )
    for file, text in ((csv, as_csv(board)), (markdown, as_markdown(board))):
        if file is not None:
            write_text(file, text)
            note(f"wrote {file}")
    if as_json:
        print_json(board.model_dump(mode="json"))
    else:
        _print(board)


def _measure(by: str) -> By:
    from typing import get_args

    from deepfact.errors import InputError, did_you_mean
    from deepfact.leaderboard_records import By

    for known in get_args(By):
        if by == known:
            measure: By = known
            return measure
    raise InputError(f"no score is called {by!r}", where="--by", fix=did_you_mean(by, get_args(By)))


def _check_free(path: Path, force: bool) -> None:
    from deepfact.errors import InputError

    if path.is_dir():
        raise InputError("this is a folder, a file is needed", where=str(path))
    if path.exists() and not force:
        raise InputError("this file exists", where=str(path), fix="overwrite it with --force")


def _print(board: Leaderboard) -> None:
    from deepfact.leaderboard_formats import change_lines, estimate_words, ordered, sheet_words

    rows = []
    for one in ordered(board):
        row, sheet = board.rows[one.row], one.score
        missing = f", {sheet.missing} never asked" if sheet.missing else ""
        where = row.where[0] + (f" and {len(row.where) - 1} more" if len(row.where) > 1 else "")
        rows.append(
            [
                str(one.version), str(one.rank), row.verifier, where,
                show_rate(sheet.accuracy) + missing, show_rate(sheet.binary),
                estimate_words(sheet.macro_f1),
            ]
        )  # fmt: skip
    print_table(
        ["version", "rank", "verifier", "from", "accuracy [95 % interval]",
         "supported against the rest", "macro-F1"],
        rows, title=f"{board.benchmark}, ranked by {board.by}",
    )  # fmt: skip
    if board.challengers:
        print_table(
            ["run", "round", "challenger", "on B(t)", "on B(t+1)", "without its own challenges"],
            [[one.run, str(one.round), one.verifier, *map(
                sheet_words, (one.before, one.after, one.without_own)
            )] for one in board.challengers],
            title="Challengers: accuracy on what they challenged and on what came of it",
        )  # fmt: skip
    lines = change_lines(board)
    for line in lines[:SHOWN]:
        say(line)
    if len(lines) > SHOWN:
        say(f"... and {len(lines) - SHOWN} more changes of order: see --json or --markdown")
    reworded = sum(len(one.reworded) for one in board.standings)
    if reworded:
        note(
            f"note: {reworded} verdicts are on other words than a version has, and count as missing"
        )
    for text in board.notes:
        note(f"note: {text}")
