"""Prompts as files: ``<folder>/<role>/<name>/vN.md``, front matter first, and a lock.

A prompt is YAML front matter between two ``---`` lines, then ``# SYSTEM`` and ``# USER``. The
lock (``prompts.lock`` in the folder) holds the hash of every released version; a released
file that changed is refused. Users' own prompts live in a folder of theirs (``prompts/``
beside the config) under the same rules. This module reads files; only `release` writes.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Iterable, Literal, Self

from pydantic import Field, model_validator

from deepfact.errors import ConfigError, InputError, IntegrityError, did_you_mean
from deepfact.records import Label, PromptRef, Record, sha256_of
from deepfact.store.files import read_text, write_text
from deepfact.store.specs import parse_yaml

SHIPPED = Path(__file__).resolve().parent
LOCK = "prompts.lock"
_REFERENCE = re.compile(r"([a-z][a-z0-9_-]*)/([a-z][a-z0-9_-]*)(?:/v([1-9]\d*))?")
_PARTS = re.compile(r"\A---\n(.*?\n)---\n\s*# SYSTEM\n(.*?)\n# USER\n(.*)\Z", re.DOTALL)


class VerdictRule(Record):
    """How an answer's verdict field is read: never by guessing, always by this table."""

    field: str
    """The field of the answer that carries the verdict."""
    labels: dict[str, Label] = Field(min_length=1)
    """What each of its values means; a boolean's values are ``true`` and ``false``."""
    refuting: tuple[str, ...]
    """The values that count against the claim."""


class Move(StrEnum):
    """What an auditing model may answer: a decision, or that it wants to search first."""

    A = "a"
    B = "b"
    NEITHER = "neither"
    CANNOT_TELL = "cannot_tell"
    SEARCH = "search"


class DecisionRule(Record):
    """How an auditing model's answer is read: never by guessing, always by this table."""

    field: str
    """The field of the answer that carries the decision."""
    moves: dict[str, Move] = Field(min_length=1)
    """What each of its values means."""


class FrontMatter(Record):
    """What stands at the top of a prompt's file."""

    name: str
    """``role/name``."""
    version: int = Field(ge=1)
    changed: str
    """What changed since the version before, and why."""
    about: str = ""
    output: Literal["json"] = "json"
    verdict: VerdictRule | None = None
    """With the role ``verifier``."""
    decision: DecisionRule | None = None
    """With the role ``auditor``."""
    step: str = ""
    """With a prompt of a pipeline: the step that reads its answer, see `deepfact.prompts.steps`."""
    output_schema: dict[str, Any]

    @model_validator(mode="after")
    def _one_table(self) -> Self:
        tables = (self.verdict is not None) + (self.decision is not None)
        if tables + bool(self.step) != 1:
            raise ValueError(
                "a prompt has either a verdict or a decision, and a table to read it, or a step"
            )
        return self


@dataclass(frozen=True)
class Prompt:
    """One version of a prompt."""

    front: FrontMatter
    system: str
    """Shared by all claims of a run; holds no data."""
    user: str
    text: str
    """The entire file."""
    path: Path
    folder: Path
    """The folder whose lock covers it."""

    @property
    def id(self) -> str:
        """``role/name/vN``."""
        return f"{self.front.name}/v{self.front.version}"

    @property
    def role(self) -> str:
        """What kind of work it is for, such as ``verifier``."""
        return self.front.name.partition("/")[0]

    @property
    def hash(self) -> str:
        """Hash of the file's text."""
        return sha256_of(self.text)

    @property
    def ref(self) -> PromptRef:
        """What records say of it."""
        return PromptRef(name=self.front.name, version=self.front.version, hash=self.hash)


def folders(extra: Iterable[Path | str] = ()) -> list[Path]:
    """Where prompts are looked for, first one first: those given, ``$DEEPFACT_PROMPTS``,
    ``prompts`` here, then what ships with deepfact."""
    named = [os.environ["DEEPFACT_PROMPTS"]] if os.environ.get("DEEPFACT_PROMPTS") else ["prompts"]
    found = [Path(folder) for folder in (*extra, *named)]
    return [*(folder for folder in found if folder.is_dir()), SHIPPED]


def find_prompts(extra: Iterable[Path | str] = ()) -> dict[str, Path]:
    """All prompt files by id, sorted by name and version; the first folder that has one wins."""
    found: dict[str, tuple[Path, Path]] = {}
    for folder in folders(extra):
        for identity, path in files_in(folder):
            found.setdefault(identity, (folder, path))
    return {identity: found[identity][1] for identity in sorted(found, key=_order)}


