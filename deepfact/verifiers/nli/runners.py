"""What runs a model's weights: onnxruntime, or `transformers` where it is installed.

A runner takes token ids and gives logits, and knows nothing of claims. Files are read as weights
only: no code that comes with a model is run, and nothing is unpickled.
"""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, Protocol

from deepfact.errors import ConfigError, InputError, MissingExtraError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ids = Mapping[str, NDArray[np.int64]]
    """Under the names that models use: ``input_ids``, ``attention_mask``, ``token_type_ids``; each
    of the shape (pairs, tokens)."""

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_DYNAMIC = b"DynamicQuantizeLinear"


class Runner(Protocol):
    """Weights that are ready to run."""

    alone: bool
    """Whether the logits of a pair depend on what it is run with, so that it should run alone."""

    def logits(self, ids: Ids) -> NDArray[np.float64]:
        """The logits, of the shape (pairs, classes)."""
        ...


def machine_threads() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


class OnnxRunner:
    """An ONNX file in onnxruntime, on the processor.

    Args:
        path: the file.
        threads: how many work on one run.

    Raises:
        InputError: the file is no model that can be run, or asks for inputs that no pair has.
        MissingExtraError: onnxruntime is not installed.
    """

    def __init__(self, path: Path, threads: int) -> None:
        try:
            import onnxruntime
        except ModuleNotFoundError as error:
            raise MissingExtraError(f"ONNX models need {error.name}", extra="nli") from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(
                str(path), sess_options=options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # its exceptions share no base of their own
            reason = " ".join(str(error).split())[:200]
            raise InputError(
                f"onnxruntime cannot read the model: {reason}",
                where=str(path),
                fix="is the file whole? A file of a few hundred bytes is a pointer of Git LFS",
            ) from None
        self._types = {one.name: one.type for one in self._session.get_inputs()}
        if unknown := sorted(set(self._types) - set(INPUTS)):
            raise InputError(
                f"the model asks for the input {', '.join(unknown)}; a pair of texts gives "
                f"{', '.join(INPUTS)}",
                where=str(path),
                fix="a sequence-classification model is needed, exported for pairs",
            )
        self.alone = _has(path, _DYNAMIC)

    def logits(self, ids: Ids) -> NDArray[np.float64]:
        """As `Runner`."""
        import numpy as np

        given = {
            name: ids[name].astype(np.int32 if kind == "tensor(int32)" else np.int64)
            for name, kind in self._types.items()
        }
        found: Any = self._session.run(None, given)[0]
        return np.asarray(found, dtype=np.float64)


def _has(path: Path, word: bytes) -> bool:
    """Whether a file holds a word, read piece by piece. Operators stand in ONNX files by name."""
    tail = b""
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            if word in tail + piece:
                return True
            tail = piece[-len(word) :]
    return False


class TransformersRunner:
    """A folder of `transformers`, on the processor, weights as safetensors only.

    Raises:
        ConfigError: transformers or torch are not installed.
        InputError: it cannot be loaded.
    """

    alone = False

    def __init__(self, folder: Path, threads: int) -> None:
        try:
            import torch
            from transformers import AutoModelForSequenceClassification
        except ModuleNotFoundError as error:
            raise ConfigError(
                f"a model without an ONNX file needs {error.name}, which is not installed",
                where=str(folder),
                fix="pip install transformers torch, or export the model to ONNX",
            ) from None
        torch.set_num_threads(threads)
        self._torch = torch
        try:
            self._model = AutoModelForSequenceClassification.from_pretrained(
                str(folder),
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
            ).eval()
        except (OSError, ValueError, RuntimeError, KeyError) as error:
            raise InputError(
                f"transformers cannot load the model: {str(error).partition(chr(10))[0]}",
                where=str(folder),
            ) from None

    def logits(self, ids: Ids) -> NDArray[np.float64]:
        """As `Runner`."""
        import numpy as np

        torch = self._torch
        # Some models take no token types, whatever their tokenizer says.
        taken = inspect.signature(self._model.forward).parameters
        with torch.inference_mode():
            given = {n: torch.from_numpy(v) for n, v in ids.items() if n in taken}
            found = self._model(**given).logits
        return np.asarray(found.float().numpy(), dtype=np.float64)
