"""Text files of a folder: read for whoever searches them, and kind ``folder``. Reads only.

What a file is (its role, its trust) is said by whoever names the folder, never by the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from deepfact.errors import ConfigError, InputError
from deepfact.records import Source, SourceRole, Trust
from deepfact.retrievers.corpus import CorpusRetriever
from deepfact.retrievers.registry import RetrieverSpec, build_retriever
from deepfact.store.files import read_text

ENDINGS = (".txt", ".md", ".rst", ".csv", ".tsv")
"""Files that are read; others are listed as left out."""
LARGEST = 4 * 1024 * 1024
"""Bytes of the largest file that is read."""


@dataclass(frozen=True)
class FoundFile:
    """One file of the folder: its name in it, its text, or why it is left out."""

    name: str
    text: str = ""
    why_not: str = ""
    damaged: bool = False
    """It is one of those that are read, and cannot be."""


def read_folder(folder: Path) -> list[FoundFile]:
    """Every file of a folder and its subfolders, by name; hidden ones are not looked at.

    Raises:
        InputError: there is no such folder.
    """
    if not folder.is_dir():
        raise InputError("there is no such folder", where=str(folder))
    found = []
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if not path.is_file() or any(part.startswith(".") for part in inside.parts):
            continue
        found.append(_read(path, inside.as_posix()))
    return found


def _read(path: Path, name: str) -> FoundFile:
    if path.is_symlink():
        return FoundFile(name, why_not="a link to somewhere else")
    if path.suffix.lower() not in ENDINGS:
        return FoundFile(name, why_not=f"not one of {', '.join(ENDINGS)}")
    if path.stat().st_size > LARGEST:
        what = f"larger than {LARGEST // 1024 // 1024} MB"
        return FoundFile(name, why_not=what, damaged=True)
    try:
        text = read_text(path)
    except InputError as error:
        return FoundFile(name, why_not=error.what, damaged=True)
    return FoundFile(name, text) if text.strip() else FoundFile(name, why_not="empty")


def folder_sources(folder: Path, *, role: SourceRole, trust: Trust) -> dict[str, Source]:
    """The text files of a folder as sources, by id. Links, hidden files, other kinds of file and
    empty ones are passed over.

    Raises:
        InputError: no such folder; a text file that is too large or not UTF-8, for nobody should
            believe that it was searched.
    """
    found: dict[str, Source] = {}
    for file in read_folder(folder):
        if file.damaged:
            raise InputError(file.why_not, where=str(folder / file.name), fix="mend or move it")
        if not file.why_not:
            source = Source.create(title=file.name, role=role, trust=trust, text=file.text)
            found[source.id] = source
    return found


def folder_retriever(
    path: str,
    ranking: RetrieverSpec = RetrieverSpec(),
    role: SourceRole = SourceRole.SECONDARY,
    trust: Trust = Trust.UNKNOWN,
) -> CorpusRetriever:
    """Kind ``folder``: a retriever over the text files of a folder and its subfolders.

    Args:
        path: the folder.
        ranking: ``bm25``, ``dense`` or ``hybrid``.
        role: of every file.
        trust: in every file.

    Raises:
        InputError: as `folder_sources`.
        ConfigError: ``ranking`` is no ranking.
    """
    if ranking.kind not in ("bm25", "dense", "hybrid"):
        raise ConfigError(f"ranking {ranking.kind!r} is none", fix="known: bm25, dense, hybrid")
    sources = folder_sources(Path(path), role=role, trust=trust)
    return cast(CorpusRetriever, build_retriever(ranking, sources))
