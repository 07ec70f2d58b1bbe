"""The ray executor on a real cluster of this machine: what comes of it is what the local executor
comes to, and a killed worker costs no answer.

One cluster serves all tests here; the run with a cluster of its own is that of the command line.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from messages_server import MessagesServer

from deepfact import api, telemetry
from deepfact.errors import ConfigError, DeepFactError, InputError, RunIncomplete
from deepfact.executors.base import Elsewhere, Job, build_executor
from deepfact.experiment import RESPONSES, run_experiment
from deepfact.experiment_records import AbSpec
from deepfact.regression import UsedResponses, open_check, run_regression, update_baseline
from deepfact.regression_records import RegressSpec
from deepfact.round import run_rounds
from deepfact.run_records import ArmAnswered, AuditorSpec, RoundSpec, VerifierSpec
from deepfact.running.arms import AnswersMissing
from deepfact.store.journal import read_events
from deepfact.store.responses import ResponseStore
from deepfact.telemetry import Scope
from deepfact.telemetry.seam import Event

ray = pytest.importorskip("ray", reason="the extra ray is not installed")
pytestmark = [
    pytest.mark.xdist_group("ray"),
    pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds workers through /proc"),
    # Ray leaves sockets and files to the interpreter's end.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

JUDGES = Path(__file__).parents[1] / "judges"
CLAIMS, CONCURRENCY, VOTES = 16, 6, 2
KEY = "sk-ant-planted-key-of-the-environment"


@pytest.fixture(scope="module")
def cluster(small_benchmarks: Path, judges: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A cluster on loopback, whose workers find the third party's verifiers and this module."""
    folder = tempfile.mkdtemp(prefix="df-", dir="/tmp")
    path = os.pathsep.join([str(judges), str(Path(__file__).parent), *filter(None, sys.path)])
    before = {name: os.environ.get(name) for name in ("PYTHONPATH", "ANTHROPIC_API_KEY")}
    os.environ |= {
        "PYTHONPATH": path, "ANTHROPIC_API_KEY": KEY,
        "RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    }  # fmt: skip
    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False,
        _temp_dir=folder, _node_ip_address="127.0.0.1", object_store_memory=100 * 1024 * 1024,
    )  # fmt: skip
    yield Path(folder)
    ray.shutdown()
    shutil.rmtree(folder, ignore_errors=True)
    for name, value in before.items():
        if value is None:
            os.environ.pop(name)
        else:
            os.environ[name] = value


@pytest.fixture
def server(desk: Path) -> Any:
    """A Messages server that answers like the rule-following judge."""
    sys.path.insert(0, str(JUDGES))
    from rule_following import RuleFollowingJudge, passages_of

    from deepfact.model_records import Message, Request

    version = api.load("small@1")
    judge = RuleFollowingJudge(passages_of(version.claims, version.store.key("author")))

    def answer(body: dict[str, Any]) -> str:
        system = "".join(block["text"] for block in body["system"])
        messages = tuple(Message(role="user", content=m["content"]) for m in body["messages"])
        return judge.answer(Request(model=body["model"], system=system, messages=messages))

    with MessagesServer(answer, latency=0.05) as server:
        yield server


def spec(url: str, **engine: Any) -> AbSpec:
    options = {
        "provider": {"kind": "anthropic", "options": {"base_url": url}},
        "model": "stand-in", "votes": VOTES, "limits": {"concurrency": CONCURRENCY},
        "prices": {"stand-in": {"input": 1000, "output": 1000}}, **engine,
    }  # fmt: skip
    data = {
        "name": "trial", "benchmark": "small@1", "key": "author", "select": {"limit": CLAIMS},
        "verifier": {"kind": "panel", "options": options},
        "arms": [
            {"name": "bundled", "options": {"prompt": "verifier/bundled/v1"}},
            {"name": "split", "options": {"prompt": "verifier/split/v1"}},
        ],
    }  # fmt: skip
    return AbSpec.model_validate(data)


def on_ray(**options: Any) -> Any:
    return build_executor("ray", {"workers": 3, "num_cpus": 0.5, "shard": 4, **options})


