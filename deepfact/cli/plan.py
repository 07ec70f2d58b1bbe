"""``deepfact plan``: what a run would ask and cost, before anything is spent. Only the shell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deepfact.cli.options import Json, Root
from deepfact.cli.output import note, print_json, print_table

if TYPE_CHECKING:
    from deepfact.plan import Plan

EXAMPLES = (
    "Examples:\n\ndeepfact plan configs/ab-founding.yaml"
    "\n\ndeepfact plan configs/regress-founding.yaml --json"
    "\n\ndeepfact plan configs/verifier-document.yaml --benchmark deepfact-mini --limit 5"
)


def plan(
    config: Annotated[
        Path,
        typer.Argument(
            metavar="CONFIG",
            help="The spec of an A/B, a regression check or rounds, or a verifier's.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Results folder whose stored answers count.  [default: results/<name>]",
            show_default=False,
        ),
    ] = None,
    root: Root = None,
    auditors: Annotated[
        Path, typer.Option(help="Folder with the auditors' files, for a spec of rounds.")
    ] = Path("auditors"),
    repeat: Annotated[
        int | None, typer.Option(min=1, help="As of `deepfact ab`.", show_default=False)
    ] = None,
    seconds: Annotated[
        float, typer.Option(min=0.001, help="What a live call is taken to last, in seconds.")
    ] = 5.0,
    benchmark: Annotated[
        str, typer.Option(metavar="NAME[@VERSION]", help="With a verifier: what it would verify.")
    ] = "",
    limit: Annotated[
        int, typer.Option(min=0, help="With a verifier: only the first N claims; 0 is all.")
    ] = 0,
    workers: Annotated[
        int, typer.Option(min=1, help="Of a Ray cluster to compare with, see docs/executors.md.")
    ] = 4,
    as_json: Json = False,
) -> None:
    """Say how many calls, tokens, dollars and minutes a run would take. Asks nothing.

    Calls are counted: every request is rendered and looked up among the stored answers. Tokens,
    cost and time are estimates, and say how they were made.
    """
    found = _found(config, out, root, auditors, repeat, seconds, benchmark, limit)
    show_plan(found, as_json=as_json, workers=workers)


def _found(
    config: Path,
    out: Path | None,
    root: Path | None,
    auditors: Path,
    repeat: int | None,
    seconds: float,
    benchmark: str,
    limit: int,
) -> Plan:
    """The plan of whatever kind of spec the file holds."""
    from deepfact.errors import InputError
    from deepfact.experiment_records import AbSpec
    from deepfact.plan import plan_experiment, plan_regression, plan_round
    from deepfact.regression_records import RegressSpec
    from deepfact.run_records import RoundSpec
    from deepfact.store.specs import read_yaml

    keys = _keys(config)
    if "kind" in keys and not benchmark:
        raise InputError(
            "this is a verifier's file: say what it would verify",
            where=str(config),
            fix=f"such as: deepfact plan {config} --benchmark deepfact-mini",
        )
    if "kind" not in keys and (benchmark or limit):
        raise InputError(
            "--benchmark and --limit go with the file of a verifier",
            where=str(config),
            fix="leave them out: the spec says what is verified",
        )
    if "kind" in keys:
        return _of_verifier(config, benchmark, limit, out, root, seconds)
    if "auditors" in keys:
        from deepfact.auditors import read_auditors
        from deepfact.running.run_state import auditor_names

        rounds = read_yaml(config, RoundSpec)
        return plan_round(
            rounds,
            auditors=read_auditors(auditor_names(rounds), auditors),
            folder=out or Path("results") / rounds.name,
            root=root,
            seconds_per_call=seconds,
        )
    if "verifier" in keys and "arms" not in keys:
        check = read_yaml(config, RegressSpec)
        folder = out or Path("results") / check.name
        return plan_regression(check, folder, root=root, seconds_per_call=seconds)
    spec = read_yaml(config, AbSpec)
    if repeat is not None:
        spec = spec.model_copy(update={"repeat": repeat})
    folder = out or Path("results") / spec.name
    return plan_experiment(spec, folder, root=root, seconds_per_call=seconds)


def _of_verifier(
    config: Path, benchmark: str, limit: int, out: Path | None, root: Path | None, seconds: float
) -> Plan:
    """What ``deepfact verify`` would ask, given what its folder holds already."""
    from deepfact.experiment import build_arms, load_claims
    from deepfact.experiment_records import ClaimsSpec, SelectSpec
    from deepfact.plan import Stored, plan_arms
    from deepfact.run_records import VerifierSpec
    from deepfact.store.specs import read_yaml

    spec = read_yaml(config, VerifierSpec)
    claims = load_claims(ClaimsSpec(benchmark=benchmark, select=SelectSpec(limit=limit)), root)
    arms = build_arms({spec.label: spec})
    stores = [Path(str(spec.options["responses"]))] if spec.options.get("responses") else []
    stores += [out / "responses.sqlite"] if out else []
    return plan_arms(spec.label, arms, claims, Stored.of(stores, []), seconds_per_call=seconds)


def _keys(config: Path) -> set[str]:
    """The top-level keys of a spec, which tell its kind: only rounds name auditors, only A/Bs
    arms. What does not fit the kind is told when the spec is read as such."""
    from deepfact.store.files import read_text

    lines = read_text(config).splitlines()
    return {line.partition(":")[0] for line in lines if line[:1].isalpha()}


def show_plan(found: Plan, *, as_json: bool, workers: int = 4) -> None:
    """Print a plan."""
    from deepfact.executors.estimates import BATCH_MINUTES, local_minutes, ray_minutes

    live = local_minutes(found.minutes, found.calls)
    on_ray = ray_minutes(found.minutes, found.calls, workers)
    if as_json:
        totals = {"calls": found.calls, "usd": found.usd, "usd_batched": found.usd_batched}
        minutes = {
            "local": live,
            "batched_at_most": BATCH_MINUTES if found.calls else 0.0,
            "ray": {"workers": workers, "minutes": on_ray},
        }
        print_json({**found.model_dump(mode="json"), **totals, "minutes_by_executor": minutes})
        return
    rows = []
    for arm in found.arms:
        if not arm.prompted:
            rows.append([arm.arm, "asks no model", "", "", "", "", "", ""])
            continue
        rows.append(
            [
                arm.arm,
                ", ".join(arm.models),
                f"{arm.votes} ({arm.answered} stored)",
                f"at most {arm.calls}" if arm.at_most and arm.calls else str(arm.calls),
                f"~{arm.input_tokens}",
                f"~{arm.output_tokens} ({arm.output_from})" if arm.calls else "0",
                _usd(arm.usd, arm.unpriced),
                _usd(arm.usd_batched, arm.unpriced),
            ]
        )
    columns = ["arm", "model", "votes", "calls", "tokens in", "tokens out", "live", "batched"]
    times = f", asked {found.repeat} times" if found.repeat > 1 else ""
    print_table(columns, rows, title=f"{found.name}: {found.claims} claims{times}")
    unpriced = tuple(sorted({model for arm in found.arms for model in arm.unpriced}))
    typer.echo(
        f"in all: {_most(found)}{found.calls} calls, {_usd(found.usd, unpriced)} live, "
        f"{_usd(found.usd_batched, unpriced)} batched, about {live:.1f} minutes live"
    )
    if found.calls:
        typer.echo(
            f"time: about {live:.1f} minutes live, up to a day batched, about {on_ray:.1f} minutes "
            f"live on {workers} ray workers (the limits hold for all of them together)"
        )
    for words in found.notes:
        note(words)
    typer.echo("nothing was asked")


def _most(found: Plan) -> str:
    return "at most " if any(arm.at_most and arm.calls for arm in found.arms) else ""


def _usd(value: float | None, unpriced: tuple[str, ...]) -> str:
    if value is None:
        return f"unknown price ({', '.join(unpriced)})"
    return f"~${value:.2f}"
