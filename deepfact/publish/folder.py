"""Putting a snapshot into a folder: all of it or nothing, and never over anything else.

A folder is replaced only if it is what a former publish left there, byte for byte; its record,
``snapshot.json``, says what that was.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from deepfact.errors import ResultsExistError
from deepfact.records import FileRecord, Hash, sha256_of
from deepfact.store.files import read_record, sync_folder, write_many

MARKER = "snapshot.json"


class SnapshotRecord(FileRecord):
    """``snapshot.json``: what a snapshot was made of, and the hash of each of its other files."""

    benchmark: str = Field(min_length=1)
    version: int = Field(ge=1)
    state_hash: Hash
    """Of the whole version, private claims included."""
    deepfact: str
    """Version of deepfact that wrote it."""
    claims: int = Field(ge=0)
    private_left_out: int = Field(ge=0)
    sources: int = Field(ge=0)
    sources_left_out: int = Field(ge=0)
    files: dict[str, Hash]


def check_target(folder: Path, benchmark: str, *, overwrite: bool) -> None:
    """Refuse a folder that a snapshot of this benchmark must not be put into.

    Raises:
        ResultsExistError: something is there that no publish made, or that was changed since;
            or a snapshot, and it is not to be overwritten.
        RecordError: its snapshot.json is broken.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise ResultsExistError(
            "this is a link or a file, not a folder", where=str(folder), fix="give another folder"
        )
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if not (folder / MARKER).is_file():
        raise ResultsExistError(
            "this folder exists, and no publish made it",
            where=str(folder),
            fix="give another folder; this one is never overwritten",
        )
    record = read_record(folder / MARKER, SnapshotRecord)
    if strange := _strange(folder, record):
        raise ResultsExistError(
            f"this snapshot was changed since it was published: {strange}",
            where=str(folder),
            fix="give another folder; this one is never overwritten",
        )
    if record.benchmark != benchmark:
        raise ResultsExistError(
            f"this folder holds a snapshot of {record.benchmark}",
            where=str(folder),
            fix="give another folder",
        )
    if not overwrite:
        raise ResultsExistError(
            f"this folder holds a snapshot of {record.benchmark}@{record.version}",
            where=str(folder),
            fix="replace it with --overwrite",
        )


def _strange(folder: Path, record: SnapshotRecord) -> str:
    """The first file that is not as it was published; empty when all are."""
    there = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir()
    }
    expected = {*record.files, MARKER}
    if odd := sorted(there ^ expected):
        return f"{odd[0]} {'was added' if odd[0] in there else 'is missing'}"
    for name, digest in record.files.items():
        if sha256_of((folder / name).read_bytes()) != digest:
            return f"{name} is not what it was"
    return ""


def write_snapshot(folder: Path, files: Mapping[str, bytes]) -> None:
    """Put the files into ``folder``, which `check_target` let pass: it is there whole or not at
    all, and on failure what was there before still is."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    staged = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        new, old = staged / "new", staged / "old"
        new.mkdir()
        write_many((new / name, data) for name, data in files.items())
        if folder.exists():
            folder.replace(old)
        try:
            new.replace(folder)
        except OSError:
            if old.exists():
                old.replace(folder)
            raise
        sync_folder(folder.parent)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