class Heard:
    """A listener that keeps events."""

    def __init__(self, events: list[Event]) -> None:
        self._events = events

    def began(self, scope: Scope, /) -> None: ...

    def ended(self, scope: Scope, /) -> None: ...

    def told(self, event: Event, /) -> None:
        self._events.append(event)

    def close(self) -> None: ...


def worker_pids(cluster: Path) -> list[int]:
    """Processes of a cluster's workers that are doing units: children of its raylet."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            above = Path("/proc", parent, "cmdline").read_bytes()
        except OSError:
            continue
        if words.startswith(b"ray::Worker") and str(cluster).encode() in above:
            found.append(int(folder.name))
    return sorted(found)


def answered(folder: str) -> Counter[tuple[str, str]]:
    events = read_events(Path(folder) / "journal.jsonl")
    return Counter((e.arm, e.outcome.claim_id) for e in events if isinstance(e, ArmAnswered))


def test_a_killed_worker_costs_no_claim_and_no_answer(
    cluster: Path, desk: Path, server: MessagesServer, capfd: pytest.CaptureFixture[str]
) -> None:
    what = spec(server.url)
    run_experiment(what, Path("local"))
    needed = server.calls
    assert needed > CLAIMS * VOTES
    killed: list[int] = []

    def watch(step: Any) -> None:
        if step.done >= 10 and not killed:
            pids = worker_pids(cluster)
            assert len(pids) == 3
            killed.append(pids[0])
            os.kill(pids[0], signal.SIGKILL)

    run_experiment(what, Path("ray"), executor=on_ray(), watch=watch)
    assert killed
    again = server.calls - needed
    assert Path("ray/record.json").read_bytes() == Path("local/record.json").read_bytes()
    counts = answered("ray")
    assert set(counts.values()) == {1} and counts == answered("local")
    # The killed worker had at most all places; only what was on the wire is paid for again.
    assert needed <= again <= needed + CONCURRENCY
    assert server.most_in_flight <= CONCURRENCY + CONCURRENCY  # the lost ones may linger
    with (
        ResponseStore(Path("ray") / RESPONSES) as ours,
        ResponseStore(Path("local") / RESPONSES) as theirs,
    ):
        assert [row.key for row in ours.rows()] == [row.key for row in theirs.rows()]
    assert capfd.readouterr().out == ""

    # Everything is stored: whoever runs it again, anywhere, calls nobody.
    shutil.copytree("ray", "warm")
    for name in ("record.json", "journal.jsonl"):
        Path("warm", name).unlink()
    before = server.calls
    run_experiment(what, Path("warm"), replay=True)
    assert server.calls == before
    assert Path("warm/record.json").read_bytes() == Path("local/record.json").read_bytes()

    # No key in what Ray wrote down.
    sent = [{name.lower(): value for name, value in one.items()} for one in server.headers]
    assert {one.get("authorization") for one in sent[needed:]} == {f"Bearer {KEY}"}
    logs = [path for path in cluster.rglob("*") if path.is_file() and "sockets" not in path.parts]
    assert logs and not [path for path in logs if KEY.encode() in path.read_bytes()]


def test_budget_and_limits_hold_for_all_workers_together(
    cluster: Path, desk: Path, server: MessagesServer
) -> None:
    with pytest.raises(AnswersMissing, match="budget of 25 calls is spent") as caught:
        run_experiment(spec(server.url, budget={"calls": 25}), Path("calls"), executor=on_ray())
    assert caught.value.exit_code == 3
    assert server.calls == 25
    assert server.most_in_flight <= CONCURRENCY
    with ResponseStore(Path("calls") / RESPONSES) as store:
        assert len(store) == 25
    # 170 tokens in and out at $1000 a million: the fifth call passes $0.60.
    with pytest.raises(AnswersMissing, match=r"budget of \$0.60 is spent"):
        run_experiment(spec(server.url, budget={"usd": 0.6}), Path("usd"), executor=on_ray())
    assert 5 <= server.calls - 25 <= 5 + CONCURRENCY


def test_what_fails_in_a_worker_is_told_where_the_run_was_started(
    cluster: Path, desk: Path, server: MessagesServer
) -> None:
    """One line for each failed call, with its reason and the claim, as of the local executor."""
    heard: dict[str, list[Event]] = {}
    for name, executor in (("local", None), ("ray", on_ray())):
        listener = Heard(heard.setdefault(name, []))
        server.faults.script = ["", "529", "", "529"]
        telemetry.listen(listener)
        try:
            run_experiment(spec(server.url), Path(name), executor=executor)
        finally:
            telemetry.close()
    for name, events in heard.items():
        failed = [one for one in events if one.name == "call_failed"]
        assert [one.fields["reason"] for one in failed] == ["rate_limited"] * 2, name
        assert {"run", "arm", "claim"} <= set.intersection(*(set(o.lineage) for o in failed)), name
    assert {one.fields["worker"] for one in heard["ray"] if one.name == "call_failed"}


def test_a_refused_key_stops_all_workers(cluster: Path, desk: Path, server: MessagesServer) -> None:
    server.faults.always = "401"
    with pytest.raises(DeepFactError) as caught:
        run_experiment(spec(server.url), Path("refused"), executor=on_ray())
    assert caught.value.exit_code == 2
    assert "planted" not in str(caught.value)
    assert server.calls <= CONCURRENCY


def test_a_replay_that_lacks_answers_says_which_as_the_local_one_does(
    cluster: Path, desk: Path, server: MessagesServer
) -> None:
    said = []
    for executor in (None, on_ray()):
        with pytest.raises(AnswersMissing) as caught:
            run_experiment(spec(server.url), Path("r"), replay=True, executor=executor)
        said.append((str(caught.value), caught.value.claims, caught.value.requests))
    assert said[0] == said[1]
    assert server.calls == 0


def prompted(url: str) -> VerifierSpec:
    """The verifier of `spec`, by itself."""
    options = {**spec(url).verifier.options, "prompt": "verifier/split/v1"}
    return VerifierSpec(kind="panel", options=options)


def test_a_round_is_the_same_on_ray(cluster: Path, desk: Path, server: MessagesServer) -> None:
    expert = AuditorSpec(name="expert", kind="policy", options={"accuracy": 0.9, "seed": 3})
    what = RoundSpec(
        name="trial", benchmark="small@1", challenger=prompted(server.url), auditors=("expert",),
        commit_to="run", date="2026-01-05T00:00:00Z", scored=(VerifierSpec(kind="overlap"),),
    )  # fmt: skip
    calls = []
    for name, executor in (("local", None), ("ray", on_ray())):
        record = run_rounds(what, Path(name), auditors=(expert,), executor=executor)
        assert record.rounds[0].challenges, "it has something to decide"
        calls.append(server.calls - sum(calls))
    assert calls[0] == calls[1] > 0
    assert Path("ray/record.json").read_bytes() == Path("local/record.json").read_bytes()


def test_a_regression_check_is_the_same_on_ray(
    cluster: Path, desk: Path, server: MessagesServer
) -> None:
    what = RegressSpec(
        name="r", benchmark="small@1", key="author", select={"limit": 10},
        verifier=prompted(server.url), pins=({"claim": "fin-1-02", "must": "confirmed"},),
    )  # fmt: skip
    with UsedResponses(Path("first.sqlite")) as store:
        check = open_check(what, store, recording=True)
        update_baseline(check, run_regression(check, live=True))
    records = []
    for name, executor in (("local", None), ("ray", on_ray())):
        with UsedResponses(Path(f"{name}.sqlite")) as store:
            check = open_check(what, store)
            records.append(run_regression(check, live=True, executor=executor))
            assert check.store.used
    assert records[0] == records[1]
    assert records[0].status == "passed"


def test_verdicts_of_other_kinds_are_the_same_too(cluster: Path, desk: Path) -> None:
    """A small local model, a whole-batch verifier, a third party's that fails."""
    version = api.load("small@1")
    for kind in ("local", "quoting", "failing"):
        here = api.verify(version, kind, limit=20)
        there = api.verify(version, kind, limit=20, executor=on_ray(workers=2))
        assert [one.canonical() for one in there] == [one.canonical() for one in here], kind


