"""A planted key must not be found anywhere: store, exports, errors, logs, output."""

from __future__ import annotations

import asyncio
import logging
import traceback

from messages_server import Faults, MessagesServer

from deepfact.executors.engine import Engine, Limits
from deepfact.model_records import Message, Request
from deepfact.providers.registry import ProviderSpec, build_provider
from deepfact.store.response_exports import export_responses
from deepfact.store.responses import ResponseStore

KEY = "planted-key-1f3a9c7e5b"
HEADER = "planted-header-77d0c2"

LIMITS = Limits(attempts=1, backoff=0.0, concurrency=1)


def test_a_planted_key_is_nowhere(tmp_path, monkeypatch, caplog, capfd):
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"x-gateway: {HEADER}")
    caplog.set_level(logging.DEBUG)
    said: list[str] = []
    faults = ["", "401", "", "400", "", "500", "", "429-after", "", "malformed", "", "drop"]

    async def run(server: MessagesServer, store: ResponseStore, kind: str) -> None:
        url = server.url + ("/v1" if kind == "openai" else "")
        for number in range(len(faults)):
            provider = build_provider(ProviderSpec(kind=kind, options={"base_url": url}))
            turn = Message(role="user", content=f"{kind} {number}")
            async with Engine(
                provider, store, LIMITS, progress=lambda p: said.append(p.line())
            ) as e:
                try:
                    answer = await e.ask(Request(model="m", messages=(turn,)))
                    said.append(answer.text)
                except Exception as error:
                    said.append(f"{error} {error!r} {vars(error)}")
                    said.extend(traceback.format_exception(error))

    def echo(body):
        return f"your key is {KEY} and your header {HEADER}"

    with ResponseStore(tmp_path / "responses.sqlite") as store:
        for kind in ("anthropic", "openai"):
            with MessagesServer(echo, faults=Faults(script=list(faults))) as server:
                asyncio.run(run(server, store, kind))
                headers = {value for one in server.headers for value in one.values()}
                assert any(KEY in value for value in headers), "the key was not even sent"
                assert kind == "openai" or HEADER in headers
        export_responses(store, tmp_path / "export.jsonl", requests=True)
        files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(files) >= 2
    assert any("[secret]" in text for text in said)  # so the echoes did come back
    out = capfd.readouterr()
    everything = [*said, caplog.text, out.out, out.err]
    everything += [content.decode("utf-8", "replace") for content in files.values()]
    for secret in (KEY, HEADER):
        assert not [text for text in everything if secret in text]
