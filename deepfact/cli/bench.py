"""``deepfact bench``: make, fill, read and check benchmarks.

Only the shell: the store is in `deepfact.store`, formats are in `deepfact.importers`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deepfact.cli import bench_change, bench_check, bench_history, bench_publish
from deepfact.cli.bench_history import entry_json, short
from deepfact.cli.options import Date, Json, Reference, Root, date_of
from deepfact.cli.output import note, print_json, print_table, say
from deepfact.cli.pages import App

if TYPE_CHECKING:
    from deepfact.core.state import Entry
    from deepfact.store.benchmark import BenchmarkVersion

app = App("Make, fill, read and check benchmarks.")


def _folder(root: Path | None) -> Path:
    return root or Path("benchmarks")


@app.command(
    epilog="Examples:\n\ndeepfact bench init my-bench\n\ndeepfact bench init my-bench --root data"
)
def init(
    name: Annotated[str, typer.Argument(help="Lower-case letters, digits, '.', '-', '_'.")],
    about: Annotated[str, typer.Option(help="What it is for; becomes its dataset card.")] = "",
    root: Root = None,
) -> None:
    """Make an empty benchmark: a folder with a dataset card to fill in, and no versions yet."""
    from deepfact.store.benchmark import BenchmarkStore, check_name

    check_name(name)
    store = BenchmarkStore.create(_folder(root) / name, card=_card(name, about))
    say(f"made {store.folder}; fill it with: deepfact bench import FORMAT PATH --name {name}")


@app.command(
    "import",
    epilog="Examples:\n\n"
    "deepfact bench import scifact data/scifact\n\n"
    "deepfact bench import factcheck-bench data/factcheck-bench --name factcheck\n\n"
    "deepfact bench import csv claims.csv --name mine --mapping map.yaml --sources docs.csv\n\n"
    "deepfact bench import parquet claims.parquet --name mine --mapping map.yaml\n\n"
    "deepfact bench import hf owner/name --name theirs --mapping map.yaml -o split=test "
    "-o download=true\n\n"
    "deepfact bench import scifact data/scifact -o split=test --dry-run",
)
def import_(
    format: Annotated[
        str, typer.Argument(help="scifact, factcheck-bench, jsonl, csv, parquet, hf, ...")
    ],
    path: Annotated[Path, typer.Argument(help="File or folder, as the data set is published.")],
    name: Annotated[
        str, typer.Option(help="Benchmark to make or to add to; the format's name by default.")
    ] = "",
    mapping: Annotated[
        Path | None,
        typer.Option(help="YAML that says which column is what (jsonl, csv, parquet, hf)."),
    ] = None,
    sources: Annotated[
        Path | None, typer.Option(help="File with the sources that claims cite (the same formats).")
    ] = None,
    encoding: Annotated[
        str, typer.Option(help="Encoding of the files, such as utf-8-sig or cp1252.")
    ] = "",
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="List wrong rows and import the others.")
    ] = False,
    option: Annotated[
        list[str] | None, typer.Option("-o", "--option", help="KEY=VALUE for this format.")
    ] = None,
    author: Annotated[str, typer.Option(help="Who imports; stands in the history.")] = "import",
    date: Date = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read and check everything, write nothing.")
    ] = False,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Import a data set as a new benchmark, or as the next version of one.

    Every row is imported or listed with the reason. All or nothing: an error leaves everything
    as it was.
    """
    from deepfact.cli.bench_import import import_data_set
    from deepfact.store.benchmark import check_name

    check_name(name or format)
    summary = import_data_set(
        format,
        path,
        folder=_folder(root) / (name or format),
        options={
            **_pairs(option or []),
            **{
                key: value
                for key, value in {
                    "mapping": mapping,
                    "sources": sources,
                    "encoding": encoding,
                    "skip_bad": skip_bad,
                }.items()
                if value
            },
        },
        author=author,
        date=date_of(date),
        dry_run=dry_run,
    )
    if as_json:
        print_json(summary.as_dict())
        return
    for row in summary.skipped:
        note(f"skipped {row.where}: {row.why}")
    for text in summary.notes:
        note(f"note: {text}")
    say(summary.words())


@app.command("list", epilog="Examples:\n\ndeepfact bench list\n\ndeepfact bench list --json")
def list_(root: Root = None, as_json: Json = False) -> None:
    """List the benchmarks that can be named: in the folder, and those shipped."""
    from deepfact.store.benchmark import BenchmarkStore
    from deepfact.store.locate import find_benchmarks

    rows: list[dict[str, Any]] = []
    for name, folder in sorted(find_benchmarks(root).items()):
        store = BenchmarkStore(folder)
        numbers = store.versions()
        manifest = store.manifest(numbers[-1]) if numbers else None
        rows.append(
            {
                "name": name,
                "versions": len(numbers),
                "claims": manifest.counts.claims if manifest else 0,
                "folder": str(folder),
            }
        )
    if as_json:
        print_json(rows)
    elif rows:
        cells = [[str(value) for value in row.values()] for row in rows]
        print_table(["benchmark", "versions", "claims", "folder"], cells)
    else:
        say("no benchmarks; make one with: deepfact bench init NAME")


