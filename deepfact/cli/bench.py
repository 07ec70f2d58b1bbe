"""``deepfact bench``: make, fill, read and check benchmarks.

Only the shell: the store is in `deepfact.store`, formats are in `deepfact.importers`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deepfact.cli.options import Json, Root
from deepfact.cli.output import note, print_json, print_table, say

if TYPE_CHECKING:
    from deepfact.core.state import Change, Entry
    from deepfact.store.benchmark import BenchmarkVersion

app = typer.Typer(no_args_is_help=True, help="Make, fill, read and check benchmarks.")

Reference = Annotated[
    str, typer.Argument(metavar="NAME[@VERSION]", help="The newest version when left out.")
]


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
    "deepfact bench import scifact data/scifact -o split=test --dry-run",
)
def import_(
    format: Annotated[str, typer.Argument(help="scifact, factcheck-bench, jsonl, csv, ...")],
    path: Annotated[Path, typer.Argument(help="File or folder, as the data set is published.")],
    name: Annotated[
        str, typer.Option(help="Benchmark to make or to add to; the format's name by default.")
    ] = "",
    mapping: Annotated[
        Path | None, typer.Option(help="YAML that says which column is what (jsonl, csv).")
    ] = None,
    sources: Annotated[
        Path | None, typer.Option(help="File with the sources that claims cite (jsonl, csv).")
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
    date: Annotated[str, typer.Option(help="Date the version carries; today by default.")] = "",
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
        date=_date(date),
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
    chosen = [entry for entry in version.state if not label or entry.label == label]
    if as_json:
        rows = [_entry(entry) for entry in chosen[:limit]]
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
        [[e.claim.id, str(e.label or "-"), _short(e.claim.text)] for e in chosen[:limit]],
    )
    if len(chosen) > limit:
        say(f"... and {len(chosen) - limit} more; see them with --limit {len(chosen)}")


@app.command(epilog="Examples:\n\ndeepfact bench log deepfact-mini")
def log(
    name: Annotated[str, typer.Argument(help="The benchmark.")],
    root: Root = None,
    as_json: Json = False,
) -> None:
    """List a benchmark's versions, newest first: who made them, when, and what changed."""
    from deepfact.store.locate import open_benchmark

    store = open_benchmark(name, root)
    manifests = [store.manifest(version) for version in reversed(store.versions())]
    if as_json:
        print_json([manifest.model_dump(mode="json") for manifest in manifests])
        return
    for manifest in manifests:
        parent = f" from {manifest.parent}" if manifest.parent else ""
        say(f"{store.name}@{manifest.version}{parent}  {manifest.state_hash[:19]}")
        say(f"  {manifest.date:%Y-%m-%d}  {manifest.author}: {manifest.note}")
        say(f"  {manifest.revisions} revisions, {manifest.counts.claims} claims")


@app.command(
    epilog="Examples:\n\n"
    "deepfact bench diff deepfact-mini@1 deepfact-mini@2\n\n"
    "deepfact bench diff deepfact-mini@1 2 --json",
)
def diff(
    before: Annotated[str, typer.Argument(metavar="NAME@VERSION")],
    after: Annotated[str, typer.Argument(metavar="NAME@VERSION|VERSION")],
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Show what differs between two versions: labels, reasons, claims added and retired."""
    from deepfact.core.state import diff as differences
    from deepfact.store.locate import split_reference

    if after.isdigit():
        after = f"{split_reference(before)[0]}@{after}"
    old, new = _load(before, root), _load(after, root)
    changes = differences(old.state, new.state)
    if as_json:
        print_json([_change(change) for change in changes])
        return
    for change in changes:
        say(_change_line(change))
    say(f"{len(changes)} of {len(new.state.entries)} claims differ between {old} and {new}")


@app.command(
    epilog="Examples:\n\n"
    "deepfact bench blame deepfact-mini fin-1-01\n\n"
    "deepfact bench blame deepfact-mini@2 fin-1-01 --json",
)
def blame(
    reference: Reference,
    claim: Annotated[str, typer.Argument(help="Claim id.")],
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Show a claim's whole history: who changed what, when, why and out of which case."""
    from deepfact.errors import BenchmarkError
    from deepfact.store.locate import open_benchmark, split_reference

    name, version = split_reference(reference)
    store = open_benchmark(name, root)
    numbers = store.versions()
    if not numbers:
        raise BenchmarkError("the benchmark has no versions yet", where=str(store.folder))
    history = store.history(claim, version or numbers[-1])
    if as_json:
        rows = [{"version": n, "revision": r.model_dump(mode="json")} for n, r in history]
        print_json(rows)
        return
    for number, revision in history:
        label = f" -> {revision.annotation.label}" if revision.annotation else ""
        case = f"  (run {revision.run}, case {revision.case})" if revision.case else ""
        say(
            f"version {number}  {revision.when:%Y-%m-%d}  {revision.who}: "
            f"{revision.kind}{label}{case}"
        )
        say(f"  why: {revision.why}")
        if revision.annotation and revision.annotation.rationale:
            say(f"  rationale: {revision.annotation.rationale}")
        for evidence in revision.annotation.evidence if revision.annotation else ():
            say(f"  {evidence.stance}: “{evidence.quote}”  {evidence.source[:19]}")


@app.command(epilog="Examples:\n\ndeepfact bench verify deepfact-mini")
def verify(
    name: Annotated[str, typer.Argument(help="The benchmark.")],
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Re-derive every hash, and name each file that was changed, added, cut or lost.

    Exit code 1 when there is a problem.
    """
    from deepfact.store.integrity import verify as check
    from deepfact.store.locate import open_benchmark

    store = open_benchmark(name, root)
    problems = check(store)
    if as_json:
        print_json([{"where": problem.where, "what": problem.what} for problem in problems])
    else:
        for problem in problems:
            say(f"{problem.where}: {problem.what}")
        good = f"{len(store.versions())} versions, {len(store.sources)} sources: every hash holds"
        say(f"{len(problems)} problems" if problems else f"{store.name}: {good}")
    if problems:
        raise typer.Exit(1)


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


def _date(text: str) -> Any:
    from deepfact.errors import InputError
    from deepfact.records import parse_when
    from deepfact.store.journal import now

    if not text:
        return now().replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        return parse_when(text)
    except ValueError:
        raise InputError(
            f"{text!r} is no date", where="--date", fix="write it like 2026-11-30"
        ) from None


def _short(text: str, limit: int = 96) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _entry(entry: Entry) -> dict[str, Any]:
    annotation = entry.annotation.model_dump(mode="json") if entry.annotation else None
    return {"claim": entry.claim.model_dump(mode="json"), "annotation": annotation}


def _change(change: Change) -> dict[str, Any]:
    return {
        "claim_id": change.claim_id,
        "kind": change.kind,
        "before": _entry(change.before) if change.before else None,
        "after": _entry(change.after) if change.after else None,
    }


def _change_line(change: Change) -> str:
    labels = " -> ".join(
        str(entry.label or "unlabelled") for entry in (change.before, change.after) if entry
    )
    new = change.after or change.before
    reason = new.annotation.rationale if new and new.annotation else ""
    return f"{change.claim_id}  {change.kind}  {labels}\n  {_short(reason) or 'no reason recorded'}"


def _show_claim(version: BenchmarkVersion, entry: Entry, as_json: bool) -> None:
    if as_json:
        print_json(_entry(entry))
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
