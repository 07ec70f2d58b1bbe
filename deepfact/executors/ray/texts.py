"""Texts that every worker may read: in the cluster's object store once, not in each message.

A worker maps the pages of a chunk instead of copying it, and decodes a text when it is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

CHUNK_BYTES = 8 * 1024 * 1024
"""A chunk is full when it holds so much; a longer text has a chunk of its own."""


def put_texts(texts: Iterable[tuple[str, str]]) -> list[Any]:
    """Put texts into the cluster's object store.

    Returns:
        References: of the index, then of each chunk.
    """
    import numpy as np
    import ray

    index: list[tuple[str, int, int, int]] = []
    chunks: list[Any] = []
    gathered = bytearray()

    def close() -> None:
        chunks.append(ray.put(np.frombuffer(bytes(gathered), dtype=np.uint8)))
        gathered.clear()

    for name, text in texts:
        begin = len(gathered)
        gathered += text.encode("utf-8")
        index.append((name, len(chunks), begin, len(gathered)))
        if len(gathered) >= CHUNK_BYTES:
            close()
    if gathered:
        close()
    return [ray.put(json.dumps(index)), *chunks]


class SharedTexts(Mapping[str, str]):
    """Texts by name, in the order in which they were put.

    Args:
        index: as JSON: name, chunk, begin, end.
        chunks: arrays of bytes.
    """

    def __init__(self, index: str, chunks: Sequence[Any]) -> None:
        self._places = {name: (chunk, begin, end) for name, chunk, begin, end in json.loads(index)}
        self._chunks = chunks

    def __getitem__(self, name: str) -> str:
        chunk, begin, end = self._places[name]
        return bytes(self._chunks[chunk][begin:end]).decode("utf-8")

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
