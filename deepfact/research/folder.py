"""A folder of text files as the sources of a run: what is there, and what people say of it.

What a source is (its role, its trust, where it is from) is told by whoever runs the research,
for all files or in a YAML file of cards; never by the source itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from deepfact.errors import InputError, did_you_mean
from deepfact.records import Record, Source, SourceRole, Trust
from deepfact.store.files import read_text
from deepfact.store.specs import read_yaml

ENDINGS = (".txt", ".md", ".rst", ".csv", ".tsv")
"""Files that are read; others are listed as left out."""
LARGEST = 4 * 1024 * 1024
"""Bytes of the largest file that is read."""


class CardFields(Record):
    """What a file of cards says of one source."""

    title: str = ""
    url: str = ""
    role: SourceRole | None = None
    trust: Trust | None = None
    type: str = ""
    published: str = ""
    excerpt: bool = False


class CardFile(Record):
    """A YAML file of cards: ``sources: {study.txt: {role: primary, url: ...}}``."""

    sources: dict[str, CardFields]


@dataclass(frozen=True)
class FoundFile:
    """One file of the folder: its name in it, its text, or why it is left out."""

    name: str
    text: str = ""
    why_not: str = ""


def read_folder(folder: Path) -> list[FoundFile]:
    """Every file of a folder and its subfolders, by name; hidden ones are not looked at.

    Raises:
        InputError: there is no such folder.
    """
    if not folder.is_dir():
        raise InputError("there is no such folder", where=str(folder), fix="see --sources")
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
        return FoundFile(name, why_not=f"larger than {LARGEST // 1024 // 1024} MB")
    try:
        text = read_text(path)
    except InputError as error:
        return FoundFile(name, why_not=error.what)
    return FoundFile(name, text) if text.strip() else FoundFile(name, why_not="empty")


def read_cards(path: Path | None, names: list[str]) -> Mapping[str, CardFields]:
    """What a file of cards says, by file name; nothing without one.

    Raises:
        InputError: it names a file that is not in the folder, or is not of the right shape.
    """
    if path is None:
        return {}
    cards = read_yaml(path, CardFile).sources
    for name in cards:
        if name not in names:
            raise InputError(
                f"there is no source {name!r} in the folder",
                where=str(path),
                fix=did_you_mean(name, names),
            )
    return cards


def source_of(
    file: FoundFile,
    fields: CardFields,
    *,
    role: SourceRole,
    trust: Trust,
    retrieved: datetime,
) -> Source:
    """The source that a file is, with what its card says, or the defaults of the run."""
    return Source.create(
        title=fields.title or file.name,
        url=fields.url,
        role=fields.role or role,
        trust=fields.trust or trust,
        published=fields.published,
        retrieved_at=retrieved,
        text=file.text,
    )
