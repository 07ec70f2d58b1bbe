"""Where spans and metrics go, as the standard ``OTEL_*`` environment variables say.

`asked_for` tells without importing anything whether they ask for it at all. Spans and metrics are
sent by OTLP over HTTP from threads of their own, out of bounded queues: a collector that is slow
or down costs the run nothing, and at its end at most `PATIENCE` seconds. What cannot be delivered
is said once.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from deepfact.store.secrets import scrub
from deepfact.version import VERSION

if TYPE_CHECKING:
    from deepfact.telemetry.otel import OtelListener

Say = Callable[[str], None]
"""Tells a person something in a line."""

PATIENCE = 3.0
"""Longest time, in seconds, that the end of a command waits for what is still to be delivered."""

_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_SIGNALS = {
    "traces": ("OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
    "metrics": ("OTEL_METRICS_EXPORTER", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"),
}
INSTALL = "install it with: pip install 'deepfact[otel]'"


def asked_for() -> list[str]:
    """The signals, ``traces`` or ``metrics``, that the environment asks for: their exporter is
    ``otlp``, or an endpoint is named and no other exporter is."""
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return []
    found = []
    for signal, (exporter, endpoint) in _SIGNALS.items():
        chosen = os.environ.get(exporter, "").strip().lower()
        named = any(os.environ.get(name, "").strip() for name in (_ENDPOINT, endpoint))
        if chosen == "otlp" or (not chosen and named):
            found.append(signal)
    return found


def from_environment(say: Say) -> OtelListener | None:
    """A listener that sends what the environment asks for; None, with a line that says why, when
    that cannot be.

    Args:
        say: told when the extra is missing, a setting cannot be followed, or nothing can be
            delivered. Never raises: other programs share these variables.
    """
    signals = asked_for()
    if not signals:
        return None
    for name in ("OTEL_EXPORTER_OTLP_PROTOCOL", *(_protocol(signal) for signal in signals)):
        if os.environ.get(name, "http/protobuf").strip() not in ("", "http/protobuf"):
            say(f"{name} is {os.environ[name]!r}, and only http/protobuf can be sent: not sent")
            return None
    try:
        from deepfact.telemetry.otel import OtelListener

        _quiet(say)
        traces, end_traces = _traces() if "traces" in signals else (None, None)
        metrics, end_metrics = _metrics() if "metrics" in signals else (None, None)
    except ImportError:
        say(f"OTEL_* variables ask for telemetry, and the extra is not installed; {INSTALL}")
        return None
    except Exception as error:  # a wrong setting of theirs is no reason to stop
        say(f"no telemetry is sent: {type(error).__name__}: {scrub(str(error))}")
        return None
    endings = [end for end in (end_traces, end_metrics) if end is not None]
    return OtelListener(traces, metrics, close=lambda: _all_within(endings, PATIENCE))


def _protocol(signal: str) -> str:
    return f"OTEL_EXPORTER_OTLP_{signal.upper()}_PROTOCOL"


def _traces() -> tuple[Any, Callable[[], Any]]:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    # Not at exit: the SDK would wait for its queue longer than a person does.
    provider = TracerProvider(resource=_resource(), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider, provider.shutdown


def _metrics() -> tuple[Any, Callable[[], Any]]:
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

    reader = PeriodicExportingMetricReader(OTLPMetricExporter())
    provider = MeterProvider([reader], resource=_resource(), shutdown_on_exit=False)
    return provider, provider.shutdown


def _resource() -> Any:
    from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource

    about: dict[str, Any] = {SERVICE_VERSION: VERSION}
    made = Resource.create(about)
    if str(made.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        made = Resource.create({**about, SERVICE_NAME: "deepfact"})
    return made


def _all_within(endings: list[Callable[[], Any]], seconds: float) -> None:
    """Do all of it, side by side, and wait for it no longer than so many seconds."""
    threads = [threading.Thread(target=end, daemon=True) for end in endings]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)


class _Once(logging.Handler):
    """Says the first thing that goes wrong with the delivery, and no other."""

    def __init__(self, say: Say) -> None:
        super().__init__(logging.WARNING)
        self._say, self._said = say, False

    def emit(self, record: logging.LogRecord) -> None:
        """As `logging.Handler`."""
        if not self._said:
            self._said = True
            self._say(
                f"telemetry cannot be delivered ({scrub(record.getMessage())[:200]}); "
                "the run goes on without it"
            )


def _quiet(say: Say) -> None:
    """Let the SDK's own log lines, one for each batch, come to one line."""
    logger = logging.getLogger("opentelemetry")
    logger.handlers = [one for one in logger.handlers if not isinstance(one, _Once)]
    logger.addHandler(_Once(say))
    logger.propagate = False
