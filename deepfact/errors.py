"""Every exception that deepfact raises on purpose, on one screen.

    DeepFactError                    base; the CLI prints it without a traceback
      InputError          exit 2     something the user handed us is wrong
        RecordError                  a record does not have the shape its schema asks for
          NewerSchemaError           it was written by a newer deepfact
        ConfigError                  a YAML spec is wrong (line, column, key)
        BenchmarkError               a benchmark, version, claim or source that does not fit
          IntegrityError             stored bytes do not match their hash
        ResultsExistError            a results folder is in use or belongs to another run
        MissingExtraError            an optional part is not installed
      CheckFailed         exit 1     a check the user asked for did not pass
      RunIncomplete       exit 3     answers or decisions are missing; run it again later

This module imports nothing of deepfact and performs no I/O.
"""

from __future__ import annotations

from bisect import bisect_left
from difflib import get_close_matches
from typing import Iterable


class DeepFactError(Exception):
    """Base of all errors raised on purpose.

    Args:
        what: what is wrong, one sentence without a full stop.
        where: the place: a file, optionally with line, column, claim id or field.
        fix: what the person can do about it.
    """

    exit_code = 1

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        self.what, self.where, self.fix = what, where, fix
        super().__init__(str(self))

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f"\n  {self.fix}" if self.fix else ""
        return f"{place}{self.what}{advice}"


class InputError(DeepFactError):
    """Something the user handed us is wrong. Nothing was changed."""

    exit_code = 2


class RecordError(InputError):
    """A record does not have the shape that its schema asks for."""


class NewerSchemaError(RecordError):
    """A file was written under a schema version that this deepfact does not know."""


class ConfigError(InputError):
    """A YAML spec cannot be read or does not fit its schema."""


class BenchmarkError(InputError):
    """A benchmark, version, claim or source does not exist or does not fit."""


class IntegrityError(BenchmarkError):
    """Stored bytes do not match the hash that names or covers them."""


class ResultsExistError(InputError):
    """A results folder is in use by another process or holds another run."""


class MissingExtraError(InputError):
    """An optional part of deepfact is not installed."""

    def __init__(self, what: str, *, extra: str) -> None:
        super().__init__(what, fix=f"install it with: pip install 'deepfact[{extra}]'")


class CheckFailed(DeepFactError):
    """A check that the user asked for did not pass."""

    exit_code = 1


class RunIncomplete(DeepFactError):
    """A run cannot finish yet: people or answers are missing. It can be resumed."""

    exit_code = 3


MANY_WORDS = 1000
"""With more known words than this only the nearest in order are looked at, and none is listed."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint such as ``did you mean 'auditors'?``, or the known words when none is close."""
    known = sorted(map(str, known))
    many = len(known) > MANY_WORDS
    if many:
        at = bisect_left(known, word)
        known = known[max(0, at - MANY_WORDS // 2) : at + MANY_WORDS // 2]
    close = get_close_matches(word, known, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known: {', '.join(known)}" if known and not many else ""
