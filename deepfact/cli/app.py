"""``deepfact``: the command line. Puts the commands together; each lives in a module of its own.

Heavy modules are imported inside the commands, so that ``--help`` starts at once. A
`DeepFactError` ends a command with its message and exit code, without a traceback.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from deepfact import __version__
from deepfact.cli import audit, bench, model, prompts, responses, round, score
from deepfact.errors import DeepFactError

app = typer.Typer(
    name="deepfact",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 a check did not pass, 2 wrong input, 3 answers or decisions are "
    "missing (run it again later).",
    help="Factuality benchmarks whose labels can be revised, and the verifiers measured on them.",
)
app.add_typer(bench.app, name="bench")
app.add_typer(round.app, name="round")
app.add_typer(audit.app, name="audit")
app.command(epilog=score.VERIFY_EXAMPLES)(score.verify)
app.command(epilog=score.SCORE_EXAMPLES)(score.score)
app.add_typer(model.app, name="model")
app.add_typer(prompts.app, name="prompts")
app.add_typer(responses.app, name="responses")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"deepfact {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Entry point of the ``deepfact`` command."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        app()
    except DeepFactError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        typer.echo("interrupted; what was done is kept, run the same command to go on", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
