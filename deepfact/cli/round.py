"""``deepfact round``: run Audit-then-Score rounds, go on with them, see where they stand.

Only the shell: the loop is `deepfact.round`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deepfact.cli import bench_change, executors, round_replay, transfer
from deepfact.cli.branches import note_base_taken, note_run_branched
from deepfact.cli.options import Json, Root
from deepfact.cli.output import note, print_json, print_table, progress, show_rate
from deepfact.cli.pages import App

if TYPE_CHECKING:
    from deepfact.run_records import RunRecord

app = App("Audit-then-Score rounds: run, go on, status, report.")
app.command(epilog=round_replay.EXAMPLES)(round_replay.replay)

Open = Annotated[bool, typer.Option("--open", help="Show the report in the browser at the end.")]
Out = Annotated[
    Path | None,
    typer.Option(help="Results folder.  [default: results/<name of the run>]", show_default=False),
]
Target = Annotated[Path, typer.Argument(metavar="RUN|CONFIG", help="Results folder, or its spec.")]


@app.command(
    epilog="Examples:\n\n"
    "deepfact round run configs/demo.yaml\n\n"
    "deepfact round run configs/demo.yaml --out results/second --open\n\n"
    "deepfact round run configs/demo.yaml --dry-run"
)
def run(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="The run's spec, in YAML.")],
    out: Out = None,
    auditors: Annotated[Path, typer.Option(help="Folder with the auditors' files.")] = Path(
        "auditors"
    ),
    root: Root = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything and say what would be done.")
    ] = False,
    open_report: Open = False,
    executor: executors.Kind = "local",
    address: executors.Address = "",
    executor_option: executors.Options = None,
    as_json: Json = False,
) -> None:
    """Run the rounds of a spec; running it again goes on where it stopped.

    Exit code 3 when it waits for people to decide: see `deepfact audit review`.
    """
    from deepfact.auditors import read_auditors
    from deepfact.round import run_rounds
    from deepfact.run_records import RoundSpec
    from deepfact.running.run_state import auditor_names
    from deepfact.store.specs import read_yaml

    spec = read_yaml(config, RoundSpec)
    declared = read_auditors(auditor_names(spec), auditors)
    folder = out or Path("results") / spec.name
    if dry_run:
        _plan(spec, declared, folder, root)
        return
    where = executors.executor_of(executor, address, executor_option)
    with progress() as watch:
        record = run_rounds(spec, folder, auditors=declared, root=root, watch=watch, executor=where)
    note_run_branched(record, folder, root)
    _finish(record, folder, open_report=open_report, as_json=as_json)


@app.command(
    epilog="Examples:\n\ndeepfact round resume results/demo\n\n"
    "deepfact round resume configs/demo.yaml"
)
def resume(
    target: Target,
    root: Root = None,
    open_report: Open = False,
    executor: executors.Kind = "local",
    address: executors.Address = "",
    executor_option: executors.Options = None,
    as_json: Json = False,
) -> None:
    """Go on with a run that was stopped, or that waited for people.

    Exit code 3 when it still waits.
    """
    from deepfact.round import resume as go_on

    folder = run_folder(target)
    if (folder / "merge.json").is_file():
        bench_change.finish(folder, root=root, as_json=as_json)
        return
    if (folder / "transfer.json").is_file():
        transfer.go_on(folder, root=root, as_json=as_json)
        return
    where = executors.executor_of(executor, address, executor_option)
    with progress() as watch:
        record = go_on(folder, root=root, watch=watch, executor=where)
    note_run_branched(record, folder, root)
    _finish(record, folder, open_report=open_report, as_json=as_json)


@app.command(
    epilog="Examples:\n\ndeepfact round status results/demo\n\n"
    "deepfact round status results/demo --json"
)
def status(target: Target, as_json: Json = False) -> None:
    """Say how far a run is. Changes nothing. Exit code 3 when it is not complete."""
    from deepfact.running.run_state import run_status

    state = run_status(run_folder(target))
    if as_json:
        print_json(state.as_dict())
    else:
        for line in state.lines():
            typer.echo(line)
    if not state.complete:
        raise typer.Exit(3)


@app.command(epilog="Examples:\n\ndeepfact round report results/demo --open")
def report(target: Target, root: Root = None, open_report: Open = False) -> None:
    """Write the reports of a run again from its record, and say where they are."""
    from deepfact.api import read_run
    from deepfact.reports.write import write_reports
    from deepfact.running.audit_stats import read_stats
    from deepfact.store.locate import run_benchmark

    folder = run_folder(target, of_rounds=True)
    record = read_run(folder)
    store = run_benchmark(record.spec, folder, root)
    write_reports(record, folder, store.sources, read_stats(folder, root))
    typer.echo(f"report: {folder / 'report.html'}")
    if open_report:
        typer.launch(str(folder / "report.html"))


# --- pieces -------------------------------------------------------------------------------


def run_folder(target: Path, *, of_rounds: bool = False) -> Path:
    """The results folder that a command names, directly or by the run's spec.

    Args:
        target: the folder, or a spec.
        of_rounds: refuse a transfer run, which has cases and auditors but no rounds.

    Raises:
        InputError: there is no run, or none of rounds.
    """
    from deepfact.errors import InputError
    from deepfact.run_records import RoundSpec
    from deepfact.store.specs import read_yaml

    folder = target
    if target.suffix in (".yaml", ".yml"):
        folder = Path("results") / read_yaml(target, RoundSpec).name
    if not (folder / "spec.json").is_file():
        raise InputError(
            "there is no run in this folder",
            where=str(folder),
            fix="start one with: deepfact round run CONFIG",
        )
    if of_rounds and (folder / "transfer.json").is_file():
        raise InputError(
            "this is a transfer run: there is no round to speak of",
            where=str(folder),
            fix="what came of it is in its report.html and record.json",
        )
    return folder


def _plan(spec: Any, auditors: Any, folder: Path, root: Path | None) -> None:
    from deepfact.auditors.specs import in_words
    from deepfact.run_records import SavedSpec
    from deepfact.running.run_state import check_auditors, check_folder, checked_stages
    from deepfact.store.locate import load_version

    stages = checked_stages(spec, auditors)
    version = load_version(spec.benchmark, root)
    check_folder(folder, SavedSpec(spec=spec, auditors=auditors))
    check_auditors(stages, version)
    typer.echo(f"{spec.name}: {len(stages)} rounds on {version}, {len(version.claims)} claims")
    for number, stage in enumerate(stages, 1):
        people = ", ".join(map(in_words, stage.auditors))
        typer.echo(f"  round {number}: challenger {stage.challenger.label}; auditors {people}")
    for verifier in spec.scored:
        typer.echo(f"  scored beside: {verifier.label}")
    where = "a copy in the results folder" if spec.commit_to == "run" else str(version.store.folder)
    typer.echo(f"  new versions go to {where}; results to {folder}")
    note_base_taken(version)
    typer.echo("dry run: nothing was done")


def _finish(record: RunRecord, folder: Path, *, open_report: bool, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "status": str(record.status),
                "record": str(folder / "record.json"),
                "report": str(folder / "report.html"),
                "waiting": len(record.waiting),
            }
        )
    else:
        _print_summary(record)
        typer.echo(f"report: {folder / 'report.html'}")
    if open_report:
        typer.launch(str(folder / "report.html"))
    if record.waiting:
        note(
            f"{len(record.waiting)} cases wait for people; decide them with: "
            f"deepfact audit review {folder}\n  or in the browser: deepfact audit serve {folder}"
            f"\n  then: deepfact round resume {folder}"
        )
        raise typer.Exit(3)


def _print_summary(record: RunRecord) -> None:
    """The figures that fit on a screen; what must be known to read some is said once, below."""
    from deepfact.reports.summary import summary_rows

    rows, notes = [], dict[str, str]()
    for row in summary_rows(record):
        value = row.words
        if row.rate:
            value = show_rate(row.rate)
        elif row.count is not None:
            value = str(row.count)
        mark = notes.setdefault(row.note, "*" * (len(notes) + 1)) if row.note else ""
        rows.append([str(row.round or ""), row.name, f"{value} {mark}".rstrip()])
    print_table(["round", "", "[95 % interval]"], rows, title=f"{record.name}: {record.status}")
    for text, mark in notes.items():
        typer.echo(f"{mark} {text}")
