"""The folder of local models: what is in it, where it came from, and whether it still is.

``$DEEPFACT_HOME/models/`` holds the GGUF files and ``models.json``, which names each with
its SHA-256. A sum that is listed in `OFFICIAL` gives a file its official name; a file that
bears an official name but has another sum is refused unless the caller says so. This module
downloads nothing, deletes no model, and loads no weights.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, BinaryIO, Callable, Literal

from pydantic import StringConstraints

from deepfact.errors import (
    InputError,
    IntegrityError,
    NewerSchemaError,
    RecordError,
    did_you_mean,
)
from deepfact.models.gguf import ModelHeader, read_header
from deepfact.records import FileRecord, Hash, Record
from deepfact.store.files import read_record, sync_folder, write_text

INDEX = "models.json"

Progress = Callable[[int, int], None]
"""Told ``(bytes done, bytes in all)`` now and then while a big file is read."""

Link = Literal["hard", "symlink"]

_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,89}$"
_FILE = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,89}\.gguf$"
_PIECE = 4 * 1024 * 1024  # bytes read at once


@dataclass(frozen=True, slots=True)
class OfficialModel:
    """A file whose SHA-256 its publisher shows beside the download."""

    name: str
    """``publisher/model quantisation``."""
    file: str
    sha256: str
    bytes: int
    licence: str
    """SPDX identifier."""


OFFICIAL = (
    OfficialModel(
        "Qwen/Qwen2.5-Coder-1.5B-Instruct Q4_K_M", "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        "sha256:cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        1_117_320_768, "Apache-2.0",
    ),
    OfficialModel(
        "Qwen/Qwen2.5-0.5B-Instruct Q4_K_M", "qwen2.5-0.5b-instruct-q4_k_m.gguf",
        "sha256:74a4da8c9fdbcd15bd1f6d01d621410d31c6fc00986f5eb687824e7b93d7a9db",
        491_400_032, "Apache-2.0",
    ),
    OfficialModel(
        "Qwen/Qwen2.5-1.5B-Instruct Q4_K_M", "qwen2.5-1.5b-instruct-q4_k_m.gguf",
        "sha256:6a1a2eb6d15622bf3c96857206351ba97e1af16c30d7a74ee38970e434e9407e",
        1_117_320_736, "Apache-2.0",
    ),
    OfficialModel(
        "Qwen/Qwen3-0.6B Q8_0", "Qwen3-0.6B-Q8_0.gguf",
        "sha256:9465e63a22add5354d9bb4b99e90117043c7124007664907259bd16d043bb031",
        639_446_688, "Apache-2.0",
    ),
    OfficialModel(
        "Qwen/Qwen3-4B Q4_K_M", "Qwen3-4B-Q4_K_M.gguf",
        "sha256:7485fe6f11af29433bc51cab58009521f205840f5b4ae3a32fa7f92e8534fdf5",
        2_497_280_256, "Apache-2.0",
    ),
    OfficialModel(
        "QuantFactory/SmolLM2-135M-Instruct Q4_1", "SmolLM2-135M-Instruct.Q4_1.gguf",
        "sha256:b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        98_362_432, "Apache-2.0",
    ),
)  # fmt: skip
"""Small on purpose. The first and the last were checked against the files themselves, the
others against three or more public records of the publisher's sum."""


class LocalModel(Record):
    """One model of the folder."""

    name: Annotated[str, StringConstraints(pattern=_NAME)]
    """What commands call it; also what the server answers as its model."""
    file: Annotated[str, StringConstraints(pattern=_FILE)]
    """Name of the file in the folder."""
    sha256: Hash
    bytes: int
    known: str | None = None
    """The official name that this sum has; None for a file that is not in the registry."""
    licence: str = ""
    """As registered, or as the file says; empty when neither says."""


class LocalModels(FileRecord):
    """``models.json``."""

    models: tuple[LocalModel, ...] = ()


# --- the folder --------------------------------------------------------------------------


