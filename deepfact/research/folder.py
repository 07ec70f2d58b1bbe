"""A folder of text files as the sources of a run: what is there, and what people say of it.

What a source is (its role, its trust, where it is from) is told by whoever runs the research,
for all files or in a YAML file of cards; never by the source itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from deepfact.errors import InputError, did_you_mean
from deepfact.records import Record, Source, SourceRole, Trust
from deepfact.retrievers.folder import FoundFile
from deepfact.store.specs import read_yaml


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
