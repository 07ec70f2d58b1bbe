"""``deepfact report``: research reports in, as records, and as claims of a benchmark.

Only the shell: reading is in `deepfact.documents`, the rest in `deepfact.cli.report_import`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deepfact.cli.options import Date, Json, Root, date_of
from deepfact.cli.output import note, print_json, print_table, say
from deepfact.cli.pages import App

if TYPE_CHECKING:
    from deepfact.cli.report_import import ImportedReport, Outcome
    from deepfact.documents.records import ReportRecord

app = App(
    "Research reports: their sentences, citations and reference lists.",
)

EXAMPLES = (
    "Examples:\n\ndeepfact report import report.md page.html paper.pdf --out results/reports\n\n"
    "deepfact report import answers.jsonl --dry-run\n\n"
    "deepfact report import report.md --benchmark my-reports --min-relevance 3 "
    "--sources documents.jsonl\n\n"
    "deepfact report import report.docx --rate-with rater.yaml --question 'How do birds navigate?'"
)


@app.callback()
def _group() -> None:
    pass


@app.command("import", epilog=EXAMPLES)
def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="Markdown, text, HTML, PDF, DOCX, or JSON that holds reports."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder for the records.")] = Path("results/reports"),
    benchmark: Annotated[
        str, typer.Option(metavar="NAME", help="Make claims of the verifiable sentences there.")
    ] = "",
    min_relevance: Annotated[
        int, typer.Option(min=1, max=5, help="With --benchmark: from which relevance on.")
    ] = 1,
    sources: Annotated[
        Path | None,
        typer.Option(help="With --benchmark: id, url and text of documents that are cited."),
    ] = None,
    question: Annotated[str, typer.Option(help="What the reports answer.")] = "",
    rate_with: Annotated[
        Path | None,
        typer.Option(metavar="YAML", help="Let a model rate: model, provider, responses."),
    ] = None,
    format_: Annotated[
        str, typer.Option("--format", help="What the files are, whatever their names say.")
    ] = "",
    encoding: Annotated[str, typer.Option(help="Of text and HTML, such as cp1252.")] = "",
    max_mb: Annotated[float, typer.Option(min=0.001, help="Largest file, in MB.")] = 20,
    max_chars: Annotated[
        int, typer.Option(min=1, help="Longest text of a report, in characters.")
    ] = 2_000_000,
    timeout: Annotated[
        float, typer.Option(min=1, help="Longest time for a PDF or DOCX, in seconds.")
    ] = 60,
    replace: Annotated[
        bool, typer.Option("--replace", help="Put records in the place of others of their id.")
    ] = False,
    author: Annotated[str, typer.Option(help="Who imports; stands in the history.")] = "import",
    date: Date = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read and check everything, write nothing.")
    ] = False,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Import research reports: keep their text, split it, resolve their citations.

    Each file stands for itself: what is wrong with one is told, the others are imported. Exit
    code 1 says that some files were not imported, 2 that none was.
    """
    from deepfact.cli.report_import import import_files, write_records
    from deepfact.documents.files import FORMS, Bounds
    from deepfact.errors import InputError, did_you_mean
    from deepfact.store.benchmark import check_name

    if format_ and format_ not in FORMS.values():
        fix = did_you_mean(format_, set(FORMS.values()))
        raise InputError(f"unknown format {format_!r}", where="--format", fix=fix)
    if (sources or min_relevance > 1) and not benchmark:
        raise InputError("--sources and --min-relevance go with --benchmark")
    if benchmark:
        check_name(benchmark)
    bounds = Bounds(max_mb, max_chars, timeout, encoding, format_)
    show = _progress(len(files))
    outcome = import_files(files, bounds, question=question, told=show)
    records = [one.record for one in outcome.done]
    if rate_with is not None and records:
        records = _rated(rate_with, outcome, dry_run)
    if not dry_run:
        write_records(records, out, replace=replace)
    made: list[dict[str, Any]] = []
    if benchmark and records:
        options = {"min_relevance": min_relevance, **({"sources": sources} if sources else {})}
        how = {"author": author, "date": date_of(date), "dry_run": dry_run}
        made = _claims(outcome, records, benchmark, options, how, root)
    _show(outcome, made, None if dry_run else out, as_json)
    if outcome.exit_code:
        raise typer.Exit(outcome.exit_code)


