"""`--executor`: what is wrong with it is said in a line, before anything runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from deepfact.cli.executors import executor_of
from deepfact.errors import ConfigError, InputError, MissingExtraError


def test_the_local_executor_needs_nothing() -> None:
    assert executor_of("local", "", None) is None


def test_options_are_read_by_their_types(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    made: Any = executor_of("ray", "auto", ["workers=8", "num_gpus=0.5"])
    assert (made.address, made.workers, made.num_gpus, made.num_cpus) == ("auto", 8, 0.5, 1.0)


@pytest.mark.parametrize(
    ("kind", "address", "options", "words"),
    [
        ("rey", "", None, "unknown kind 'rey'"),
        ("local", "auto", None, "options of a cluster"),
        ("local", "", ["workers=2"], "options of a cluster"),
        ("ray", "", ["workers"], "'workers' is not one NAME=VALUE"),
        ("ray", "", ["=2"], "not one NAME=VALUE"),
        ("ray", "", ["shard=2", "shard=3"], "not one NAME=VALUE"),
        ("ray", "auto", ["address=auto"], "not one NAME=VALUE"),
        ("ray", "", ["worker=2"], "no option 'worker'"),
        ("ray", "", ["workers=many"], "option 'workers'"),
        ("ray", "", ["wait=nan"], "option 'wait'"),
    ],
)
def test_what_does_not_fit_is_said(
    kind: str, address: str, options: list[str] | None, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        executor_of(kind, address, options)


def test_without_the_extra_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'deepfact\[ray\]'") as caught:
        executor_of("ray", "", None)
    assert len(str(caught.value).splitlines()) == 2


def test_an_address_where_nobody_listens_is_refused_at_once(desk: Path, deepfact: Any) -> None:
    pytest.importorskip("ray")
    done = deepfact(
        "verify", "small@1", "--verifier", "overlap", "--out", "v.jsonl",
        "--executor", "ray", "--address", "127.0.0.1:9",
    )  # fmt: skip
    assert done.returncode == 2 and done.stdout == ""
    assert "no Ray cluster answers" in done.stderr and "Traceback" not in done.stderr
    assert not Path("v.jsonl").exists()


def test_a_provider_that_gathers_requests_stays_here(desk: Path) -> None:
    from deepfact.run_records import VerifierSpec
    from deepfact.running.arm import Arm
    from deepfact.running.elsewhere import engine_names
    from deepfact.verifiers import build_verifier

    spec = VerifierSpec(kind="panel", options={"model": "m", "provider": {"kind": "batches"}})
    with pytest.raises(ConfigError, match="gathers all requests"):
        engine_names([Arm("a", spec, build_verifier(spec))])
