"""A model small enough to be written here, byte by byte, and the one that people may have beside.

The tiny model counts words: it adds up a row of figures for each token, ``confirms`` speaks for
supported, ``denies`` for contradictory, and the opening token for inconclusive. It is a whole ONNX
file all the same (Gather, Mul, ReduceSum), written with the few rules of the protobuf wire format,
so that no package is needed to make it.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("onnxruntime", reason="the extra nli is not installed")

WORDS = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "confirms", "denies", "weakly")
FIGURES = {"[CLS]": (0.0, 0.0, 1.0), "confirms": (3.0, 0.0, 0.0), "denies": (0.0, 3.0, 0.0),
           "weakly": (0.5, 0.0, 0.0)}  # fmt: skip


def _varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _value_info(name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    sides = b"".join(
        _field(1, _field(1, side) if isinstance(side, int) else _field(2, side)) for side in shape
    )
    tensor = _field(1, kind) + _field(2, sides)
    return _field(1, name) + _field(2, _field(1, tensor))


def _node(kind: str, inputs: Sequence[str], output: str, *attributes: bytes) -> bytes:
    named = b"".join(_field(1, one) for one in inputs) + _field(2, output) + _field(4, kind)
    return named + b"".join(_field(5, one) for one in attributes)


def _int_attribute(name: str, value: int) -> bytes:
    return _field(1, name) + _field(3, value) + _field(20, 2)


def _tensor(name: str, kind: int, shape: Sequence[int], raw: bytes) -> bytes:
    return (
        b"".join(_field(1, side) for side in shape)
        + _field(2, kind)
        + _field(8, name)
        + _field(9, raw)
    )


def onnx_bytes(
    figures: Sequence[Sequence[float]], *, inputs: Sequence[str] = ("input_ids", "attention_mask")
) -> bytes:
    """An ONNX model: the sum over the unmasked tokens of a row of figures for each."""
    float_kind, int_kind = 1, 7
    classes = len(figures[0])
    table = b"".join(struct.pack(f"<{classes}f", *row) for row in figures)
    nodes = [
        _node("Gather", ["table", "input_ids"], "rows"),
        _node("Cast", ["attention_mask"], "mask", _int_attribute("to", float_kind)),
        _node("Unsqueeze", ["mask", "last"], "column"),
        _node("Mul", ["rows", "column"], "kept"),
        _node("ReduceSum", ["kept", "middle"], "logits", _int_attribute("keepdims", 0)),
    ]
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, "tiny")
    graph += _field(5, _tensor("table", float_kind, (len(figures), classes), table))
    graph += _field(5, _tensor("last", int_kind, (1,), struct.pack("<q", 2)))
    graph += _field(5, _tensor("middle", int_kind, (1,), struct.pack("<q", 1)))
    for name in inputs:
        graph += _field(11, _value_info(name, int_kind, ("b", "s")))
    graph += _field(12, _value_info("logits", float_kind, ("b", classes)))
    return _field(1, 8) + _field(7, graph) + _field(8, _field(1, "") + _field(2, 13))


@pytest.fixture(scope="session")
def write_model() -> Callable[..., Path]:
    """Writes the tiny model into a folder; other classes, files and figures on request."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    def write(folder: Path, *, classes: Sequence[int] = (0, 1, 2), **config: Any) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        vocabulary = {word: at for at, word in enumerate(WORDS)}
        tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
        )
        # As people's files are: with a limit of their own, which must cut nothing.
        tokenizer.enable_truncation(8)
        tokenizer.enable_padding(length=8)
        tokenizer.save(str(folder / "tokenizer.json"))
        rows = [FIGURES.get(word, (0.0, 0.0, 0.0)) for word in WORDS]
        figures = [[row[one] for one in classes] for row in rows]
        (folder / "model.onnx").write_bytes(onnx_bytes(figures))
        names = ("entailment", "contradiction", "neutral")
        says = {
            "architectures": ["BertForSequenceClassification"],
            "id2label": {str(at): names[one] for at, one in enumerate(classes)},
            "max_position_embeddings": 96,
            **config,
        }
        (folder / "config.json").write_text(json.dumps(says))
        return folder

    return write


@pytest.fixture(scope="session")
def onnx_with_inputs() -> Callable[..., bytes]:
    """The tiny model with other inputs declared."""
    return lambda *names: onnx_bytes([(0.0, 0.0, 0.0)] * len(WORDS), inputs=names)


@pytest.fixture
def tiny(tmp_path: Path, write_model: Callable[..., Path]) -> Path:
    """The tiny model's folder."""
    return write_model(tmp_path / "tiny")


@pytest.fixture(scope="session")
def pilot() -> Path:
    """A real small model, in the folder of models that DEEPFACT_MODELS names."""
    folder = os.environ.get("DEEPFACT_MODELS", "")
    path = Path(folder) / "minilm-nli-pilot"
    if not folder or not path.is_dir():
        pytest.skip("DEEPFACT_MODELS does not name a folder with the model minilm-nli-pilot")
    return path