def _progress(count: int) -> Any:
    at = 0

    def show(file: Path) -> None:
        nonlocal at
        at += 1
        if count > 1:
            note(f"[{at}/{count}] {file}")

    return show


def _rated(path: Path, outcome: Outcome, dry_run: bool) -> list[ReportRecord]:
    from deepfact.importers.report_ratings import RaterSpec, rate_reports, rating_requests
    from deepfact.store.specs import read_yaml

    spec = read_yaml(path, RaterSpec)
    records = [one.record for one in outcome.done]
    calls = sum(len(rating_requests(spec, record)) for record in records)
    note(f"rating by {spec.model}: {calls} calls, those that are stored are not made again")
    if dry_run:
        return records
    rated = rate_reports(spec, records)
    for one, record in zip(outcome.done, rated, strict=True):
        one.record = record
    return rated


def _claims(
    outcome: Outcome,
    records: list[ReportRecord],
    benchmark: str,
    options: dict[str, Any],
    how: dict[str, Any],
    root: Path | None,
) -> list[dict[str, Any]]:
    """Claims of what was imported: published annotations through their own importer."""
    from deepfact.cli.bench_import import import_data_set
    from deepfact.cli.report_import import write_records

    folder = (root or Path("benchmarks")) / benchmark
    annotated = {one.record.id: one for one in outcome.done if one.annotated}
    plain = [record for record in records if record.id not in annotated]
    summaries = []
    if plain:
        with tempfile.TemporaryDirectory() as place:
            write_records(plain, Path(place), replace=True)
            summaries.append(
                import_data_set("report", Path(place), folder=folder, options=options, **how)
            )
    for file in dict.fromkeys(one.file for one in annotated.values()):
        path, extra = _published(file)
        summaries.append(
            import_data_set("deepfact-bench", path, folder=folder, options=extra, **how)
        )
    return [summary.as_dict() | {"words": summary.words()} for summary in summaries]


def _published(file: Path) -> tuple[Path, dict[str, Any]]:
    """What the importer of DeepFact-Bench is given for a file: the file, or the folder of both."""
    if file.name.endswith("_reports.json"):
        return file.parent, {"split": file.name.removesuffix("_reports.json")}
    return file, {}


def _show(outcome: Outcome, made: list[dict[str, Any]], out: Path | None, as_json: bool) -> None:
    from deepfact.cli.report_import import summary_of

    rows = [summary_of(one) for one in outcome.done]
    if as_json:
        failed = [
            {"file": str(one.file), "where": one.error.where, "what": one.error.what,
             "fix": one.error.fix}
            for one in outcome.failed
        ]  # fmt: skip
        print_json({"reports": rows, "failed": failed, "benchmark": made})
        return
    for row in rows:
        for text in row["notes"]:
            note(f"{row['id']}: {text}")
    if rows:
        print_table(
            ("report", "segments", "sentences", "verifiable", "references", "markers", "resolved",
             "unresolved", "links", "seconds"),
            [_cells(row) for row in rows],
        )  # fmt: skip
    for row in rows:
        for mark in row["unresolved"]:
            say(f"unresolved: {row['id']}, line {mark['line']}: {mark['text']}  ({mark['why']})")
    for failure in outcome.failed:
        note(f"not imported: {failure.error}")
    for one in made:
        say(one["words"])
    _last_line(outcome.done, len(outcome.failed), out)


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    share = row["share_resolved"]
    return (
        row["id"],
        str(row["segments"]),
        str(row["sentences"]),
        str(row["verifiable"]),
        str(row["references"]),
        str(row["markers"]),
        "-" if share is None else f"{share:.1%}",
        str(len(row["unresolved"])),
        str(row["links"]),
        f"{row['seconds']:.2f}",
    )


def _last_line(done: list[ImportedReport], failed: int, out: Path | None) -> None:
    where = f"in {out}" if out is not None else "(dry run, nothing written)"
    left = f", {failed} not imported" if failed else ""
    say(f"{len(done)} report{'' if len(done) == 1 else 's'} imported {where}{left}")
