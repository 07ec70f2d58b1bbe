"""Where a model lies and what its folder says of it. Reads, downloads if asked to, runs nothing.

A model is a folder as `transformers` saves one: ``config.json``, ``tokenizer.json``, and the
weights as ``model.onnx`` (or ``onnx/model.onnx``) or ``model.safetensors``. Weights that are
pickled (``pytorch_model.bin``) are not read: reading one can run what is in it.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from deepfact.errors import ConfigError, InputError, MissingExtraError
from deepfact.store.files import explain, read_text

HUB_ID = re.compile(r"^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*$")
FILES = ("config.json", "tokenizer.json", "tokenizer_config.json")
ONNX = ("model.onnx", "onnx/model.onnx")
WEIGHTS = "model.safetensors"
_MOST_TOKENS = 512
"""Read at once where a model's files allow more: attention grows with the square."""
_SANE = 100_000
"""A ``model_max_length`` above this stands for "not set"."""


class ModelConfig(BaseModel):
    """What is used of a model's ``config.json``."""

    model_config = ConfigDict(frozen=True, extra="ignore", protected_namespaces=())

    architectures: tuple[str, ...] | None = None
    model_type: str = ""
    id2label: dict[int, str] | None = None
    num_labels: int | None = Field(default=None, ge=1)
    max_position_embeddings: int | None = Field(default=None, ge=1)
    pad_token_id: int | None = None

    @property
    def names(self) -> list[str]:
        """Names of the classes in the order of the outputs; as `transformers` names them where the
        file does not."""
        if self.id2label:
            return [self.id2label[at] for at in sorted(self.id2label)]
        return [f"LABEL_{at}" for at in range(self.num_labels or 2)]


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A model's files, checked."""

    name: str
    folder: Path
    config: ModelConfig
    onnx: Path | None
    """None when the weights are for `transformers`."""

    @property
    def weights(self) -> Path:
        """The file with the weights."""
        return self.onnx or self.folder / WEIGHTS

    def identity(self) -> str:
        """A hash that changes with the weights: the first 12 digits of their SHA-256."""
        with self.weights.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:12]

    def most_tokens(self) -> int:
        """How many tokens of a pair the model reads, by its files, and 512 at most."""
        found = [_MOST_TOKENS]
        if positions := self.config.max_position_embeddings:
            # RoBERTa and its like count positions from the padding token's id on.
            shift = (
                (self.config.pad_token_id or 0) + 1 if "roberta" in self.config.model_type else 0
            )
            found.append(positions - shift)
        path = self.folder / "tokenizer_config.json"
        if path.is_file():
            said = _json(path).get("model_max_length")
            if isinstance(said, int | float) and 0 < said < _SANE:
                found.append(int(said))
        return min(found)


def open_folder(model: str, *, file: str, revision: str, download: bool) -> ModelFolder:
    """The model that a spec names.

    Args:
        model: a folder, or ``owner/name`` on the Hub.
        file: the ONNX file within it; empty for the usual names.
        revision: of a model on the Hub.
        download: whether it may be fetched; else only what was fetched before is used.

    Raises:
        ConfigError, InputError: nothing there, or nothing that can be read.
        MissingExtraError: the client of the Hub is not installed.
    """
    folder = Path(model).expanduser()
    if not folder.is_dir():
        if folder.exists():
            raise ConfigError(
                "model: this is a file, a folder is needed",
                where=model,
                fix="name the folder that holds config.json, tokenizer.json and the weights",
            )
        if not HUB_ID.match(model):
            raise ConfigError(
                "model: there is no such folder, and it is no id on the Hub", where=model,
                fix="name a folder with config.json, tokenizer.json and model.onnx, or owner/name",
            )  # fmt: skip
        folder = _from_hub(model, file, revision, download)
    config = _config(folder / "config.json")
    onnx = _onnx(folder, file)
    if onnx is None and not (folder / WEIGHTS).is_file():
        pickled = (folder / "pytorch_model.bin").is_file()
        raise ConfigError(
            "the folder holds no weights that can be read: no model.onnx, no model.safetensors",
            where=str(folder),
            fix="pytorch_model.bin is pickled, and pickles are not read; save the model as "
            "safetensors or export it to ONNX"
            if pickled
            else "export the model to ONNX, or name the file with the option file",
        )
    return ModelFolder(name=_name(model), folder=folder, config=config, onnx=onnx)


def _name(model: str) -> str:
    return model if HUB_ID.match(model) and not Path(model).exists() else Path(model).resolve().name


def _onnx(folder: Path, file: str) -> Path | None:
    if file:
        if not (folder / file).is_file():
            have = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.onnx"))
            raise ConfigError(
                f"file: the model has no file {file!r}",
                where=str(folder),
                fix=f"ONNX files there: {', '.join(have) or 'none'}",
            )
        return folder / file
    return next((folder / name for name in ONNX if (folder / name).is_file()), None)


def _config(path: Path) -> ModelConfig:
    try:
        config = ModelConfig.model_validate(_json(path))
    except ValidationError as error:
        raise InputError(explain(error), where=str(path), fix="is it a model's config?") from None
    wrong = [name for name in config.architectures or () if "SequenceClassification" not in name]
    if wrong:
        raise ConfigError(
            f"{wrong[0]} is no sequence-classification model",
            where=str(path),
            fix="one is needed that reads evidence and claim as a pair and gives classes",
        )
    return config


def _json(path: Path) -> dict[str, object]:
    try:
        data = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"not JSON: {error}", where=str(path)) from None
    if not isinstance(data, dict):
        raise InputError("a JSON object is needed", where=str(path))
    return data


def _from_hub(model: str, file: str, revision: str, download: bool) -> Path:
    """The folder that the Hub's client keeps a model in."""
    try:
        from huggingface_hub import HfApi, snapshot_download
        from huggingface_hub.errors import LocalEntryNotFoundError
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"models on the Hub need {error.name}", extra="nli") from None
    wanted = [*FILES, *((file,) if file else (*ONNX, WEIGHTS))]
    try:
        if download and not file:
            # Not both kinds of weights: they can be gigabytes.
            there = {
                one.rfilename
                for one in HfApi().model_info(model, revision=revision or None).siblings or ()
            }
            wanted = [*FILES, *[one for one in (*ONNX, WEIGHTS) if one in there][:1]]
        fetched = snapshot_download(
            model,
            revision=revision or None,
            allow_patterns=wanted,
            local_files_only=not download,
        )
    except LocalEntryNotFoundError:
        raise ConfigError(
            "model: there is no such folder, and no model of this id was fetched before"
            if not download
            else "model: it was not fetched before, and the Hub cannot be reached",
            where=model,
            fix="name a folder, or say download: true in the options while you are online",
        ) from None  # fmt: skip
    except Exception as error:  # of the Hub, of whichever HTTP client its client uses
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise ConfigError(
            f"model: it cannot be fetched from the Hub: {reason}",
            where=model,
            fix="name a folder, or try again while you are online",
        ) from None
    return Path(fetched)
