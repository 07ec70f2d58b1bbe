"""What telling of a run costs: the engine with the seam taken out, off, logging, and OpenTelemetry.

    python tests/perf/telemetry.py [--calls 3000] [--times 7]

Each way asks a scripted provider in this process, so that nothing but our own work is measured;
the ways take turns, and the medians of CPU time are set in proportion to the engine without the
seam. Exits 1 when the seam costs more than 3 % while nobody listens.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from deepfact import telemetry  # noqa: E402
from deepfact.executors import calls, engine  # noqa: E402
from deepfact.executors.engine import Engine, Limits  # noqa: E402
from deepfact.model_records import Message, Request  # noqa: E402
from deepfact.providers.scripted import ScriptedProvider  # noqa: E402
from deepfact.store.responses import ResponseStore  # noqa: E402

MOST = 1.03


class Silent:
    """`ToldCall` without the seam: the least that the engine could do in its place."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def sent(self, *_: Any) -> None:
        pass

    came = failed = sent

    def __enter__(self) -> Silent:
        return self

    def __exit__(self, *_: object) -> None:
        pass


@contextmanager
def without_seam() -> Iterator[None]:
    """The engine as it would be without the seam."""
    with (
        mock.patch.object(calls, "ToldCall", Silent),
        mock.patch.object(engine, "ToldCall", Silent),
    ):
        yield


@contextmanager
def off() -> Iterator[None]:
    """Nobody listens."""
    yield


@contextmanager
def logging_all() -> Iterator[None]:
    """``--log-json FILE --log-level debug``: a line for each call."""
    from deepfact.telemetry.logs import LogListener, to_json

    with tempfile.TemporaryDirectory() as folder:
        to_json(f"{folder}/run.log", telemetry.Level.DEBUG)
        telemetry.listen(LogListener())
        yield
        telemetry.close()


@contextmanager
def otel() -> Iterator[None]:
    """Spans and metrics, into memory."""
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from deepfact.telemetry.otel import OtelListener

    tracer = TracerProvider(shutdown_on_exit=False)
    tracer.add_span_processor(BatchSpanProcessor(InMemorySpanExporter()))
    meter = MeterProvider([InMemoryMetricReader()], shutdown_on_exit=False)
    telemetry.listen(OtelListener(tracer, meter))
    yield
    telemetry.close()
    tracer.shutdown()


WAYS: dict[str, Callable[[], Any]] = {
    "without the seam": without_seam,
    "off": off,
    "--log-json, debug": logging_all,
    "OpenTelemetry": otel,
}


def measure(way: Callable[[], Any], count: int) -> float:
    """CPU seconds for so many calls."""

    async def run(store: ResponseStore) -> None:
        limits = Limits(concurrency=50)
        async with Engine(ScriptedProvider(answer="yes"), store, limits) as asked:
            requests = [
                Request(model="m", messages=(Message(role="user", content=f"claim {number}"),))
                for number in range(count)
            ]
            await asyncio.gather(*(asked.ask(one) for one in requests))

    with (
        tempfile.TemporaryDirectory() as folder,
        way(),
        ResponseStore(Path(folder) / "responses.sqlite") as store,
    ):
        began = time.process_time()
        asyncio.run(run(store))
        return time.process_time() - began


def main() -> int:
    """Measure in turns, print the table, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=3000)
    parser.add_argument("--times", type=int, default=7)
    options = parser.parse_args()
    taken: dict[str, list[float]] = {name: [] for name in WAYS}
    for _ in range(options.times):
        for name, way in WAYS.items():
            taken[name].append(measure(way, options.calls))
    # Of pairs that were measured one after the other: the machine may be busy at times.
    base = taken["without the seam"]
    print(f"{'way':<18} {'CPU us/call':>12} {'ratio':>7}")
    ratios = {}
    for name, times in taken.items():
        ratios[name] = statistics.median(a / b for a, b in zip(times, base, strict=True))
        each = statistics.median(times) / options.calls * 1e6
        print(f"{name:<18} {each:>12.0f} {ratios[name]:>7.3f}")
    return 0 if ratios["off"] <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
