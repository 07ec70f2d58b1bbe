"""``deepfact verify`` and ``deepfact score``: run a verifier over a version, measure verdicts.

Only the shell: verifiers are in `deepfact.verifiers`, the arithmetic is in
`deepfact.core.metrics`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from deepfact.cli import executors
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

By = Literal["f1", "accuracy", "balanced_accuracy"]

VERIFY_EXAMPLES = (
    "Examples:\n\ndeepfact verify deepfact-mini@1 --out verdicts.jsonl\n\n"
    "deepfact verify deepfact-mini --verifier overlap --out overlap.jsonl\n\n"
    "deepfact verify deepfact-mini --verifier my-verifier.yaml --out mine.jsonl\n\n"
    "deepfact verify deepfact-mini --verifier configs/verifier-document.yaml --limit 5 "
    "--out results/document/verdicts.jsonl --report results/document/report.html"
)
SCORE_EXAMPLES = (
    "Examples:\n\ndeepfact score verdicts.jsonl --benchmark deepfact-mini@1\n\n"
    "deepfact score theirs.csv --benchmark scifact --labels scifact\n\n"
    "deepfact score verdicts.jsonl --benchmark deepfact-mini --key author --json\n\n"
    "deepfact score test.jsonl --benchmark mine --report score.html --threshold-from dev.jsonl "
    "--threshold-benchmark mine-dev"
)


def verify(
    benchmark: Annotated[str, typer.Argument(metavar="NAME[@VERSION]")],
    out: Annotated[Path, typer.Option(help="File for the verdicts (JSON Lines).")],
    verifier: Annotated[
        str, typer.Option(help="A kind of verifier, or a YAML file with kind, name, options.")
    ] = "local",
    limit: Annotated[int, typer.Option(help="Only the first N claims; 0 is all.", min=0)] = 0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write how each verdict came about, as .html or .md, there."
        ),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="With --report: another verifier's verdicts, to compare cost with."
        ),
    ] = None,
    root: Root = None,
    executor: executors.Kind = "local",
    address: executors.Address = "",
    executor_option: executors.Options = None,
    as_json: Json = False,
) -> None:
    """Let a verifier conclude on every claim of a version, and keep its verdicts in a file."""
    from deepfact import api
    from deepfact.cli.verify_report import check_report, read_outcomes, write_report
    from deepfact.errors import InputError
    from deepfact.store.files import jsonl, write_text

    if out.is_dir():
        raise InputError("this is a folder, a file is needed", where=str(out))
    above = next(parent for parent in out.absolute().parents if parent.exists())
    if not above.is_dir():
        raise InputError("this is a file, not a folder", where=str(above))
    if out.exists() and not force:
        raise InputError("this file exists", where=str(out), fix="overwrite it with --force")
    check_report(report, against, out)
    others = read_outcomes(against) if against else None
    version, spec = api.load(benchmark, root=root), verifier_spec(verifier)
    chosen = executors.executor_of(executor, address, executor_option)
    with progress() as watch:
        outcomes = api.verify(
            version, spec, limit=limit, workspace=out.parent, watch=watch, executor=chosen
        )
    write_text(out, jsonl(outcome.canonical() for outcome in outcomes))
    if report is not None:
        write_report(report, spec, version, outcomes, folder=out.parent, against=others)
    failed = sum(outcome.kind == "failure" for outcome in outcomes)
    if as_json:
        told = {"report": str(report)} if report else {}
        print_json({"claims": len(outcomes), "failed": failed, "out": str(out), **told})
    else:
        typer.echo(f"{len(outcomes)} claims of {version}, {failed} without a verdict: {out}")
        if report:
            typer.echo(f"  how they came about: {report}")
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
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a page with plots, as .html or .md, there."),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="Also score supported above this probability.", min=0, max=1),
    ] = None,
    threshold_from: Annotated[
        Path | None,
        typer.Option(metavar="VERDICTS", help="Choose the threshold on these other verdicts."),
    ] = None,
    threshold_benchmark: Annotated[
        str, typer.Option(metavar="NAME[@VERSION]", help="What those answer.")
    ] = "",
    threshold_by: Annotated[By, typer.Option(help="What the threshold is to do best.")] = "f1",
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Score the verdicts of any system. A claim without a verdict counts as wrong, and is shown.

    Where verdicts have probabilities, their calibration is shown too.
    """
    from deepfact import api
    from deepfact.cli import score_calibration
    from deepfact.importers.verdicts import read_answers

    asked = score_calibration.Asked(
        verdicts, key, encoding, threshold, threshold_from, threshold_benchmark, threshold_by,
        report,
    )  # fmt: skip
    asked.check()
    version = api.load(benchmark, root=root)
    read = read_answers(verdicts, version.state.columns.claim_ids, labels=labels, encoding=encoding)
    sheet = api.score_answers(
        version, read.answers, missing=read.missing, key=key, name=verdicts.stem
    )
    measured = score_calibration.measure(asked, version, root, scored=read.scored)
    score_calibration.write_report(asked, sheet, version, measured)
    counts = {
        what: getattr(read, what) for what in ("missing", "extra", "duplicate", "conflicting")
    }
    if as_json:
        told = {"score": sheet.model_dump(mode="json"), **counts, **measured.as_dict()}
        print_json({**told, "report": str(report)} if report else told)
        return
    _note_rows(counts)
    print_sheet(sheet)
    score_calibration.show(measured)
    if report:
        typer.echo(f"the page: {report}")


def _note_rows(counts: Mapping[str, Sequence[str]]) -> None:
    """Say which rows do not fit the claims, the first of each kind."""
    for what, ids in counts.items():
        if ids:
            shown = ", ".join(ids[:5]) + (", ..." if len(ids) > 5 else "")
            note(f"{what}: {len(ids)} ({shown})")


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
