"""A run to be killed: asks a server for so many claims and votes, and stores the answers."""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
from pathlib import Path

from deepfact.executors.engine import Engine, Limits
from deepfact.model_records import Message, Request
from deepfact.providers.anthropic import AnthropicProvider
from deepfact.providers.scripted import ScriptedProvider
from deepfact.store.responses import ResponseStore


async def run(url: str, path: Path, claims: int, concurrency: int) -> None:
    """Ask everything at once; print how many were answered, and a hash of the answers.

    With ``scripted`` for a URL every answer names the process that gave it.
    """
    turns = [Message(role="user", content=f"claim {number}") for number in range(claims)]
    requests = [Request(model="m", system="judge", messages=(turn,)) for turn in turns]
    with ResponseStore(path) as store:
        limits = Limits(concurrency=concurrency, backoff=0.01)
        scripted = ScriptedProvider(answer=f"process {os.getpid()}", seconds=0.002)
        provider = scripted if url == "scripted" else AnthropicProvider(base_url=url)
        async with Engine(provider, store, limits) as engine:
            asks = [engine.ask(request, vote) for request in requests for vote in range(3)]
            answers = await asyncio.gather(*asks)
    texts = "\n".join(answer.text for answer in answers)
    print(len(answers), hashlib.sha256(texts.encode()).hexdigest())


if __name__ == "__main__":
    try:
        asyncio.run(run(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
    except KeyboardInterrupt:
        sys.exit(130)
