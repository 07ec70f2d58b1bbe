"""Runs that send OTLP to a real collector on loopback; and to one that is slow, wrong or down."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from messages_server import Faults, MessagesServer
from otlp_server import OtlpServer, attributes

from deepfact import telemetry
from deepfact.experiment import read_experiment, run_experiment
from deepfact.experiment_records import AbSpec
from deepfact.store.specs import read_yaml
from deepfact.telemetry import otel_setup

Run = Callable[..., subprocess.CompletedProcess[str]]
CLAIMS = 6


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [one for one in os.environ if one.startswith("OTEL_")]:
        monkeypatch.delenv(name)


def ab_spec(url: str) -> None:
    """Two arms that ask a server on loopback, one vote a claim."""
    options = {
        "provider": {"kind": "anthropic", "options": {"base_url": url}},
        "model": "m", "votes": 1, "rule": "single", "reask": 0, "search": 0,
        "limits": {"attempts": 3, "concurrency": 2, "backoff": 0.01, "max_backoff": 0.02},
        "prices": {"m": {"input": 1.0, "output": 10.0}},
    }  # fmt: skip
    spec = {
        "name": "told", "benchmark": "small@1", "key": "author", "select": {"limit": CLAIMS},
        "verifier": {"kind": "panel", "options": options},
        "arms": [
            {"name": name, "options": {"prompt": f"verifier/{name}/v1"}}
            for name in ("split", "bundled")
        ],
    }  # fmt: skip
    Path("ab.yaml").write_text(yaml.safe_dump(spec), encoding="utf-8")


def test_a_run_over_http_is_seen_by_a_collector(desk: Path, deepfact: Run) -> None:
    faults = Faults(script=["429", "", "500", "", "refusal"])
    env = {"OTEL_RESOURCE_ATTRIBUTES": "team=a", "OTEL_EXPORTER_OTLP_HEADERS": "x-tenant=b"}
    with MessagesServer(faults=faults) as model, OtlpServer() as collector:
        ab_spec(model.url)
        env |= {
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
            "ANTHROPIC_API_KEY": "planted-key-5b1",
        }
        done = deepfact("ab", "ab.yaml", env=env)
        assert done.returncode == 0, done.stderr
        assert "telemetry" not in done.stderr
        calls = model.calls
    # Everything is one trace, each span within the one that it belongs to.
    by_id = {span.span_id: span for span in collector.spans}
    (run,) = collector.named("run told")
    assert {span.trace_id for span in collector.spans} == {run.trace_id}
    arms = {span.span_id for span in collector.named("arm ")}
    assert len(arms) == 2 and all(by_id[arm].parent_span_id == run.span_id for arm in arms)
    assert len(collector.named("claim ")) == 2 * CLAIMS
    assert all(span.parent_span_id in arms for span in collector.named("claim "))
    chats = collector.named("chat m")
    assert len(chats) == 2 * CLAIMS
    assert all(by_id[span.parent_span_id].name.startswith("claim ") for span in chats)
    assert attributes(chats[0])["gen_ai.provider.name"] == "anthropic"
    events = [attributes(event) for span in chats for event in span.events]
    assert sorted(event["deepfact.reason"] for event in events) == ["error", "rate_limited"]
    # Counters agree with what the server saw.
    assert collector.total("deepfact.calls") == calls == 2 * CLAIMS + 2
    reasons = {
        where["deepfact.reason"]: p.as_int
        for where, p in collector.points("deepfact.call.failures")
    }
    assert reasons == {"rate_limited": 1, "error": 1, "refused": 1}
    assert collector.total("deepfact.claims") == 2 * CLAIMS
    assert collector.total("gen_ai.client.inference.usage.input_tokens") == 150 * 2 * CLAIMS
    # A cached token has the price of another where none is given.
    assert collector.total("deepfact.cost") > 0
    durations = [p for _, p in collector.points("gen_ai.client.inference.duration")]
    assert sum(point.count for point in durations) == 2 * CLAIMS
    about = collector.resources[0]
    assert (about["service.name"], about["team"]) == ("deepfact", "a")
    assert all(
        one["X-Tenant" if "X-Tenant" in one else "x-tenant"] == "b" for one in collector.headers
    )
    # Neither key nor claim is in any body.
    claims = [
        json.loads(line)["claim"]["text"]
        for line in (desk / "benchmarks/small/versions/1/revisions.jsonl")
        .read_text(encoding="utf-8")
        .splitlines()
    ]
    sent = b"".join(collector.bodies)
    assert b"planted-key" not in sent
    assert not any(claim.encode() in sent for claim in claims)


def down() -> str:
    """An address at which nobody listens."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{unused.getsockname()[1]}"


