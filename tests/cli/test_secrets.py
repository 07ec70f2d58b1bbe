"""A key planted in the environment, in headers, in what a server says and in a config is found in
nothing that a run leaves behind: results folder, response store, exports, reports, output."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parents[1] / "servers"))

from messages_server import Faults, MessagesServer

Run = Callable[..., subprocess.CompletedProcess[str]]

KEY = "planted-key-5b1c0e9d7a"
HEADER = "planted-header-42f00d"


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"x-gateway: {HEADER}")


def panel(kind: str, url: str, **options: Any) -> dict[str, Any]:
    """The spec of a panel of one vote whose failed calls are not tried again."""
    provider = {"kind": kind, "options": {"base_url": url, **options}}
    limits = {"attempts": 1, "concurrency": 1, "backoff": 0}
    given = {
        "provider": provider,
        "model": "m",
        "votes": 1,
        "rule": "single",
        "reask": 0,
        "limits": limits,
    }
    return {"kind": "panel", "name": kind, "options": {**given, "prompt": "verifier/split/v1"}}


def echoing(body: dict[str, Any]) -> str:
    """A readable answer to any claim, with the key and the header in its words."""
    asked = body["messages"][-1]["content"]
    asked = asked if isinstance(asked, str) else "".join(block["text"] for block in asked)
    found = re.search(r"Check the claim (\S+) by the rules", asked)
    assert found, asked
    words = f"I was sent {KEY} and {HEADER}"
    answer = {
        "claim_id": found[1], "claim": words, "rationale": words, "contradiction": None,
        "qualifications": [], "found": [], "evidence": [], "label": "inconclusive",
        "grounds": "none",
    }  # fmt: skip
    return json.dumps(answer)


def left_behind(folder: Path) -> dict[str, bytes]:
    """Every file under a folder, with its path."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("command", ["ab", "round"])
def test_a_run_leaves_no_key_behind(command: str, desk: Path, deepfact: Run, planted: None) -> None:
    faults = ["", "500", "", "429-after", "", "malformed", "schema", "refusal", "529", "drop"]
    with MessagesServer(echoing, faults=Faults(script=faults * 2)) as server:
        verifiers = [panel("anthropic", server.url), panel("openai", server.url + "/v1")]
        spec: dict[str, Any] = {"name": "planted", "benchmark": "small@1"}
        if command == "ab":
            arms = [{"name": one["name"], "verifier": one} for one in verifiers]
            spec |= {"key": "author", "select": {"limit": 12}, "arms": arms}
            words = ("ab", "run.yaml")
        else:
            spec |= {"challenger": verifiers[0], "scored": verifiers[1:], "commit_to": "run"}
            spec |= {"auditors": ["simulated-expert"]}
            words = ("round", "run", "run.yaml")
        Path("run.yaml").write_text(yaml.safe_dump(spec), encoding="utf-8")
        said = [deepfact(*words), deepfact(*words, "--json")]
        assert said[0].returncode in (0, 1), said[0].stderr
        sent = {value for one in server.headers for value in one.values()}
        assert HEADER in sent and any(KEY in value for value in sent)
    stores = sorted(desk.rglob("*.sqlite"))
    assert stores, "no answers were stored"
    for number, store in enumerate(stores):
        said.append(deepfact("responses", "export", store, f"export-{number}.jsonl", "--requests"))
        assert said[-1].returncode == 0, said[-1].stderr
    left = left_behind(desk)
    assert any(b"[secret]" in content for content in left.values()), "nothing was echoed"
    for secret in (KEY, HEADER):
        assert [path for path, content in left.items() if secret.encode() in content] == []
        assert not [one for one in said if secret in one.stdout + one.stderr]


@pytest.mark.parametrize(
    "options",
    [
        {"extra_body": {"api_key": "hunter22"}},
        {"extra_body": {"note": KEY}},
        {"base_url": "http://ann:hunter22@127.0.0.1:9/"},
    ],
)
def test_a_key_in_a_config_is_refused_and_nothing_is_written(
    options: dict[str, Any], desk: Path, deepfact: Run, planted: None
) -> None:
    challenger = panel("anthropic", "http://127.0.0.1:9/")
    challenger["options"]["provider"]["options"] |= options
    spec = {"name": "planted", "benchmark": "small@1", "auditors": ["simulated-expert"]}
    Path("run.yaml").write_text(yaml.safe_dump(spec | {"challenger": challenger}), encoding="utf-8")
    done = deepfact("round", "run", "run.yaml")
    assert done.returncode == 2
    assert "secret" in done.stderr and "run.yaml, line" in done.stderr
    assert not Path("results").exists()
    for secret in ("hunter22", KEY):
        assert secret not in done.stdout + done.stderr
