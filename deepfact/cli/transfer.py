"""``deepfact transfer``: verifiers on public data sets, and whose error a disagreement is.

Only the shell: see `deepfact.transfer`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from deepfact.cli.asking import (
    Auditors,
    Config,
    DryRun,
    Out,
    Yes,
    cost_words,
    price_words,
    refuse_unless_paid_for,
)
from deepfact.cli.options import Json, Root
from deepfact.cli.output import note, print_json, print_table, progress, say, show_rate

if TYPE_CHECKING:
    from deepfact.transfer.planning import TransferPlan
    from deepfact.transfer_records import TransferRecord

EXAMPLES = (
    "Examples:\n\ndeepfact transfer configs/transfer.yaml --dry-run\n\n"
    "deepfact transfer configs/transfer.yaml\n\n"
    "deepfact transfer my-transfer.yaml --yes --out results/transfer"
)


def transfer(
    config: Config,
    out: Out = None,
    auditors: Auditors = Path("auditors"),
    root: Root = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Compare verifiers with the labels of data sets, and audit what disagrees.

    A disagreement comes back as annotation divergence, with its kind, or as likely model error.
    Where models would have to be asked, the estimate is shown and --yes is needed. Exit code 3
    when people have yet to decide (see `deepfact audit review`); running it again goes on.
    """
    from deepfact.auditors import read_auditors
    from deepfact.store.specs import read_yaml
    from deepfact.transfer import run_transfer
    from deepfact.transfer.planning import plan_transfer
    from deepfact.transfer_records import TransferSpec

    spec = read_yaml(config, TransferSpec)
    declared = read_auditors(spec.auditors, auditors)
    folder = out or Path("results") / spec.name
    if dry_run or not yes:
        plan = plan_transfer(spec, folder, auditors=declared, root=root)
        if dry_run:
            _show_plan(plan, as_json)
            return
        if plan.calls:
            _show_plan(plan, as_json=False, err=True)
            refuse_unless_paid_for(plan.calls, config)
    with progress() as watch:
        record = run_transfer(spec, folder, auditors=declared, root=root, watch=watch)
    _finish(record, folder, as_json=as_json)


def go_on(folder: Path, *, root: Path | None, as_json: bool) -> None:
    """What ``deepfact round resume`` does with a transfer run: the same, from what is saved."""
    from deepfact.store.files import read_record
    from deepfact.transfer import run_transfer
    from deepfact.transfer.opening import FILE
    from deepfact.transfer_records import SavedTransfer

    saved = read_record(folder / FILE, SavedTransfer)
    with progress() as watch:
        record = run_transfer(saved.spec, folder, auditors=saved.auditors, root=root, watch=watch)
    _finish(record, folder, as_json=as_json)


def _finish(record: TransferRecord, folder: Path, *, as_json: bool) -> None:
    if as_json:
        print_json(record.model_dump(mode="json"))
    else:
        _show(record)
        say(f"report: {folder / 'report.html'}")
    if record.waiting:
        note(
            f"{len(record.waiting)} of {len(record.cases)} cases wait for a decision:\n"
            f"  deepfact audit review {folder}\n"
            f"  or in the browser: deepfact audit serve {folder}\n"
            f"then go on with: deepfact round resume {folder}"
        )
        raise typer.Exit(3)


def _show_plan(plan: TransferPlan, as_json: bool, *, err: bool = False) -> None:
    if as_json:
        print_json(
            {
                "calls": plan.calls,
                "usd": plan.usd,
                "cases": plan.cases,
                "data_sets": [one.model_dump(mode="json") for one in plan.data_sets],
                "pairs": [
                    {"data_set": one.data_set, "verifier": one.verifier, "claims": one.claims,
                     "stored": one.stored, "calls": one.ask.calls if one.ask else 0}
                    for one in plan.pairs
                ],
                "auditors": [one.model_dump(mode="json") for one in plan.agents],
            }
        )  # fmt: skip
        return
    line = note if err else say
    for data_set in plan.data_sets:
        line(
            f"{data_set.name} ({data_set.of}): {data_set.sampled} of {data_set.labelled} labelled "
            f"claims, {data_set.sources} sources, {data_set.skipped} rows left out"
        )
    for pair in plan.pairs:
        words = cost_words(pair.ask) if pair.stored < pair.claims else "nothing to ask"
        line(
            f"{pair.verifier} on {pair.data_set}: {pair.stored} of {pair.claims} answers are "
            f"stored; {words}"
        )
    known = "cases not known yet" if plan.cases is None else f"{plan.cases} cases"
    line(f"audit: {known}")
    for agent in plan.agents:
        line(f"  {agent.arm}: {cost_words(agent)}")
    line(f"in all: up to {plan.calls} calls, {price_words(plan.usd)}; nothing was asked")


def _show(record: TransferRecord) -> None:
    from deepfact.reports.transfer_report import SIMULATED, part_words

    for data_set in record.data_sets:
        bars = [bar for bar in record.bars if bar.data_set == data_set.name]
        rows = [
            [part_words(share), *(show_rate(bar.shares[at].rate) for bar in bars)]
            for at, share in enumerate(bars[0].shares)
            if any(bar.shares[at].rate.k for bar in bars)
        ]
        heads = ["of all sampled claims [95 % interval]", *(bar.verifier for bar in bars)]
        print_table(heads, rows, title=f"{record.name}: {data_set.name}")
    if record.simulated:
        note(SIMULATED)
