"""What the Hub is told of a snapshot: the front matter of its card, read and written.

A benchmark's own README.md may begin with front matter; what it states there is kept, and what
only a snapshot knows (configs, size) is written by `front_matter`. YAML is made by the library
from plain values, so no text of a benchmark can add a key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import StringConstraints

from deepfact.errors import ConfigError
from deepfact.publish.licences import Licence, find_licence
from deepfact.records import Record
from deepfact.store.files import read_text
from deepfact.store.specs import parse_yaml

Word = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\r\n]+$")]
Words = Word | tuple[Word, ...]
LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{1,8})*")
Language = Annotated[str, StringConstraints(pattern=f"^{LANGUAGE.pattern}$")]

SPLITS = {"claims": "test", "sources": "corpus"}
"""The configs of a snapshot, each with its only split. Claims are for measuring, hence the name;
there is nothing to train on."""


class StatedMetadata(Record):
    """Front matter that a benchmark's README.md may have. The names are the Hub's, but authors."""

    license: str = ""
    license_name: str = ""
    license_link: str = ""
    language: Language | tuple[Language, ...] = ()
    pretty_name: Word | None = None
    task_categories: Words = ("text-classification",)
    task_ids: Words = ("fact-checking",)
    tags: Words = ()
    annotations_creators: Words = ()
    language_creators: Words = ()
    multilinguality: Words = ()
    source_datasets: Words = ()
    authors: Words = ()
    """Names for the citation; those who made the versions when left out."""


def split_card(text: str) -> tuple[str, str]:
    """A README as its front matter and its body; the first is empty when there is none.

    The front matter keeps its place: line n of it is line n of the file.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() == "---":
        for number, line in enumerate(lines[1:], 1):
            if line.rstrip() == "---":
                return "\n".join(["", *lines[1:number], ""]), "\n".join(lines[number + 1 :])
    return "", "\n".join(lines)


def read_card(path: Path) -> tuple[StatedMetadata, str]:
    """What the README of a benchmark states, and its body.

    Raises:
        ConfigError: the front matter is no YAML of that shape; with line and column.
    """
    front, body = split_card(read_text(path))
    if not front.strip():
        return StatedMetadata(), body
    return parse_yaml(front, StatedMetadata, where=str(path)), body


def check_languages(codes: Iterable[str]) -> tuple[str, ...]:
    """Language codes that were given by hand.

    Raises:
        ConfigError: one is no code.
    """
    for code in codes:
        if not LANGUAGE.fullmatch(code):
            raise ConfigError(
                f"{code!r} is no language code", where="--language", fix="write it like en or pt-BR"
            )
    return tuple(codes)


def licence_of(stated: StatedMetadata, given: str, *, where: str) -> Licence:
    """The licence that the card states or that was given.

    Raises:
        ConfigError: none, an unknown one, or two that differ.
    """
    found = find_licence(
        given or stated.license, name=stated.license_name, link=stated.license_link, where=where
    )
    if given and stated.license:
        said = find_licence(
            stated.license, name=stated.license_name, link=stated.license_link, where=where
        )
        if said != found:
            raise ConfigError(
                f"the card states the licence {said.name}, --license says {found.name}",
                where=where,
                fix="leave --license out, or change the card",
            )
    return found


def front_matter(
    stated: StatedMetadata,
    licence: Licence,
    *,
    name: str,
    languages: tuple[str, ...],
    sizes: Mapping[str, int],
) -> str:
    """The YAML between the dashes of a snapshot's card, dashes included.

    Args:
        stated: what the benchmark's own card states.
        licence: of the benchmark.
        name: of the benchmark.
        languages: codes; none leaves the key out.
        sizes: rows of each config.
    """
    data: dict[str, Any] = {
        "pretty_name": stated.pretty_name or name,
        "license": licence.id,
    }
    if licence.id == "other":
        data |= {"license_name": licence.name, "license_link": licence.link}
    if languages:
        data["language"] = list(languages)
    lists = {
        "task_categories": listed(stated.task_categories),
        "task_ids": listed(stated.task_ids),
        "annotations_creators": listed(stated.annotations_creators),
        "language_creators": listed(stated.language_creators),
        "multilinguality": listed(stated.multilinguality),
        "source_datasets": listed(stated.source_datasets),
        "size_categories": [size_category(sizes["claims"])],
        "tags": list(dict.fromkeys([*listed(stated.tags), "factuality", "deepfact", "croissant"])),
    }
    data |= {key: value for key, value in lists.items() if value}
    data["configs"] = [
        {
            "config_name": config,
            **({"default": True} if config == "claims" else {}),
            "data_files": [{"split": split, "path": f"data/{config}.parquet"}],
        }
        for config, split in SPLITS.items()
        if config in sizes
    ]
    return f"---\n{as_yaml(data)}---\n"


def as_yaml(data: dict[str, Any]) -> str:
    """Plain values as YAML, in their order."""
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100)


def listed(words: str | tuple[str, ...]) -> list[str]:
    """One word or several as a list."""
    return [words] if isinstance(words, str) else list(words)


def size_category(claims: int) -> str:
    """The Hub's name for a data set of that many rows."""
    below = 1000
    names = {10**3: "1K", 10**4: "10K", 10**5: "100K", 10**6: "1M", 10**7: "10M", 10**8: "100M"}
    while claims >= below:
        below *= 10
    if below == 1000:
        return "n<1K"
    return f"{names[below // 10]}<n<{names[below]}"
