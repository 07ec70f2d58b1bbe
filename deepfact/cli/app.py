"""``deepfact``: the command line. Puts the commands together; each lives in a module of its own.

Commands are imported when they are asked for, and heavy modules inside them, so that ``--help``
starts at once. A `DeepFactError` ends a command with its message and exit code, without a
traceback.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from deepfact import __version__
from deepfact.cli import observing
from deepfact.cli.asked import asked_for
from deepfact.cli.commands import COMMANDS, list_in, put_into
from deepfact.cli.output import note
from deepfact.cli.pages import App
from deepfact.errors import DeepFactError


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"deepfact {__version__}")
        raise typer.Exit


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


def _root() -> App:
    """The command line without any command."""
    root = App(
        "Factuality benchmarks whose labels can be revised, and the verifiers measured on them.",
        name="deepfact",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog="Exit codes: 0 done, 1 a check did not pass, 2 wrong input, 3 answers or decisions "
        "are missing (run it again later).",
    )
    root.callback()(_options)
    return root


def whole() -> App:
    """The command line with every command."""
    root = _root()
    for listed in COMMANDS:
        put_into(root, listed)
    return root


def part(words: Sequence[str]) -> App:
    """The command line as far as ``words``, typed after the program's name, ask for it. What is
    asked for is as in the whole."""
    first = words[0] if words else ""
    if first.startswith("-") and first not in ("-h", "--help", "--version"):
        return whole()  # an option before the command, whose value may look like one
    root = _root()
    chosen = [listed for listed in COMMANDS if listed.name == first]
    for listed in chosen:
        group = put_into(root, listed)
        if group is not None:
            root.registered_groups[-1].typer_instance = asked_for(group, words[1:])
    for listed in () if chosen else COMMANDS:
        list_in(root, listed)
    return root


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
        (whole() if completing else part(sys.argv[1:]))()
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
