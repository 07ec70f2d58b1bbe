"""``deepfact crossaudit``: several auditors audit several agents where the answer is known.

Only the shell: see `deepfact.crossaudit`.
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
    from deepfact.crossaudit.planning import CrossPlan
    from deepfact.crossaudit_records import CrossAuditRecord

EXAMPLES = (
    "Examples:\n\ndeepfact crossaudit configs/crossaudit.yaml --dry-run\n\n"
    "deepfact crossaudit configs/crossaudit.yaml\n\n"
    "deepfact crossaudit my-crossaudit.yaml --yes --out results/cross"
)


def crossaudit(
    config: Config,
    out: Out = None,
    auditors: Auditors = Path("auditors"),
    root: Root = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Accuracy of each agent alone, after each auditor's audit, and the change.

    Verdicts and decisions of the runs under `stored` are used first. Where models would have to be
    asked, the estimate is shown and --yes is needed. Running it again goes on where it stopped.
    """
    from deepfact.auditors import read_auditors
    from deepfact.crossaudit import run_crossaudit
    from deepfact.crossaudit.planning import plan_crossaudit
    from deepfact.crossaudit_records import CrossAuditSpec
    from deepfact.reports.crossaudit_report import write_reports
    from deepfact.store.specs import read_yaml

    spec = read_yaml(config, CrossAuditSpec)
    declared = read_auditors(spec.auditors, auditors)
    folder = out or Path("results") / spec.name
    plan = plan_crossaudit(spec, folder, auditors=declared, root=root)
    if dry_run:
        _show_plan(plan, as_json)
        return
    if plan.calls and not yes:
        _show_plan(plan, as_json=False, err=True)
        refuse_unless_paid_for(plan.calls, config)
    with progress() as watch:
        record = run_crossaudit(spec, folder, auditors=declared, root=root, watch=watch)
    write_reports(record, folder)
    if as_json:
        print_json(record.model_dump(mode="json"))
    else:
        _show(record)
        say(f"report: {folder / 'report.html'}")
    if not record.complete:
        raise typer.Exit(3)


def _show_plan(plan: CrossPlan, as_json: bool, *, err: bool = False) -> None:
    if as_json:
        print_json(
            {
                "calls": plan.calls,
                "usd": plan.usd,
                "agents": [
                    {"agent": one.agent, "claims": one.claims, "stored": one.stored,
                     "calls": one.ask.calls if one.ask else 0}
                    for one in plan.agents
                ],
                "pairs": [
                    {"auditor": one.auditor, "agent": one.agent, "skipped": one.skipped,
                     "cases": one.cases, "stored": one.stored,
                     "calls": one.ask.calls if one.ask else 0}
                    for one in plan.pairs
                ],
            }
        )  # fmt: skip
        return
    line = note if err else say
    for one in plan.agents:
        words = cost_words(one.ask) if one.stored < one.claims else "nothing to ask"
        line(f"{one.agent}: {one.stored} of {one.claims} verdicts are stored; {words}")
    for pair in plan.pairs:
        name = f"{pair.auditor} on {pair.agent}"
        if pair.skipped:
            line(f"{name}: skipped, it would judge its own model")
            continue
        cases = "cases not known yet" if pair.cases is None else f"{pair.cases} cases"
        line(f"{name}: {cases}, {pair.stored} decisions are stored; {cost_words(pair.ask)}")
    line(f"in all: up to {plan.calls} calls, {price_words(plan.usd)}; nothing was asked")


def _show(record: CrossAuditRecord) -> None:
    from deepfact.reports.crossaudit_report import SIMULATED, auditor_name, pair_words

    rows = [
        [solo.agent, "alone", show_rate(solo.accuracy)] for solo in record.solo
    ]  # fmt: skip
    rows += [[pair.agent, f"audited by {auditor_name(pair)}", pair_words(pair)]
             for pair in record.pairs]  # fmt: skip
    order = {solo.agent: at for at, solo in enumerate(record.solo)}
    rows.sort(key=lambda row: order[row[0]])
    print_table(["agent", "", "[95 % interval]"], rows, title=f"{record.name}: cross-audit")
    say(f"labels before any audit: {show_rate(record.labels)}")
    if record.simulated:
        note(SIMULATED)
