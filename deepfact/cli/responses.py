"""``deepfact responses``: look into a response store, export it, import, prune.

Only the shell: what the commands do is in `deepfact.store.response_exports`. Results go to
standard output.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from deepfact.cli.pages import App
from deepfact.errors import InputError

app = App(
    "The answers of models that were paid for: stats, export, import, prune.",
)

Store = Annotated[
    Path, typer.Argument(metavar="STORE", help="The response store, such as responses.sqlite.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


@app.command(epilog="Example:\n\ndeepfact responses stats results/my-run/responses.sqlite")
def stats(store: Store, as_json: Json = False) -> None:
    """Check a response store and say what it holds."""
    from deepfact.store.response_exports import store_stats
    from deepfact.store.responses import ResponseStore

    with ResponseStore(store, must_exist=True) as opened:
        found = store_stats(opened)
    if as_json:
        typer.echo(found.model_dump_json())
        return
    typer.echo(f"{found.responses} answers, {found.bytes} bytes, no damage found")
    typer.echo(f"tokens: {found.input_tokens} in, {found.output_tokens} out")
    for title, counts in (("model", found.models), ("stop reason", found.stop_reasons)):
        for name, count in counts.items():
            typer.echo(f"{title} {name}: {count}")
    if found.responses:
        typer.echo(f"stored from {found.oldest} to {found.newest}")
    if found.open_batches:
        typer.echo(f"{found.open_batches} batches submitted whose answers were not all taken")


@app.command(
    epilog="Examples:\n\n"
    "deepfact responses export responses.sqlite baseline.responses.jsonl\n\n"
    "deepfact responses export responses.sqlite all.jsonl --requests",
)
def export(
    store: Store,
    to: Annotated[Path, typer.Argument(metavar="FILE", help="The JSON Lines file to write.")],
    keys: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Only answers whose key is in this file, one a line."),
    ] = None,
    requests: Annotated[
        bool, typer.Option("--requests", help="Include what was asked, not only its hash.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write the answers as JSON Lines, sorted by key: the same answers give the same bytes.

    The file holds no key or token of a provider and can be committed.
    """
    from deepfact.store.response_exports import export_responses
    from deepfact.store.responses import ResponseStore

    with ResponseStore(store, must_exist=True) as opened:
        only = None if keys is None else _keys(keys)
        count = export_responses(opened, to, keys=only, requests=requests)
    _say(as_json, f"{count} answers written to {to}", exported=count, path=str(to))


@app.command(
    "import",
    epilog="Example:\n\ndeepfact responses import responses.sqlite baseline.responses.jsonl",
)
def import_(
    store: Store,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An export.")],
    as_json: Json = False,
) -> None:
    """Take over the answers of an export. Answers that are there already stay as they are.

    The store is made when it does not exist.
    """
    from deepfact.store.response_exports import import_responses
    from deepfact.store.responses import ResponseStore

    if not file.is_file():
        raise InputError("no such file", where=str(file))
    with ResponseStore(store) as opened:
        new, known = import_responses(opened, file)
    _say(as_json, f"{new} answers imported, {known} were there already", new=new, known=known)


@app.command(
    epilog="Examples:\n\n"
    "deepfact responses prune responses.sqlite --before 2026-01-01 --dry-run\n\n"
    "deepfact responses prune responses.sqlite --model old-model",
)
def prune(
    store: Store,
    model: Annotated[str | None, typer.Option(help="Answers of this model.")] = None,
    before: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"], help="Answers stored before this time."
        ),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Answers whose key is not in this file, one a line."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count them.")] = False,
    as_json: Json = False,
) -> None:
    """Delete answers that fit every condition given. At least one is needed."""
    from deepfact.store.response_exports import prune_responses
    from deepfact.store.responses import ResponseStore

    with ResponseStore(store, must_exist=True) as opened:
        kept = None if keep is None else _keys(keep)
        count = prune_responses(opened, model=model, before=before, keep=kept, dry_run=dry_run)
    done = "would be deleted" if dry_run else "deleted"
    _say(as_json, f"{count} answers {done}", deleted=count, dry_run=dry_run)


def _keys(path: Path) -> set[str]:
    """Keys of a file: one a line, or the lines of an export."""
    from deepfact.store.files import read_lines

    keys = set()
    for number, line in read_lines(path):
        text = line.strip()
        if text.startswith("{"):
            try:
                text = str(json.loads(text)["key"])
            except (ValueError, KeyError, RecursionError):
                text = ""
        if not text.startswith("sha256:"):
            raise InputError(
                "this is not the key of an answer",
                where=f"{path}, line {number}",
                fix="a key is sha256: and 64 hexadecimal digits; an export will do as well",
            )
        keys.add(text)
    return keys


def _say(as_json: bool, text: str, **data: object) -> None:
    typer.echo(json.dumps(data) if as_json else text)
