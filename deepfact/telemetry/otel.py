"""What a run tells of itself as OpenTelemetry spans and metrics (extra ``otel``).

Spans: run > round > verifier or arm > claim > call; a call is one request with all its retries,
named and described by the GenAI semantic conventions, and each failed attempt is an event of it.
No prompt, answer or claim text is ever an attribute; claims are known by their ids, and metrics
do not even carry these. Nothing here waits for a collector. Where spans and metrics go is said in
`deepfact.telemetry.otel_setup`, or by whoever makes an `OtelListener`.
"""

from __future__ import annotations

from typing import Any

from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import (
    SpanKind,
    Status,
    StatusCode,
    TracerProvider,
    set_span_in_context,
)

from deepfact.telemetry.seam import Event, Scope
from deepfact.version import VERSION

# Names of the GenAI semantic conventions, version 0.1.0 of their own repository. The package of
# conventions for Python still has the names of before, so they are spelt out here.
OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
RESPONSE_MODEL = "gen_ai.response.model"
MAX_TOKENS = "gen_ai.request.max_tokens"
TEMPERATURE = "gen_ai.request.temperature"
OUTPUT_TYPE = "gen_ai.output.type"
FINISH_REASONS = "gen_ai.response.finish_reasons"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHE_READ = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE = "gen_ai.usage.cache_write.input_tokens"
ERROR = "error.type"

_NAMES = {
    "provider": PROVIDER, "model": REQUEST_MODEL, "response_model": RESPONSE_MODEL,
    "max_tokens": MAX_TOKENS, "temperature": TEMPERATURE, "output_type": OUTPUT_TYPE,
    "input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS, "cache_read": CACHE_READ,
    "cache_write": CACHE_WRITE,
}  # fmt: skip
"""Fields of a call that the conventions have a name for; the others are ``deepfact.*``."""

DURATION_BUCKETS = (
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
)  # fmt: skip
"""Upper bounds in seconds, as the conventions advise."""
_AROUND = ("run", "round", "verifier", "arm")
"""Scopes whose names metrics carry: there are few of each."""


class OtelListener:
    """Makes spans and metrics of what is told.

    Args:
        traces: where spans go; None for no spans.
        metrics: where metrics go; None for none.
        close: called at the end, to deliver what is left.
    """

    def __init__(
        self,
        traces: TracerProvider | None,
        metrics: MeterProvider | None,
        close: Any = None,
    ) -> None:
        self._tracer = traces.get_tracer("deepfact", VERSION) if traces else None
        self._metrics = _Metrics(metrics) if metrics else None
        self._close = close

    def began(self, scope: Scope, /) -> None:
        """As `deepfact.telemetry.seam.Listener`."""
        if self._tracer is None:
            return
        around = scope.parent
        while around is not None and id(self) not in around.marks:
            around = around.parent
        context = None if around is None else set_span_in_context(around.marks[id(self)])
        call = scope.kind == "call"
        scope.marks[id(self)] = self._tracer.start_span(
            f"chat {scope.name}" if call else f"{scope.kind} {scope.name}",
            context=context,
            kind=SpanKind.CLIENT if call else SpanKind.INTERNAL,
            attributes=_about(scope) | _described(scope),
        )

    def ended(self, scope: Scope, /) -> None:
        """As `deepfact.telemetry.seam.Listener`."""
        span = scope.marks.pop(id(self), None)
        if span is not None:
            span.set_attributes(_described(scope))
            if (error := error_type(scope)) is not None:
                span.set_attribute(ERROR, error)
                span.set_status(Status(StatusCode.ERROR, error))
            span.end()
        if scope.kind == "call" and self._metrics is not None:
            self._metrics.call(scope)

    def told(self, event: Event, /) -> None:
        """As `deepfact.telemetry.seam.Listener`."""
        if self._metrics is not None:
            self._metrics.happened(event)
        span = None if event.scope is None else event.scope.marks.get(id(self))
        # What concerns a claim is an attribute of its span; a span has room for few events.
        if span is not None and event.name in ("call_failed", "waiting"):
            fields = {name: value for name, value in event.fields.items() if name != "detail"}
            span.add_event(event.name, {f"deepfact.{k}": _value(v) for k, v in fields.items()})

    def close(self) -> None:
        """As `deepfact.telemetry.seam.Listener`."""
        if self._close is not None:
            self._close()


