"""``deepfact model``: add a local language model, list what is there, serve one on loopback.

Only the shell: what the commands do is in `deepfact.models`, which is imported when a
command runs. Results go to standard output, progress to standard error.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Iterator, NoReturn

import typer

from deepfact.cli.pages import App

if TYPE_CHECKING:
    from deepfact.models.registry import LocalModel, Progress

app = App(
    "A small language model run on this machine, as an option (extra 'local-llm').",
)

_BIG = 64 * 1024 * 1024  # bytes from which progress is shown


class LinkKind(StrEnum):
    """What `--link` makes instead of a copy."""

    HARD = "hard"
    SYMLINK = "symlink"


Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


@app.command(
    epilog="Examples:\n\n"
    "deepfact model add SmolLM2-135M-Instruct.Q4_1.gguf --name smollm2\n\n"
    "deepfact model add big.gguf --link symlink --name big",
)
def add(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A model file in GGUF format.")],
    name: Annotated[
        str, typer.Option(help="What to call it; by default its official name or the file's.")
    ] = "",
    link: Annotated[
        LinkKind | None, typer.Option(help="Link to the file instead of copying it.")
    ] = None,
    allow_unknown: Annotated[
        bool,
        typer.Option(
            "--allow-unknown",
            help="Accept a file that is named like an official one but has another SHA-256.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Check a GGUF file, compare its SHA-256 with the official ones, and keep it.

    The file stays where it is; a copy goes to the folder "models" under DEEPFACT_HOME.

    Only serving needs the extra 'local-llm'; adding does not.
    """
    from deepfact.models.registry import add_model, models_folder

    with _progress(f"reading {path.name}") as progress:
        model = add_model(
            path,
            name=name,
            link=link.value if link else None,
            allow_unknown=allow_unknown,
            progress=progress,
        )
    if as_json:
        typer.echo(model.model_dump_json())
        return
    typer.echo(f"added {model.name} ({_size(model.bytes)}) to {models_folder()}")
    typer.echo(f"  {model.sha256}")
    if model.known:
        typer.echo(f"  known: {model.known}, {model.licence}")
    else:
        licence = f", licence by its own account: {model.licence}" if model.licence else ""
        typer.echo(f"  unknown: its SHA-256 is not in the registry{licence}")
    typer.echo(f"  serve it with: deepfact model serve {model.name}")


@app.command("list", epilog="Examples:\n\ndeepfact model list\n\ndeepfact model list --json")
def list_(as_json: Json = False) -> None:
    """List the models that were added, with their official names and SHA-256 sums."""
    from deepfact.models.registry import list_models, models_folder, state_of

    models = list_models()
    if as_json:
        rows: list[dict[str, Any]] = [
            {**model.model_dump(mode="json"), "state": state_of(model)} for model in models
        ]
        typer.echo(json.dumps({"folder": str(models_folder()), "models": rows}, indent=1))
    elif not models:
        typer.echo(f"no models in {models_folder()}\n  add one with: deepfact model add PATH")
    else:
        _table(models)


@app.command(
    epilog="Examples:\n\n"
    "deepfact model serve smollm2\n\n"
    "deepfact model serve smollm2 --port 8091 --context 8192\n\n"
    "deepfact model serve smollm2 --json",
)
def serve(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A name shown by: deepfact model list.")
    ],
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.")] = 0,
    host: Annotated[str, typer.Option(help="Loopback address. Others are refused.")] = "127.0.0.1",
    context: Annotated[
        int, typer.Option(help="Tokens that prompt and answer may have together.")
    ] = 4096,
    threads: Annotated[
        int | None, typer.Option(help="Threads of computation; llama.cpp chooses by default.")
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print one JSON line (url, pid, model) when ready."),
    ] = False,
) -> None:
    """Serve a model on loopback until Ctrl-C, for the Messages and chat-completions protocols.

    A JSON schema is enforced at /v1/chat/completions, not at /v1/messages.

    At temperature 0 an answer does not depend on earlier requests: there is no prompt cache.
    """
    from deepfact.models.registry import find_model
    from deepfact.models.server import LocalServer, loopback

    loopback(host)  # before a big file is read in vain
    with _progress(f"checking {name}") as progress:
        model, path = find_model(name, progress=progress)
    # A stop by the system (SIGTERM) ends as cleanly as Ctrl-C does.
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        with LocalServer(
            path, name=model.name, host=host, port=port, context=context, threads=threads
        ) as server:
            if as_json:
                # The pid is that of this command: a signal to it stops the server, too.
                ready = {"url": server.url, "pid": os.getpid(), "model": model.name}
                typer.echo(json.dumps(ready))
            else:
                _introduce(server.url, model)
            sys.stdout.flush()
            server.wait()
    except KeyboardInterrupt:
        typer.echo("stopped", err=True)


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _introduce(url: str, model: LocalModel) -> None:
    typer.echo(f"{model.name} is served at {url} (Ctrl-C stops it)\n")
    typer.echo("Messages protocol (JSON schema not enforced), in a verifier's options:")
    typer.echo(
        f"  provider: {{kind: anthropic, options: {{base_url: '{url}', structured: false}}}}"
    )
    typer.echo(f"  model: '{model.name}'")
    typer.echo("chat completions (JSON schema enforced):")
    typer.echo(f"  provider: {{kind: openai, options: {{base_url: '{url}/v1'}}}}")
    typer.echo(f"  model: '{model.name}'")


def _table(models: tuple[LocalModel, ...]) -> None:
    from deepfact.models.registry import state_of

    rows = [("NAME", "SIZE", "STATE", "KNOWN AS", "LICENCE", "SHA-256")]
    for model in models:
        known, licence = model.known or "unknown", model.licence or "unknown"
        digest = model.sha256.removeprefix("sha256:")[:12]
        rows.append((model.name, _size(model.bytes), state_of(model), known, licence, digest))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        typer.echo("  ".join(cells).rstrip())


def _size(count: int) -> str:
    """Bytes in words: ``98.4 MB`` (of a million bytes)."""
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"


def _nobody_watches(_done: int, _size: int) -> None:
    """Progress shown to nobody."""


@contextlib.contextmanager
def _progress(what: str) -> Iterator[Progress]:
    """A bar on standard error for a big file, when somebody watches."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _nobody_watches
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn())
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, visible=False)

        def show(done: int, size: int) -> None:
            bar.update(task, completed=done, total=size, visible=size >= _BIG)

        yield show
