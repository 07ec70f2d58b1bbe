"""The options of every command that say what is told of a run: logs, and telemetry by environment.

Only the shell: listeners are in `deepfact.telemetry`. Without an option or variable nothing of it
is loaded.
"""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from typing import Annotated

import typer

from deepfact.cli import output


class Least(StrEnum):
    """The least that is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


LogJson = Annotated[
    str,
    typer.Option(
        "--log-json",
        metavar="FILE|-",
        envvar="DEEPFACT_LOG_JSON",
        show_default=False,
        help="Log one JSON object per line, added to a file, or - for standard error, which then "
        "holds nothing else.",
    ),
]
LogLevel = Annotated[
    Least | None,
    typer.Option(
        "--log-level",
        envvar="DEEPFACT_LOG_LEVEL",
        show_default=False,
        help="The least that is logged; without --log-json, in words on standard error.  "
        "[default with --log-json: info]",
    ),
]
LogDetails = Annotated[
    bool,
    typer.Option(
        "--log-details",
        envvar="DEEPFACT_LOG_DETAILS",
        help="Also log the messages of providers and errors, which may repeat what was asked.",
    ),
]


def start(log_json: str, log_level: Least | None, *, details: bool) -> None:
    """Listen as the options and the environment ask for.

    Raises:
        InputError: the log cannot be written.
    """
    if log_json or log_level is not None:
        _start_logs(log_json, log_level or Least.INFO, details=details)
    if any(name.startswith("OTEL_") for name in os.environ):
        from deepfact import telemetry
        from deepfact.telemetry.otel_setup import asked_for, from_environment

        if asked_for():
            telemetry.listen_later(lambda: from_environment(output.note))


def _start_logs(log_json: str, least: Least, *, details: bool) -> None:
    from deepfact import telemetry
    from deepfact.telemetry.logs import LogListener, to_json, to_words

    level = telemetry.Level[least.name]
    if log_json:
        to_json(log_json, level)
    else:
        to_words(level)
    telemetry.listen(LogListener(details=details))
    if log_json == "-":
        output.send_notes(_note)


def _note(text: str) -> None:
    """A remark as a log line; of an error whatever the level."""
    from deepfact import telemetry

    wrong = text.startswith("error:")
    level = telemetry.Level.ERROR if wrong else telemetry.Level.INFO
    telemetry.event("note", level, message=text)


def stop() -> None:
    """Deliver what is left. Within a few seconds, whoever does not listen any more."""
    if telemetry := sys.modules.get("deepfact.telemetry"):
        telemetry.close()
    output.send_notes(None)
