"""Spans and metrics as the SDK's own in-memory exporter sees them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from deepfact import telemetry
from deepfact.executors.told import ToldCall, tell_unusable
from deepfact.model_records import Completion, Message, Request
from deepfact.providers.base import AnswerPending, CallFailed
from deepfact.records import FailureReason
from deepfact.telemetry import Level
from deepfact.telemetry.otel import OtelListener

REQUEST = Request(
    model="m-1",
    messages=(Message(role="user", content="The mill was built in 1898."),),
    temperature=0.5,
    output_schema={"type": "object"},
)
ANSWER = Completion(
    text="It was.", stop_reason="end_turn", model="m-1-2026", input_tokens=100, output_tokens=20,
    cache_read_tokens=40, cache_write_tokens=10,
)  # fmt: skip


class Memory:
    """Exporters in memory, listened to."""

    def __init__(self, *, traces: bool = True, metrics: bool = True) -> None:
        self.exporter, self.reader = InMemorySpanExporter(), InMemoryMetricReader()
        tracer = TracerProvider(shutdown_on_exit=False)
        tracer.add_span_processor(SimpleSpanProcessor(self.exporter))
        meter = MeterProvider([self.reader], shutdown_on_exit=False)
        telemetry.listen(OtelListener(tracer if traces else None, meter if metrics else None))

    def spans(self) -> dict[str, Any]:
        return {span.name: span for span in self.exporter.get_finished_spans()}

    def points(self, name: str) -> list[Any]:
        data = self.reader.get_metrics_data()
        return [
            point
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        ]


class Anthropic:
    telemetry_name = "anthropic"


def a_call(*ends: Any, deferred: bool = False) -> None:
    """A call whose attempts end like that."""
    with ToldCall(Anthropic(), REQUEST, attempts=3, deferred=deferred) as told:
        for end in ends:
            told.sent()
            if isinstance(end, Completion):
                told.came(end, 0.25)
                return
            told.came(None, None)
            if not isinstance(end, CallFailed):
                raise end
            told.failed(end, 0.5 if end is not ends[-1] else None)
        raise ends[-1]


def test_spans_stand_in_one_another_from_run_to_call() -> None:
    memory = Memory()
    with (
        telemetry.scope("run", "demo", loop="round"),
        telemetry.scope("round", "1"),
        telemetry.scope("verifier", "panel"),
        telemetry.scope("claim", "c1") as claim,
    ):
        a_call(CallFailed(FailureReason.RATE_LIMITED, "told 'The mill'", status=429), ANSWER)
        claim.note(outcome="verdict", label="supported", nothing=None)
    spans = memory.spans()
    order = ["run demo", "round 1", "verifier panel", "claim c1", "chat m-1"]
    assert sorted(spans) == sorted(order)
    for above, below in pairwise(order):
        assert spans[below].parent.span_id == spans[above].context.span_id
    assert spans["run demo"].parent is None
    assert dict(spans["claim c1"].attributes) == {
        "deepfact.run": "demo", "deepfact.round": "1", "deepfact.verifier": "panel",
        "deepfact.claim.id": "c1", "deepfact.outcome": "verdict", "deepfact.label": "supported",
    }  # fmt: skip
    call = spans["chat m-1"]
    assert call.kind is SpanKind.CLIENT and call.status.status_code is StatusCode.UNSET
    assert dict(call.attributes) == {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "m-1", "gen_ai.response.model": "m-1-2026",
        "gen_ai.request.max_tokens": 1024, "gen_ai.request.temperature": 0.5,
        "gen_ai.output.type": "json", "gen_ai.response.finish_reasons": ("end_turn",),
        "gen_ai.usage.input_tokens": 150, "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.cache_read.input_tokens": 40, "gen_ai.usage.cache_write.input_tokens": 10,
        "deepfact.run": "demo", "deepfact.round": "1", "deepfact.verifier": "panel",
        "deepfact.claim.id": "c1", "deepfact.attempts": 2, "deepfact.answered": True,
        "deepfact.usd": 0.25,
    }  # fmt: skip
    (event,) = call.events
    assert (event.name, event.attributes["deepfact.reason"]) == ("call_failed", "rate_limited")
    assert event.attributes["deepfact.status"] == 429
    assert "mill" not in repr([(s.attributes, s.events, s.status) for s in spans.values()])


@pytest.mark.parametrize(
    ("error", "named"),
    [
        (CallFailed(FailureReason.TIMEOUT, "late"), "timeout"),
        (ValueError("x"), "ValueError"),
        (AnswerPending("key"), None),
    ],
)
def test_how_a_call_broke_off_is_its_error_type(error: Exception, named: str | None) -> None:
    memory = Memory()
    with pytest.raises(type(error)), telemetry.scope("claim", "c1"):
        a_call(error)
    call = memory.spans()["chat m-1"]
    assert call.attributes.get("error.type") == named
    status = StatusCode.ERROR if named else StatusCode.UNSET
    assert call.status.status_code is status
    (point,) = memory.points("gen_ai.client.inference.duration")
    assert point.attributes.get("error.type") == named
    assert memory.points("gen_ai.client.inference.usage.input_tokens") == []


def test_what_is_counted() -> None:
    memory = Memory(traces=False)
    limited = CallFailed(FailureReason.RATE_LIMITED, "x", status=429)
    with telemetry.scope("run", "demo"), telemetry.scope("arm", "split"):
        with telemetry.scope("claim", "c1"):
            a_call(limited, ANSWER)
            a_call(ANSWER)
            tell_unusable(CallFailed(FailureReason.REFUSED, "x", completion=ANSWER))
        telemetry.event("claim_done", Level.DEBUG, claim="c1", outcome="verdict")
        telemetry.event("claim_done", Level.INFO, claim="c2", outcome="failure", reason="timeout")
    where = {"deepfact.run": "demo", "deepfact.arm": "split"}
    model = {"gen_ai.provider.name": "anthropic", "gen_ai.request.model": "m-1"}
    counted = {
        (name, p.attributes.get("deepfact.reason") or p.attributes.get("error.type")): p.value
        for name in ("deepfact.calls", "deepfact.call.failures", "deepfact.claims")
        for p in memory.points(name)
    }
    assert counted == {
        ("deepfact.calls", None): 2,
        ("deepfact.calls", "rate_limited"): 1,
        ("deepfact.call.failures", "rate_limited"): 1,
        ("deepfact.call.failures", "refused"): 1,
        ("deepfact.claims", None): 1,
        ("deepfact.claims", "timeout"): 1,
    }
    for name, total in (
        ("gen_ai.client.inference.usage.input_tokens", 300),
        ("gen_ai.client.inference.usage.output_tokens", 40),
        ("deepfact.cost", 0.5),
    ):
        (point,) = memory.points(name)
        assert point.value == total
        assert dict(point.attributes) == {**where, **model, "gen_ai.operation.name": "chat"}
    (duration,) = memory.points("gen_ai.client.inference.duration")
    assert duration.count == 2 and duration.explicit_bounds[:2] == (0.01, 0.02)
    assert duration.attributes["gen_ai.response.model"] == "m-1-2026"
    assert sum(p.count for p in memory.points("deepfact.call.attempt.duration")) == 3
    assert memory.points("deepfact.calls.unpriced") == []
    names = {key for p in memory.points("deepfact.claims") for key in p.attributes}
    assert names == {"deepfact.run", "deepfact.arm", "deepfact.outcome", "deepfact.reason"}


def test_hours_in_a_batch_are_no_latency_and_unknown_prices_are_counted() -> None:
    memory = Memory(traces=False)
    with ToldCall(Anthropic(), REQUEST, deferred=True) as told:
        told.sent()
        told.came(ANSWER, None)
    assert [p.value for p in memory.points("deepfact.calls")] == [1]
    assert [p.value for p in memory.points("deepfact.calls.unpriced")] == [1]
    assert memory.points("deepfact.cost") == []
    assert memory.points("gen_ai.client.inference.duration") == []
    assert memory.points("deepfact.call.attempt.duration") == []


def test_spans_alone() -> None:
    memory = Memory(metrics=False)
    with telemetry.scope("run", "demo"):
        a_call(ANSWER)
    assert sorted(memory.spans()) == ["chat m-1", "run demo"]
    assert memory.points("deepfact.calls") == []


def test_a_scope_that_began_before_anybody_listened_has_no_span() -> None:
    telemetry.listen(OtelListener(None, None))
    with telemetry.scope("run", "demo"):
        memory = Memory()
        with telemetry.scope("claim", "c1"):
            pass
    (span,) = memory.spans().values()
    assert (span.name, span.parent) == ("claim c1", None)
