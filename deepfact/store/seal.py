"""What no manifest covers: the dataset card, keys, a licence and the like, recorded by hash.

``checksums.json`` lists each such file with its hash, and who recorded it and why. It only grows:
an edited card gets a further entry, and the newest one counts. Whoever writes such a file through
deepfact has it recorded; whoever edits one by hand is told by `bench verify`, and answers for it
with `bench seal`. This module never changes the files it lists.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from deepfact.errors import BenchmarkError, IntegrityError, did_you_mean
from deepfact.records import Checksums, RecordedFile, canonical_json, sha256_of
from deepfact.store.files import read_record, read_text, write_text

NAME = "checksums.json"
CARD = "README.md"
_COVERED = ("versions", "sources")
"""Folders whose files manifests cover, by hash or by the hash in their name."""
_NOT_OURS = (".git", ".lock")
"""Of version control, and of whoever is writing right now."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A file that is not what was recorded of it."""

    path: str
    """Within the benchmark."""
    kind: str
    """``new``, ``changed`` or ``missing``."""
    now: str | None
    """Its hash now."""


def render(entries: tuple[RecordedFile, ...]) -> str:
    """``checksums.json`` as it lies on disk."""
    return Checksums(entries=entries, hash=_hash_of(entries)).model_dump_json(indent=1) + "\n"


def _hash_of(entries: tuple[RecordedFile, ...]) -> str:
    return sha256_of(canonical_json([entry.model_dump(mode="json") for entry in entries]))


def read_entries(folder: Path) -> tuple[RecordedFile, ...]:
    """What is recorded in a benchmark's folder, oldest first; nothing when nothing ever was.

    Raises:
        IntegrityError: ``checksums.json`` was changed by something other than deepfact.
        RecordError: it cannot be read.
    """
    path = folder / NAME
    if not path.is_file():
        return ()
    found = read_record(path, Checksums)
    if found.hash != _hash_of(found.entries) or read_text(path) != render(found.entries):
        raise IntegrityError(
            "not as deepfact wrote it",
            where=str(path),
            fix="restore it, for example from version control",
        )
    return found.entries


def loose_files(folder: Path) -> list[str]:
    """The files in a benchmark's folder that no manifest covers, sorted, with ``/``."""
    found = []
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        top = inside.parts[0]
        if top in _COVERED or top in _NOT_OURS or inside.as_posix() in ("CHANGELOG.md", NAME):
            continue
        if not path.is_dir() and not _half_written(path):
            found.append(inside.as_posix())
    return found


def _half_written(path: Path) -> bool:
    """Whether a file is what a killed recording left of ``checksums.json``."""
    return path.name.startswith(f".{NAME}.") and path.suffix == ".part"


def differences(folder: Path) -> list[Difference]:
    """Where the files that no manifest covers are not what was recorded of them.

    Raises:
        InputError: as `read_entries`.
    """
    recorded = {entry.path: entry.hash for entry in read_entries(folder)}
    found = []
    for name in loose_files(folder):
        now, known = _file_hash(folder / name), recorded.pop(name, None)
        if now != known:
            found.append(Difference(name, "changed" if known else "new", now))
    gone = [Difference(name, "missing", None) for name, known in recorded.items() if known]
    return sorted(found + gone, key=lambda difference: difference.path)


def _file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def record(
    folder: Path,
    *,
    who: str,
    why: str,
    when: datetime | None = None,
    only: Collection[str] = (),
) -> list[Difference]:
    """Record the files that no manifest covers as they are now; says what was new in it.

    Args:
        folder: the benchmark's.
        who: who answers for them.
        why: the reason.
        when: the date.
        only: these files alone; all of them when empty.

    Raises:
        BenchmarkError: ``only`` names a file that is neither there nor recorded, or that the
            manifests cover.
        InputError: as `read_entries`.
    """
    entries = read_entries(folder)
    known = {*loose_files(folder), *(entry.path for entry in entries)}
    for name in only:
        if name not in known:
            raise BenchmarkError(
                f"{name!r} is no file that is recorded here",
                where=str(folder),
                fix=did_you_mean(name, known),
            )
    for part in filter(_half_written, folder.iterdir()):
        part.unlink(missing_ok=True)
    found = [one for one in differences(folder) if not only or one.path in only]
    if found:
        added = (
            RecordedFile(path=one.path, hash=one.now, who=who, when=when, why=why) for one in found
        )
        write_text(folder / NAME, render((*entries, *added)))
    return found


def copy_without_keys(folder: Path, copy: Path) -> None:
    """Record in a copy of a benchmark what was recorded of its card, as it was recorded: a card
    that was changed unseen is not vouched for by copying it."""
    entries = tuple(entry for entry in read_entries(folder) if entry.path == CARD)
    if entries:
        write_text(copy / NAME, render(entries))


def complaints(folder: Path) -> Iterator[tuple[str, str]]:
    """``(file, what is wrong)`` for `bench verify`.

    Raises:
        InputError: as `read_entries`.
    """
    advice = "record it with: deepfact bench seal"
    if not (folder / NAME).is_file():
        yield NAME, f"missing; nothing tells whether card and keys were changed; {advice}"
    found = differences(folder) if (folder / NAME).is_file() else []
    says = {
        "new": f"not recorded, so nothing tells whether it was changed; {advice}",
        "changed": f"changed since it was recorded; restore it, or if it is meant so {advice}",
        "missing": f"missing; restore it, or if it is meant so {advice}",
    }
    for one in found:
        yield one.path, says[one.kind]
    if not (folder / CARD).is_file() and CARD not in {one.path for one in found}:
        yield CARD, "missing: every benchmark has a card"
