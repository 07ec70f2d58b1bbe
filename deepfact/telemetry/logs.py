"""What a run tells of itself as log lines, through the standard logging module.

    LogListener          seam -> logger ``deepfact``; for whoever configures logging themselves
    to_json, to_words    a handler for that logger, as ``--log-json`` and ``--log-level`` ask for

One line per failed call, per claim that came to a conclusion (debug) or to none (info), and where
runs, rounds, verifiers and arms begin and end. How far a step is, is the business of progress and
not told here. Every text is scrubbed of keys. A log that cannot be written is no reason to stop.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from deepfact.errors import InputError
from deepfact.store.secrets import scrub
from deepfact.telemetry.seam import Event, Level, Scope

LOGGER = logging.getLogger("deepfact")
_TOLD = "deepfact_fields"
"""Under which attribute of a log record its fields are."""
_LONG = ("run", "round", "verifier", "arm")
"""Scopes whose beginning and end are lines of their own."""


class LogListener:
    """Writes what is told to the logger ``deepfact``.

    Args:
        details: keep ``detail``, the messages of providers, which may repeat what was asked.
    """

    def __init__(self, *, details: bool = False) -> None:
        self._details = details

    def began(self, scope: Scope, /) -> None:
        """As `deepfact.telemetry.seam.Listener`."""
        if scope.kind in _LONG:
            self._log(Level.INFO, f"{scope.kind}_started", scope.lineage, scope.fields)

    def ended(self, scope: Scope, /) -> None:
        """As `deepfact.telemetry.seam.Listener`."""
        if scope.kind not in _LONG:
            return
        fields = {**scope.fields, "seconds": round(scope.seconds, 3)}
        level = Level.INFO
        if scope.error is not None:
            fields["error"] = type(scope.error).__name__
            fields["detail"] = str(scope.error)
            level = Level.ERROR if scope.kind == "run" else Level.WARNING
        self._log(level, f"{scope.kind}_ended", scope.lineage, fields)

    def told(self, event: Event, /) -> None:
        """As `deepfact.telemetry.seam.Listener`."""
        self._log(event.level, event.name, event.lineage, event.fields)

    def close(self) -> None:
        """Take away the handlers that `to_json` and `to_words` put there."""
        for handler in [one for one in LOGGER.handlers if isinstance(one, _Handler)]:
            LOGGER.removeHandler(handler)
            handler.close()
            LOGGER.setLevel(logging.NOTSET)
            LOGGER.propagate = True

    def _log(
        self, level: Level, name: str, lineage: Mapping[str, str], fields: Mapping[str, Any]
    ) -> None:
        if not LOGGER.isEnabledFor(level):
            return
        told = {**lineage, **fields}
        if not self._details:
            told.pop("detail", None)
        LOGGER.log(level, name, extra={_TOLD: told})


# --- as the command line asks for it -----------------------------------------------------


def to_json(target: str, level: Level) -> None:
    """One JSON object per line, from ``level`` on, added to a file or on standard error.

    Args:
        target: a path, or ``-`` for standard error.
        level: the least that is written.

    Raises:
        InputError: the file cannot be written.
    """
    if target == "-":
        _attach(_Handler(lambda: sys.stderr, JsonLines()), level)
        return
    path = Path(target)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a", encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(
            f"the log cannot be written: {error.strerror or error}",
            where=f"--log-json {target}",
            fix="name a file in a folder that can be written, or - for standard error",
        ) from None
    _attach(_Handler(lambda: file, JsonLines(), file), level)


def to_words(level: Level) -> None:
    """A line for people on standard error, from ``level`` on."""
    # Looked up at each line: a progress bar puts itself in the place of standard error.
    _attach(_Handler(lambda: sys.stderr, Words()), level)


def _attach(handler: _Handler, level: Level) -> None:
    handler.setLevel(int(level))
    LOGGER.addHandler(handler)
    LOGGER.setLevel(min(int(level), LOGGER.level or int(level)))
    LOGGER.propagate = False


class _Handler(logging.Handler):
    """Writes lines to a stream, each at once; says only once that it cannot."""

    def __init__(
        self, stream: Callable[[], TextIO], formatter: logging.Formatter, file: TextIO | None = None
    ) -> None:
        super().__init__()
        self.setFormatter(formatter)
        self._stream, self._file, self._broken = stream, file, False

    def emit(self, record: logging.LogRecord) -> None:
        """As `logging.Handler`."""
        try:
            stream = self._stream()
            stream.write(self.format(record) + "\n")
            stream.flush()
        except (OSError, ValueError):
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - its name
        """A full disk or a closed stream: the run goes on, and a person is told once."""
        if self._broken or self._file is None:
            return
        self._broken = True
        sys.stderr.write("the log cannot be written any more; the run goes on without it\n")

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            try:
                self._file.close()
            except OSError:
                self.handleError(logging.makeLogRecord({}))
        super().close()


class JsonLines(logging.Formatter):
    """``{"time": ..., "level": ..., "event": ..., "run": ..., ...}``, one line."""

    def format(self, record: logging.LogRecord) -> str:
        """As `logging.Formatter`."""
        at = datetime.fromtimestamp(record.created, UTC)
        told: dict[str, Any] = getattr(record, _TOLD, {})
        line: dict[str, Any] = {
            "time": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            "run": None,
            **{name: _plain(value) for name, value in told.items() if value is not None},
        }
        # Looking for keys is what costs here, so all texts of a line are looked at together.
        said = "\n".join(value for value in line.values() if isinstance(value, str))
        if scrub(said) != said:
            line = {k: scrub(v) if isinstance(v, str) else v for k, v in line.items()}
        return json.dumps(line, ensure_ascii=False)


class Words(logging.Formatter):
    """``warning: call failed: timeout, attempt 2 of 5, again in 1.0 s (claim c1, model m)``."""

    def format(self, record: logging.LogRecord) -> str:
        """As `logging.Formatter`."""
        told: dict[str, Any] = {**getattr(record, _TOLD, {})}
        if record.getMessage() == "call_failed":
            words = _call_failed(told)
        else:
            pairs = [f"{name} {_plain(value)}" for name, value in told.items() if value is not None]
            words = f"{record.getMessage().replace('_', ' ')}: {', '.join(pairs)}"
        line = f"{record.levelname.lower()}: {scrub(words)}"
        # Text from outside may not move the cursor or begin a line.
        return "".join(one if one.isprintable() else "\ufffd" for one in line)


def _call_failed(told: dict[str, Any]) -> str:
    status = f" (HTTP {told['status']})" if told.get("status") else ""
    of = f" of {told['of']}" if told.get("of") else ""
    words = f"call failed: {told.get('reason')}{status}"
    if told.get("answered"):
        words += ", the answer is of no use"
    else:
        wait = told.get("wait")
        words += f", attempt {told.get('attempt')}{of}"
        words += ", given up" if wait is None else f", again in {wait:.1f} s"
    about = [f"{name} {told[name]}" for name in ("arm", "claim", "case", "model") if told.get(name)]
    detail = f": {told['detail']}" if told.get("detail") else ""
    return f"{words} ({', '.join(about)}){detail}" if about else f"{words}{detail}"


def _plain(value: Any) -> Any:
    """A value that JSON can hold."""
    return value if isinstance(value, bool | int | float) else str(value)