def models_folder() -> Path:
    """Where models are kept: ``$DEEPFACT_HOME/models``, or the platform's folder for data."""
    if home := os.environ.get("DEEPFACT_HOME"):
        return Path(home).expanduser() / "models"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        base = Path(local) if local else Path.home() / "AppData" / "Local"
    else:
        # A relative XDG_DATA_HOME is to be ignored, says its specification.
        data = Path(os.environ.get("XDG_DATA_HOME", ""))
        base = data if data.is_absolute() else Path.home() / ".local" / "share"
    return base / "deepfact" / "models"


def list_models(folder: Path | None = None) -> tuple[LocalModel, ...]:
    """The models of the folder in order of name; none when there is no folder yet.

    Raises:
        RecordError: ``models.json`` is damaged.
        NewerSchemaError: it was written by a newer deepfact.
    """
    index = (folder or models_folder()) / INDEX
    if not index.exists():
        return ()
    try:
        return read_record(index, LocalModels).models
    except NewerSchemaError:
        raise
    except RecordError as error:
        raise RecordError(
            error.what,
            where=error.where,
            fix="delete this file (not the models beside it) and add the models again",
        ) from None


def state_of(model: LocalModel, folder: Path | None = None) -> str:
    """``ok``, ``missing`` or ``changed``, by the size of its file: quick, for lists."""
    try:
        size = ((folder or models_folder()) / model.file).stat().st_size
    except OSError:
        return "missing"
    return "ok" if size == model.bytes else "changed"


def find_model(
    name: str, *, folder: Path | None = None, progress: Progress | None = None
) -> tuple[LocalModel, Path]:
    """The model called ``name`` and its file, which is read once to check its sum.

    Raises:
        InputError: not a name, no such model, or its file is gone.
        IntegrityError: the file is not the one that was added.
        RecordError: ``models.json`` is damaged.
    """
    folder = folder or models_folder()
    if not re.fullmatch(_NAME, name):
        raise InputError(
            f"{name!r} is not the name of a model",
            fix="add a file first with: deepfact model add PATH; then serve it by the name shown",
        )
    models = list_models(folder)
    model = next((model for model in models if model.name == name), None)
    if model is None:
        hint = did_you_mean(name, [model.name for model in models])
        raise InputError(
            f"no model is called {name!r}",
            where=str(folder),
            fix=hint or "none is there yet; add one with: deepfact model add PATH",
        )
    path = folder / model.file
    if not path.is_file():
        raise InputError(
            f"the file of model {name!r} is gone",
            where=str(path),
            fix="put it back, or add it again with: deepfact model add PATH",
        )
    if _sum(path, progress) != model.sha256:
        raise IntegrityError(
            f"the file of model {name!r} is not the one that was added",
            where=str(path),
            fix=f"expected {model.sha256}; put that file back, or add this one under another name",
        )
    return model, path


# --- adding ------------------------------------------------------------------------------


