"""``deepfact research``: the ledger of a research run. Add, look at, decide, import, export.

Only the shell: the ledger is in `deepfact.store.ledger`. The commands that judge (skeptic,
verify, report, check, run) are in `deepfact.cli.research_gate`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deepfact.cli import research_gate
from deepfact.cli.options import Json, Root
from deepfact.cli.output import print_json
from deepfact.cli.pages import App
from deepfact.vocabulary import ClaimKind, Method, SourceRole, Trust

if TYPE_CHECKING:
    from deepfact.research_records import Ledger

app = App(
    "The research gate: source cards, claims, a skeptic pass, and a report that may fail.",
)
Run = research_gate.Run
Who = Annotated[str, typer.Option(help="Who does this; kept in the ledger.")]


@app.command(
    "add-source",
    epilog="Examples:\n\n"
    "deepfact research add-source results/indexers study.txt --role primary --trust high "
    "--url https://example.org/study --published 2026-03-10\n\n"
    "pandoc page.html -t plain | deepfact research add-source results/indexers - --title 'A page'",
)
def add_source(
    run: Run,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The text; - for standard input.")],
    title: Annotated[str, typer.Option(help="[default: the file's name]")] = "",
    url: Annotated[str, typer.Option(help="Where the document is published.")] = "",
    role: Annotated[
        SourceRole, typer.Option(help="Generated text is kept and is never evidence.")
    ] = SourceRole.SECONDARY,
    trust: Annotated[Trust, typer.Option(help="How far you trust it.")] = Trust.UNKNOWN,
    type_: Annotated[str, typer.Option("--type", help="Such as paper, documentation, news.")] = "",
    published: Annotated[str, typer.Option(help="Date of the document, as it gives it.")] = "",
    retrieved: Annotated[str, typer.Option(help="Date of retrieval.  [default: today]")] = "",
    excerpt: Annotated[
        bool, typer.Option("--excerpt", help="The text is a part of the document only.")
    ] = False,
    who: Who = "command line",
    as_json: Json = False,
) -> None:
    """Add a source card; its id is the hash of the card, text included."""
    from deepfact.records import Source
    from deepfact.research.ledgers import make_card
    from deepfact.store.files import decode, read_text
    from deepfact.store.journal import now
    from deepfact.store.ledger import LedgerStore

    if str(file) == "-":
        text = decode(sys.stdin.buffer.read(), where="standard input")
    else:
        text = read_text(file)
    source = Source.create(
        title=title or (file.name if str(file) != "-" else "standard input"),
        url=url,
        role=role,
        trust=trust,
        published=published,
        retrieved_at=research_gate.parse_date(retrieved, "--retrieved"),
        text=text,
    )
    card = make_card(source, type=type_, excerpt=excerpt)
    with LedgerStore(run) as store:
        new = store.add_cards([card], who=who, when=now())
    if as_json:
        print_json({"card": source.id, "new": bool(new), "flags": list(card.flags)})
        return
    typer.echo(f"{source.id}{'' if new else '  (was there already)'}")
    for flag in card.flags:
        typer.echo(f"  flag: {flag}; the text is data all the same")


@app.command(
    "add-claim",
    epilog="Example:\n\n"
    "deepfact research add-claim results/indexers --card 4a40246b --text 'Indexer A is not the "
    "fastest implementation.' --subject 'Indexer A' --predicate 'fastest implementation' "
    "--object no --kind measurement --confidence 0.8 --quote 'not the fastest implementation'",
)
def add_claim(
    run: Run,
    text: Annotated[str, typer.Option(help="The claim, readable alone.")],
    card: Annotated[str, typer.Option(help="Id of the card it is from, or its beginning.")],
    subject: Annotated[str, typer.Option(help="What it is about.")] = "",
    predicate: Annotated[str, typer.Option(help="What is said of it.")] = "",
    object_: Annotated[str, typer.Option("--object", help="Yes, no, a figure, a date...")] = "",
    kind: Annotated[ClaimKind, typer.Option(help="What sort of statement.")] = ClaimKind.OTHER,
    confidence: Annotated[
        float | None, typer.Option(min=0, max=1, help="How sure its author is, 0 to 1.")
    ] = None,
    quote: Annotated[str, typer.Option(help="The card's own words that it rests on.")] = "",
    condition: Annotated[
        list[str] | None, typer.Option(metavar="KIND=VALUE", help="Such as version=2.1; repeat.")
    ] = None,
    caveat: Annotated[str, typer.Option(help="What a reader must know along with it.")] = "",
    context: Annotated[str, typer.Option(help="What is needed to read it alone.")] = "",
    claim_id: Annotated[str, typer.Option("--id", help="[default: from text and card]")] = "",
    who: Who = "command line",
    as_json: Json = False,
) -> None:
    """Add a claim that you typed; a quote must stand in the card's text, word for word."""
    from pydantic import ValidationError

    from deepfact.core.quotes import find_quote
    from deepfact.errors import InputError
    from deepfact.records import sha256_of
    from deepfact.research_records import ResearchClaim
    from deepfact.store.files import explain
    from deepfact.store.journal import now
    from deepfact.store.ledger import LedgerStore, read_ledger
    from deepfact.store.ledger_records import ClaimAdded

    ledger = read_ledger(run)
    source = ledger.sources[card_id(ledger, card)]
    span = find_quote(quote, source.text) if quote else None
    if quote and span is None:
        raise InputError(
            f"the quote is not in {source.title!r}",
            where="--quote",
            fix="copy it from the text; white space and quotation marks do not matter",
        )
    try:
        claim = ResearchClaim(
            id=claim_id or f"c-{sha256_of(text + source.id)[7:19]}",
            text=text,
            context=context,
            subject=subject,
            predicate=predicate,
            object=object_,
            kind=kind,
            confidence=confidence,
            conditions=_pairs(condition or []),
            caveat=caveat,
            card=source.id,
            quote=quote,
            span=span,
        )
    except ValidationError as error:
        raise InputError(explain(error), where="add-claim") from None
    with LedgerStore(run) as store:
        new = store.add([ClaimAdded(claim=claim)], who=who, when=now())
    if as_json:
        print_json({"claim": claim.id, "new": bool(new)})
    else:
        typer.echo(f"{claim.id}{'' if new else '  (was there already)'}")


