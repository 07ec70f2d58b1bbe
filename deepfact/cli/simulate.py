"""``deepfact simulate``: rounds with auditors of a stated accuracy, many times over.

Only the shell: see `deepfact.simulation`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deepfact.cli.options import Json, Root
from deepfact.cli.output import note, print_json, print_table, progress

EXAMPLES = (
    "Examples:\n\ndeepfact simulate configs/simulation-four-rounds.yaml\n\n"
    "deepfact simulate configs/simulation-four-rounds.yaml --seeds 3 --out results/quick"
)


def simulate(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="The simulation's spec.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Results folder.  [default: results/<name>]", show_default=False),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="How often to draw.  [default: as the spec says]")
    ] = None,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Simulate rounds with auditors that know the key and err at a stated rate.

    Asks no model and no person, and writes to no benchmark. It shows how the loop behaves with
    auditors of some accuracy, and nothing of anybody's accuracy.
    """
    from deepfact.reports.simulation_report import WARNING, write_reports
    from deepfact.reports.study import change_words, share_words
    from deepfact.simulation import check_out
    from deepfact.simulation import simulate as run
    from deepfact.simulation_records import SimulationSpec
    from deepfact.store.specs import read_yaml

    spec = read_yaml(config, SimulationSpec)
    if seeds is not None:
        spec = spec.model_copy(update={"seeds": seeds})
    folder = out or Path("results") / spec.name
    check_out(folder)
    with progress() as watch:
        record = run(spec, root=root, watch=watch)
    write_reports(record, folder)
    if as_json:
        print_json(record.model_dump(mode="json"))
        return
    print_table(
        ["scenario", "auditor", "one-shot", "audited", "change", ""],
        [
            [cell.scenario, f"{cell.auditor:g}", share_words(cell.before),
             share_words(cell.after), change_words(cell.change), cell.verdict]
            for cell in record.cells
        ],
        title=f"{record.name}: simulated, {spec.seeds} seeds [95 % interval]",
    )  # fmt: skip
    note(WARNING)
    typer.echo(f"report: {folder / 'report.html'}")
