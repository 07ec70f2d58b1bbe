"""A collector on loopback: takes OTLP over HTTP, decodes the protobuf, and keeps what came.

Real HTTP in a thread. ``status`` and ``delay`` make it a collector in trouble. It needs
opentelemetry-proto, and nothing of deepfact.
"""

from __future__ import annotations

import gzip
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class OtlpServer:
    """The collector. Use as a context manager."""

    def __init__(self, *, status: int = 200, delay: float = 0.0) -> None:
        self.status, self.delay = status, delay
        self.requests = 0
        self.headers: list[dict[str, str]] = []
        self.bodies: list[bytes] = []
        self.resources: list[dict[str, Any]] = []
        self.spans: list[Any] = []
        self._metrics: dict[tuple[str, str], Any] = {}
        """The newest of each, since values are cumulative."""
        keeping = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:  # its name
                body = self.rfile.read(int(self.headers["Content-Length"]))
                keeping.requests += 1
                keeping.headers.append(dict(self.headers))
                time.sleep(keeping.delay)
                if keeping.status == 200:
                    zipped = self.headers.get("Content-Encoding") == "gzip"
                    keeping.take(self.path, gzip.decompress(body) if zipped else body)
                self.send_response(keeping.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> OtlpServer:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def take(self, path: str, body: bytes) -> None:
        """Decode and keep a body."""
        self.bodies.append(body)
        if path == "/v1/traces":
            for one in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.resources.append(attributes(one.resource))
                for scope in one.scope_spans:
                    self.spans += scope.spans
        elif path == "/v1/metrics":
            for one in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                self.resources.append(attributes(one.resource))
                for scope in one.scope_metrics:
                    for metric in scope.metrics:
                        self._metrics[scope.scope.name, metric.name] = metric
        else:
            raise AssertionError(path)

    def named(self, beginning: str) -> list[Any]:
        """The spans whose names begin so."""
        return [span for span in self.spans if span.name.startswith(beginning)]

    def points(self, name: str) -> list[tuple[dict[str, Any], Any]]:
        """The points of a metric with their attributes."""
        metric = self._metrics["deepfact", name]
        data = getattr(metric, metric.WhichOneof("data"))
        return [(attributes(point), point) for point in data.data_points]

    def total(self, name: str) -> float:
        """The sum of a counter over all attributes."""
        return sum(p.as_int or p.as_double for _, p in self.points(name))


def attributes(thing: Any) -> dict[str, Any]:
    """The attributes of a span, point, event or resource."""
    found = {}
    for one in thing.attributes:
        kind = one.value.WhichOneof("value")
        value = getattr(one.value, kind)
        found[one.key] = [v.string_value for v in value.values] if kind == "array_value" else value
    return found
