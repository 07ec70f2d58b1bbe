"""``deepfact``: the command line. Puts the commands together; each lives in a module of its own.

Heavy modules are imported inside the commands, so that ``--help`` starts at once. A
`DeepFactError` ends a command with its message and exit code, without a traceback.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from deepfact import __version__
from deepfact.cli import (
    ab,
    audit,
    bench,
    crossaudit,
    doctor,
    index,
    leaderboard,
    mcp,
    microgold,
    model,
    observing,
    plan,
    prompts,
    regress,
    report,
    reproduce,
    research,
    responses,
    round,
    run_show,
    score,
    search,
    simulate,
    transfer,
)
from deepfact.cli.asked import asked_for
from deepfact.cli.output import note
from deepfact.cli.pages import App
from deepfact.errors import DeepFactError

app = App(
    "Factuality benchmarks whose labels can be revised, and the verifiers measured on them.",
    name="deepfact",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 a check did not pass, 2 wrong input, 3 answers or decisions are "
    "missing (run it again later).",
)
app.add_typer(bench.app, name="bench")
app.add_typer(round.app, name="round")
app.add_typer(run_show.app, name="run")
app.add_typer(audit.app, name="audit")
app.add_typer(microgold.app, name="microgold")
app.command(epilog=score.VERIFY_EXAMPLES)(score.verify)
app.command(epilog=score.SCORE_EXAMPLES)(score.score)
app.add_typer(model.app, name="model")
app.command(epilog=ab.EXAMPLES)(ab.ab)
app.command(epilog=plan.EXAMPLES)(plan.plan)
app.command(epilog=regress.EXAMPLES)(regress.regress)
app.command(epilog=leaderboard.EXAMPLES)(leaderboard.leaderboard)
app.command(epilog=crossaudit.EXAMPLES)(crossaudit.crossaudit)
app.command(epilog=reproduce.EXAMPLES)(reproduce.reproduce)
app.command(epilog=simulate.EXAMPLES)(simulate.simulate)
app.command(epilog=transfer.EXAMPLES)(transfer.transfer)
app.add_typer(prompts.app, name="prompts")
app.add_typer(responses.app, name="responses")
app.add_typer(research.app, name="research")
app.add_typer(report.app, name="report")
app.command(epilog=search.EXAMPLES)(search.search)
app.add_typer(index.app, name="index")
app.command(epilog=mcp.EXAMPLES)(mcp.mcp)
app.command(epilog=doctor.EXAMPLES)(doctor.doctor)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"deepfact {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[  # noqa: ARG001 - its callback prints it
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
    log_json: observing.LogJson = "",
    log_level: observing.LogLevel = None,
    log_details: observing.LogDetails = False,
) -> None:
    observing.start(log_json, log_level, details=log_details)


def _in_utf8() -> None:
    """Start again in Python's UTF-8 mode where the locale says that arguments and names of files
    are something else: benchmarks are UTF-8 whatever the locale."""
    if os.name == "posix" and sys.getfilesystemencoding() != "utf-8":
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606


def main() -> None:
    """Entry point of the ``deepfact`` command."""
    _in_utf8()
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    completing = "_DEEPFACT_COMPLETE" in os.environ
    try:
        (app if completing else asked_for(app, sys.argv[1:]))()
    except DeepFactError as error:
        note(f"error: {error}")
        sys.exit(error.exit_code)
    except SystemExit as stop:
        if stop.code == 130:  # typer has turned Ctrl-C into this
            note("interrupted; what was done is kept, run the same command to go on")
        raise
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:  # a place that cannot be read or written; our own files are checked
        where = f"{error.filename}: " if error.filename else ""
        note(f"error: {where}{error.strerror or error}")
        sys.exit(2)
    finally:
        observing.stop()