def test_what_cannot_be_done_elsewhere_is_said_at_once(
    cluster: Path, desk: Path, server: MessagesServer
) -> None:
    batches = VerifierSpec(
        kind="panel",
        options={
            "model": "m",
            "provider": {"kind": "batches", "options": {"base_url": server.url}},
        },
    )
    with pytest.raises(ConfigError, match="gathers all requests"):
        api.verify(api.load("small@1"), batches, workspace="w", executor=on_ray())
    for options, words in (
        ({"workers": 9}, "9 workers of 0.5 CPUs and 0 GPUs do not fit"),
        ({"num_gpus": 1}, "do not fit"),
        ({"num_cpus": -1}, "at least 0"),
        ({"address": "ray://127.0.0.1:1"}, "cannot keep the response store"),
    ):
        with pytest.raises(ConfigError, match=words):
            api.verify(api.load("small@1"), "overlap", executor=on_ray(**options))


# --- sites of this module, to see how a run ends ------------------------------------------


class Odd:
    """Does units as they say."""

    alone = False

    def __init__(self, calls: Any) -> None:
        self._calls = calls

    async def do(self, unit: str, tell: Any) -> None:
        if unit == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if unit == "raise":
            raise ValueError("not what was expected")
        await asyncio.sleep(0.01)
        tell(unit)

    async def aclose(self) -> None:
        return None


