"""``deepfact audit stats``: how the auditors of a run agree, err, and take their time.

Only the shell: figures are made in `deepfact.core` and put together in
`deepfact.running.audit_stats`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deepfact.cli.options import Json, Root
from deepfact.cli.output import note, print_json, print_table, say, show_rate

if TYPE_CHECKING:
    from deepfact.measure_records import Agreement, AuditStats, Estimate, Rate, RoundAudit

EXAMPLES = (
    "Examples:\n\ndeepfact audit stats results/demo\n\ndeepfact audit stats results/demo --json"
)

SHOWN = 30
"""Cases to look at again before the rest is left to ``--json``."""


def stats(
    run: Annotated[Path, typer.Argument(metavar="RUN|CONFIG", help="Results folder, or its spec.")],
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Say how the auditors agree and err, how long they take, and what to look at again.

    Only closed rounds are measured, and single cases are named only when the run is complete:
    which of them are controls must not show before.
    """
    from deepfact.cli.round import run_folder
    from deepfact.running.audit_stats import read_stats

    found = read_stats(run_folder(run, of_rounds=True), root)
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    for round_ in found.rounds:
        _show_round(round_)
    _show_pace(found)
    _show_second_look(found)
    if found.open_round:
        note(f"round {found.open_round} waits for decisions; it is measured when it is closed")
    if found.simulated:
        note("a simulated auditor took part: these figures show the loop, not people")


def _show_round(round_: RoundAudit) -> None:
    rows = [
        [a.auditor, str(a.cases), str(a.cannot_tell), show_rate(a.microgold),
         show_rate(a.controls_upheld)]
        for a in round_.auditors
    ]  # fmt: skip
    columns = ["auditor", "cases", "cannot tell", "right on micro-gold", "controls upheld"]
    print_table(columns, rows, title=f"round {round_.round}: auditors [95 % interval]")
    if round_.agreement:
        _show_agreement(round_.agreement)
    else:
        say("agreement: no case was labelled by two auditors\n")
    rows = [
        [b.auditor, _share(b.for_incumbent), _share(b.for_challenger),
         _share(b.kept_wrong), _share(b.accepted_wrong)]
        for b in round_.bias
    ]  # fmt: skip
    columns = ["auditor", "errors for the benchmark", "errors for the challenger",
               "wrong label kept", "wrong challenge believed"]  # fmt: skip
    print_table(columns, rows, title="bias, on micro-gold challenges")
    rows = [[b.auditor, _share(b.control_incumbent), _share(b.first_side)] for b in round_.bias]
    columns = ["auditor", "benchmark's words, on controls", "side A, on all cases"]
    print_table(columns, rows, title="choices of a side, where about half are expected")
    if round_.weights:
        rows = [
            [w.auditor, f"{w.weight:.2f}", f"{w.accuracy:.2f}", w.basis] for w in round_.weights
        ]
        print_table(["auditor", "weight", "accuracy", "basis"], rows, title="weights of votes")


def _show_agreement(found: Agreement) -> None:
    rows = [
        [g.of, str(g.cases), show_rate(g.same), _kappa(g.fleiss), _kappa(g.alpha)]
        for g in found.groups
    ]
    columns = ["agreement on", "cases", "all gave one label", "Fleiss' kappa",
               "Krippendorff's alpha"]  # fmt: skip
    title = f"agreement: {found.decisions} decisions, {found.cannot_tell} of them cannot tell"
    print_table(columns, rows, title=title)
    rows = [[f"{p.a} and {p.b}", show_rate(p.same), _kappa(p.kappa)] for p in found.pairs]
    print_table(["pair", "same label", "Cohen's kappa"], rows)


def _share(rate: Rate) -> str:
    """A share, or that there is nothing to share."""
    return show_rate(rate) if rate.n else "none to count (n=0)"


def _kappa(estimate: Estimate) -> str:
    """A coefficient with its interval; why there is none when there is none."""
    if estimate.value is None:
        return f"not defined: one label throughout (n={estimate.n})"
    if estimate.low is None or estimate.high is None:
        return f"not shown: one report, no interval (n={estimate.n})"
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}] (n={estimate.n})"


def _show_pace(found: AuditStats) -> None:
    rows = [
        [p.auditor, str(p.round), str(p.n), str(p.untimed), *map(_seconds, (p.q1, p.median, p.q3))]
        for p in found.pace
        if p.n
    ]
    if rows:
        columns = ["auditor", "round", "timed", "untimed", "lower quartile", "median",
                   "upper quartile"]  # fmt: skip
        print_table(columns, rows, title="time per case")
    else:
        say("time per case: nobody's time is known\n")


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.1f} s" if value < 100 else f"{value / 60:.1f} min"


def _show_second_look(found: AuditStats) -> None:
    if not found.complete:
        say("cases worth a second look are named when the run is complete")
        return
    say(f"worth a second look: {len(found.second_look)} cases")
    for case in found.second_look[:SHOWN]:
        say(f"  {case.case_id} {case.claim_id}: {case.claim}")
        for reason in case.reasons:
            say(f"      {reason}")
    if len(found.second_look) > SHOWN:
        say(f"  and {len(found.second_look) - SHOWN} more: see --json")
