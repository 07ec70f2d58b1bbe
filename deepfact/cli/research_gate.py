"""The commands of ``deepfact research`` that judge: skeptic, verify, report, run,
check.

Only the shell: findings are `deepfact.core.skeptic`'s, the decision is `deepfact.research.gate`'s.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deepfact.cli.options import Json
from deepfact.cli.output import note, print_json, progress
from deepfact.vocabulary import SourceRole, Trust

if TYPE_CHECKING:
    from deepfact.research.workflow import ResearchSpec
    from deepfact.research_records import ResearchReport, SkepticResult, Thresholds

Run = Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder.")]
Target = Annotated[
    Path, typer.Argument(metavar="LEDGER", help="A ledger's JSON document, or a run's folder.")
]
Limits = Annotated[
    Path | None,
    typer.Option("--thresholds", help="YAML file with thresholds; see docs/research-gate.md."),
]
Required = Annotated[
    bool,
    typer.Option(
        "--require-verified", help="A claim that no verifier was asked about is an error."
    ),
]
Writer = Annotated[
    Path | None,
    typer.Option(help="YAML file with provider, model, responses: lets a model write prose."),
]


def mount(app: typer.Typer) -> None:
    """Add the commands to ``deepfact research``."""
    for command, examples in (
        (skeptic, "deepfact research skeptic results/indexers\n\n"
         "deepfact research skeptic ledger.json --json"),
        (verify, "deepfact research verify results/indexers\n\n"
         "deepfact research verify results/indexers --verifier panel.yaml --texts"),
        (report, "deepfact research report results/indexers --open\n\n"
         "deepfact research report results/indexers --writer writer.yaml"),
        (run, "deepfact research run 'Is Indexer A the fastest implementation?' --sources papers "
         "--cards cards.yaml\n\ndeepfact research run 'How large is Town G?' --sources notes "
         "--role primary --out results/town\n\ndeepfact research run 'How large is Town G?' "
         "--sources search --search-config search.yaml --dry-run"),
        (check, "deepfact research check ledger.json --junit junit.xml --markdown report.md"),
    ):  # fmt: skip
        app.command(epilog=f"Examples:\n\n{examples}")(command)


def skeptic(
    target: Target,
    thresholds_file: Limits = None,
    require_verified: Required = False,
    as_json: Json = False,
) -> None:
    """Look for everything that speaks against a report. Exit code 1 when an error is left."""
    from deepfact.research.gate import compile_report
    from deepfact.research.ledgers import load_ledger
    from deepfact.research.report_files import record_skeptic
    from deepfact.store.journal import now
    from deepfact.store.ledger import LedgerStore

    limits = thresholds_of(thresholds_file, require_verified)
    made = compile_report(load_ledger(target), limits)
    if target.is_dir():
        with LedgerStore(target) as store:
            record_skeptic(store, made, now())
    if as_json:
        print_json(made.skeptic.model_dump(mode="json"))
    else:
        typer.echo(f"ok: {str(made.skeptic.ok).lower()}")
        _show(made.skeptic)
    if not made.skeptic.ok:
        raise typer.Exit(1)


def verify(
    run: Run,
    verifier: Annotated[
        str, typer.Option(help="A kind of verifier, or a YAML file with kind, name, options.")
    ] = "local",
    texts: Annotated[
        bool,
        typer.Option("--texts", help="Also read claims beside the other cards of their subject."),
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Ask about claims that have an outcome, too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Ask a verifier about each claim. What it cannot settle is unverified, never refuted."""
    from collections import Counter

    from deepfact.research.stages import verify_stage
    from deepfact.research.verify import verifier_of
    from deepfact.research_records import standing_of
    from deepfact.store.journal import now
    from deepfact.store.ledger import LedgerStore, read_ledger

    read_ledger(run)
    name, built = verifier_of(verifier, run)
    with LedgerStore(run) as store, progress() as watch:
        unread = verify_stage(
            store, built, name=name, when=now(), texts=texts, again=again, watch=watch
        )
        ledger = store.ledger
    counted = Counter(str(standing_of(outcome)) for outcome in ledger.outcomes)
    if as_json:
        print_json({**counted, "readings": len(ledger.readings), "unread": unread})
        return
    typer.echo(", ".join(f"{n} {what}" for what, n in sorted(counted.items())) or "no claim")
    if texts:
        typer.echo(f"{len(ledger.readings)} readings beside other cards, {unread} left unread")