def plain_run() -> Path:
    """A run without a model, so that what takes time is telemetry."""
    spec = {
        "name": "plain", "benchmark": "small@1", "key": "author",
        "arms": [
            {"name": name, "verifier": {"kind": kind}}
            for name, kind in (("words", "overlap"), ("quotes", "quoting"))
        ],
    }  # fmt: skip
    Path("ab.yaml").write_text(yaml.safe_dump(spec), encoding="utf-8")
    return Path("ab.yaml")


@pytest.mark.usefixtures("no_hang")
@pytest.mark.parametrize("trouble", ["down", "refusing", "hanging"])
def test_a_collector_in_trouble_neither_fails_nor_holds_up_a_run(
    trouble: str, desk: Path, deepfact: Run
) -> None:
    spec = plain_run()
    without = run_experiment(read_yaml(spec, AbSpec), Path("without"))
    with OtlpServer(status=503, delay=600 if trouble == "hanging" else 0) as collector:
        url = down() if trouble == "down" else collector.url
        done = deepfact("ab", spec, "--out", "with", env={"OTEL_EXPORTER_OTLP_ENDPOINT": url})
    assert done.returncode == 0, done.stderr
    if trouble != "hanging":  # nothing has come back from that one yet
        assert done.stderr.count("telemetry cannot be delivered") == 1
    assert "Traceback" not in done.stderr
    assert read_experiment(Path("with")) == without


@pytest.mark.usefixtures("no_hang")
def test_the_end_waits_no_longer_than_its_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otel_setup, "PATIENCE", 0.2)
    said: list[str] = []
    with OtlpServer(delay=600) as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        listener = otel_setup.from_environment(said.append)
        assert listener is not None
        telemetry.listen(listener)
        with telemetry.scope("run", "r"):
            pass
        telemetry.close()
    assert said == []


def imported(*words: str, env: dict[str, str]) -> set[str]:
    """Top-level modules that a command has loaded when it ends."""
    code = (
        "import sys\nfrom deepfact.cli.app import main\n"
        f"sys.argv = ['deepfact', *{list(words)!r}]\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code, stop.code\n"
        "print('MODULES', *{name.partition('.')[0] for name in sys.modules})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True,
        env={**os.environ, **env},
    )  # fmt: skip
    return set(done.stdout.rpartition("MODULES")[2].split())


def test_nothing_of_it_is_imported_while_it_is_off_or_there_is_nothing_to_tell(desk: Path) -> None:
    spec = plain_run()
    asked = {"OTEL_EXPORTER_OTLP_ENDPOINT": down(), "OTEL_BSP_SCHEDULE_DELAY": "60000"}
    ab = ("ab", str(spec), "--json", "--out")
    assert "opentelemetry" not in imported(*ab, "off", env={})
    assert "opentelemetry" not in imported("bench", "log", "small", env=asked)
    assert "opentelemetry" in imported(*ab, "on", env=asked)


@pytest.mark.parametrize(
    ("env", "signals"),
    [
        ({}, []),
        ({"OTEL_SERVICE_NAME": "x"}, []),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h"}, ["traces", "metrics"]),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://h"}, ["traces"]),
        ({"OTEL_METRICS_EXPORTER": "otlp"}, ["metrics"]),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h", "OTEL_METRICS_EXPORTER": "none"}, ["traces"]),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h", "OTEL_SDK_DISABLED": "True"}, []),
        ({"OTEL_TRACES_EXPORTER": "console"}, []),
    ],
)
def test_what_the_environment_asks_for(
    env: dict[str, str], signals: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert otel_setup.asked_for() == signals
    if not signals:
        assert otel_setup.from_environment(pytest.fail) is None


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "only http/protobuf"),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc", "only http/protobuf"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "-3", "no telemetry is sent"),
    ],
)
def test_settings_that_cannot_be_followed_are_said_and_stop_nothing(
    name: str, value: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", down())
    monkeypatch.setenv(name, value)
    said: list[str] = []
    assert otel_setup.from_environment(said.append) is None
    assert len(said) == 1 and why in said[0]


def test_a_missing_extra_is_said_with_how_to_get_it(
    desk: Path, deepfact: Run, tmp_path: Path
) -> None:
    """Other programs share the variables, so the run goes on."""
    fake = tmp_path / "without" / "opentelemetry"
    fake.mkdir(parents=True)
    (fake / "__init__.py").write_text("raise ImportError('not here')\n")
    spec = plain_run()
    path = os.pathsep.join([str(fake.parent), os.environ.get("PYTHONPATH", "")])
    done = deepfact("ab", spec, env={"OTEL_TRACES_EXPORTER": "otlp", "PYTHONPATH": path})
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("pip install 'deepfact[otel]'") == 1
