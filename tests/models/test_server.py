"""A real model over real HTTP on loopback, and what goes wrong before it serves."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Iterator
from urllib.parse import urlsplit

import pytest

from deepfact.errors import DeepFactError, InputError, MissingExtraError
from deepfact.models import server as server_module
from deepfact.models.server import LocalServer, loopback

SCHEMA = {
    "type": "object",
    "properties": {
        "label": {"enum": ["supported", "contradictory", "inconclusive"]},
        "quotes": {"type": "array", "items": {"type": "string", "maxLength": 20}, "maxItems": 2},
    },
    "required": ["label", "quotes"],
    "additionalProperties": False,
}


def _post(url: str, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    try:
        headers = {"content-type": "application/json", "anthropic-version": "2023-06-01"}
        connection.request("POST", path, json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def _message(url: str, prompt: str, tokens: int = 16) -> dict[str, Any]:
    body = {
        "model": "any",
        "max_tokens": tokens,
        "temperature": 0,
        "messages": [{"role": "user", "content": prompt}],
    }
    status, answer = _post(url, "/v1/messages", body)
    assert status == 200, answer
    return answer


def _gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return True
    state = Path(f"/proc/{pid}/stat")  # an orphan that nobody has reaped yet is gone, too
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z"


def _wait_until_gone(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if _gone(pid):
            return True
        time.sleep(0.05)
    return False


@pytest.fixture(scope="module")
def served(tiny_model: Path) -> Iterator[LocalServer]:
    with LocalServer(tiny_model, name="tiny", context=1024, threads=1) as server:
        yield server


# --- with the real model -----------------------------------------------------------------


def test_messages_protocol(served: LocalServer) -> None:
    answer = _message(served.url, "Name one colour.", tokens=8)
    assert answer["type"] == "message" and answer["role"] == "assistant"
    assert answer["content"][0]["type"] == "text" and answer["content"][0]["text"].strip()
    assert answer["stop_reason"] in ("end_turn", "max_tokens")
    assert answer["usage"]["input_tokens"] > 0
    assert 0 < answer["usage"]["output_tokens"] <= 8
    assert answer["model"] == "tiny"  # a name, not the path of a file on this machine


def test_chat_completions_enforce_the_schema(served: LocalServer) -> None:
    body = {
        "max_tokens": 200,
        "temperature": 0,
        "messages": [{"role": "user", "content": "Is grass green? Answer with a poem."}],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA},
        },
    }
    status, answer = _post(served.url, "/v1/chat/completions", body)
    assert status == 200, answer
    choice = answer["choices"][0]
    assert choice["finish_reason"] == "stop"
    verdict = json.loads(choice["message"]["content"])
    assert set(verdict) == {"label", "quotes"}
    assert verdict["label"] in SCHEMA["properties"]["label"]["enum"]
    assert len(verdict["quotes"]) <= 2
    assert all(isinstance(quote, str) and len(quote) <= 20 for quote in verdict["quotes"])


def test_answers_at_temperature_0_do_not_depend_on_earlier_requests(served: LocalServer) -> None:
    source = "Source: The tower was built from 1887 to 1889 and is 330 metres tall. " * 3
    asked = ("Is it tall?", "Name a fruit.", "Was it finished in 1900? Explain.", "Write a poem.")
    prompts = [source + question for question in asked]
    orders = [(0, 1, 2, 3), (3, 1, 1, 0, 2)]
    answers: dict[int, set[str]] = {}
    for order in orders:
        for index in order:
            answer = _message(served.url, prompts[index])
            answers.setdefault(index, set()).add(answer["content"][0]["text"])
            # The prompts share a long beginning: a prompt cache would show here.
            assert answer["usage"]["cache_read_input_tokens"] == 0
    assert {index: len(texts) for index, texts in answers.items()} == dict.fromkeys(range(4), 1)
    assert len(set().union(*answers.values())) > 1  # the prompts do get different answers


def test_a_prompt_that_is_too_long_is_an_error_not_an_answer(served: LocalServer) -> None:
    body = {"max_tokens": 5, "messages": [{"role": "user", "content": "word " * 3000}]}
    status, answer = _post(served.url, "/v1/messages", body)
    assert status == 400
    assert "context" in answer["error"]["message"]


def test_pages_of_other_sites_and_other_requests_stay_out(served: LocalServer) -> None:
    parts = urlsplit(served.url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=10)
    connection.request("GET", "/v1/models", headers={"Origin": "https://elsewhere.example"})
    answer = connection.getresponse()
    assert answer.read() and answer.status == 200
    assert answer.getheader("Access-Control-Allow-Origin") is None
    connection.request("GET", "/slots")
    assert connection.getresponse().status != 200
    connection.close()


def test_leaving_the_block_ends_the_server_and_frees_the_port(tiny_model: Path) -> None:
    with LocalServer(tiny_model, context=256, threads=1) as server:
        pid, port = server.pid, urlsplit(server.url).port
        assert pid is not None and pid != os.getpid() and port
    server.stop()  # once more is harmless
    assert _gone(pid) and server.url == "" and server.pid is None
    with LocalServer(tiny_model, context=256, port=port) as again:
        assert urlsplit(again.url).port == port


def test_a_server_that_dies_is_reported(tiny_model: Path) -> None:
    with LocalServer(tiny_model, context=256, threads=1) as server:
        assert server.pid is not None
        os.kill(server.pid, signal.SIGTERM)
        with pytest.raises(DeepFactError, match="stopped by itself"):
            server.wait()


def test_the_server_ends_when_its_caller_is_killed(tiny_model: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; "
        "from deepfact.models.server import LocalServer\n"
        "with LocalServer(Path(sys.argv[1]), context=256) as server:\n"
        "    print(server.pid, flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tiny_model)], stdout=subprocess.PIPE, text=True
    ) as caller:
        assert caller.stdout is not None
        pid = int(caller.stdout.readline())
        caller.kill()
    assert _wait_until_gone(pid)


def test_a_model_that_takes_too_long_is_given_up(tiny_model: Path) -> None:
    server = LocalServer(tiny_model, start_timeout=0.01)
    with pytest.raises(DeepFactError, match=r"not ready after 0\.01 seconds"):
        server.__enter__()
    assert server.pid is None


# --- without a model ---------------------------------------------------------------------


def test_a_file_that_does_not_load_shows_the_end_of_the_log(make_gguf) -> None:
    pytest.importorskip("xllamacpp")
    server = LocalServer(make_gguf())  # a valid header, but no model that llama.cpp knows
    with pytest.raises(InputError, match="could not be served") as caught:
        server.__enter__()
    assert "unknown model architecture: 'toy'" in str(caught.value)
    assert server.pid is None


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    with pytest.raises(InputError, match="no such file") as caught:
        LocalServer(tmp_path / "no.gguf").__enter__()
    assert "no.gguf" in caught.value.where


def test_a_port_in_use_is_refused(make_gguf) -> None:
    pytest.importorskip("xllamacpp")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} of 127.0.0.1 cannot be used") as caught:
            LocalServer(make_gguf(), port=port).__enter__()
    assert "--port 0" in caught.value.fix


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", "", "127.0.0.1 "])
def test_only_loopback_is_served(host: str) -> None:
    with pytest.raises(InputError, match="not loopback"):
        LocalServer(Path("m.gguf"), host=host)


def test_loopback_addresses() -> None:
    assert [loopback(host) for host in ("localhost", "127.0.0.1", "127.0.0.9", "::1")] == [
        "127.0.0.1",
        "127.0.0.1",
        "127.0.0.9",
        "::1",
    ]


@pytest.mark.parametrize("option", [{"port": 70000}, {"context": 1}, {"threads": 0}])
def test_numbers_out_of_range(option: dict[str, int]) -> None:
    with pytest.raises(InputError, match="is not between"):
        LocalServer(Path("m.gguf"), **option)  # type: ignore[arg-type]


def test_a_missing_extra_is_one_line_of_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="xllamacpp") as caught:
        LocalServer(Path("m.gguf"))
    assert "pip install 'deepfact[local-llm]'" in caught.value.fix