@app.command("import", epilog="Example:\n\ndeepfact research import results/indexers ledger.json")
def import_(
    run: Run,
    document: Annotated[Path, typer.Argument(metavar="LEDGER.json", help="See `schema`.")],
    who: Who = "import",
    as_json: Json = False,
) -> None:
    """Add everything in a ledger document to a run's ledger. What is there already is left."""
    from deepfact.prompts.fence import suspicions
    from deepfact.store.files import read_record
    from deepfact.store.journal import now
    from deepfact.store.ledger import LedgerStore, document_entries, ledger_of
    from deepfact.store.ledger_records import LedgerDocument

    read = read_record(document, LedgerDocument)
    ledger_of(read, where=str(document), flags=suspicions)  # fits together, before anything is kept
    cards, entries = document_entries(read, where=str(document), flags=suspicions)
    with LedgerStore(run) as store:
        new = store.add_cards(cards, who=who, when=now())
        new += store.add(entries, who=who, when=now())
        ledger = store.ledger
    if as_json:
        print_json({"new": new, "ledger": ledger.content_hash()})
    else:
        typer.echo(f"{new} new entries; ledger {ledger.content_hash()}")


@app.command(epilog="Example:\n\ndeepfact research seed results/indexers deepfact-mini@1")
def seed(
    run: Run,
    benchmark: Annotated[str, typer.Argument(metavar="NAME[@VERSION]")],
    root: Root = None,
    who: Who = "command line",
    as_json: Json = False,
) -> None:
    """Add the sources of a published benchmark to a run, as source cards. No label comes along."""
    from deepfact.research.ledgers import make_card
    from deepfact.store.journal import now
    from deepfact.store.ledger import LedgerStore
    from deepfact.store.locate import load_version

    version = load_version(benchmark, root)
    cards = [make_card(source) for source in version.sources.values()]
    with LedgerStore(run) as store:
        new = store.add_cards(cards, who=who, when=now())
    if as_json:
        print_json({"cards": len(cards), "new": new})
    else:
        typer.echo(f"{new} new cards of {len(cards)} in {version}")


