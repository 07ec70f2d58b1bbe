"""``deepfact verify`` and ``deepfact score``: run a verifier over a version, measure verdicts.

Only the shell: verifiers are in `deepfact.verifiers`, the arithmetic is in
`deepfact.core.metrics`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deepfact.cli.options import Json, Root
from deepfact.cli.output import (
    note,
    print_json,
    print_table,
    progress,
    show_estimate,
    show_rate,
)

if TYPE_CHECKING:
    from deepfact.run_records import ScoreSheet

VERIFY_EXAMPLES = (
    "Examples:\n\ndeepfact verify deepfact-mini@1 --out verdicts.jsonl\n\n"
    "deepfact verify deepfact-mini --verifier overlap --out overlap.jsonl\n\n"
    "deepfact verify deepfact-mini --verifier my-verifier.yaml --out mine.jsonl"
)
SCORE_EXAMPLES = (
    "Examples:\n\ndeepfact score verdicts.jsonl --benchmark deepfact-mini@1\n\n"
    "deepfact score theirs.csv --benchmark scifact --labels scifact\n\n"
    "deepfact score verdicts.jsonl --benchmark deepfact-mini --key author --json"
)


def verify(
    benchmark: Annotated[str, typer.Argument(metavar="NAME[@VERSION]")],
    out: Annotated[Path, typer.Option(help="File for the verdicts (JSON Lines).")],
    verifier: Annotated[
        str, typer.Option(help="A kind of verifier, or a YAML file with kind, name, options.")
    ] = "local",
    limit: Annotated[int, typer.Option(help="Only the first N claims; 0 is all.", min=0)] = 0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Let a verifier conclude on every claim of a version, and keep its verdicts in a file."""
    from deepfact import api
    from deepfact.errors import InputError
    from deepfact.store.files import jsonl, write_text

    if out.is_dir():
        raise InputError("this is a folder, a file is needed", where=str(out))
    above = next(parent for parent in out.absolute().parents if parent.exists())
    if not above.is_dir():
        raise InputError("this is a file, not a folder", where=str(above))
    if out.exists() and not force:
        raise InputError("this file exists", where=str(out), fix="overwrite it with --force")
    version = api.load(benchmark, root=root)
    with progress() as watch:
        outcomes = api.verify(
            version, verifier_spec(verifier), limit=limit, workspace=out.parent, watch=watch
        )
    write_text(out, jsonl(outcome.canonical() for outcome in outcomes))
    failed = sum(outcome.kind == "failure" for outcome in outcomes)
    if as_json:
        print_json({"claims": len(outcomes), "failed": failed, "out": str(out)})
    else:
        typer.echo(f"{len(outcomes)} claims of {version}, {failed} without a verdict: {out}")
        typer.echo(f"  score them with: deepfact score {out} --benchmark {version}")


def score(
    verdicts: Annotated[Path, typer.Argument(help="JSON Lines or CSV: claim_id, label, ...")],
    benchmark: Annotated[str, typer.Option(metavar="NAME[@VERSION]", help="What they answer.")],
    key: Annotated[
        str,
        typer.Option(help="Score against this key of the benchmark instead of its labels."),
    ] = "",
    labels: Annotated[
        str, typer.Option(help="Whose label words the file uses, such as scifact.")
    ] = "deepfact",
    encoding: Annotated[str, typer.Option(help="Encoding of the file.")] = "utf-8",
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Score the verdicts of any system. A claim without a verdict counts as wrong, and is shown."""
    from deepfact import api
    from deepfact.importers.verdicts import read_verdicts

    version = api.load(benchmark, root=root)
    read = read_verdicts(verdicts, version.claims, labels=labels, encoding=encoding)
    sheet = api.score(version, read.outcomes, key=key, name=verdicts.stem)
    counts: dict[str, list[str]] = {
        "missing": read.missing,
        "extra": read.extra,
        "duplicate": read.duplicate,
        "conflicting": read.conflicting,
    }
    if as_json:
        print_json({"score": sheet.model_dump(mode="json"), **counts})
        return
    for what, ids in counts.items():
        if ids:
            shown = ", ".join(ids[:5]) + (", ..." if len(ids) > 5 else "")
            note(f"{what}: {len(ids)} ({shown})")
    print_sheet(sheet)


def verifier_spec(text: str) -> Any:
    """The spec that ``--verifier`` names: a kind, or a file.

    Raises:
        InputError: it names nothing.
    """
    from deepfact.errors import InputError
    from deepfact.run_records import VerifierSpec
    from deepfact.store.specs import read_yaml

    if text.endswith((".yaml", ".yml")):
        return read_yaml(Path(text), VerifierSpec)
    if not text.strip():
        raise InputError("name a kind of verifier, or a YAML file", where="--verifier")
    return VerifierSpec(kind=text)


def print_sheet(sheet: ScoreSheet) -> None:
    """A score sheet as tables."""
    typer.echo(f"{sheet.verifier} on {sheet.on}: n={sheet.n}, {sheet.unverified} unverified")
    rows = [
        ["accuracy, 3 labels", show_rate(sheet.accuracy)],
        ["  clustered by report", show_estimate(sheet.accuracy_clustered)],
        ["supported against the rest", show_rate(sheet.binary)],
        ["macro-F1", show_estimate(sheet.macro_f1)],
    ]
    print_table(["score", "value [95 % interval]"], rows)

    def share(value: float | None) -> str:
        return "-" if value is None else f"{value:.3f}"

    print_table(
        ["label", "precision", "recall", "F1", "n"],
        [[c.label, share(c.precision), share(c.recall), share(c.f1), str(c.n)]
         for c in sheet.per_class],
    )  # fmt: skip
    print_table(
        ["benchmark \\ verdict", *(c.label for c in sheet.per_class), "unverified"],
        [[c.label, *map(str, row)]
         for c, row in zip(sheet.per_class, sheet.confusion, strict=True)],
    )  # fmt: skip
    if sheet.strata:
        rows = [[name, show_rate(rate)] for name, rate in sheet.strata.items()]
        print_table(["stratum", "accuracy [95 % interval]"], rows)