def report(
    run: Run,
    thresholds_file: Limits = None,
    require_verified: Required = False,
    writer: Writer = None,
    open_report: Annotated[bool, typer.Option("--open", help="Show it in the browser.")] = False,
    as_json: Json = False,
) -> None:
    """Write the report of a run. Exit code 1 when it is incomplete."""
    from deepfact.research.asking import ModelSpec
    from deepfact.research.gate import compile_report
    from deepfact.research.report_files import record_report
    from deepfact.research.writer import with_prose
    from deepfact.store.journal import now
    from deepfact.store.ledger import LedgerStore, read_ledger
    from deepfact.store.specs import read_yaml

    read_ledger(run)
    limits = thresholds_of(thresholds_file, require_verified)
    with LedgerStore(run) as store:
        made = compile_report(store.ledger, limits)
        if writer is not None:
            made = with_prose(read_yaml(writer, ModelSpec), store.ledger, made)
        record_report(store, made, now())
    finish(made, as_json=as_json, where=str(run / "report.html"))
    if open_report:
        typer.launch(str(run / "report.html"))
    if not made.skeptic.ok:
        raise typer.Exit(1)


def run(
    question: Annotated[str, typer.Argument(help="What is asked.")],
    sources: Annotated[
        str, typer.Option(help="Folder of text files (txt, md, rst, csv, tsv); or: search.")
    ],
    search_config: Annotated[
        Path | None,
        typer.Option(help="With --sources search: YAML file that says whom to ask."),
    ] = None,
    replay: Annotated[
        bool, typer.Option("--replay", help="Search and fetch nothing that is not stored.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what a search would ask for, and stop.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the run.  [default: results/research-<hash>]")
    ] = None,
    cards: Annotated[
        Path | None, typer.Option(help="YAML file that says what the sources are.")
    ] = None,
    role: Annotated[
        SourceRole, typer.Option(help="Role of sources that the file of cards leaves out.")
    ] = SourceRole.SECONDARY,
    trust: Annotated[Trust, typer.Option(help="Trust in them.")] = Trust.UNKNOWN,
    verifier: Annotated[
        str, typer.Option(help="A kind of verifier, or a YAML file with kind, name, options.")
    ] = "local",
    extractor: Annotated[
        Path | None,
        typer.Option(help="YAML file with provider, model, responses: a model extracts claims."),
    ] = None,
    writer: Writer = None,
    texts: Annotated[
        bool,
        typer.Option("--texts", help="Also read claims beside the other cards of their subject."),
    ] = False,
    max_sources: Annotated[int, typer.Option(min=1, help="Most sources that are fetched.")] = 500,
    claims_per_source: Annotated[int, typer.Option(min=1, help="Most claims from one.")] = 5,
    thresholds_file: Limits = None,
    date: Annotated[str, typer.Option(help="What the run is as of.  [default: today]")] = "",
    as_json: Json = False,
) -> None:
    """Research a question in a folder of texts, or by a search; running it again goes on where it
    stopped.

    Exit code 1 when the report is incomplete.
    """
    from deepfact.records import sha256_of
    from deepfact.research.workflow import ResearchSpec, run_research, started_spec

    if not question.strip():
        raise _input_error("a question is needed", "QUESTION")
    folder = out or Path("results") / f"research-{sha256_of(question)[7:15]}"
    before = started_spec(folder)
    when = before.date if before is not None and not date else parse_date(date, "--date")
    spec = ResearchSpec(
        question=question,
        sources=sources,
        search=str(search_config) if search_config else "",
        cards=str(cards) if cards else "",
        role=role,
        trust=trust,
        verifier=verifier,
        extractor=str(extractor) if extractor else "",
        writer=str(writer) if writer else "",
        texts=texts,
        max_sources=max_sources,
        claims_per_source=claims_per_source,
        thresholds=thresholds_of(thresholds_file, require_verified=True),
        date=when,
    )
    if dry_run:
        _show_plan(spec, folder, replay=replay, as_json=as_json)
        return
    with progress() as watch:
        made = run_research(spec, folder, replay=replay, watch=watch)
    finish(made, as_json=as_json, where=str(folder / "report.html"))
    if not made.skeptic.ok:
        raise typer.Exit(1)


