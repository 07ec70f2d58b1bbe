"""What the fuzzer knows of a reader: files that it reads well, and how it is called.

A reader may accept a file or refuse it with a `DeepFactError`; anything else is a defect. This
module names no particular reader.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutations import COMMON, Mutation
from pydantic import BaseModel

from deepfact.errors import DeepFactError

Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Reader:
    """One way in which files come in.

    Attributes:
        name: as the table shows it.
        files: makes good files, by path within a folder; called once.
        read: reads them from a folder; a `DeepFactError` is a proper refusal.
        targets: which of the files go wrong; all when empty.
        mutations: how.
        weight: share of the files, relative to the others: less for what starts processes.
        mend: makes what covers the broken file fit again (hashes), so that the reader behind the
            check is reached too.
    """

    name: str
    files: Callable[[], Files]
    read: Callable[[Path], object]
    targets: tuple[str, ...] = ()
    mutations: tuple[Mutation, ...] = COMMON
    weight: float = 1.0
    mend: Callable[[Path], None] | None = None


def refused(error: BaseException) -> bool:
    """Whether an exception is a proper refusal: of our family, with a message that can be shown
    and an exit code that is documented."""
    if not isinstance(error, DeepFactError):
        return False
    return bool(error.what.strip()) and error.exit_code in (1, 2, 3)


def one_file(name: str, data: bytes | str) -> Callable[[], Files]:
    """Files: just this one."""
    content = data.encode("utf-8") if isinstance(data, str) else data
    return lambda: {name: content}


def used(value: Any) -> object:
    """Do with what a reader accepted what every user of it does: write it, as UTF-8."""
    if isinstance(value, BaseModel):
        canonical = getattr(value, "canonical", None)
        (canonical() if canonical else value.model_dump_json()).encode("utf-8")
    elif isinstance(value, list | tuple):
        for one in value:
            used(one)
    elif isinstance(value, dict):
        for one in value.values():
            used(one)
    return value
