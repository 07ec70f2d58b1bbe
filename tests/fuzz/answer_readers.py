"""Readers of stored answers: the response store, its exports, results of batches, lists of keys."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mutations import BINARY
from reader import Reader, one_file


def _request(number: int) -> Any:
    from deepfact.model_records import Message, Request

    return Request(
        model="m", system="judge", max_tokens=100,
        messages=(Message(role="user", content=f"claim {number}"),),
        output_schema={"type": "object"},
    )  # fmt: skip


def _filled_store(folder: Path) -> Path:
    from deepfact.model_records import Completion
    from deepfact.store.responses import ResponseStore

    path = folder / "r.sqlite"
    with ResponseStore(path) as store:
        for number in range(3):
            store.put(_request(number), 0, Completion(text=f"answer {number}", model="m"))
    return path


def _store_bytes() -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        path = _filled_store(Path(name))
        database = sqlite3.connect(path)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
        return path.read_bytes()


def _export_bytes() -> bytes:
    import tempfile

    from deepfact.store.response_exports import export_responses
    from deepfact.store.responses import ResponseStore

    with tempfile.TemporaryDirectory() as name:
        with ResponseStore(_filled_store(Path(name))) as store:
            export_responses(store, Path(name) / "e.jsonl", requests=True)
        return (Path(name) / "e.jsonl").read_bytes()


def _read_store(folder: Path) -> object:
    from deepfact.store.response_exports import export_responses, store_stats
    from deepfact.store.responses import ResponseStore

    with ResponseStore(folder / "r.sqlite", must_exist=True) as store:
        for number in range(3):
            store.get(_request(number).key(0))
        store_stats(store)
        return export_responses(store, folder / "out.jsonl", requests=True)


def _import_export(folder: Path) -> object:
    from deepfact.store.response_exports import import_responses
    from deepfact.store.responses import ResponseStore

    with ResponseStore(folder / "new.sqlite") as store:
        return import_responses(store, folder / "e.jsonl")


def _batch_results() -> bytes:
    from deepfact.providers.messages import custom_id
    from deepfact.records import canonical_json

    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "content": [{"type": "text", "text": '{"label": "supported"}'}],
        "stop_reason": "end_turn", "usage": {"input_tokens": 10, "output_tokens": 5},
    }  # fmt: skip
    results: list[dict[str, Any]] = [
        {"type": "succeeded", "message": message},
        {"type": "errored", "error": {"type": "invalid_request_error", "message": "no"}},
        {"type": "succeeded", "message": message},
    ]
    lines = [
        {"custom_id": custom_id(_request(number).key(0)), "result": result}
        for number, result in enumerate(results)
    ]
    return "".join(f"{canonical_json(line)}\n" for line in lines).encode()


def _read_batch(folder: Path) -> object:
    import asyncio

    from deepfact.executors.engine import Engine
    from deepfact.providers.base import AnswerPending, CallFailed
    from deepfact.providers.registry import ProviderSpec, build_provider
    from deepfact.store.responses import ResponseStore

    spec = ProviderSpec(kind="batch-files", options={"folder": str(folder)})

    async def ask(store: ResponseStore) -> list[Any]:
        async with Engine(build_provider(spec), store) as engine:
            asks = [engine.ask(_request(number), 0) for number in range(3)]
            return list(await asyncio.gather(*asks, return_exceptions=True))

    with ResponseStore(folder / "new.sqlite") as store:
        for one in asyncio.run(ask(store)):
            if isinstance(one, BaseException) and not isinstance(one, CallFailed | AnswerPending):
                raise one
    return None


def _read_keys(folder: Path) -> object:
    from deepfact.cli.responses import _keys

    return _keys(folder / "keys.txt")


def readers() -> Iterator[Reader]:
    """All of them."""
    store, export = _store_bytes(), _export_bytes()
    yield Reader("response store", one_file("r.sqlite", store), _read_store, mutations=BINARY)
    yield Reader("response export", one_file("e.jsonl", export), _import_export)
    yield Reader("batch results", one_file("results.jsonl", _batch_results()), _read_batch)
    yield Reader("keys to keep", one_file("keys.txt", export), _read_keys, weight=0.5)
