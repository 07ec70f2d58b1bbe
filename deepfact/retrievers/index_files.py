"""Indexes on disk: made once, under the hash of what they are made of, and used again.

    <folder>/<first 32 digits of the key>/
      index.json            settings, ids of the sources, and size and hash of each other file
      places.npy            where each passage stands
      vectors.npy           with an embedder
      bm25/                 what the bm25s library saves: arrays as .npy, words as JSON

An index is written beside its place and moved there whole, under a lock, so that several processes
may ask for one at once and only one makes it. Arrays are read without pickle and memory-mapped.
Whatever does not match the hashes in ``index.json`` is made anew, and that is said. A source's text
is never stored here.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from pydantic import Field

from deepfact.errors import InputError
from deepfact.records import FileRecord, Hash, Record, Source
from deepfact.retrievers.embedders import Embedder
from deepfact.retrievers.index import (
    IndexSettings,
    PassageIndex,
    build_index,
    key_of,
    settings_of,
)
from deepfact.store.files import read_record, sync_folder, write_text

INFO = "index.json"
_DIGITS = 32
_NAME = re.compile(r"[0-9a-f]{32}")
WAIT = 3600.0
"""Seconds to wait for another process that is making the same index."""


class FileEntry(Record):
    """One file of an index."""

    size: int = Field(ge=0)
    sha256: str


class IndexInfo(FileRecord):
    """``index.json``: what an index is made of, and what it must look like."""

    key: Hash
    settings: IndexSettings
    sources: tuple[str, ...]
    passages: int = Field(ge=0)
    files: dict[str, FileEntry]


@dataclass(frozen=True)
class StoredIndex:
    """What `IndexStore.stats` says of one index."""

    path: Path
    info: IndexInfo | None
    """None where ``index.json`` cannot be read."""
    bytes: int
    used: float
    """When it was last opened, seconds since the epoch."""
    problem: str = ""
    """Why it will be made anew when it is next asked for; empty when it is whole."""


def default_folder() -> Path:
    """Where indexes are kept when nobody names a folder: ``DEEPFACT_HOME``, or the user's cache."""
    if home := os.environ.get("DEEPFACT_HOME"):
        return Path(home).expanduser() / "indexes"
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    base = cache if cache.is_absolute() else Path.home() / ".cache"
    return base / "deepfact" / "indexes"


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