class _Metrics:
    """The instruments, and what is counted with them."""

    def __init__(self, provider: MeterProvider) -> None:
        meter = provider.get_meter("deepfact", VERSION)
        self._duration = meter.create_histogram(
            "gen_ai.client.inference.duration",
            unit="s",
            description="Requests to a model, with all their retries.",
            explicit_bucket_boundaries_advisory=DURATION_BUCKETS,
        )
        self._attempt = meter.create_histogram(
            "deepfact.call.attempt.duration",
            unit="s",
            description="Single attempts at a request: the latency of the provider.",
            explicit_bucket_boundaries_advisory=DURATION_BUCKETS,
        )
        self._tokens = {
            INPUT_TOKENS: meter.create_counter(
                "gen_ai.client.inference.usage.input_tokens", unit="{token}"
            ),
            OUTPUT_TOKENS: meter.create_counter(
                "gen_ai.client.inference.usage.output_tokens", unit="{token}"
            ),
        }
        self._calls = meter.create_counter(
            "deepfact.calls", unit="{call}", description="Attempts sent to a provider."
        )
        self._failures = meter.create_counter(
            "deepfact.call.failures", unit="{call}", description="Failed calls, by reason."
        )
        self._cost = meter.create_counter(
            "deepfact.cost", unit="USD", description="Cost of answers whose price is known."
        )
        self._unpriced = meter.create_counter(
            "deepfact.calls.unpriced",
            unit="{call}",
            description="Answers whose price is not known, and which are not in the cost.",
        )
        self._claims = meter.create_counter(
            "deepfact.claims", unit="{claim}", description="Claims with an outcome."
        )

    def call(self, scope: Scope) -> None:
        """A request is over."""
        where = _about(scope)
        described = _described(scope)
        where |= {k: described[k] for k in (PROVIDER, REQUEST_MODEL) if k in described}
        if "answered" in scope.fields:  # nothing is known of tokens where nothing was answered
            for name, counter in self._tokens.items():
                counter.add(int(scope.fields[name.rpartition(".")[2]]), where)
            usd = scope.fields.get("usd")
            if usd is None:
                self._unpriced.add(1, where)
            else:
                self._cost.add(usd, where)
        if scope.fields.get("deferred"):  # hours in a batch are no latency
            return
        where = dict(where)  # some SDKs keep the attributes that they were given
        if RESPONSE_MODEL in described:
            where[RESPONSE_MODEL] = described[RESPONSE_MODEL]
        if (error := error_type(scope)) is not None:
            where[ERROR] = error
        self._duration.record(scope.seconds, where)

    def happened(self, event: Event) -> None:
        """Something that is counted, or not."""
        where = _around(event.lineage)
        if event.name in ("call_failed", "call_answered"):
            for name in ("provider", "model"):
                if event.fields.get(name):
                    where[_NAMES[name]] = event.fields[name]
            failed = event.name == "call_failed"
            seconds = event.fields.get("seconds")
            if failed:
                self._failures.add(1, {**where, "deepfact.reason": str(event.fields["reason"])})
                where[ERROR] = str(event.fields["reason"])
            if not event.fields.get("answered"):  # else it was counted when it came
                self._calls.add(1, where)
            if seconds is not None:
                self._attempt.record(seconds, where)
        elif event.name == "claim_done":
            where["deepfact.outcome"] = str(event.fields["outcome"])
            if event.fields.get("reason"):
                where["deepfact.reason"] = str(event.fields["reason"])
            self._claims.add(1, where)


def error_type(scope: Scope) -> str | None:
    """The class of error that ended a scope, of which there are few: a failed call's reason,
    else the exception's name. An answer that is only not there yet is no error."""
    error = scope.error
    if error is None or getattr(error, "exit_code", None) == 3:
        return None
    return str(getattr(error, "reason", None) or type(error).__name__)


def _around(lineage: Any) -> dict[str, Any]:
    return {f"deepfact.{kind}": lineage[kind] for kind in _AROUND if kind in lineage}


def _about(scope: Scope) -> dict[str, Any]:
    """Where a scope stands."""
    found = _around(scope.lineage)
    if scope.kind == "call":
        found[OPERATION] = "chat"
    return found


def _described(scope: Scope) -> dict[str, Any]:
    """What is known of a scope, as attributes."""
    found: dict[str, Any] = {}
    for kind in ("claim", "case"):
        if kind in scope.lineage:
            found[f"deepfact.{kind}.id"] = scope.lineage[kind]
    for name, value in scope.fields.items():
        if value is None or name == "detail":
            continue
        if name == "stop_reason":
            found[FINISH_REASONS] = (str(value),)
        else:
            known = _NAMES.get(name) if scope.kind == "call" else None
            found[known or f"deepfact.{name}"] = _value(value)
    return found


def _value(value: Any) -> Any:
    return value if isinstance(value, str | bool | int | float) else str(value)