@app.command(
    epilog="Examples:\n\ndeepfact research export results/indexers --to ledger.json\n\n"
    "deepfact research export results/indexers > ledger.json"
)
def export(
    run: Run,
    to: Annotated[Path | None, typer.Option(help="File; standard output when left out.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> None:
    """Write a run's ledger as one JSON document, which `import` and `check` read."""
    from deepfact.errors import InputError
    from deepfact.store.files import write_text
    from deepfact.store.ledger import document_of, read_ledger

    document = document_of(read_ledger(run))
    text = document.model_dump_json(indent=1, exclude_defaults=True)
    if to is None:
        typer.echo(text)
        return
    if to.exists() and not force:
        raise InputError("this file exists", where=str(to), fix="overwrite it with --force")
    write_text(to, text + "\n")
    typer.echo(f"{len(document.cards)} cards, {len(document.claims)} claims: {to}")


@app.command(epilog="Example:\n\ndeepfact research schema > ledger.schema.json")
def schema() -> None:
    """Print the JSON schema of a ledger document."""
    from deepfact.research.schema import ledger_schema

    print_json(ledger_schema())


@app.command(
    epilog="Examples:\n\n"
    "deepfact research resolve results/indexers x-f637562f522d --method different_workload "
    "--who 'R. Okafor' --why 'The vendor indexed short items, the lab whole books.'\n\n"
    "deepfact research resolve results/indexers x-f637562f522d --method source_withdrawn "
    "--withdraw cafbed73 --who 'R. Okafor' --why 'The vendor retracted the study.'"
)
def resolve(
    run: Run,
    contradiction: Annotated[str, typer.Argument(help="Its id, as `skeptic` prints it.")],
    method: Annotated[Method, typer.Option(help="What settles it.")],
    why: Annotated[str, typer.Option(help="What a reader of either claim must know.")],
    who: Annotated[str, typer.Option(help="Who decides.")],
    withdraw: Annotated[
        str, typer.Option(metavar="CARD", help="The card, with source_withdrawn.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Record a decision on a contradiction. Both sides and the decision stay in every report."""
    from pydantic import ValidationError

    from deepfact.core.skeptic import examine
    from deepfact.errors import InputError, did_you_mean
    from deepfact.research_records import Resolution
    from deepfact.store.files import explain
    from deepfact.store.journal import now
    from deepfact.store.ledger import LedgerStore, read_ledger
    from deepfact.store.ledger_records import ResolutionAdded

    ledger = read_ledger(run)
    known = {one.id: one for one in examine(ledger).contradictions}
    if contradiction not in known:
        raise InputError(
            f"there is no contradiction {contradiction!r} in this ledger",
            fix=did_you_mean(contradiction, known) or "see: deepfact research skeptic",
        )
    withdrawn = card_id(ledger, withdraw) if withdraw else None
    if withdrawn and withdrawn not in known[contradiction].cards:
        raise InputError("this card is no side of the contradiction", where="--withdraw")
    when = now()
    try:
        resolution = Resolution(
            contradiction=contradiction,
            method=method,
            who=who,
            when=when,
            why=why,
            withdrawn=withdrawn,
        )
    except ValidationError as error:
        raise InputError(explain(error), where="resolve") from None
    with LedgerStore(run) as store:
        store.add([ResolutionAdded(resolution=resolution)], who=who, when=when)
        left = examine(store.ledger)
    state = next(one.state for one in left.contradictions if one.id == contradiction)
    if as_json:
        print_json({"contradiction": contradiction, "state": str(state), "ok": left.ok})
    else:
        errors = sum(finding.severity == "error" for finding in left.findings)
        typer.echo(f"{contradiction}: {state}; {errors or 'no'} findings of severity error left")


research_gate.mount(app)


# --- pieces ------------------------------------------------------------------------------


def card_id(ledger: Ledger, name: str) -> str:
    """The id of the card that a name means: its id, the beginning of its hash, or its title.

    Raises:
        InputError: none, or several.
    """
    from deepfact.errors import InputError, did_you_mean

    digest = name.removeprefix("sha256:")
    found = [
        card.source.id
        for card in ledger.cards
        if card.source.id.removeprefix("sha256:").startswith(digest) and len(digest) >= 4
    ] or [card.source.id for card in ledger.cards if card.source.title == name]
    if len(found) == 1:
        return found[0]
    titles = [card.source.title for card in ledger.cards]
    raise InputError(
        f"{name!r} means {len(found) or 'no'} cards of this ledger",
        fix="write more of its id" if found else did_you_mean(name, titles),
    )


def _pairs(options: list[str]) -> dict[str, Any]:
    from deepfact.errors import InputError

    pairs = dict[str, Any]()
    for option in options:
        key, equals, value = option.partition("=")
        if not (equals and key.strip() and value.strip()):
            raise InputError(f"{option!r} is not KIND=VALUE", where="--condition")
        pairs[key.strip()] = value.strip()
    return pairs
