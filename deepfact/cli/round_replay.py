"""``deepfact round replay``: what a run would have come to under another policy.

Only the shell: rulings are made again in `deepfact.replay`. Nothing on disk changes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deepfact.cli.options import Json, Root
from deepfact.cli.output import note, print_json, print_table, say, show_rate

if TYPE_CHECKING:
    from deepfact.replay import Replay, ReplayedRound

EXAMPLES = (
    "Examples:\n\ndeepfact round replay results/demo\n\n"
    "deepfact round replay results/demo --policy majority\n\n"
    "deepfact round replay results/demo --policy '{rule: weighted, weights: {min_cases: 8}}'\n\n"
    "deepfact round replay results/demo --policy stricter.yaml --json"
)
SHOWN = 20
"""Rows of a table before the rest is left to ``--json``."""


def replay(
    target: Annotated[
        Path, typer.Argument(metavar="RUN|CONFIG", help="Results folder, or its spec.")
    ],
    policy: Annotated[
        str,
        typer.Option(
            help="A rule (single, majority, unanimous, weighted), a YAML file, or YAML in braces; "
            "each round's own when left out.",
        ),
    ] = "",
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Show which labels would differ under another policy. Changes nothing.

    Rulings are made again from the recorded decisions, round by round. Cases that an earlier
    round would have made impossible, and decisions that nobody has made, are named.
    """
    from deepfact.cli.round import run_folder
    from deepfact.replay import read_policy, replay_run

    folder = run_folder(target, of_rounds=True)
    result = replay_run(folder, read_policy(policy) if policy else None, root=root)
    if as_json:
        print_json(result.model_dump(mode="json") | {"same": result.same})
        return
    for round_ in result.rounds:
        _show(round_)
    _close(result)


def _show(round_: ReplayedRound) -> None:
    from deepfact.reports.audit_view import policy_words

    say(f"round {round_.round}: {policy_words(round_.policy)}")
    if round_.policy != round_.recorded_policy:
        say(f"  instead of {policy_words(round_.recorded_policy)}")
    say(
        f"  {len(round_.differ)} of {round_.cases} rulings and {len(round_.labels)} labels "
        "would differ"
    )
    if round_.weights:
        rows = [
            [w.auditor, f"{w.weight:.2f}", f"{w.accuracy:.2f}", w.basis,
             f"{w.right}/{w.of}" if w.basis != "given" else ""]
            for w in round_.weights
        ]  # fmt: skip
        print_table(["auditor", "weight", "accuracy", "basis", "right/known"], rows)
    if round_.differ:
        rows = [
            [d.case_id, d.claim_id, d.recorded, d.replayed,
             ", ".join(f"{who}: {label}" for who, label in d.votes.items())]
            for d in round_.differ[:SHOWN]
        ]  # fmt: skip
        print_table(["case", "claim", "recorded", "would be", "decisions"], rows)
        _left_out(len(round_.differ), "rulings")
    others = {claim.claim_id for claim in round_.labels} - {d.claim_id for d in round_.differ}
    if others:
        say(f"  labels that differ since an earlier round: {', '.join(sorted(others)[:SHOWN])}")
        _left_out(len(others), "labels")
    rows = [
        [s.of, s.on, show_rate(s.recorded) if s.recorded else "not scored", show_rate(s.replayed)]
        for s in round_.scores
        if s.recorded != s.replayed
    ]
    if rows:
        print_table(["accuracy of", "on", "recorded", "would be [95 % interval]"], rows)
    _limits(round_)


def _limits(round_: ReplayedRound) -> None:
    """What the replay cannot know, said and never skipped."""
    if round_.missing:
        say(f"  {len(round_.missing)} cases lack decisions that this policy asks for; they are "
            "ruled on by those there are:")  # fmt: skip
        for lack in round_.missing[:SHOWN]:
            say(f"    {lack.case_id}: {', '.join(lack.auditors)}")
        _left_out(len(round_.missing), "cases")
    if round_.not_applicable:
        say(f"  {len(round_.not_applicable)} cases would not have been put in this form; they are "
            "set aside, and the label stays as the replay has it:")  # fmt: skip
        for gone in round_.not_applicable[:SHOWN]:
            say(f"    {gone.case_id} ({gone.claim_id}): {gone.why}")
        _left_out(len(round_.not_applicable), "cases")
    if round_.unasked:
        say(f"  {len(round_.unasked)} claims would have been challenged, and nobody was asked: "
            f"{', '.join(round_.unasked[:SHOWN])}")  # fmt: skip
        _left_out(len(round_.unasked), "claims")


def _left_out(count: int, what: str) -> None:
    if count > SHOWN:
        say(f"    and {count - SHOWN} more {what}: see --json")


def _close(result: Replay) -> None:
    if result.open_round:
        note("the run has an open round, which is not in here: its decisions are not all made")
    if result.simulated:
        note("a simulated auditor took part: these figures show the loop, not people")
    if result.same:
        say("every ruling is as recorded")
    note("nothing was changed")
