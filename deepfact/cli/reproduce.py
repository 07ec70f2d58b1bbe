"""``deepfact reproduce``: published tables again, from the stored predictions of others.

Only the shell: the figures are in `deepfact.reproduce`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deepfact.cli.options import Json
from deepfact.cli.output import note, print_json, print_table, say

if TYPE_CHECKING:
    from deepfact.reproduce import Reproduced, Reproduction
    from deepfact.reproduce.listed import Value

EXAMPLES = (
    "Exit codes: 0 every figure is the same, 1 one differs, 2 one could not be computed.\n\n"
    "Examples:\n\ndeepfact reproduce --data data\n\n"
    'deepfact reproduce --data data --only "wice/*" --only "multivers/*"\n\n'
    "deepfact reproduce --data data --all --json"
)


def reproduce(
    data: Annotated[Path, typer.Option(help="Folder of the public data sets.")],
    expected: Annotated[
        Path | None,
        typer.Option(
            help="The list of figures.  [default: expected_numbers.json in the folder]",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Only these figures; * stands for anything. Repeatable."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also figures that the list does not name.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Recompute published tables from stored predictions, and compare digit by digit."""
    from deepfact import reproduce as figures
    from deepfact.errors import CheckFailed, InputError

    found = figures.reproduce(data, expected=expected, only=only or (), everything=everything)
    if as_json:
        print_json(_as_json(found))
    else:
        _print(found)
    for licence in dict.fromkeys(f.licence for f in found.figures if f.licence):
        note(f"licence of the data: {licence}")
    for name, error in found.failed.items():
        note(f"{name} could not be computed: {error}")
    wrong = [figure.figure for figure in found.figures if figure.differs]
    if found.failed:
        raise InputError(
            f"{len(found.failed)} figures could not be computed"
            + (f", and {len(wrong)} differ: {', '.join(wrong)}" if wrong else ""),
            where=str(data),
        )
    if wrong:
        raise CheckFailed(f"{len(wrong)} figures differ: {', '.join(wrong)}")


def _print(found: Reproduction) -> None:
    for figure in found.figures:
        score = figure.score
        counted = [f"n={score.n}", f"{score.unverified} without an answer"]
        counted += [f"{count} left out: {why}" for why, count in score.left_out.items()]
        say(f"{figure.figure}  (scheme {score.scheme}; {', '.join(counted)})")
        columns = ["value", "ours [95 % interval]", "published", "recomputed", ""]
        print_table(columns, [_row(value) for value in figure.values])
        if any(value.result == "differs as listed" for value in figure.values):
            say(f"  {figure.published_source}\n")
    values = [value for figure in found.figures for value in figure.values]
    counts = {
        "same": "the same as listed",
        "differs as listed": "off the published value as the list says",
        "differs": "DIFFER",
        "no figure": "with no figure to compare with",
    }
    said = [
        f"{n} {words}"
        for result, words in counts.items()
        if (n := sum(value.result == result for value in values)) or result == "differs"
    ]
    say(
        f"{len(found.figures)} figures, {len(values)} values: {', '.join(said)}; "
        f"{len(found.failed)} figures could not be computed"
    )


def _row(value: Value) -> list[str]:
    listed = [value.published, value.recomputed]
    places = max((len(str(number).partition(".")[2]) for number in listed if number), default=4)
    places = min(max(places, 2), 6)
    exact = value.name == "n"
    ours = "-" if value.ours is None else f"{value.ours:.{0 if exact else places}f}"
    if value.low is not None and value.high is not None:
        ours += f" [{value.low:.{places}f}, {value.high:.{places}f}]"
    shown = ["-" if number is None else str(number) for number in listed]
    word = value.result.upper() if value.result == "differs" else value.result
    return [value.name, ours, *shown, word]


def _as_json(found: Reproduction) -> dict[str, Any]:
    return {
        "figures": [_figure(figure) for figure in found.figures],
        "failed": {name: str(error) for name, error in found.failed.items()},
    }


def _figure(figure: Reproduced) -> dict[str, Any]:
    score = figure.score
    return {
        "id": figure.figure,
        "scheme": score.scheme,
        "n": score.n,
        "unverified": score.unverified,
        "left_out": dict(score.left_out),
        "intervals": score.method,
        "published_source": figure.published_source,
        "licence": figure.licence,
        "values": [
            {
                "name": value.name,
                "ours": value.ours,
                "low": value.low,
                "high": value.high,
                "published": None if value.published is None else float(value.published),
                "recomputed": None if value.recomputed is None else float(value.recomputed),
                "result": value.result,
            }
            for value in figure.values
        ],
    }
