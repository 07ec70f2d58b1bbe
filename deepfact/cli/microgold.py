"""``deepfact microgold``: hidden claims whose answer is known: add them, look at them, measure.

Only the shell: everything is done in `deepfact.microgold`. Except for ``score``, these commands
show answers: they are for whoever keeps the key.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deepfact.cli.options import Date, Json, Root, date_of
from deepfact.cli.output import note, print_json, print_table, say, show_rate
from deepfact.cli.pages import App
from deepfact.vocabulary import EditKind

if TYPE_CHECKING:
    from datetime import datetime

    from deepfact.importers.base import Imported
    from deepfact.microgold.adding import Addition
    from deepfact.microgold.drafts import Draft, Origin
    from deepfact.microgold.scoring import MicroGoldReport
    from deepfact.records import Source
    from deepfact.store.benchmark import BenchmarkVersion

app = App(
    "Hidden claims whose answer is known: add, list, check, and measure by them.",
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The benchmark.")]


@app.command(
    epilog="Examples:\n\n"
    "deepfact microgold add deepfact-practice --unsupported 7 --supported 5 --dry-run\n\n"
    "deepfact microgold add deepfact-practice --unsupported 7 --review drafts.jsonl\n\n"
    "deepfact microgold add deepfact-practice --reviewed drafts.jsonl --author ada\n\n"
    "deepfact microgold add mine --file known.csv --sources docs.csv --cover more.csv"
)
def add(
    name: Name,
    supported: Annotated[
        int, typer.Option(min=0, help="Take so many supported claims as they stand.")
    ] = 0,
    supported_id: Annotated[
        list[str] | None, typer.Option(help="Take this supported claim; may be repeated.")
    ] = None,
    unsupported: Annotated[
        int, typer.Option(min=0, help="Make so many by a documented edit of a supported claim.")
    ] = 0,
    kind: Annotated[
        list[EditKind] | None, typer.Option(help="Kind of edit; may be repeated.  [default: all]")
    ] = None,
    originals: Annotated[
        Path | None,
        typer.Option(help="Edit the supported claims of this .jsonl or .csv file instead."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="Claims with known labels to add, .jsonl or .csv.")
    ] = None,
    cover: Annotated[
        Path | None, typer.Option(help="Ordinary claims to add with them, .jsonl or .csv.")
    ] = None,
    sources: Annotated[
        Path | None, typer.Option(help="The sources that the files' claims cite.")
    ] = None,
    unlabelled: Annotated[
        bool, typer.Option("--unlabelled", help="Let new claims come in without a label.")
    ] = False,
    keep_originals: Annotated[
        bool, typer.Option("--keep-originals", help="Leave edited claims' originals in.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of everything drawn.")] = 0,
    review: Annotated[
        Path | None, typer.Option(help="Write the drafts here for a person, and add nothing.")
    ] = None,
    reviewed: Annotated[
        Path | None, typer.Option(help="Add the drafts of this file that were kept.")
    ] = None,
    author: Annotated[str, typer.Option(help="Who adds; stands in the history.")] = "maintainer",
    date: Date = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the drafts and what would be done.")
    ] = False,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Add known-answer claims as a new version; the answers go to keys/microgold.jsonl."""
    from deepfact.microgold.adding import add as write
    from deepfact.microgold.adding import plan_addition
    from deepfact.microgold.drafts import write_drafts

    when, version = date_of(date), _newest(name, root)
    pool, held = _origins(version, originals, sources, when)
    drafts, notes = _drafts(
        version, pool, held, reviewed, supported_id or [], supported, unsupported, kind, seed
    )
    if review:
        write_drafts(drafts, review)
        for text in notes:
            note(text)
        say(f"{len(drafts)} drafts in {review}; read them, set keep to false where one is no good,")
        say(f"  then: deepfact microgold add {name} --reviewed {review}")
        return
    addition = plan_addition(
        version, drafts, pool, {**version.sources, **held} if held else version.sources,
        author=author, when=when, seed=seed,
        imported=_imported(file, sources, when), cover=_imported(cover, sources, when),
        labels="none" if unlabelled else "assumed", keep_originals=keep_originals,
    )  # fmt: skip
    _refuse_nothing(addition, cover)
    cited = {source for claim, _ in addition.claims for source in claim.cites}
    addition.sources += [held[source] for source in sorted(cited & set(held))]
    made = None if dry_run else write(version.store, version, addition, author=author, when=when)
    _say_added(addition, drafts, notes, version, made, as_json)