def open_odd(setting: str, texts: Any, answers: Any, permits: Any) -> Odd:
    assert texts["é"] == "ü" * 5 and list(texts) == ["é", "b"] and len(texts) == 2
    if setting == "refuse":
        raise InputError("this site does not open")
    return Odd(None)


def odd(units: list[list[str]], setting: str = "") -> list[str]:
    taken: list[str] = []
    there = Elsewhere(
        site=f"{__name__}:open_odd", setting=setting, write=str, read=str, responses=None,
        texts=lambda: [("é", "ü" * 5), ("b", "")],
    )  # fmt: skip
    job: Job[str, str] = Job(units, 4, lambda *_: asyncio.sleep(0), lambda: there)
    asyncio.run(on_ray(workers=2, shard=3).run(job, taken.append))
    return taken


def test_stages_follow_each_other_and_every_unit_is_done(cluster: Path) -> None:
    first, second = [f"a{n}" for n in range(20)], [f"b{n}" for n in range(5)]
    taken = odd([first, [], second])
    assert sorted(taken[:20]) == sorted(first) and sorted(taken[20:]) == second
    assert odd([]) == odd([[]]) == []


def test_a_unit_that_kills_every_worker_ends_the_run(cluster: Path) -> None:
    with pytest.raises(RunIncomplete, match=r"4 workers were lost while .* die"):
        odd([["one", "die", "two"]])


def test_errors_of_a_site_end_the_run_with_their_words(cluster: Path) -> None:
    with pytest.raises(DeepFactError, match="ValueError: not what was expected"):
        odd([["one", "raise", "two"]])
    with pytest.raises(InputError, match="this site does not open"):
        odd([["one"]], "refuse")


# --- the command line, with a cluster of its own -----------------------------------------


def test_ctrl_c_keeps_what_was_answered_and_the_run_goes_on(
    desk: Path, server: MessagesServer, deepfact_command: str
) -> None:
    import yaml

    server.latency = 0.2
    data = spec(server.url).model_dump(mode="json")
    Path("ab.yaml").write_text(yaml.safe_dump(data, sort_keys=False), "utf-8")
    run_experiment(spec(server.url), Path("local"))
    needed = server.calls
    words = [deepfact_command, "ab", "ab.yaml", "--out", "r", "--json", "--executor", "ray"]
    words += ["--executor-option", "workers=2", "--executor-option", "num_cpus=0.5"]
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while server.calls < needed + 20 and process.poll() is None:
        assert time.monotonic() < deadline, "it asks nobody"
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the whole group
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == "" and "Traceback" not in err, err
    assert err.splitlines()[-1].startswith("interrupted; what was done is kept")
    with ResponseStore(Path("r") / RESPONSES) as store:
        assert len(store) == server.calls - needed  # every call that was made is kept
    done = subprocess.run(words, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["n"] == CLAIMS  # and nothing else on standard output
    assert server.calls == 2 * needed
    assert Path("r/record.json").read_bytes() == Path("local/record.json").read_bytes()