def check(
    target: Target,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML here.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the Markdown report here.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the HTML report here.")] = None,
    thresholds_file: Limits = None,
    require_verified: Required = False,
    as_json: Json = False,
) -> None:
    """Check a ledger that somebody else keeps: exit code 0 when complete, 1 when incomplete.

    Changes nothing but the files you name.
    """
    from deepfact.reports.research_report import render_html, render_junit, render_markdown
    from deepfact.research.gate import compile_report
    from deepfact.research.ledgers import load_ledger
    from deepfact.store.files import write_text

    limits = thresholds_of(thresholds_file, require_verified)
    made = compile_report(load_ledger(target), limits)
    for path, render in ((junit, render_junit), (markdown, render_markdown), (html, render_html)):
        if path is not None:
            write_text(path, render(made))
    finish(made, as_json=as_json)
    if not made.skeptic.ok:
        raise typer.Exit(1)


# --- pieces ------------------------------------------------------------------------------


def finish(made: ResearchReport, *, as_json: bool, where: str = "") -> None:
    """Print what the gate decided: status, counts, findings."""
    if as_json:
        print_json(
            {
                "status": str(made.status),
                "counts": made.counts.words(),
                "ledger": made.ledger_hash,
                "skeptic": made.skeptic.model_dump(mode="json"),
                **({"report": where} if where else {}),
            }
        )
        return
    typer.echo(f"report: {made.status}")
    for name, value in made.counts.words().items():
        typer.echo(f"  {name}: {value}")
    _show(made.skeptic)
    if where:
        typer.echo(f"report: {where}")


def _show_plan(spec: ResearchSpec, folder: Path, *, replay: bool, as_json: bool) -> None:
    """What a search would ask for. Nothing is asked, nothing is written."""
    from deepfact.cli.search import show_plan
    from deepfact.research.searched import opened_search, queries_of

    web = opened_search(spec, folder, replay=replay)
    plan = web.plan(queries_of(spec.question, web.spec), most_pages=spec.max_sources)
    show_plan(plan, as_json=as_json)


def _show(found: SkepticResult) -> None:
    for finding in found.findings:
        typer.echo(f"{finding.severity}  {finding.line()}")
        if finding.message:
            typer.echo(f"    {finding.message}")
    errors = [finding for finding in found.findings if finding.severity == "error"]
    for todo in dict.fromkeys(finding.todo for finding in errors):
        note(f"next: {todo}")


def thresholds_of(path: Path | None, require_verified: bool) -> Thresholds:
    """The thresholds of a file, or the defaults."""
    from deepfact.research_records import Thresholds
    from deepfact.store.specs import read_yaml

    limits: Thresholds = read_yaml(path, Thresholds) if path else Thresholds()
    if require_verified:
        limits = limits.model_copy(update={"require_verification": True})
    return limits


def parse_date(text: str, where: str) -> datetime:
    """A date as typed; today when nothing was.

    Raises:
        InputError: it is no date.
    """
    from deepfact.records import parse_when
    from deepfact.store.journal import now

    if not text:
        return now().replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        return parse_when(text)
    except ValueError:
        raise _input_error(f"{text!r} is no date", where, "write it like 2026-11-30") from None


def _input_error(what: str, where: str, fix: str = "") -> Exception:
    from deepfact.errors import InputError

    return InputError(what, where=where, fix=fix)