def add_model(
    path: Path,
    *,
    name: str = "",
    link: Link | None = None,
    allow_unknown: bool = False,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> LocalModel:
    """Check a GGUF file, put it in the folder and record it.

    Args:
        path: the file; it is left where it is.
        name: what to call it; by default its official name or that of the file.
        link: make a hard link or a symbolic link instead of a copy.
        allow_unknown: accept a file that bears an official name but has another sum.
        folder: the models folder; by default `models_folder`.
        progress: told how far reading is.

    Raises:
        InputError: no GGUF file, part of a split model, a name that is taken or not a name,
            a sum that belies the official name, or the folder cannot take it.
    """
    from filelock import FileLock

    folder = folder or models_folder()
    if name and not re.fullmatch(_NAME, name):
        raise InputError(
            f"{name!r} cannot be the name of a model",
            fix="a name has letters, digits, '.', '_' and '-', and starts with a letter or digit",
        )
    header = read_header(path)
    if header.parts > 1:
        raise InputError(
            f"this is one of {header.parts} files of a split model",
            where=str(path),
            fix="join them first: llama-gguf-split --merge FIRST-PART whole.gguf",
        )
    staged: Path | None = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        staged, digest = _stage(path, folder, link, progress)
        with FileLock(folder / f".{INDEX}.lock", timeout=60):
            model = _described(path, name, digest, header, allow_unknown)
            _settle(staged, folder, model)
    except OSError as error:
        raise InputError(
            f"the models folder cannot take the file: {error.strerror or error}",
            where=str(folder),
            fix="make room or set DEEPFACT_HOME to another folder"
            + ("; a hard link needs both on one disk" if link == "hard" else ""),
        ) from None
    finally:
        if staged is not None:
            with suppress(OSError):
                staged.unlink(missing_ok=True)
    return model


def _stage(
    path: Path, folder: Path, link: Link | None, progress: Progress | None
) -> tuple[Path, str]:
    """A copy of or link to the file under a passing name in the folder, and its sum.

    The sum is that of the bytes that were copied, so it holds for what is kept.
    """
    if link is None:
        needed, free = path.stat().st_size, shutil.disk_usage(folder).free
        if needed > free:
            raise InputError(
                f"{needed} bytes are needed and {free} are free",
                where=str(folder),
                fix="make room, set DEEPFACT_HOME to another disk, or add it with --link symlink",
            )
    handle, passing = tempfile.mkstemp(dir=folder, prefix=".adding-", suffix=".part")
    staged = Path(passing)
    try:
        with os.fdopen(handle, "wb") as file:
            if link is None:
                digest = _sum(path, progress, copy_to=file)
                file.flush()
                os.fsync(file.fileno())
        if link is not None:
            staged.unlink()
            source = path.resolve()
            if link == "hard":
                staged.hardlink_to(source)
            else:
                staged.symlink_to(source)
            digest = _sum(staged, progress)
        else:
            staged.chmod(0o644)
    except BaseException:
        staged.unlink(missing_ok=True)
        raise
    return staged, digest


def _described(
    path: Path, name: str, digest: str, header: ModelHeader, allow_unknown: bool
) -> LocalModel:
    """The entry for a file with this sum, unless its name claims to be another."""
    known = next((model for model in OFFICIAL if model.sha256 == digest), None)
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", path.resolve().stem).strip("-._") or "model"
    chosen = name or (Path(known.file).stem if known else stem)[:90]
    for claimed in {path.name.lower(), path.resolve().name.lower(), f"{chosen}.gguf".lower()}:
        official = next((model for model in OFFICIAL if model.file.lower() == claimed), None)
        if official is not None and official is not known and not allow_unknown:
            raise InputError(
                f"it is named like {official.name}, but its sum is {digest} where the "
                f"published file has {official.sha256}",
                where=str(path),
                fix="fetch it again from the publisher; if you know that it is another build, "
                "add it with --allow-unknown",
            )
    return LocalModel(
        name=chosen,
        file=f"{chosen}.gguf",
        sha256=digest,
        bytes=path.stat().st_size,
        known=known.name if known else None,
        licence=known.licence if known else header.licence,
    )


def _settle(staged: Path, folder: Path, model: LocalModel) -> None:
    """Give the staged file its place and write ``models.json``; the lock is held."""
    models = list_models(folder)
    place = folder / model.file
    other = next((one for one in models if one.name.lower() == model.name.lower()), None)
    if other is not None and other.sha256 != model.sha256 and state_of(other, folder) != "missing":
        raise InputError(
            f"another model is called {other.name!r}",
            where=str(folder / other.file),
            fix="choose another name with --name",
        )
    if other is None and place.exists() and _sum(place, None) != model.sha256:
        raise InputError(
            "another file of this name is in the models folder, but not in its list",
            where=str(place),
            fix="add that file itself, or choose another name with --name",
        )
    # When the file is there already (someone put it into the folder by hand) it stays.
    if not (place.exists() and place.samefile(staged)):
        staged.replace(place)
        sync_folder(folder)
    kept = [one for one in models if one is not other]
    listed = LocalModels(models=tuple(sorted((*kept, model), key=lambda one: one.name)))
    write_text(folder / INDEX, listed.model_dump_json(indent=1) + "\n")


def _sum(path: Path, progress: Progress | None, copy_to: BinaryIO | None = None) -> str:
    """The SHA-256 of a file, read in pieces, copied on the way when asked."""
    digest, done, size = hashlib.sha256(), 0, path.stat().st_size
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
            if copy_to is not None:
                copy_to.write(piece)
            done += len(piece)
            if progress is not None:
                progress(done, size)
    return f"sha256:{digest.hexdigest()}"
