"""Pushing to the Hub, against a server on loopback that speaks its protocol."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "servers"))
from hub_server import HubServer

from deepfact.errors import InputError
from deepfact.publish.build import Options, Snapshot, build
from deepfact.publish.hub import check_repo
from deepfact.store.benchmark import BenchmarkStore

Push = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def hub() -> Iterator[HubServer]:
    with HubServer() as server:
        yield server


@pytest.fixture
def push(mills: BenchmarkStore, hub: HubServer, deepfact: Push, tmp_path: Path) -> Push:
    """Publishes `mills` to the server, as a process of its own with a login of its own."""

    def run(*words: str, token: str | None = None, **env: str) -> subprocess.CompletedProcess[str]:
        given = hub.token if token is None else token
        return deepfact(
            "bench", "publish", str(mills.folder), *words,
            env={"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home"), "HF_TOKEN": given,
                 "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1", **env},
        )  # fmt: skip

    return run


def sent(hub: HubServer, name: str) -> dict[str, bytes]:
    files: dict[str, bytes] = hub.repos[name]["files"]
    return files


def test_a_dry_run_says_what_it_would_do_and_sends_nothing(
    push: Push, hub: HubServer, snapshot: Snapshot
) -> None:
    done = push("--to", "hub:team/mills")
    assert done.returncode == 0, done.stderr
    assert hub.requests == []
    assert f"would make the dataset repository team/mills on {hub.url} (public," in done.stdout
    assert "send it with --push" in done.stdout
    for name in snapshot.files:
        assert f"  {name}  " in done.stdout
    assert "no token" not in done.stdout and hub.token not in done.stdout + done.stderr
    without = push("--to", "hub:team/mills", "--private", "--json", token="")
    found = json.loads(without.stdout)
    assert (found["pushed"], found["token"], found["private"]) == (False, False, True)
    assert "no token found" in push("--to", "hub:team/mills", token="").stdout


def test_a_push_makes_the_repository_and_commits_every_file(
    push: Push, hub: HubServer, mills: BenchmarkStore
) -> None:
    done = push("--to", "hub:team/mills", "--push", "--private")
    assert done.returncode == 0, done.stderr
    assert f"pushed to {hub.url}/datasets/team/mills" in done.stdout
    assert sent(hub, "team/mills") == build(mills.load(), Options(repo="team/mills")).files
    repo = hub.repos["team/mills"]
    assert repo["commits"] == ["mills@2"]
    assert repo["asked"]["type"] == "dataset"
    assert repo["asked"].get("private") is True or repo["asked"].get("visibility") == "private"
    assert b'load_dataset("team/mills", "claims"' in sent(hub, "team/mills")["README.md"]
    assert hub.token not in done.stdout + done.stderr


def test_pushing_again_adds_to_the_same_repository(push: Push, hub: HubServer) -> None:
    first, second = (push("--to", "hub:team/mills", "--push", "--json") for _ in range(2))
    assert (first.returncode, second.returncode) == (0, 0), second.stderr
    assert json.loads(first.stdout) == json.loads(second.stdout)
    assert json.loads(first.stdout)["url"] == f"{hub.url}/datasets/team/mills"
    assert list(hub.repos) == ["team/mills"]


def test_without_an_owner_it_goes_to_ones_own_account(push: Push, hub: HubServer) -> None:
    assert push("--to", "hub", "--push").returncode == 0
    assert b'load_dataset("me/mills"' in sent(hub, "me/mills")["README.md"]


def test_without_a_token_nothing_is_sent(push: Push, hub: HubServer) -> None:
    for to in ("hub:team/mills", "hub"):
        done = push("--to", to, "--push", token="")
        assert done.returncode == 2 and "no token for the Hub" in done.stderr
        assert "HF_TOKEN" in done.stderr and "Traceback" not in done.stderr
    assert hub.requests == []


def test_a_wrong_token_is_told_and_never_shown(push: Push, hub: HubServer) -> None:
    """The server repeats the header in its answer; we do not."""
    done = push("--to", "hub:team/mills", "--push", token="hf_wrong_but_secret")
    assert done.returncode == 1 and "401" in done.stderr
    assert "hf_wrong_but_secret" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr and hub.repos == {}


def test_a_hub_that_refuses_is_an_error_without_traceback(push: Push, hub: HubServer) -> None:
    hub.fails = 403
    done = push("--to", "hub:team/mills", "--push")
    assert done.returncode == 1 and "did not take it" in done.stderr and "403" in done.stderr
    assert "Traceback" not in done.stderr and sent(hub, "team/mills") == {}


def test_a_hub_that_cannot_be_reached(push: Push) -> None:
    done = push("--to", "hub:team/mills", "--push", HF_ENDPOINT="http://127.0.0.1:9")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    offline = push("--to", "hub:team/mills", "--push", HF_HUB_OFFLINE="1")
    assert offline.returncode == 1 and "Traceback" not in offline.stderr


def test_a_refused_version_is_not_pushed(push: Push, hub: HubServer, mills: BenchmarkStore) -> None:
    (mills.folder / "README.md").write_text("changed")
    done = push("--to", "hub:team/mills", "--push")
    assert done.returncode == 2 and "fails its check" in done.stderr
    assert hub.repos == {}


@pytest.mark.parametrize("repo", ["a/b/c", "team/", "/x", "team/a b", "--x", "team/..", "t/" * 60])
def test_wrong_names_of_repositories(repo: str) -> None:
    with pytest.raises(InputError, match="no name of a repository"):
        check_repo(repo)