class IndexStore:
    """A folder of indexes. Safe with several processes.

    Args:
        folder: it is made when an index is.
        say: is told when a damaged index is made anew; standard error by default.
    """

    def __init__(self, folder: Path, *, say: Callable[[str], None] = _say) -> None:
        self.folder, self._say = folder, say
        self.made = False
        """Whether the last `open` had to make its index."""

    def path(self, key: str) -> Path:
        """Where the index of a key lies."""
        return self.folder / key.removeprefix("sha256:")[:_DIGITS]

    def open(self, sources: Mapping[str, Source], embedder: Embedder | None = None) -> PassageIndex:
        """The index of these sources: as it is stored, or made and stored now.

        Raises:
            InputError: the folder cannot be written, or another process takes too long.
        """
        settings, self.made = settings_of(embedder), False
        key = key_of(settings, list(sources))
        path = self.path(key)
        try:
            if (found := self._load(path, key, sources)) is not None:
                return found
            self.folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self.folder / f".{path.name}.lock", timeout=WAIT):
                # Another process may have been first.
                if (found := self._load(path, key, sources)) is not None:
                    return found
                if path.exists():
                    why = problem_of(path) or "its arrays cannot be read"
                    self._say(f"index {path.name[:12]}: {why}; it is made anew")
                    shutil.rmtree(path)
                made = build_index(sources, embedder, donor=self._donor(settings, sources))
                self._write(made, path)
                self.made = True
        except Timeout:
            raise InputError(
                "another process has been making this index for an hour",
                where=str(path),
                fix="wait for it, or name another folder",
            ) from None
        except OSError as error:
            raise InputError(
                f"indexes cannot be kept here: {error.strerror or error}",
                where=str(error.filename or self.folder),
                fix="name another folder",
            ) from None
        kept = self._load(path, key, sources)
        return made if kept is None else kept

    def stats(self) -> list[StoredIndex]:
        """Every index in the folder, checked against its hashes, by name."""
        return [self._stat(path) for path in self._paths()]

    def prune(self, *, unused_days: float | None = None) -> list[StoredIndex]:
        """Delete indexes, and give back what was there.

        Args:
            unused_days: only those not opened for so many days, and damaged ones; all when None.
        """
        before = None if unused_days is None else time.time() - unused_days * 86400
        gone = []
        for one in self.stats():
            if before is None or one.problem or one.used < before:
                with FileLock(self.folder / f".{one.path.name}.lock", timeout=WAIT):
                    shutil.rmtree(one.path, ignore_errors=True)
                gone.append(one)
        for left in self.folder.glob(".making-*"):  # of a process that was killed
            if time.time() - left.stat().st_mtime > WAIT:
                shutil.rmtree(left, ignore_errors=True)
        return gone

    # --- pieces --------------------------------------------------------------------------

    def _paths(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        # By name: whatever else lies in a folder that somebody named is not ours to delete.
        return sorted(path for path in self.folder.iterdir() if _NAME.fullmatch(path.name))

    def _stat(self, path: Path) -> StoredIndex:
        problem = problem_of(path)
        try:
            info: IndexInfo | None = read_record(path / INFO, IndexInfo)
        except InputError:
            info = None
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        last = path / INFO if info else path
        return StoredIndex(path, info, size, last.stat().st_mtime, problem)

    def _load(self, path: Path, key: str, sources: Mapping[str, Source]) -> PassageIndex | None:
        """The stored index, or None when it is not there or not whole."""
        if not path.is_dir() or problem_of(path):
            return None
        info = read_record(path / INFO, IndexInfo)
        if info.key != key or list(info.sources) != list(sources):
            return None
        try:
            made = _read(path, info, sources)
        except (OSError, ValueError, KeyError, TypeError):  # hashes match, and still it is no index
            return None
        os.utime(path / INFO)  # when it was last used, for prune
        return made

    def _donor(self, settings: IndexSettings, sources: Mapping[str, Source]) -> PassageIndex | None:
        """The stored index of the same settings that shares most sources with these; only with
        vectors, since cutting sentences is cheap and embedding them may not be."""
        if not settings.embedder:
            return None
        best, shared, wanted = None, 0, set(sources)
        for path in self._paths():
            if problem_of(path):
                continue
            info = read_record(path / INFO, IndexInfo)
            count = len(wanted & set(info.sources))
            if info.settings == settings and count > shared:
                best, shared = (path, info), count
        try:
            return _read(*best, {}) if best else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _write(self, index: PassageIndex, path: Path) -> None:
        """Write an index beside its place and move it there, durable on return."""
        import numpy

        building = Path(tempfile.mkdtemp(dir=self.folder, prefix=".making-"))
        try:
            numpy.save(building / "places.npy", index.places, allow_pickle=False)
            if index.vectors is not None:
                numpy.save(building / "vectors.npy", index.vectors, allow_pickle=False)
            if index.bm25 is not None:
                index.bm25.save(building / "bm25", allow_pickle=False, show_progress=False)
            files = {
                file.relative_to(building).as_posix(): entry_of(file)
                for file in sorted(building.rglob("*"))
                if file.is_file()
            }
            info = IndexInfo(
                key=index.key,
                settings=index.settings,
                sources=index.ids,
                passages=len(index),
                files=files,
            )
            for name in files:
                with (building / name).open("rb+") as file:
                    os.fsync(file.fileno())
            write_text(building / INFO, info.model_dump_json(indent=1) + "\n")
            building.chmod(0o755)
            building.rename(path)
            sync_folder(self.folder)
        finally:
            shutil.rmtree(building, ignore_errors=True)


def problem_of(path: Path) -> str:
    """What is wrong with a stored index; empty when every file is what ``index.json`` says."""
    try:
        info = read_record(path / INFO, IndexInfo)
    except InputError as error:
        return f"{INFO}: {error.what}"
    for name, entry in info.files.items():
        file = path / name
        if ".." in Path(name).parts or not file.is_file():
            return f"{name} is missing"
        if file.stat().st_size != entry.size:
            return f"{name} has {file.stat().st_size} bytes, not {entry.size}"
        if entry_of(file) != entry:
            return f"{name} does not match its hash"
    return ""


def entry_of(file: Path) -> FileEntry:
    """Size and hash of a file."""
    with file.open("rb") as data:
        return FileEntry(
            size=file.stat().st_size, sha256=hashlib.file_digest(data, "sha256").hexdigest()
        )


def _read(path: Path, info: IndexInfo, sources: Mapping[str, Source]) -> PassageIndex:
    """The arrays of a stored index, memory-mapped."""
    import numpy

    def array(name: str) -> Any:
        return numpy.load(path / name, mmap_mode="r", allow_pickle=False)

    places = array("places.npy")
    vectors = array("vectors.npy") if "vectors.npy" in info.files else None
    if places.shape != (info.passages, 3) or (
        vectors is not None and len(vectors) != info.passages
    ):
        raise ValueError("the arrays do not fit together")
    bm25 = None
    if any(name.startswith("bm25/") for name in info.files):
        import bm25s

        bm25 = bm25s.BM25.load(path / "bm25", mmap=True, allow_pickle=False, show_progress=False)
    return PassageIndex(info.settings, sources, info.sources, places, bm25, vectors)
