"""Overhead of the engine: beside a bare loop of the SDK and a bare aiohttp loop, same run.

    python tests/perf/engine.py [--claims 1000 5000] [--concurrency 50 200] [--latency 0.05]

Each way runs in a process of its own against one server process on loopback, so that memory
and CPU time are its own. Prints a table; exits 1 when the engine's CPU time is above that of
the bare SDK loop, or its memory above 110 MB at 1,000 claims.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
SERVER = ROOT / "tests" / "servers" / "messages_server.py"
SYSTEM = "Judge the claim by its source. " * 40
SOURCE = "Revenue rose by 4.2 per cent to 31.5 million euro in the year to March. " * 20


def text_of(number: int) -> str:
    """What is asked about claim ``number``: about 1.5 kB, as a claim with its source."""
    return f"Claim {number}: revenue rose by {number} per cent.\n{SOURCE}"


def body_of(number: int) -> dict:
    """The same request for the bare loops."""
    return {
        "model": "m",
        "max_tokens": 1024,
        "system": SYSTEM,
        "messages": [{"role": "user", "content": text_of(number)}],
    }


async def bounded(ask, claims: int, concurrency: int) -> int:
    """``ask`` for every claim, so many at once; how many texts came back."""
    places, texts = asyncio.Semaphore(concurrency), []

    async def one(number: int) -> None:
        async with places:
            texts.append(await ask(number))

    await asyncio.gather(*[one(number) for number in range(claims)])
    return len(texts)


async def with_aiohttp(url: str, claims: int, concurrency: int, folder: Path) -> int:
    """The least that it can cost: a client session, JSON in, JSON out, nothing kept."""
    import aiohttp

    connector = aiohttp.TCPConnector(limit=concurrency)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def ask(number: int) -> str:
            async with session.post(f"{url}/v1/messages", json=body_of(number)) as reply:
                return (await reply.json())["content"][0]["text"]

        return await bounded(ask, claims, concurrency)


async def with_sdk(
    url: str, claims: int, concurrency: int, folder: Path, aiohttp: bool = False
) -> int:
    """The official SDK as its documentation shows it, with its own retries."""
    import anthropic

    http = anthropic.DefaultAioHttpClient() if aiohttp else None
    client = anthropic.AsyncAnthropic(base_url=url, api_key="none", http_client=http)

    async def ask(number: int) -> str:
        return (await client.messages.create(**body_of(number))).content[0].text

    try:
        return await bounded(ask, claims, concurrency)
    finally:
        await client.close()


async def with_sdk_aiohttp(url: str, claims: int, concurrency: int, folder: Path) -> int:
    """The same over its aiohttp transport."""
    return await with_sdk(url, claims, concurrency, folder, aiohttp=True)


async def with_engine(url: str, claims: int, concurrency: int, folder: Path) -> int:
    """The engine: every answer durable before it is used. Again in one folder: a warm rerun."""
    from deepfact.executors.engine import Engine, Limits
    from deepfact.model_records import Message, Request
    from deepfact.providers.registry import ProviderSpec, build_provider
    from deepfact.store.responses import ResponseStore

    provider = build_provider(ProviderSpec(kind="anthropic", options={"base_url": url}))
    with ResponseStore(folder / "responses.sqlite") as store:
        async with Engine(provider, store, Limits(concurrency=concurrency)) as engine:

            async def ask(number: int) -> str:
                turn = Message(role="user", content=text_of(number))
                request = Request(model="m", system=SYSTEM, messages=(turn,))
                return (await engine.ask(request)).text

            texts = await asyncio.gather(*[ask(number) for number in range(claims)])
    return len(texts)


WAYS = {
    "aiohttp": with_aiohttp,
    "sdk": with_sdk,
    "sdk+aiohttp": with_sdk_aiohttp,
    "engine": with_engine,
    "engine, warm": with_engine,
}


def measure_here(way: str, url: str, claims: int, concurrency: int, folder: Path) -> None:
    """Run one way in this process; print wall, CPU (seconds) and peak memory (MB) as JSON."""
    began = time.perf_counter()
    count = asyncio.run(WAYS[way](url, claims, concurrency, folder))
    wall = time.perf_counter() - began
    if count != claims:
        raise SystemExit(f"{way}: {count} answers to {claims} claims")
    used = resource.getrusage(resource.RUSAGE_SELF)
    peak = used.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)
    cpu = used.ru_utime + used.ru_stime
    print(json.dumps({"wall": wall, "cpu": cpu, "mb": peak}))


def measure(way: str, url: str, claims: int, concurrency: int, folder: Path) -> dict[str, float]:
    """Run one way in a process of its own."""
    command = [sys.executable, __file__, "--way", way, "--url", url, "--folder", str(folder)]
    command += ["--claims", str(claims), "--concurrency", str(concurrency)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    """Run all, print the table, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claims", type=int, nargs="+", default=[1000, 5000])
    parser.add_argument("--concurrency", type=int, nargs="+", default=[50, 200])
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--way", choices=list(WAYS))
    parser.add_argument("--url")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if options.way:
        sys.path.insert(0, str(ROOT))
        measure_here(
            options.way, options.url, options.claims[0], options.concurrency[0], options.folder
        )
        return 0
    command = [sys.executable, str(SERVER), "--latency", str(options.latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            url = server.stdout.readline().strip()
            return compare(url, options.claims, options.concurrency)
        finally:
            server.terminate()


def compare(url: str, many: list[int], concurrencies: list[int]) -> int:
    """The table; 1 when a bound is passed."""
    print(f"{'claims':>7} {'at once':>7}  {'way':<13} {'wall s':>7} {'CPU s':>7} {'peak MB':>8}")
    passed = True
    for claims in many:
        for concurrency in concurrencies:
            found = {}
            with tempfile.TemporaryDirectory() as folder:
                for way in WAYS:
                    found[way] = one = measure(way, url, claims, concurrency, Path(folder))
                    print(
                        f"{claims:>7} {concurrency:>7}  {way:<13} {one['wall']:>7.2f} "
                        f"{one['cpu']:>7.2f} {one['mb']:>8.0f}",
                        flush=True,
                    )
            engine = found["engine"]
            passed &= engine["cpu"] <= found["sdk"]["cpu"]
            passed &= claims != 1000 or engine["mb"] <= 110
            ratio = engine["wall"] / found["aiohttp"]["wall"]
            print(f"{'':>16} engine: {ratio:.2f} x the wall time of aiohttp")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