def files_in(folder: Path) -> list[tuple[str, Path]]:
    """``(id, file)`` of the prompts of one folder, oldest version first."""
    pairs = [
        (path.relative_to(folder).with_suffix("").as_posix(), path)
        for path in folder.glob("*/*/v*.md")
    ]
    return sorted((pair for pair in pairs if _REFERENCE.fullmatch(pair[0])), key=_pair_order)


def _pair_order(pair: tuple[str, Path]) -> tuple[str, int]:
    return _order(pair[0])


def _order(identity: str) -> tuple[str, int]:
    name, _, version = identity.rpartition("/v")
    return name, int(version)


def load_prompt(reference: str, extra: Iterable[Path | str] = ()) -> Prompt:
    """The prompt ``role/name/vN``, the newest version of ``role/name``, or of a ``.md`` path.

    Args:
        reference: what a config says.
        extra: further folders to look in, first.

    Raises:
        ConfigError: no such prompt, or its file is not well-formed.
        IntegrityError: it was released and has been edited since.
    """
    return _locked(read_prompt(*locate(reference, extra)))


def locate(reference: str, extra: Iterable[Path | str] = ()) -> tuple[Path, Path]:
    """The file that a reference means, and the folder whose lock covers it.

    Raises:
        ConfigError: no such prompt, or a path that is not ``.../role/name/vN.md``.
    """
    if reference.endswith(".md"):
        path = Path(reference).resolve()
        identity = "/".join((*path.parts[-3:-1], path.stem))
        if not _REFERENCE.fullmatch(identity):
            raise ConfigError(
                "a prompt's file is called role/name/vN.md",
                where=reference,
                fix="such as prompts/verifier/mine/v1.md",
            )
        return path, path.parents[2]
    match = _REFERENCE.fullmatch(reference)
    known = find_prompts(extra)
    if match and not match.group(3):
        versions = [identity for identity in known if identity.rpartition("/v")[0] == reference]
        reference = versions[-1] if versions else reference
    if reference not in known:
        raise ConfigError(f"there is no prompt {reference!r}", fix=did_you_mean(reference, known))
    return known[reference], known[reference].parents[2]


def _locked(prompt: Prompt) -> Prompt:
    released = read_lock(prompt.folder).get(prompt.id)
    if released is not None and released != prompt.hash:
        raise IntegrityError(
            f"{prompt.id} was released and has been edited since",
            where=str(prompt.path),
            fix=f"put it back, and write the change as v{prompt.front.version + 1}.md",
        )
    return prompt


def read_prompt(path: Path, folder: Path) -> Prompt:
    """The prompt in a file, whatever the lock says.

    Raises:
        ConfigError: its front matter or its two parts are not as they should be.
        InputError: no such file, or not UTF-8.
    """
    text = read_text(path).replace("\r\n", "\n")
    parts = _PARTS.match(text)
    if parts is None:
        raise ConfigError(
            "not a prompt: front matter, '# SYSTEM' and '# USER' are needed, in this order",
            where=str(path),
            fix="see the shipped ones: deepfact prompts show verifier/split",
        )
    front = parse_yaml("\n" + parts.group(1), FrontMatter, where=str(path))
    return Prompt(front, parts.group(2).strip(), parts.group(3).strip(), text, path, folder)


def read_lock(folder: Path) -> dict[str, str]:
    """``id -> hash`` of the released prompts of a folder; empty without a lock.

    Raises:
        InputError: a line is not ``sha256:... role/name/vN``.
    """
    path = folder / LOCK
    if not path.is_file():
        return {}
    lock: dict[str, str] = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if line.strip():
            hashed, _, identity = line.partition(" ")
            if not re.fullmatch(r"sha256:[0-9a-f]{64}", hashed) or identity in lock:
                raise InputError("not a line of a lock", where=f"{path}, line {number}")
            lock[identity] = hashed
    return lock


def release(prompt: Prompt) -> bool:
    """Add a prompt's hash to its folder's lock. From then on its file may not change.

    Returns:
        False when it had been released already.

    Raises:
        IntegrityError: it was released with another text.
    """
    _locked(prompt)
    lock = read_lock(prompt.folder)
    if prompt.id in lock:
        return False
    lock[prompt.id] = prompt.hash
    lines = [f"{lock[identity]} {identity}\n" for identity in sorted(lock, key=_order)]
    write_text(prompt.folder / LOCK, "".join(lines))
    return True
