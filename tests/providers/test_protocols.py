"""Requests as bodies, replies as completions, statuses as errors; over HTTP for each kind."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from datetime import UTC, datetime

import pytest
from messages_server import Faults, MessagesServer

from deepfact.errors import ConfigError
from deepfact.model_records import Message, Request
from deepfact.providers.base import CallFailed, ProviderRefused
from deepfact.providers.connections import is_loopback
from deepfact.providers.messages import body_of, completion_of
from deepfact.providers.openai import completion_of as chat_completion_of
from deepfact.providers.registry import ProviderSpec, build_provider, provider_kinds
from deepfact.providers.replies import json_object, quota_of, retry_after, status_error
from deepfact.providers.scripted import ScriptedProvider
from deepfact.records import FailureReason
from deepfact.store.secrets import scrub, scrub_known

REQUEST = Request(
    model="m",
    system="judge",
    messages=(Message(role="user", content="a claim"),),
    max_tokens=77,
    temperature=0.0,
    output_schema={"type": "object"},
)


def complete(kind: str, server: MessagesServer, request: Request = REQUEST, **options):
    url = server.url + ("/v1" if kind == "openai" else "")
    provider = build_provider(ProviderSpec(kind=kind, options={"base_url": url, **options}))

    async def run():
        try:
            return await provider.complete(request)
        finally:
            await provider.aclose()

    return asyncio.run(run())


def test_anthropic_sends_schema_cache_mark_and_reads_usage():
    with MessagesServer() as server:
        answer = complete("anthropic", server, extra_body={"cache_prompt": False})
    assert server.bodies == [
        {
            "model": "m",
            "max_tokens": 77,
            "temperature": 0.0,
            "system": [{"type": "text", "text": "judge", "cache_control": {"type": "ephemeral"}}],
            "messages": [{"role": "user", "content": "a claim"}],
            "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
            "cache_prompt": False,
        }
    ]
    assert server.headers[0]["anthropic-version"]
    assert (answer.input_tokens, answer.output_tokens, answer.cache_read_tokens) == (100, 20, 50)
    assert (answer.stop_reason, answer.model) == ("end_turn", "m")


def test_openai_sends_schema_and_reads_usage():
    with MessagesServer() as server:
        answer = complete("openai", server, max_tokens_field="max_completion_tokens")
    (body,) = server.bodies
    assert body["max_completion_tokens"] == 77
    assert "max_tokens" not in body
    assert body["messages"][0] == {"role": "system", "content": "judge"}
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
    # The protocol counts cached tokens within the prompt's; a completion does not.
    assert (answer.input_tokens, answer.output_tokens, answer.cache_read_tokens) == (100, 20, 50)
    assert answer.stop_reason == "stop"


@pytest.mark.parametrize(("kind", "stop"), [("anthropic", "refusal"), ("openai", "refusal")])
def test_a_refusal_says_so(kind, stop):
    with MessagesServer(faults=Faults(always="refusal")) as server:
        assert complete(kind, server).stop_reason == stop


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
@pytest.mark.parametrize("fault", ["400", "401", "403", "404"])
def test_hopeless_statuses_are_refusals_of_the_provider(kind, fault):
    with MessagesServer(faults=Faults(always=fault)) as server:
        with pytest.raises(ProviderRefused, match=f"HTTP {fault}"):
            complete(kind, server)
        assert server.calls == 1


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
@pytest.mark.parametrize(
    ("fault", "retryable", "reason"),
    [
        ("429-after", True, FailureReason.RATE_LIMITED),
        ("529", True, FailureReason.RATE_LIMITED),
        ("500", True, FailureReason.ERROR),
        ("413", False, FailureReason.ERROR),
        ("drop", True, FailureReason.ERROR),
        ("truncate", True, FailureReason.ERROR),
        ("malformed", True, FailureReason.UNREADABLE),
    ],
)
def test_other_faults_are_failures_of_one_call(kind, fault, retryable, reason):
    with MessagesServer(faults=Faults(always=fault)) as server:
        with pytest.raises(CallFailed) as caught:
            complete(kind, server)
        assert server.calls == 1  # the SDK tries nothing again on its own
    assert (caught.value.retryable, caught.value.reason) == (retryable, reason)
    assert caught.value.retry_after == (0.05 if fault == "429-after" else None)


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
def test_a_provider_that_takes_too_long_has_timed_out(kind):
    slow = Faults(always="slow", slow=0.5)
    with MessagesServer(faults=slow) as server, pytest.raises(CallFailed) as caught:
        complete(kind, server, timeout=0.1)
    assert caught.value.reason is FailureReason.TIMEOUT


def test_a_server_that_is_not_there_is_a_failure_worth_another_try():
    with MessagesServer() as server:
        pass
    with pytest.raises(CallFailed, match="no connection") as caught:
        complete("anthropic", server)
    assert caught.value.retryable


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
def test_no_key_is_needed_on_this_machine_and_is_asked_for_elsewhere(kind, monkeypatch):
    monkeypatch.setenv("HOME", "/nonexistent")
    with MessagesServer() as server:
        complete(kind, server)
    server.url = "http://example.invalid"
    with pytest.raises(ProviderRefused, match=f"{kind.upper()}_API_KEY"):
        complete(kind, server)


def test_keys_are_read_from_the_variable_that_the_config_names(monkeypatch):
    monkeypatch.setenv("GATEWAY_KEY", "the-gateways-own-key")
    with MessagesServer() as server:
        complete("anthropic", server, api_key_env="GATEWAY_KEY")
    headers = {name.lower(): value for name, value in server.headers[0].items()}
    assert "the-gateways-own-key" in headers["authorization"] + headers.get("x-api-key", "")


@pytest.mark.parametrize(
    ("url", "says"),
    [("localhost:80", "not an address"), ("https://me:pass@host", "user name or password")],
)
def test_a_bad_base_url_is_refused(url, says):
    with pytest.raises(ConfigError, match=says) as caught:
        build_provider(ProviderSpec(kind="anthropic", options={"base_url": url}))
    assert "pass@" not in str(caught.value)


def test_the_registry_knows_its_kinds_and_refuses_others():
    assert provider_kinds() == ["anthropic", "batch-files", "batches", "openai", "scripted"]
    with pytest.raises(ConfigError, match="did you mean 'anthropic'"):
        build_provider(ProviderSpec(kind="antropic"))
    with pytest.raises(ConfigError, match="has no option 'api_key'") as caught:
        build_provider(ProviderSpec(kind="anthropic", options={"api_key": "planted-secret"}))
    assert "planted-secret" not in str(caught.value)


def test_no_sdk_is_imported_before_the_first_call():
    code = (
        "import sys; from deepfact.executors.engine import Engine;"
        "from deepfact.providers.registry import *;"
        "[build_provider(ProviderSpec(kind=k)) for k in ('anthropic', 'openai', 'batches')];"
        "print([m for m in ('anthropic', 'openai', 'aiohttp', 'genai_prices') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


# --- pure parts --------------------------------------------------------------------------


def test_what_is_not_asked_for_is_left_out_of_the_body():
    plain = Request(model="m", messages=REQUEST.messages)
    assert set(body_of(plain)) == {"model", "max_tokens", "messages"}
    assert "output_config" not in body_of(REQUEST, structured=False)
    assert "cache_control" not in body_of(REQUEST, cache=False)["system"][0]


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"type": "error"},
        {"type": "message", "content": "text", "usage": {}},
        {"type": "message", "content": []},
        {"type": "message", "content": [{"type": "text"}], "usage": {}},
    ],
)
def test_what_is_not_a_message_is_unreadable(message):
    with pytest.raises(CallFailed) as caught:
        completion_of(message)
    assert caught.value.reason is FailureReason.UNREADABLE


@pytest.mark.parametrize("body", [{}, {"choices": []}, {"choices": [{}]}, {"choices": ["x"]}])
def test_what_is_not_a_chat_completion_is_unreadable(body):
    with pytest.raises(CallFailed) as caught:
        chat_completion_of(body)
    assert caught.value.reason is FailureReason.UNREADABLE


@pytest.mark.parametrize("content", [b"", b'{"a": ', b"[]", b"\xff\xfe"])
def test_a_body_that_is_no_object_is_unreadable(content):
    with pytest.raises(CallFailed) as caught:
        json_object(content)
    assert caught.value.retryable


NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "Thu, 01 Jan 2026 00:00:30 GMT"}, 30.0),
        ({"retry-after": "Thu, 01 Jan 2025 00:00:00 GMT"}, 0.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
    ],
)
def test_retry_after_in_all_its_forms(headers, seconds):
    assert retry_after(headers, NOW) == seconds


def test_a_quota_is_told_when_something_is_used_up():
    name = "anthropic-ratelimit-requests"
    reset = "2026-01-01T00:00:09Z"
    assert quota_of({f"{name}-remaining": "3", f"{name}-reset": reset}, NOW) is None
    quota = quota_of({f"{name}-remaining": "0", f"{name}-reset": reset}, NOW)
    assert (quota.requests_left, quota.tokens_left, quota.resets_in) == (0, None, 9.0)
    assert quota_of({f"{name}-remaining": "0"}, NOW).resets_in is None


def test_errors_hold_no_key(monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "planted+key/1234")
    error = status_error(
        401, {}, "bad planted+key/1234 and sk-abcdefghijklmnopqrstu", model="m", where="http://h"
    )
    assert "planted" not in str(error)
    assert "sk-abc" not in str(error)
    assert scrub("see https://me:word@host/x") == "see https://[secret]@host/x"


def test_answers_are_not_altered_for_looking_like_a_key(monkeypatch):
    monkeypatch.setenv("SHORT_API_KEY", "none")
    assert scrub_known("none of sk-abcdefghijklmnopqrstu") == "none of sk-abcdefghijklmnopqrstu"


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:8080", True),
        ("http://localhost", True),
        ("http://[::1]:1", True),
        ("https://localhost.example.com", False),
        ("", False),
    ],
)
def test_which_servers_are_on_this_machine(url, local):
    assert is_loopback(url) is local


def test_a_script_file_answers_by_what_the_request_contains(tmp_path):
    path = tmp_path / "script.jsonl"
    path.write_text('{"when": "claim", "say": "yes"}\n{"fail": "timeout"}\n')
    provider = build_provider(ProviderSpec(kind="scripted", options={"path": str(path)}))
    assert isinstance(provider, ScriptedProvider)
    answer = asyncio.run(provider.complete(REQUEST))
    assert (answer.text, answer.model) == ("yes", "scripted:m")
    other = Request(model="m", messages=(Message(role="user", content="else"),))
    with pytest.raises(CallFailed) as caught:
        asyncio.run(provider.complete(other))
    assert caught.value.reason is FailureReason.TIMEOUT


def test_a_script_of_nothing_is_refused():
    with pytest.raises(ConfigError, match="path or an answer"):
        build_provider(ProviderSpec(kind="scripted"))