@app.command(
    "list",
    epilog="Examples:\n\ndeepfact microgold list deepfact-mini --counts\n\n"
    "deepfact microgold list deepfact-mini --json",
)
def list_(
    name: Name,
    counts: Annotated[bool, typer.Option("--counts", help="Only how many of which sort.")] = False,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """List the known answers, for whoever keeps the key. With --counts no answer is shown."""
    from collections import Counter

    from deepfact.microgold.adding import kind_of

    version = _newest(name, root)
    gold = version.store.key("microgold")
    live = {claim.id: claim for claim in version.claims}
    if counts:
        sorts = Counter(kind_of(entry) for i, entry in gold.items() if i in live)
        found = {"claims": sum(sorts.values()), "retired": len(set(gold) - set(live))}
        if as_json:
            print_json({**found, "sorts": dict(sorted(sorts.items()))})
            return
        print_table(["answer", "claims"], [[k, str(n)] for k, n in sorted(sorts.items())])
        say(f"{found['claims']} of {len(live)} claims of {version} are micro-gold")
        return
    entries = [entry for claim_id, entry in sorted(gold.items()) if claim_id in live]
    if as_json:
        print_json([entry.model_dump(mode="json") for entry in entries])
        return
    rows = [
        [entry.claim_id, kind_of(entry), _edit_words(entry), live[entry.claim_id].text]
        for entry in entries
    ]
    print_table(["claim", "answer", "edit", "text"], rows)
    note("these are answers: keep them from whoever labels, audits or verifies")


@app.command(epilog="Examples:\n\ndeepfact microgold check deepfact-mini")
def check(name: Name, root: Root = None, as_json: Json = False) -> None:
    """Check the key against the newest version, and say what could give micro-gold away.

    Exit code 1 when an answer does not fit.
    """
    from deepfact.microgold.checking import check as look

    version = _newest(name, root)
    found = look(version)
    if as_json:
        problems = [{"claim_id": claim_id, "what": what} for claim_id, what in found.problems]
        print_json({"problems": problems, "remarks": found.remarks})
    else:
        for claim_id, what in found.problems:
            say(f"{claim_id}: {what}")
        for text in found.remarks:
            note(text)
        say(f"{version}: {len(found.problems)} problems, {len(found.remarks)} remarks")
    if found.problems:
        raise typer.Exit(1)


@app.command(
    epilog="Examples:\n\ndeepfact microgold score deepfact-mini\n\n"
    "deepfact microgold score deepfact-mini --results results --json"
)
def score(
    name: Name,
    results: Annotated[
        Path, typer.Option(help="Folder with the runs whose auditors are measured.")
    ] = Path("results"),
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Accuracy on micro-gold of versions, annotators and auditors, over all finished runs."""
    from deepfact.errors import BenchmarkError
    from deepfact.microgold.scoring import score as measure
    from deepfact.store.locate import open_benchmark

    store = open_benchmark(name, root)
    if not store.key("microgold"):
        raise BenchmarkError(
            f"{store.name} has no micro-gold",
            where=str(store.keys),
            fix="add some with: deepfact microgold add NAME",
        )
    report = measure(store, results)
    if as_json:
        print_json(report.model_dump(mode="json"))
        return
    _print_report(report)


# --- pieces -------------------------------------------------------------------------------


def _newest(name: str, root: Path | None) -> BenchmarkVersion:
    from deepfact.errors import BenchmarkError
    from deepfact.store.locate import open_benchmark, split_reference

    bare, number = split_reference(name)
    store = open_benchmark(bare, root)
    version = store.load()
    if number is not None and number != version.manifest.version:
        raise BenchmarkError(
            f"the newest version is {version}; keys hold for all versions",
            where=name,
            fix=f"leave @{number} out",
        )
    return version


def _imported(path: Path | None, sources: Path | None, when: datetime) -> Imported | None:
    from deepfact.errors import InputError
    from deepfact.importers import importer

    if path is None:
        return None
    if path.suffix not in (".jsonl", ".csv"):
        raise InputError(
            f"cannot tell the format from {path.suffix!r}", where=str(path),
            fix="end the file's name in .jsonl or .csv",
        )  # fmt: skip
    options = {"sources": sources} if sources else {}
    return importer(path.suffix[1:])(path, when=when, **options)


def _origins(
    version: BenchmarkVersion, path: Path | None, sources: Path | None, when: datetime
) -> tuple[dict[str, Origin], dict[str, Source]]:
    """What edits are made of, and the sources to edit against: the version's, or a file's."""
    from deepfact.errors import InputError
    from deepfact.microgold.drafts import Origin, supported_origins

    if path is None:
        return supported_origins(version), {}
    found = _imported(path, sources, when)
    assert found is not None  # noqa: S101 - there is a path
    pool = {
        claim.id: Origin(claim, annotation, live=False)
        for claim, annotation in found.claims
        if annotation is not None and annotation.label == "supported"
    }
    if not pool:
        raise InputError("no claim in it is supported", where=str(path))
    return pool, {card.id: card for card in found.sources}


def _drafts(
    version: BenchmarkVersion,
    pool: dict[str, Origin],
    held: dict[str, Source],
    reviewed: Path | None,
    chosen: list[str],
    supported: int,
    unsupported: int,
    kinds: list[EditKind] | None,
    seed: int,
) -> tuple[list[Draft], list[str]]:
    """The drafts of a reviewed file, or new ones; and remarks."""
    from deepfact.errors import InputError
    from deepfact.microgold.drafts import draft, read_drafts

    if reviewed is not None:
        if supported or unsupported or chosen:
            raise InputError(
                "a reviewed file says what to add, and so do --supported and --unsupported",
                where="--reviewed",
                fix="give the one or the other",
            )
        return read_drafts(reviewed, pool), []
    sources: Any = {**version.sources, **held} if held else version.sources
    found = draft(
        pool, sources, chosen=chosen, supported=supported, unsupported=unsupported,
        kinds=tuple(dict.fromkeys(kinds or EditKind)), seed=seed,
    )  # fmt: skip
    return found.drafts, found.notes


def _refuse_nothing(addition: Addition, cover: Path | None) -> None:
    from deepfact.errors import InputError

    if not addition.entries:
        raise InputError(
            "there is no micro-gold to add" + (", cover claims alone are none" if cover else ""),
            fix="say how many with --supported and --unsupported, or give --file or --reviewed",
        )


def _say_added(
    addition: Addition,
    drafts: list[Draft],
    notes: list[str],
    version: BenchmarkVersion,
    made: BenchmarkVersion | None,
    as_json: bool,
) -> None:
    counts = addition.counts()
    if as_json:
        print_json(
            {
                "version": made.manifest.version if made else None,
                "micro_gold": counts,
                "claims_added": len(addition.claims),
                "withdrawn": len(addition.withdrawn),
                "drafts": [one.model_dump(mode="json") for one in drafts] if not made else [],
                "notes": [*notes, *addition.notes],
            }
        )
        return
    for one in drafts if made is None else ():
        words = f"{one.kind}: {one.before!r} -> {one.after!r}" if one.kind else "supported"
        say(f"{one.claim_id}  {words}\n  {one.text}")
    for text in (*notes, *addition.notes):
        note(f"note: {text}")
    what = ", ".join(f"{count} {sort}" for sort, count in sorted(counts.items()))
    if made is None:
        say(f"dry run, nothing written: {version.store.name} would get micro-gold: {what}")
    elif made.manifest.version == version.manifest.version:
        say(f"{version} as it is, micro-gold now: {what}")
    else:
        say(f"made {made}: {len(addition.claims)} claims added; micro-gold: {what}")


def _edit_words(entry: Any) -> str:
    return f"{entry.edit.before!r} -> {entry.edit.after!r}" if entry.edit else ""


def _print_report(report: MicroGoldReport) -> None:
    say(f"{report.benchmark}: {report.claims} micro-gold claims in the newest version")
    mark = {True: " *", False: ""}
    print_table(
        ["version", "run", "3 labels [95 % interval]", "supported or not [95 % interval]"],
        [
            [str(one.version), one.run + mark[one.simulated],
             show_rate(one.accuracy), show_rate(one.binary)]
            for one in report.versions
        ],
        title="versions: the evolution curve",
    )  # fmt: skip
    print_table(
        ["version", "annotator", "right [95 % interval]"],
        [[str(one.version), one.annotator, show_rate(one.accuracy)] for one in report.annotators],
        title="annotators: whose labels a version has",
    )
    if report.auditors:
        print_table(
            ["run", "round", "auditor", "right [95 % interval]", "cannot tell, all cases"],
            [
                [one.run, str(one.round), one.auditor + mark[one.simulated],
                 show_rate(one.accuracy), str(one.cannot_tell)]
                for one in report.auditors
            ],
            title="auditors, on cases whose claim is micro-gold",
        )  # fmt: skip
        print_table(
            ["auditor", "rounds", "right [95 % interval]"],
            [
                [one.auditor + mark[one.simulated], str(one.rounds), show_rate(one.accuracy)]
                for one in report.pooled
            ],
            title="auditors, all rounds; a claim decided twice counts twice",
        )
    if any([one.simulated for one in report.versions] + [one.simulated for one in report.auditors]):
        say("* simulated: knows the key; shows how the loop behaves, not how people do")
    for name in report.open_runs:
        note(f"{name} is still open and is left out")
    for text in report.unreadable:
        note(f"left out, cannot be read: {text}")
