"""``deepfact ab``: two or more verifiers on the same claims, compared claim by claim.

Only the shell: the loop is `deepfact.experiment`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deepfact.cli import executors
from deepfact.cli.options import Json, Root
from deepfact.cli.output import note, print_json, print_table, progress, show_rate

if TYPE_CHECKING:
    from deepfact.experiment_records import AbRecord

EXAMPLES = (
    "Examples:\n\n"
    "deepfact ab configs/ab-founding.yaml\n\n"
    "deepfact ab my-ab.yaml --dry-run\n\n"
    "deepfact ab my-ab.yaml --repeat 3 --out results/my-ab-three\n\n"
    "deepfact ab my-ab.yaml --replay"
)


def ab(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="The A/B spec, in YAML.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Results folder.  [default: results/<name>]", show_default=False),
    ] = None,
    root: Root = None,
    replay: Annotated[
        bool,
        typer.Option("--replay", help="Call nobody; exit 3 when a stored answer is missing."),
    ] = False,
    repeat: Annotated[
        int | None,
        typer.Option(min=1, help="Ask everything so often.  [default: as the spec says]"),
    ] = None,
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed",
            help="Ask again where an earlier start left a claim unverified for a reason that may "
            "have passed, such as a rate limit or an expired batch.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would ask and cost; ask nothing.")
    ] = False,
    open_report: Annotated[
        bool, typer.Option("--open", help="Show the report in the browser at the end.")
    ] = False,
    executor: executors.Kind = "local",
    address: executors.Address = "",
    executor_option: executors.Options = None,
    as_json: Json = False,
) -> None:
    """Compare verifiers on the same claims; running it again goes on where it stopped.

    The arms are asked in turn, claim by claim; the report shows what each confirms, every claim
    that flipped with both arms' reasons, and whether an arm only became lax. Exit code 1 when
    a gate of the spec does not hold, 3 when answers are missing or pending.
    """
    from deepfact.experiment import run_experiment
    from deepfact.experiment_records import AbSpec
    from deepfact.store.specs import read_yaml

    spec = read_yaml(config, AbSpec)
    if repeat is not None:
        spec = spec.model_copy(update={"repeat": repeat})
    folder = out or Path("results") / spec.name
    if dry_run:
        from deepfact.cli.plan import show_plan
        from deepfact.plan import plan_experiment

        show_plan(plan_experiment(spec, folder, root=root), as_json=as_json)
        return
    where = executors.executor_of(executor, address, executor_option)
    with progress() as watch:
        record = run_experiment(
            spec, folder, root=root, replay=replay, retry_failed=retry_failed, watch=watch,
            executor=where,
        )  # fmt: skip
    _finish(record, folder, open_report=open_report, as_json=as_json)


def _finish(record: AbRecord, folder: Path, *, open_report: bool, as_json: bool) -> None:
    if as_json:
        print_json(_summary(record, folder))
    else:
        _show(record, folder)
    if open_report:
        typer.launch(str(folder / "report.html"))
    if not record.passed:
        for gate in record.gates:
            if not gate.holds:
                note(f"gate does not hold: {gate.words}")
        raise typer.Exit(1)


def _summary(record: AbRecord, folder: Path) -> dict[str, object]:
    """The figures for programs."""
    return {
        "name": record.name,
        "passed": record.passed,
        "record": str(folder / "record.json"),
        "report": str(folder / "report.html"),
        "n": len(record.claims),
        "labels_from": str(record.labels_from),
        "arms": {
            arm.arm: {
                "confirmed": arm.rates[0].confirmed.k,
                "refuted": arm.rates[0].refuted.k,
                "unverified": arm.rates[0].unverified.k,
                "usd": arm.usage.usd,
            }
            for arm in record.arms
        },
        "comparisons": [
            {
                "first": one.first,
                "other": one.other,
                "flips": len(one.flips),
                "newly_confirmed_contradictory": [
                    flip.claim_id for flip in one.flips if flip.false_confirmation
                ],
                "differences": [each.model_dump(mode="json") for each in one.differences],
            }
            for one in record.comparisons
        ],
        "gates": [gate.model_dump(mode="json") for gate in record.gates],
        "missing": list(record.missing),
    }


def _show(record: AbRecord, folder: Path) -> None:
    from deepfact.reports.ab_report import p_words, points

    rows = [
        [
            arm.arm if rates.group == "all" else "",
            rates.group,
            *map(show_rate, (rates.confirmed, rates.refuted)),
            str(rates.unverified.k),
        ]
        for arm in record.arms
        for rates in arm.rates
    ]
    print_table(["arm", "claims", "confirmed", "refuted", "unverified"], rows, title=record.name)
    for comparison in record.comparisons:
        rows = []
        for one in comparison.differences:
            value, low, high = one.difference.value, one.difference.low, one.difference.high
            shown = "no claims (n=0)"
            if value is not None and low is not None and high is not None:
                shown = f"{points(value)} points [{points(low)}, {points(high)}]"
            could = "nothing" if one.detectable is None else f"{100 * one.detectable:.1f} points"
            rows.append(
                [
                    one.group, str(one.n), shown, f"{one.only_other} / {one.only_first}",
                    p_words(one.p_value), could,
                ]
            )  # fmt: skip
        print_table(
            ["claims", "n", "difference", "gained / lost", "McNemar", "could be shown"],
            rows,
            title=f"{comparison.other} against {comparison.first}: {len(comparison.flips)} flips",
        )
    if record.spec.note:
        note(f"note: {record.spec.note}")
    for words in record.missing:
        note(f"not shown: {words}")
    for gate in record.gates:
        if gate.holds:
            typer.echo(f"gate holds: {gate.words}")
    typer.echo(f"report: {folder / 'report.html'}")
