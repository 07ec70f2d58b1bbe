"""Our errors as text, so that they cross from one process to another without being pickled."""

from __future__ import annotations

import json

from deepfact.errors import (
    BenchmarkError,
    CheckFailed,
    ConfigError,
    DeepFactError,
    InputError,
    IntegrityError,
    RecordError,
    RunIncomplete,
)
from deepfact.executors.budget import BudgetSpent
from deepfact.providers.base import ProviderRefused
from deepfact.store.secrets import scrub

_KINDS = {
    kind.__name__: kind
    for kind in (
        BenchmarkError, BudgetSpent, CheckFailed, ConfigError, DeepFactError, InputError,
        IntegrityError, ProviderRefused, RecordError, RunIncomplete,
    )
}  # fmt: skip


def error_text(error: BaseException) -> str:
    """An error as JSON. One that is not ours becomes a `DeepFactError`, with its secrets masked."""
    if not isinstance(error, DeepFactError):
        what = f"a worker failed: {type(error).__name__}: {error}"
        return json.dumps({"kind": "DeepFactError", "what": scrub(what), "where": "", "fix": ""})
    # The nearest class that is made of the same three words.
    kind = next(one.__name__ for one in type(error).__mro__ if one.__name__ in _KINDS)
    return json.dumps(
        {
            "kind": kind,
            "what": scrub(error.what),
            "where": scrub(error.where),
            "fix": scrub(error.fix),
        }
    )


def error_of(text: str) -> DeepFactError:
    """The error that a text holds."""
    data = json.loads(text)
    kind = _KINDS.get(data["kind"], DeepFactError)
    return kind(data["what"], where=data["where"], fix=data["fix"])