@app.command(
    epilog="Examples:\n\n"
    "deepfact bench show deepfact-mini@1\n\n"
    "deepfact bench show deepfact-mini fin-1-01\n\n"
    "deepfact bench show deepfact-mini --label contradictory --limit 5",
)
def show(
    reference: Reference,
    claim: Annotated[str, typer.Argument(help="Show this claim with all that is known.")] = "",
    label: Annotated[str, typer.Option(help="Only claims with this label.")] = "",
    limit: Annotated[int, typer.Option(help="How many claims to list.", min=0)] = 20,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Show a version, or one claim of it with its label, reasons and evidence."""
    from deepfact.errors import BenchmarkError, did_you_mean
    from deepfact.records import Label

    if label and label not in set(Label):
        raise BenchmarkError(f"unknown label {label!r}", fix=did_you_mean(label, list(Label)))
    version = _load(reference, root)
    if claim:
        entry = version.state.entries.get(claim)
        if entry is None:
            raise BenchmarkError(
                f"{version} has no claim {claim!r}", fix=did_you_mean(claim, version.state.entries)
            )
        _show_claim(version, entry, as_json)
        return
    ids = [one.claim_id for one in version.state.outlines() if not label or one.label == label]
    chosen = [version.state.entries[claim_id] for claim_id in ids[:limit]]
    if as_json:
        rows = [entry_json(entry) for entry in chosen]
        print_json({"manifest": version.manifest.model_dump(mode="json"), "claims": rows})
        return
    counts = version.manifest.counts
    say(
        f"{version}: {counts.claims} claims in {counts.reports} reports; {counts.supported} "
        f"supported, {counts.contradictory} contradictory, {counts.inconclusive} inconclusive, "
        f"{counts.unlabelled} unlabelled, {counts.retired} retired; {len(version.sources)} sources"
    )
    say(f"{version.manifest.state_hash}")
    print_table(
        ["claim", "label", "text"],
        [[e.claim.id, str(e.label or "-"), short(e.claim.text)] for e in chosen],
    )
    if len(ids) > limit:
        say(f"... and {len(ids) - limit} more; see them with --limit {len(ids)}")


@app.command(
    epilog="Examples:\n\n"
    "deepfact bench export deepfact-mini@1 --to claims.jsonl --sources sources.jsonl\n\n"
    "deepfact bench export deepfact-mini --to claims.csv",
)
def export(
    reference: Reference,
    to: Annotated[Path, typer.Option(help="File to write: .jsonl or .csv.")],
    sources: Annotated[
        Path | None, typer.Option(help="Also write the sources here: .jsonl or .csv.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    root: Root = None,
) -> None:
    """Write a version's claims (private ones left out) so that `bench import` reads them again."""
    from deepfact.cli.bench_export import export_version

    say(export_version(_load(reference, root), to, sources, force=force))


app.command(epilog=bench_history.LOG_EXAMPLES)(bench_history.log)
app.command(epilog=bench_history.DIFF_EXAMPLES)(bench_history.diff)
app.command(epilog=bench_history.BLAME_EXAMPLES)(bench_history.blame)
app.command(epilog=bench_check.VERIFY_EXAMPLES)(bench_check.verify)
app.command(epilog=bench_check.SEAL_EXAMPLES)(bench_check.seal)
app.command(epilog=bench_change.REVERT_EXAMPLES)(bench_change.revert)
app.command(epilog=bench_change.MERGE_EXAMPLES)(bench_change.merge)
app.command(epilog=bench_publish.EXAMPLES)(bench_publish.publish)


# --- pieces -------------------------------------------------------------------------------


def _load(reference: str, root: Path | None) -> BenchmarkVersion:
    from deepfact.store.locate import load_version

    return load_version(reference, root)


def _pairs(options: list[str]) -> dict[str, str]:
    from deepfact.errors import InputError

    pairs = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals:
            raise InputError(f"{option!r} is not KEY=VALUE", where="--option")
        pairs[key] = value
    return pairs


def _show_claim(version: BenchmarkVersion, entry: Entry, as_json: bool) -> None:
    from deepfact.store.annotators import read_annotators

    others = read_annotators(version.store.folder).get(entry.claim.id, [])
    if as_json:
        further = [one.model_dump(mode="json") for one in others]
        print_json({**entry_json(entry), **({"further": further} if further else {})})
        return
    claim, annotation = entry.claim, entry.annotation
    say(f"{claim.id}{'  (retired)' if entry.retired else ''}\n  {claim.text}")
    if claim.context:
        say(f"  context: {claim.context}")
    say(f"  report: {claim.report}")
    for source_id in claim.cites:
        source = version.sources.get(source_id)
        title = source.title if source else "a source that is not there"
        say(f"  cites: {title}  {source_id[:19]}")
    for one in others:
        reason = f": {one.rationale}" if one.rationale else ""
        say(f"  another annotator, {one.provenance.who}: {one.label}{reason}")
    if annotation is None:
        say("  unlabelled")
        return
    who = annotation.provenance
    say(f"  {annotation.label}, by {who.who}, {who.when:%Y-%m-%d}")
    say(f"  rationale: {annotation.rationale or 'no reason recorded'}")
    for evidence in annotation.evidence:
        say(f"  {evidence.stance}: “{evidence.quote}”")
    for qualification in annotation.qualifications:
        say(f"  qualification ({qualification.kind}): {qualification.text}")


def _card(name: str, about: str) -> str:
    return (
        f"# {name}\n\n{about or 'What this benchmark measures, in a sentence.'}\n\n"
        "## How it was made\n\nWho wrote or collected the claims, from what, and how they were "
        "labelled.\n\n"
        "## What it can and cannot show\n\nWhat a score on it means, and what it does not.\n\n"
        "## Licence\n\nOf the claims, the annotations and the sources.\n"
    )
